"""EVM chains: blocks, contract calls, logs, generations of launches, and transactions."""
