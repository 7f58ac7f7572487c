"""Decoders made for one layout each: from the fields of an ABI to Python source, compiled once.

An event's words stand at fixed places, and only texts and lists lie where an offset says. A general decoder finds that
out anew for each log; here it is written down once, so that a log costs one `unpack` and its values. What eth-abi
refuses (with `strict=False`, as Solidity does) is refused, and what it accepts gives the equal value; the tests compare
the two. That goes for its peculiarities, too: a text whose length is beyond the data ends with the data.
"""

import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import starmap
from struct import Struct
from typing import Any

from Crypto.Hash import keccak
from eth_utils.abi import collapse_if_tuple

# Single ABI values as plain Python: addresses in their EIP-55 form, and text that PostgreSQL takes.
# Which letters of an address are capitals, the hash of its lower-case digits says: those at whose place it has 8 or
# more. In ASCII one bit, 0x20, tells a capital from a small letter, so that all 40 digits are changed at once.
_CASE_BIT = 0x20
_CAPITAL = bytes(_CASE_BIT if chr(byte) in "89abcdef" else 0 for byte in range(256))
_LETTER = bytes(_CASE_BIT if chr(byte) in "abcdef" else 0 for byte in range(256))

_ADDRESS = re.compile("(?:0[xX])?([0-9a-fA-F]{40})")


def checksum(address: str) -> str:
    """The EIP-55 form of a 20-byte hex address. Raises ValueError where it is none, TypeError where it is no text."""
    digits = _ADDRESS.fullmatch(address)
    if digits is None:
        raise ValueError("an address that is not of 20 bytes in hex")
    return address_text(bytes.fromhex(digits[1]))


@lru_cache(maxsize=65_536)
def address_text(raw: bytes) -> str:
    """The EIP-55 form of an address in bytes. Factories, hooks, lockers and pairs recur, and a hash costs some us."""
    digits = raw.hex().encode()
    hashed = keccak.new(data=digits, digest_bits=256).digest()[: len(raw)].hex().encode()
    capitals = int.from_bytes(hashed.translate(_CAPITAL), "big") & int.from_bytes(digits.translate(_LETTER), "big")
    return "0x" + (int.from_bytes(digits, "big") ^ capitals).to_bytes(len(digits), "big").decode()


def clean_text(raw: bytes) -> str:
    """Text that PostgreSQL takes, whatever the bytes are: U+FFFD for what is no UTF-8, and no NUL."""
    return raw.decode("utf-8", errors="replace").replace("\0", "")


Decode = Callable[[bytes], dict[str, Any]]

_WORD = 32
# A text may say that it is longer than that; eth-abi's stream then refuses to read it.
_LONGEST_TEXT = sys.maxsize // _WORD * _WORD
# The largest number that `struct` reads.
_STRUCT_BITS = 64


class DataMalformed(ValueError):
    """The bytes don't have the layout."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """A run of ABI values; `decode` gives name -> value. Bytes behind the last value are ignored.

    Addresses are EIP-55, bytes 0x-prefixed hex, texts cleaned, numbers ints, lists tuples, structs dicts.
    `decode` raises DataMalformed.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    decode: Decode


def make_layout(fields: list[Any]) -> Layout:
    """The layout of an ABI's `inputs`, of which those of a dynamic type are texts, bytes and lists of fixed ones.

    Raises ValueError for any other type.
    """
    return Layout(
        names=tuple(field["name"] for field in fields),
        types=tuple(collapse_if_tuple(field) for field in fields),
        decode=_compile(fields) if fields else _decode_nothing,
    )


def _decode_nothing(_data: bytes) -> dict[str, Any]:
    return {}


@dataclass(slots=True)
class _Words:
    """The source that takes a run of 32-byte words apart."""

    # `struct` formats, and the variables that they fill, in the order of the bytes.
    formats: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)
    # Each true where a word is not what its type allows.
    faults: list[str] = field(default_factory=list)

    def take(self, *formats: str) -> list[str]:
        """The names of the next bytes, of which each format is one part."""
        names = [f"part_{len(self.parts) + place}" for place in range(len(formats))]
        self.formats += formats
        self.parts += names
        return names

    def take_padded(self, value: str, *, padding: int, left: bool = True) -> str:
        """The name of a value beside zeros that fill up its word."""
        if not padding:
            (name,) = self.take(value)
            return name
        pads, name = self.take(f"{padding}s", value) if left else reversed(self.take(value, f"{padding}s"))
        self.faults.append(f"{pads} != {bytes(padding)!r}")
        return name

    def value(self, abi: Any) -> str:
        """The expression for the next value, of a static type."""
        kind: str = abi["type"]
        if kind == "tuple":
            return "{" + ", ".join(f"{part['name']!r}: {self.value(part)}" for part in abi["components"]) + "}"
        if kind == "address":
            return f"address_text({self.take_padded('20s', padding=12)})"
        if kind == "bool":
            name = self.take_padded("B", padding=31)
            self.faults.append(f"{name} > 1")
            return f"{name} == 1"
        if kind.startswith("bytes") and kind[5:].isdecimal():
            size = int(kind[5:])
            return f"'0x' + {self.take_padded(f'{size}s', padding=_WORD - size, left=False)}.hex()"
        for start, signed in (("uint", False), ("int", True)):
            if kind.startswith(start) and kind[len(start) :].isdecimal():
                return self._number(int(kind[len(start) :]), signed=signed)
        raise ValueError(f"no layout is made for {kind}")

    def _number(self, bits: int, *, signed: bool) -> str:
        if not signed and bits <= _STRUCT_BITS:
            name = self.take_padded("Q", padding=24)
        else:
            (name,) = self.take("32s")
            self.statements.append(f"{name} = int.from_bytes({name}, 'big', signed={signed})")
        lowest, highest = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
        # What fills the word needs no comparison.
        if signed and bits < 256:
            self.faults.append(f"not {lowest} <= {name} <= {highest}")
        elif not signed and bits not in (_STRUCT_BITS, 256):
            self.faults.append(f"{name} > {highest}")
        return name

    @property
    def struct(self) -> Struct:
        return Struct(">" + "".join(self.formats))

    def lines(self) -> list[str]:
        """The statements between taking the bytes apart and using the values."""
        fault = [f"if {' or '.join(self.faults)}:", "    raise DataMalformed('a word beyond its type')"]
        return [*self.statements, *(fault if self.faults else [])]


def _compile(fields: list[Any]) -> Decode:
    words, tails, values = _Words(), list[str](), list[str]()
    names: dict[str, Any] = {
        "DataMalformed": DataMalformed,
        "address_text": address_text,
        "clean_text": clean_text,
        "starmap": starmap,
        "unpack_length": Struct(">24sQ").unpack_from,
    }
    for place, abi in enumerate(fields):
        kind: str = abi["type"]
        if kind in ("string", "bytes") or kind.endswith("[]"):
            offset = words.take_padded("Q", padding=24)
            # eth-abi counts a struct as one word here: an offset may point into the words of those that follow.
            words.faults.append(f"not {_WORD * len(fields)} <= {offset} <= size - {_WORD}")
            tails += _tail(abi, offset, names=names, result=f"value_{place}")
            values.append(f"{abi['name']!r}: value_{place}")
        else:
            values.append(f"{abi['name']!r}: {words.value(abi)}")
    head = words.struct
    names["unpack_head"] = head.unpack_from
    body = [
        "size = len(data)",
        f"if size < {head.size}:",
        "    raise DataMalformed('too few bytes')",
        f"{', '.join(words.parts)}, = unpack_head(data)",
        *words.lines(),
        *tails,
        "return {" + ", ".join(values) + "}",
    ]
    decode: Decode = _run("decode", ("data",), body, names)
    return decode


def _tail(abi: Any, offset: str, *, names: dict[str, Any], result: str) -> list[str]:
    """The source that reads what an offset points to: a length, and that many bytes or items."""
    kind: str = abi["type"]
    lines = [
        f"padding, length = unpack_length(data, {offset})",
        f"start = {offset} + {_WORD}",
        f"if padding != {bytes(24)!r}:",
        "    raise DataMalformed('a length beyond all data')",
    ]
    if not kind.endswith("[]"):
        text = "data[start : start + length]"
        return [
            *lines,
            f"if length > {_LONGEST_TEXT}:",
            "    raise DataMalformed('a length beyond all data')",
            f"{result} = " + (f"clean_text({text})" if kind == "string" else f"'0x' + {text}.hex()"),
        ]
    item = _Words()
    value = item.value({**abi, "type": kind[:-2]})
    struct = item.struct
    names[f"unpack_{result}"] = struct.iter_unpack
    names[f"item_{result}"] = _run("item", item.parts, [*item.lines(), f"return {value}"], dict(names))
    return [
        *lines,
        f"end = start + {struct.size} * length",
        "if end > size:",
        "    raise DataMalformed('a list beyond the data')",
        f"{result} = tuple(starmap(item_{result}, unpack_{result}(data[start:end])))",
    ]


def _run(name: str, parameters: Iterable[str], body: list[str], names: dict[str, Any]) -> Any:
    """The function of this source, in whose namespace are the names."""
    source = "\n    ".join([f"def {name}({', '.join(parameters)}):", *body])
    # Of nothing but our own ABI files, whose names are written as literals.
    exec(compile(source, f"<layout of {name}>", "exec"), names)  # noqa: S102
    return names.pop(name)
