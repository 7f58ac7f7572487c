"""ABI decoders and encoders for contracts, and decoders for their reverts."""
