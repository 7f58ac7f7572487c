"""API administrators: identities, sessions and their endpoint."""
