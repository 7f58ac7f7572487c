"""Reader for Borsh, the encoding in Solana's programs: little-endian integers, length-prefixed strings. Pure.

Programs extend their events and accounts at the end, so bytes behind the known fields are ignored, as by the programs.

Source: https://borsh.io
"""

from solders.pubkey import Pubkey


class BorshError(ValueError):
    """Raised for bytes that do not match the expected layout."""


class BorshReader:
    """A sequential reader for values in bytes. Every method raises BorshError if the bytes have no such value."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._offset = 0

    def read_bytes(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        chunk = self._data[self._offset : self._offset + count]
        if len(chunk) != count:
            raise BorshError(f"{count} bytes at {self._offset} go beyond the end at {len(self._data)}")
        self._offset += count
        return chunk

    def read_integer(self, size: int) -> int:
        """Return an unsigned integer from `size` bytes."""
        return int.from_bytes(self.read_bytes(size), "little")

    def read_key(self) -> str:
        """Return a public key, as base58."""
        return str(Pubkey.from_bytes(self.read_bytes(Pubkey.LENGTH)))

    def read_text(self) -> str:
        """Return a string after its four-byte length; the program itself rejects invalid UTF-8."""
        raw = self.read_bytes(self.read_integer(4))
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise BorshError("invalid UTF-8") from error
