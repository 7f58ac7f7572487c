"""Chain library: reads, decodes and sends on EVM chains and Solana; imports no Django."""
