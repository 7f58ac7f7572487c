"""Wash detection: detectors, listed in `detectors`, and the measures that they share."""
