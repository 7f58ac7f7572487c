"""EVM chains: blocks, contract calls, logs, launch generations, and transactions."""
