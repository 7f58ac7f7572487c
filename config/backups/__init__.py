"""Database backups: consistent dumps with a manifest, and their restore into an empty database."""
