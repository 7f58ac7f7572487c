"""Base58, in which Solana writes keys, signatures and bytes: capital and small letters are different digits."""

from solders.pubkey import Pubkey
from solders.signature import Signature

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_DIGITS = {letter: value for value, letter in enumerate(_ALPHABET)}
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
    number = 0
    for letter in text:
        if letter not in _DIGITS:
            raise ValueError("a character that is not of base58")
        number = number * 58 + _DIGITS[letter]
    zeros = len(text) - len(text.lstrip(_ALPHABET[0]))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")
