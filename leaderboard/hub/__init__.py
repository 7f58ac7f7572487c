"""Facts pulled from a Farcaster hub."""
