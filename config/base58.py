"""Keys and signatures of Solana as text: base58, whose capital and small letters are different digits."""

from solders.pubkey import Pubkey
from solders.signature import Signature


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
