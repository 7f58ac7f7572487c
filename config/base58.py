"""Base58, in which Solana writes keys, signatures and bytes: capital and small letters are different digits."""

from base58 import b58decode
from solders.pubkey import Pubkey
from solders.signature import Signature

# Programs hand each other 10 KiB at most, and time grows with the square of the length.
_LONGEST = 16_384


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


def decode(text: str) -> bytes:
    """The bytes, of any number, of a text in base58: keys and signatures are read by solders. Raises ValueError."""
    if len(text) > _LONGEST:
        raise ValueError(f"base58 of more than {_LONGEST} characters")
    try:
        content = b58decode(text)
    except ValueError as error:
        raise ValueError("a character that is not of base58") from error
    if text != text.rstrip():
        # The library passes over it.
        raise ValueError("a blank at the end of base58")
    return content
