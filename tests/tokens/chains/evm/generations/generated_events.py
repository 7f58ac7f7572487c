"""Generated launchpad events: an ABI item, its Solidity declaration, its logs by eth_abi, and their values.

A field with a launch value has a "role", and a list the "place" for such a field. The product ignores both.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import eth_abi
from eth_abi.exceptions import DecodingError
from eth_utils.abi import collapse_if_tuple
from eth_utils.crypto import keccak
from hypothesis import strategies as st

from tests.nodes.recordings import Json
from tests.tokens.chains.abi.test_abi_layouts import plain, raw_types, valid

Field = dict[str, Any]

MAX_INDEXED, MAX_DEPTH = 3, 3
# Solidity's words can't be names; these are names that code made of them could mistake for its own.
NAMES = st.sampled_from(
    ["data", "size", "start", "length", "padding", "value_0", "part_1", "struct_0", "names", "Struct", "None", "self",
     "class", "to", "token", "name", "symbol", "$", "_", "__class__", "event_", "call", "log", "tx", "result"]
) | st.from_regex(r"[a-zA-Z_$][a-zA-Z0-9_$]{0,8}", fullmatch=True).filter(
    lambda name: name not in {"indexed", "memory", "calldata", "storage", "tuple", "anonymous", "event"}
)  # fmt: skip
STATIC = st.sampled_from(
    [
        "address",
        "bool",
        *(f"{kind}{bits}" for kind in ("uint", "int") for bits in range(8, 257, 8)),
        *(f"bytes{size}" for size in range(1, 33)),
    ]
)


@dataclass(frozen=True, kw_only=True)
class GeneratedEvent:
    """An event whose fields have the roles; each example draws one."""

    name: str
    # Name -> each launch value's ABI type.
    roles: Mapping[str, str]
    fields: list[Field]
    declaration: str

    @property
    def topic0(self) -> bytes:
        return keccak(text=f"{self.name}({','.join(map(collapse_if_tuple, self.fields))})")

    @property
    def paths(self) -> Mapping[str, str]:
        """Each role's path, as a declaration has it."""
        return {role: ".".join(map(str, path)) for role, path in _paths(self.fields)}

    def log(self, draw: st.DrawFn, by: str, values: Mapping[str, Any]) -> Json:
        """Draw a log with these role values, as eth_abi encodes them, and any other values."""
        roles = {role: draw(valid({"type": kind})) for role, kind in self.roles.items() if role not in values}
        drawn = [(field, draw(_value(field, {**roles, **values}))) for field in self.fields]
        topics = [
            draw(st.binary(min_size=32, max_size=32))
            if _is_hashed(field)
            else eth_abi.encode(raw_types([field]), [value])
            for field, value in drawn
            if field["indexed"]
        ]
        rest = [(field, value) for field, value in drawn if not field["indexed"]]
        data = eth_abi.encode(raw_types([field for field, _ in rest]), [value for _, value in rest])
        return {
            "address": by.lower(),
            "topics": ["0x" + topic.hex() for topic in (self.topic0, *topics)],
            "data": "0x" + data.hex(),
        }

    def decode(self, log: Json) -> dict[str, Any] | None:
        """Return the roles' values by eth_abi, None for one that a list lacks; None where it rejects the log."""
        topics = [bytes.fromhex(topic[2:]) for topic in log["topics"][1:]]
        indexed = [field for field in self.fields if field["indexed"]]
        rest = [field for field in self.fields if not field["indexed"]]
        if len(topics) != len(indexed):
            return None
        try:
            words = [
                word if _is_hashed(field) else eth_abi.decode(raw_types([field]), word, strict=False)[0]
                for field, word in zip(indexed, topics, strict=True)
            ]
            values = eth_abi.decode(raw_types(rest), bytes.fromhex(log["data"][2:]), strict=False)
        except (DecodingError, OverflowError, ValueError):
            return None
        of_name = {
            field["name"]: None if _is_hashed(field) else plain(field, value)
            for field, value in (*zip(indexed, words, strict=True), *zip(rest, values, strict=True))
        }
        return {role: _at(of_name, path) for role, path in _paths(self.fields)}


@st.composite
def events(draw: st.DrawFn, roles: Mapping[str, str]) -> GeneratedEvent:
    """Draw an event that has the roles, each with its type, anywhere among other fields, and up to three indexed."""
    noise = draw(st.lists(_noise(), max_size=4))
    leaves: list[Field] = [{"type": kind, "role": role} for role, kind in roles.items()]
    fields = _nest(draw, draw(st.permutations([*leaves, *noise])), depth=0)
    may_index = [field for field in fields if not (_is_hashed(field | {"indexed": True}) and list(_paths([field])))]
    chosen = draw(st.lists(st.sampled_from(may_index), max_size=MAX_INDEXED, unique_by=id)) if may_index else []
    fields = [field | {"indexed": any(field is each for each in chosen)} for field in fields]
    name = draw(NAMES)
    before, after = draw(st.sampled_from([("", ""), ("event ", ";"), (" event\t", " ; ")]))
    arguments = ", ".join(_render(draw, field) for field in fields)
    return GeneratedEvent(name=name, roles=roles, fields=fields, declaration=f"{before}{name}({arguments}){after}")


def _noise() -> st.SearchStrategy[Field]:
    kinds = STATIC | st.sampled_from(["string", "bytes"]) | STATIC.map(lambda kind: f"{kind}[]")
    return kinds.map(lambda kind: {"type": kind})


def _nest(draw: st.DrawFn, leaves: Sequence[Field], *, depth: int) -> list[Field]:
    """Return the leaves as named fields in their sequence, some in structs and lists."""
    fields: list[Field] = []
    rest = list(leaves)
    while rest:
        if depth < MAX_DEPTH and draw(st.integers(0, 3)) == 0:
            size = draw(st.integers(1, len(rest)))
            field: Field = {"type": "tuple", "components": _nest(draw, rest[:size], depth=depth + 1)}
        else:
            size, field = 1, rest[0]
        rest = rest[size:]
        if not _is_dynamic(field) and draw(st.integers(0, 4)) == 0:
            field = field | {"type": field["type"] + "[]", "place": draw(st.integers(0, 2))}
        fields.append(field)
    names = draw(st.lists(NAMES, min_size=len(fields), max_size=len(fields), unique=True))
    return [field | {"name": name} for field, name in zip(fields, names, strict=True)]


def _is_dynamic(field: Field) -> bool:
    kind = field["type"]
    return kind in ("string", "bytes") or kind.endswith("[]") or any(map(_is_dynamic, field.get("components", ())))


def _is_hashed(field: Field) -> bool:
    return field["indexed"] and (_is_dynamic(field) or field["type"] == "tuple")


def _render(draw: st.DrawFn, field: Field) -> str:
    kind = field["type"].removesuffix("[]")
    if kind == "tuple":
        inside = ", ".join(_render(draw, part) for part in field["components"])
        kind = f"{draw(st.sampled_from(['', 'tuple', 'tuple ']))}({inside})"
    elif kind in ("uint256", "int256") and draw(st.booleans()):
        kind = kind.removesuffix("256")
    suffix = "[]" if field["type"].endswith("[]") else ""
    return f"{kind}{suffix}{' indexed' * field.get('indexed', False)} {field['name']}"


def _value(field: Field, values: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Return a strategy for a field's values, as eth_abi encodes them, in which the roles have theirs."""
    if not any(role in values for role, _ in _paths([field])):
        return valid(field)
    if field["type"].endswith("[]"):
        item = {**field, "type": field["type"][:-2]}
        others = st.lists(valid(item), min_size=field["place"], max_size=field["place"])
        return st.builds(lambda before, it, after: [*before, it, *after], others, _value(item, values), others)
    if field["type"] == "tuple":
        return st.tuples(*(_value(part, values) for part in field["components"]))
    return st.just(values[field["role"]])


def _paths(fields: Sequence[Field], before: tuple[str | int, ...] = ()) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    for field in fields:
        here = (*before, field["name"], *([field.get("place", 0)] if field["type"].endswith("[]") else ()))
        if "role" in field:
            yield field["role"], here
        yield from _paths(field.get("components", ()), here)


def _at(values: Any, path: Sequence[str | int]) -> Any:
    for part in path:
        if isinstance(part, int) and part >= len(values):
            return None
        values = values[part]
    return values
