"""This installation's chains, signers and address formats, from its settings."""
