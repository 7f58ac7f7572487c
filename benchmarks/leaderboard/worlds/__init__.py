"""Generated agent worlds with known truth, each package by an author who knew the docs and not the detectors."""
