"""Launches with known bundles, and what the detector finds in them."""
