"""Presales as the public reads them: state and terms from the contract, and allow-lists of our own."""
