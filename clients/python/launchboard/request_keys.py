"""Request keys, by which a deployment that is sent again is not made again."""

import secrets


def new_request_key() -> str:
    """Return a new key of 32 characters. Store it before the first call, so that a later process can repeat it."""
    return secrets.token_hex(16)
