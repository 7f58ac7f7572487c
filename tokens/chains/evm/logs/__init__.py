"""Logs of EVM chains: filters, validation, decoding and reading of block ranges."""
