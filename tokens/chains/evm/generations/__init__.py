"""Decoders and fee readers of the launchpad's contract generations."""
