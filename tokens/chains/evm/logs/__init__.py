"""EVM logs: filters, validation, decoders and block range readers."""
