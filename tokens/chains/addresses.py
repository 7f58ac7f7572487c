"""Addresses of both kinds of chain: 20 bytes in hex in any case, and 32 bytes in base58, whose case counts."""


def address_key(address: str) -> str:
    """The form in which two spellings of one address are equal: hex in lower case, base58 as it is."""
    return address.lower() if address.startswith("0x") else address
