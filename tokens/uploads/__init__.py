"""Partners' uploads: token pictures and metadata documents, in a directory, S3-like storage or on IPFS."""
