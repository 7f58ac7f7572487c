"""Following of chains: leader election, live and historical sync, reorgs and verification."""
