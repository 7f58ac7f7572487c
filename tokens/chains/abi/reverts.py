"""Decoder from a contract's revert data to text. Pure.

`revert_errors.json` lists the errors of the launchpad's contracts in all generations, and of the contracts that they
call. Each error has its source: the ABIs in the npm package clanker-sdk 4.2.18, the interfaces in the public repository
v4-contracts, Uniswap v4 with its router and Permit2, OpenZeppelin's contracts, or our development contracts.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from sha3 import keccak_256

from tokens.chains.abi.codec import decode_values
from tokens.chains.abi.layouts import MalformedDataError, clean_text
from tokens.chains.addresses import checksum_address

_FILE = Path(__file__).parent / "revert_errors.json"

# Solidity's own two.
_TEXT = "Error(string)"
_PANIC = "Panic(uint256)"
# Errors that wrap another contract's return data -> that data's argument index; an earlier first argument is the
# reverting contract or command. Uniswap v4's pools wrap hook errors (ERC-7751), its router wraps command errors, and
# its quoter wraps all.
_NESTING = {
    "WrappedError(address,bytes4,bytes,bytes)": 2,
    "ExecutionFailed(uint256,bytes)": 1,
    "UnexpectedRevertBytes(bytes)": 0,
}

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
# Limits for nested errors and for texts, because contracts may return anything.
_DEEPEST = 4
_LONGEST_TEXT = 300
_LONGEST_HEX = 64


def describe_revert(data: str) -> str | None:
    """Decode revert data to text such as `WrongTick(-230401)`; None for empty data or no hex.

    An unknown error is shown by its selector.
    """
    try:
        raw = bytes.fromhex(data.removeprefix("0x"))
    except ValueError:
        return None
    return _describe(raw, depth=0) if raw else None


@cache
def known_errors() -> dict[bytes, str]:
    """Return selector -> signature for each listed error; a test proves that no two share a selector."""
    items = json.loads(_FILE.read_text(encoding="utf-8"))
    return {keccak_256(item["signature"].encode()).digest()[:4]: item["signature"] for item in items}


def _describe(raw: bytes, *, depth: int) -> str:
    signature = known_errors().get(raw[:4])
    if signature is None:
        return f"an unknown error 0x{raw[:4].hex()}"
    name, _, inputs = signature.partition("(")
    inputs = inputs.removesuffix(")")
    # No listed error has a struct.
    kinds = inputs.split(",") if inputs else []
    try:
        values = decode_values(kinds, raw[4:])
    except MalformedDataError:
        return f"{name} with arguments that are no {inputs}"
    if signature == _TEXT:
        return f"Error(string): {_text(values[0])}"
    if signature == _PANIC:
        return f"Panic(0x{values[0]:02x}): {_PANICS.get(values[0], 'unknown')}"
    if signature in _NESTING and depth < _DEEPEST:
        index = _NESTING[signature]
        inner = _describe(values[index], depth=depth + 1) if values[index] else "no reason"
        return f"{name}({_value(kinds[0], values[0])}): {inner}" if index else f"{name}: {inner}"
    return f"{name}({', '.join(_value(kind, value) for kind, value in zip(kinds, values, strict=True))})"


def _value(kind: str, value: Any) -> str:
    if kind == "string":
        return f'"{_text(value)}"'
    if kind == "address":
        return checksum_address(value)
    if isinstance(value, bytes):
        text = value.hex()
        return f"0x{text}" if len(text) <= _LONGEST_HEX else f"0x{text[:_LONGEST_HEX]}..."
    return str(value)


def _text(raw: bytes) -> str:
    """Return a contract's text as one line."""
    line = " ".join("".join(char if char.isprintable() else " " for char in clean_text(raw)).split())
    return line if len(line) <= _LONGEST_TEXT else f"{line[:_LONGEST_TEXT]}..."
