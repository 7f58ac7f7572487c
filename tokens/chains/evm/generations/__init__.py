"""Decoders and fee readers for the launchpad's contract generations."""
