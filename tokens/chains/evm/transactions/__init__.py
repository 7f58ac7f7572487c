"""EVM transactions: reading, simulation, signing, broadcast and outcomes."""
