"""Why a call was undone: what a contract returns with a revert, in words. Pure.

`abis/errors.json` lists the errors of the launchpad's contracts of all generations, and of those that they call, each
with where it is declared.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import eth_abi
from eth_abi.exceptions import DecodingError
from eth_abi.grammar import TupleType, parse
from eth_utils.crypto import keccak

from tokens.chains.abi_values import checksum, clean_text

_FILE = Path(__file__).parent / "abis" / "errors.json"

# Solidity's own two, and Uniswap v4's around what a hook returned: (target, its function, its revert, details).
_TEXT = "Error(string)"
_PANIC = "Panic(uint256)"
_WRAPPED = "WrappedError(address,bytes4,bytes,bytes)"

# Source: docs.soliditylang.org, "Panic via assert and Error via require".
_PANICS = {
    0x00: "by the compiler",
    0x01: "a failed assertion",
    0x11: "an overflow",
    0x12: "a division by zero",
    0x21: "an unknown value of an enumeration",
    0x22: "a broken byte array in storage",
    0x31: "pop of an empty array",
    0x32: "an index out of bounds",
    0x41: "too much memory",
    0x51: "a call of an unset function",
}
# Wrapped errors may be wrapped again, by whoever likes.
_DEEPEST = 4
# Contracts may return what they like; nobody reads more.
_LONGEST_TEXT = 300
_LONGEST_DATA = 64


def read_revert(data: str) -> str | None:
    """What a reverted call returned, such as `WrongTick(-230401)`; None where it is nothing, or no hex.

    An error that is not known is told by its four bytes; bytes that follow no error at all, as they are.
    """
    try:
        raw = bytes.fromhex(data.removeprefix("0x"))
    except ValueError:
        return None
    return _describe(raw, depth=0) if raw else None


@cache
def known_errors() -> dict[bytes, tuple[str, ...]]:
    """Selector -> signatures of the errors that have it, more than one where they collide."""
    found: dict[bytes, tuple[str, ...]] = {}
    for item in json.loads(_FILE.read_text(encoding="utf-8")):
        signature: str = item["signature"]
        selector = keccak(signature.encode())[:4]
        found[selector] = (*found.get(selector, ()), signature)
    return found


def _describe(raw: bytes, *, depth: int) -> str:
    for signature in known_errors().get(raw[:4], ()):
        try:
            values = eth_abi.decode(_types(signature), raw[4:], strict=False)
        except (DecodingError, ValueError, OverflowError):
            continue
        return _tell(signature, values, depth=depth)
    return f"an unknown error 0x{raw[:4].hex()}"


def _types(signature: str) -> tuple[str, ...]:
    # `bytes` has the layout of `string` and leaves the text's encoding to us.
    inputs = signature[signature.index("(") :].replace("string", "bytes")
    arguments = parse(inputs)
    return tuple(part.to_type_str() for part in arguments.components) if isinstance(arguments, TupleType) else ()


def _tell(signature: str, values: tuple[Any, ...], *, depth: int) -> str:
    if signature == _TEXT:
        return f"Error(string): {_text(values[0])}"
    if signature == _PANIC:
        return f"Panic(0x{values[0]:02x}): {_PANICS.get(values[0], 'unknown')}"
    name = signature[: signature.index("(")]
    if signature == _WRAPPED and depth < _DEEPEST:
        target, _, reason, _ = values
        inner = _describe(reason, depth=depth + 1) if reason else "no reason"
        return f"{name}({checksum(target)}): {inner}"
    kinds = _kinds(signature)
    return f"{name}({', '.join(_value(kind, value) for kind, value in zip(kinds, values, strict=True))})"


def _kinds(signature: str) -> list[str]:
    arguments = parse(signature[signature.index("(") :])
    return [part.to_type_str() for part in arguments.components] if isinstance(arguments, TupleType) else []


def _value(kind: str, value: Any) -> str:
    if kind == "string":
        return f'"{_text(value)}"'
    if isinstance(value, bytes):
        text = value.hex()
        return f"0x{text}" if len(text) <= _LONGEST_DATA else f"0x{text[:_LONGEST_DATA]}..."
    if isinstance(value, str):
        return checksum(value)
    if isinstance(value, tuple):
        return f"({', '.join(_value('', part) for part in value)})"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(raw: bytes) -> str:
    """A contract's text as one line."""
    line = " ".join("".join(char if char.isprintable() else " " for char in clean_text(raw)).split())
    return line if len(line) <= _LONGEST_TEXT else f"{line[:_LONGEST_TEXT]}..."
