"""Addresses of both kinds of chain: 20 bytes in hex in any case, and 32 bytes in base58, whose case counts."""

from solders.pubkey import Pubkey
from solders.signature import Signature


def address_key(address: str) -> str:
    """The form in which two spellings of one address are equal: hex in lower case, base58 as it is."""
    return address.lower() if address.startswith("0x") else address


def is_account(text: str) -> bool:
    """Whether the text is base58 of exactly 32 bytes: a mint, a wallet, a pool or a program of Solana."""
    try:
        Pubkey.from_string(text)
    except ValueError:
        return False
    return True


def is_signature(text: str) -> bool:
    """Whether the text is base58 of exactly 64 bytes: what names a transaction of Solana."""
    try:
        Signature.from_string(text)
    except ValueError:
        return False
    return True
