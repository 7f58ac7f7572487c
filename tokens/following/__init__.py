"""Chain following: leader election, live and historical sync, reorgs and verification."""
