"""Base58 of any length, in which JSON-RPC tells the data of instructions; keys and signatures are solders'."""

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_DIGITS = {letter: value for value, letter in enumerate(_ALPHABET)}
# Programs hand each other 10 KiB at most, and time grows with the square of the length.
_LONGEST = 16_384


def decode(text: str) -> bytes:
    """The bytes of a text in base58. Raises ValueError."""
    if len(text) > _LONGEST:
        raise ValueError(f"base58 of more than {_LONGEST} characters")
    number = 0
    for letter in text:
        if letter not in _DIGITS:
            raise ValueError("a character that is not of base58")
        number = number * 58 + _DIGITS[letter]
    zeros = len(text) - len(text.lstrip(_ALPHABET[0]))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")
