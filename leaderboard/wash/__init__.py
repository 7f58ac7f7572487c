"""Wash detection: a module for each detector, each naming what it found by."""
