"""Events and functions from the ABIs in `json/`: topic0 and selectors, decoding, encoding.

Strings are decoded as bytes and cleaned here, because a token's name may hold anything: invalid UTF-8 becomes U+FFFD,
and NUL, which PostgreSQL rejects, is dropped.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sha3 import keccak_256

from tokens.chains.abi.declarations import parse_call, parse_event, parse_function
from tokens.chains.abi.layouts import AbiLayout, MalformedDataError, abi_type, clean_text, compile_layout
from tokens.chains.addresses import checksum_address
from tokens.chains.errors import LogDecodingError

Log = Mapping[str, Any]
Convert = Callable[[Any], Any]

# Hex digits per word.
_WORD_DIGITS = 64

_DIRECTORY = Path(__file__).parent / "json"


@dataclass(frozen=True, kw_only=True, slots=True)
class AbiParameters:
    """A function's inputs or outputs: ABI types, and a conversion to plain Python for each value.

    Events, which are far more frequent, use a compiled `AbiLayout`.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    converts: tuple[Convert, ...]

    def decode(self, data: bytes) -> dict[str, Any]:
        """Decode to name -> value; bytes after the last value are ignored. Raises MalformedDataError."""
        values = decode_values(self.types, data)
        return {name: convert(value) for name, convert, value in zip(self.names, self.converts, values, strict=True)}


@dataclass(frozen=True, kw_only=True, slots=True)
class AbiEvent:
    """An ABI event; `topic0` is 0x-prefixed lower-case hex."""

    signature: str
    topic0: str
    # Number of indexed arguments, whose words come first in the layout.
    indexed: int
    layout: AbiLayout

    def decode(self, log: Log) -> dict[str, Any]:
        """Decode to argument name -> value: EIP-55 addresses, hex hashes, clean text, ints. Raises LogDecodingError."""
        topics = log["topics"]
        words = "".join([topic[2:] for topic in topics[1:]])
        if len(topics) != self.indexed + 1 or len(words) != self.indexed * _WORD_DIGITS:
            raise LogDecodingError(f"{self.signature}: {len(topics)} topics in log {log.get('logIndex')}")
        try:
            return self.layout.decode(bytes.fromhex(words + log["data"][2:]))
        except ValueError as error:
            raise LogDecodingError(f"{self.signature}: log {log.get('logIndex')} can't be decoded") from error


@dataclass(frozen=True, slots=True)
class AbiData:
    """Values in place of a `bytes` argument: they are ABI-encoded with these types when the call is."""

    types: tuple[str, ...]
    values: tuple[Any, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class AbiFunction:
    """An ABI function; `selector` is four bytes as 0x-prefixed lower-case hex."""

    signature: str
    selector: str
    inputs: AbiParameters
    outputs: AbiParameters

    def encode_input(self, *arguments: Any) -> str:
        """Return the calldata as 0x-prefixed hex; any `bytes` within the arguments may be AbiData."""
        return self.selector + encode_values(self.inputs.types, arguments).hex()

    def decode_input(self, calldata: str) -> dict[str, Any] | None:
        """Decode to argument name -> value, or return None for another function's calldata or malformed calldata.

        A suffix after the arguments, such as a builder code, is ignored.
        """
        if calldata[:10].lower() != self.selector:
            return None
        return _decode_hex(self.inputs, calldata[10:])

    def decode_output(self, answer: str) -> dict[str, Any] | None:
        """Decode to result name -> value; None for malformed or empty data, such as from an address without code."""
        return _decode_hex(self.outputs, answer[2:])


@dataclass(frozen=True, kw_only=True, slots=True)
class Abi:
    """Events and functions from one file in `json/`; overloads share a name."""

    events: Mapping[str, tuple[AbiEvent, ...]]
    functions: Mapping[str, tuple[AbiFunction, ...]]

    def event(self, name: str) -> AbiEvent:
        """Return the only event with this name."""
        (event,) = self.events[name]
        return event

    def function(self, name: str) -> AbiFunction:
        """Return the only function with this name."""
        (function,) = self.functions[name]
        return function

    def deploy_functions(self) -> Iterator[AbiFunction]:
        """Yield every launch function in the ABI."""
        for name, overloads in self.functions.items():
            if name.startswith("deployToken"):
                yield from overloads


@cache
def load_abi(name: str) -> Abi:
    """Load the ABI in `json/<name>.json`."""
    events: dict[str, tuple[AbiEvent, ...]] = {}
    functions: dict[str, tuple[AbiFunction, ...]] = {}
    for item in json.loads((_DIRECTORY / f"{name}.json").read_text(encoding="utf-8")):
        if item["type"] == "event":
            events[item["name"]] = (*events.get(item["name"], ()), _event(item))
        else:
            functions[item["name"]] = (*functions.get(item["name"], ()), _function(item))
    return Abi(events=events, functions=functions)


def declared_event(text: str) -> AbiEvent:
    """Return the event that a Solidity declaration declares. Raises DeclarationError."""
    return _event(parse_event(text))


def declared_function(text: str) -> AbiFunction:
    """Return the function that a Solidity declaration declares. Raises DeclarationError."""
    return _function(parse_function(text))


def declared_call(text: str) -> AbiFunction:
    """Return the function that `name(type name, ...)` declares, without results. Raises DeclarationError."""
    return _function(parse_call(text))


def _event(item: Any) -> AbiEvent:
    signature = _signature(item)
    return AbiEvent(
        signature=signature,
        topic0="0x" + keccak_256(signature.encode()).hexdigest(),
        indexed=sum(field["indexed"] for field in item["inputs"]),
        # `sorted` is stable.
        layout=compile_layout(sorted(item["inputs"], key=lambda field: not field["indexed"])),
    )


def _function(item: Any) -> AbiFunction:
    signature = _signature(item)
    return AbiFunction(
        signature=signature,
        selector="0x" + keccak_256(signature.encode()).hexdigest()[:8],
        inputs=_values(item["inputs"]),
        outputs=_values(item["outputs"]),
    )


def _signature(item: Any) -> str:
    # For an indexed text, list or struct, the log has only a hash.
    types = (abi_type(field.get("hashed", field)) for field in item["inputs"])
    return f"{item['name']}({','.join(types)})"


def _values(fields: list[Any]) -> AbiParameters:
    return AbiParameters(
        names=tuple(field["name"] for field in fields),
        types=tuple(map(abi_type, fields)),
        converts=tuple(_converter(field) for field in fields),
    )


def _converter(field: Any) -> Convert:
    kind: str = field["type"]
    if kind.endswith("[]"):
        convert_one = _converter({**field, "type": kind[:-2]})
        return lambda values: tuple(convert_one(value) for value in values)
    if kind == "tuple":
        names = tuple(component["name"] for component in field["components"])
        converts = tuple(_converter(component) for component in field["components"])
        return lambda values: {
            name: convert(value) for name, convert, value in zip(names, converts, values, strict=True)
        }
    if kind == "address":
        return checksum_address
    if kind == "string":
        return clean_text
    if kind.startswith("bytes"):
        return lambda raw: "0x" + raw.hex()
    return lambda number: number


def encode_values(types: Iterable[str], values: Sequence[Any]) -> bytes:
    """Encode values with any ABI types, such as `(address,bytes)` for a struct; texts are UTF-8 bytes.

    AbiData at any depth is encoded to `bytes` first.
    """
    # Imported here and below on first use: eth-abi imports pydantic, which most processes and commands never need.
    from eth_abi.abi import encode

    return encode(_without_texts(types), [_without_data(value) for value in values])


def decode_values(types: Iterable[str], data: bytes) -> tuple[Any, ...]:
    """Decode values with any ABI types, texts as bytes; bytes after the last value are ignored.

    Raises MalformedDataError.
    """
    from eth_abi.abi import decode
    from eth_abi.exceptions import DecodingError

    try:
        return decode(_without_texts(types), data, strict=False)
    except (DecodingError, ValueError, OverflowError) as error:
        raise MalformedDataError(str(error)) from error


def _without_data(value: Any) -> Any:
    if isinstance(value, AbiData):
        return encode_values(value.types, value.values)
    return [_without_data(item) for item in value] if isinstance(value, list | tuple) else value


def _without_texts(types: Iterable[str]) -> list[str]:
    # `bytes` has the layout of `string` without decoding its text.
    return [kind.replace("string", "bytes") for kind in types]


def decode_words(types: tuple[str, ...], data: str) -> tuple[Any, ...] | None:
    """Decode bare ABI values with static types from 0x-prefixed hex; None where the data is malformed."""
    try:
        return decode_values(types, bytes.fromhex(data[2:]))
    except ValueError:
        return None


def _decode_hex(values: AbiParameters, text: str) -> dict[str, Any] | None:
    try:
        return values.decode(bytes.fromhex(text))
    except ValueError:
        return None
