"""A chain of our own to develop and test against: a node, contracts, and a launcher of samples. Not for production."""
