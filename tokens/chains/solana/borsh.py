"""Borsh, the encoding of Solana's programs: fixed numbers in little endian, texts after their length. Pure.

Source: https://borsh.io
"""

from solders.pubkey import Pubkey


class BorshError(ValueError):
    """The bytes are not of the layout that they are read by."""


class BorshReader:
    """Takes values from bytes, from the front. Every method raises BorshError where the bytes have no such value."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, count: int) -> bytes:
        """The next so many bytes."""
        taken = self._data[self._at : self._at + count]
        if len(taken) != count:
            raise BorshError(f"{count} bytes at {self._at} go beyond the end at {len(self._data)}")
        self._at += count
        return taken

    def number(self, size: int) -> int:
        """An unsigned number of so many bytes."""
        return int.from_bytes(self.take(size), "little")

    def key(self) -> str:
        """A public key, as base58."""
        return str(Pubkey.from_bytes(self.take(Pubkey.LENGTH)))

    def text(self) -> str:
        """A text after its length in four bytes; the program itself refuses what is no UTF-8."""
        raw = self.take(self.number(4))
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise BorshError("a text that is no UTF-8") from error

    def end(self) -> None:
        """Refuses what is left over."""
        if self._at != len(self._data):
            raise BorshError(f"{len(self._data) - self._at} bytes too many")
