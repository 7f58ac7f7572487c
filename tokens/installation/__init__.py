"""Chains, signers and address formats of this installation, from its settings."""
