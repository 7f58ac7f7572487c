"""Uploads of partners: pictures and metadata documents of tokens, in a directory, S3-like storage or on IPFS."""
