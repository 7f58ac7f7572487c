"""Base58, in which Solana writes keys, signatures and bytes: capital and small letters are different digits."""

import re
from functools import lru_cache

from base58 import b58decode
from solders.pubkey import Pubkey
from solders.signature import Signature

# Time grows with the square of the length. No transaction has more bytes than these letters can say; programs may hand
# each other more, which is of nobody's use here.
_LONGEST = 2_048
_TEXT = re.compile("[1-9A-HJ-NP-Za-km-z]*")


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


def is_base58(text: str) -> bool:
    """Whether the text is base58 of any number of bytes."""
    return _TEXT.fullmatch(text) is not None


@lru_cache(maxsize=1_024)
def decode(text: str) -> bytes:
    """The bytes of a text in base58 of up to 2,048 characters: keys and signatures are read by solders.

    Raises ValueError.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"base58 of more than {_LONGEST} characters")
    if not is_base58(text):
        raise ValueError("a character that is not of base58")
    return b58decode(text)
