"""Decoders compiled for one layout each: from ABI fields to Python source.

An event's words have fixed positions; only texts and lists have positions given by an offset. A general decoder
computes these positions per log. Here they are compiled once, so that a log costs one `unpack` and its values. The
decoders accept and reject the same data as eth-abi (with `strict=False`, as Solidity does) and return equal values; the
tests compare the two. That includes eth-abi's peculiarities: a text longer than the data ends with the data, unless it
is in a struct.
"""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import starmap
from struct import Struct
from typing import Any

from tokens.chains.addresses import checksum_bytes


def clean_text(raw: bytes) -> str:
    """Decode UTF-8 into text that PostgreSQL accepts: U+FFFD for invalid bytes, and no NUL."""
    return raw.decode("utf-8", errors="replace").replace("\0", "")


Decode = Callable[[bytes], dict[str, Any]]

_WORD = 32
# Maximum text length that eth-abi's stream reads.
_LONGEST_TEXT = sys.maxsize // _WORD * _WORD
# eth-abi is lenient towards an event's texts, and strict towards texts in its structs.
_STRICT_TEXT = (
    f"end = start + -(-length // {_WORD}) * {_WORD}",
    "if end > size or any(data[start + length : end]):",
    "    raise MalformedDataError('a text that does not end with zeros within the data')",
)
# Size of the largest number that `struct` unpacks.
_STRUCT_BITS = 64


class MalformedDataError(ValueError):
    """Bytes that do not match the layout."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AbiLayout:
    """A sequence of ABI values; `decode` returns name -> value and ignores bytes after the last value.

    Addresses are EIP-55, bytes 0x-prefixed hex, texts cleaned, numbers ints, lists tuples, structs dicts. `decode`
    raises MalformedDataError.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    decode: Decode


def compile_layout(fields: list[Any]) -> AbiLayout:
    """Compile a layout for an ABI's `inputs`; dynamic types may be texts, bytes, static type lists and structs.

    Indexed fields come first: their words precede the data, and offsets count from the data's first byte.

    Raises ValueError for any other type.
    """
    return AbiLayout(
        names=tuple(field["name"] for field in fields),
        types=tuple(map(abi_type, fields)),
        decode=_compile(fields) if fields else _decode_nothing,
    )


def abi_type(field: Any) -> str:
    """Return an ABI field's type as signatures have it: a struct as its components' types in parentheses."""
    kind: str = field["type"]
    if not kind.startswith("tuple"):
        return kind
    return f"({','.join(map(abi_type, field['components']))}){kind.removeprefix('tuple')}"


def _decode_nothing(_data: bytes) -> dict[str, Any]:
    return {}


@dataclass(slots=True)
class _Words:
    """Builder for source that unpacks consecutive 32-byte words."""

    # `struct` formats and the variables that they fill, in byte order.
    formats: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)
    # Conditions under which a word is beyond its type.
    faults: list[str] = field(default_factory=list)

    def unpack(self, *formats: str) -> list[str]:
        """Return the variables for the next bytes, one for each format."""
        names = [f"part_{len(self.parts) + index}" for index in range(len(formats))]
        self.formats += formats
        self.parts += names
        return names

    def unpack_padded(self, value: str, *, padding: int, left: bool = True) -> str:
        """Return the variable for a value that zeros pad to a word."""
        if not padding:
            (name,) = self.unpack(value)
            return name
        pads, name = self.unpack(f"{padding}s", value) if left else reversed(self.unpack(value, f"{padding}s"))
        self.faults.append(f"{pads} != {bytes(padding)!r}")
        return name

    def value(self, abi: Any) -> str:
        """Return the expression for the next value, which has a static type."""
        kind: str = abi["type"]
        if kind == "tuple":
            return "{" + ", ".join(f"{field['name']!r}: {self.value(field)}" for field in abi["components"]) + "}"
        if kind == "address":
            return f"checksum_bytes({self.unpack_padded('20s', padding=12)})"
        if kind == "bool":
            name = self.unpack_padded("B", padding=31)
            self.faults.append(f"{name} > 1")
            return f"{name} == 1"
        if kind.startswith("bytes") and kind[5:].isdecimal():
            size = int(kind[5:])
            return f"'0x' + {self.unpack_padded(f'{size}s', padding=_WORD - size, left=False)}.hex()"
        for start, signed in (("uint", False), ("int", True)):
            if kind.startswith(start) and kind[len(start) :].isdecimal():
                return self._number(int(kind[len(start) :]), signed=signed)
        raise ValueError(f"no layout is made for {kind}")

    def _number(self, bits: int, *, signed: bool) -> str:
        if not signed and bits <= _STRUCT_BITS:
            name = self.unpack_padded("Q", padding=24)
        else:
            (name,) = self.unpack("32s")
            self.statements.append(f"{name} = int.from_bytes({name}, 'big', signed={signed})")
        lowest, highest = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
        # A number that fills the whole word needs no comparison.
        if signed and bits < 256:
            self.faults.append(f"not {lowest} <= {name} <= {highest}")
        elif not signed and bits not in (_STRUCT_BITS, 256):
            self.faults.append(f"{name} > {highest}")
        return name

    @property
    def struct(self) -> Struct:
        return Struct(">" + "".join(self.formats))

    def lines(self) -> list[str]:
        """Return the statements between unpacking the bytes and using the values."""
        fault = [f"if {' or '.join(self.faults)}:", "    raise MalformedDataError('a word beyond its type')"]
        return [*self.statements, *(fault if self.faults else [])]


def _compile(fields: list[Any], *, is_struct: bool = False) -> Decode:
    words, tails, values = _Words(), list[str](), list[str]()
    names: dict[str, Any] = {
        "MalformedDataError": MalformedDataError,
        "checksum_bytes": checksum_bytes,
        "clean_text": clean_text,
        "starmap": starmap,
        "unpack_length": Struct(">24sQ").unpack_from,
    }
    indexed = sum(abi.get("indexed", False) for abi in fields)
    for index, abi in enumerate(fields):
        if _is_dynamic(abi):
            offset = words.unpack_padded("Q", padding=24)
            # eth-abi counts a struct as one word here: an offset may point into the words of the fields after it.
            words.faults.append(f"not {_WORD * (len(fields) - indexed)} <= {offset} <= size - {_WORD * (indexed + 1)}")
            start = f"{offset} + {_WORD * indexed}"
            if abi["type"] == "tuple":
                names[f"struct_{index}"] = _compile(abi["components"], is_struct=True)
                tails.append(f"value_{index} = struct_{index}(data[{start} :])")
            else:
                tails += _tail(abi, start, names=names, result=f"value_{index}", is_in_struct=is_struct)
            values.append(f"{abi['name']!r}: value_{index}")
        else:
            values.append(f"{abi['name']!r}: {words.value(abi)}")
    head = words.struct
    names["unpack_head"] = head.unpack_from
    body = [
        "size = len(data)",
        f"if size < {head.size}:",
        "    raise MalformedDataError('too few bytes')",
        f"{', '.join(words.parts)}, = unpack_head(data)",
        *words.lines(),
        *tails,
        "return {" + ", ".join(values) + "}",
    ]
    decode: Decode = _run("decode", ("data",), body, names)
    return decode


def _is_dynamic(abi: Any) -> bool:
    """Return whether a value's head is an offset."""
    kind: str = abi["type"]
    return kind in ("string", "bytes") or kind.endswith("[]") or any(map(_is_dynamic, abi.get("components", ())))


def _tail(abi: Any, offset: str, *, names: dict[str, Any], result: str, is_in_struct: bool) -> list[str]:
    """Return the source that reads a length at an offset, and that many bytes or items."""
    kind: str = abi["type"]
    lines = [
        f"padding, length = unpack_length(data, {offset})",
        f"start = {offset} + {_WORD}",
        f"if padding != {bytes(24)!r}:",
        "    raise MalformedDataError('a length beyond all data')",
    ]
    if not kind.endswith("[]"):
        text = "data[start : start + length]"
        return [
            *lines,
            f"if length > {_LONGEST_TEXT}:",
            "    raise MalformedDataError('a length beyond all data')",
            *(_STRICT_TEXT if is_in_struct else ()),
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
        "    raise MalformedDataError('a list beyond the data')",
        f"{result} = tuple(starmap(item_{result}, unpack_{result}(data[start:end])))",
    ]


def _run(name: str, parameters: Iterable[str], body: list[str], names: dict[str, Any]) -> Any:
    """Compile the source and return its function, with `names` as its namespace."""
    source = "\n    ".join([f"def {name}({', '.join(parameters)}):", *body])
    # The source comes only from our own ABI files; their names are written as literals.
    exec(compile(source, f"<layout of {name}>", "exec"), names)  # noqa: S102
    return names.pop(name)
