"""Parser from Solidity event and view declarations, as people copy them from sources and explorers, to ABI items."""

import re
from dataclasses import dataclass
from typing import Any

_TOKEN = re.compile(r"\s*([A-Za-z_$][A-Za-z0-9_$]*|\[[0-9]*\]|[(),;])")
_SIZES = "|".join(str(bits) for bits in range(8, 257, 8))
_TYPE = re.compile(rf"address|bool|string|bytes([1-9]|[12][0-9]|3[0-2])?|u?int({_SIZES})?")
# Words between a function's inputs and its outputs.
_MODIFIERS = frozenset({"external", "public", "view", "pure", "virtual", "override"})
_LOCATIONS = frozenset({"memory", "calldata", "storage"})
# Indexed arguments per event, besides the signature.
MAX_INDEXED = 3
_LONGEST = 4_000
_DEEPEST = 4


class DeclarationError(ValueError):
    """A text that is no such declaration; the message names the expected word and its position."""


def parse_event(text: str) -> dict[str, Any]:
    """Return the ABI item for `[event] Name(type [indexed] name, (type name, ...) name, ...)`.

    Every argument needs a name. Raises DeclarationError.
    """
    reader = _DeclarationReader(text)
    reader.skip("event")
    item: dict[str, Any] = {
        "type": "event",
        "name": reader.name("the event"),
        "inputs": reader.parameters(may_index=True),
    }
    reader.skip("anonymous", refused="an anonymous event has no topic of its own")
    reader.end()
    indexed = sum(field["indexed"] for field in item["inputs"])
    if indexed > MAX_INDEXED:
        raise DeclarationError(f"{indexed} indexed arguments: an event has at most {MAX_INDEXED}")
    return item


def parse_function(text: str) -> dict[str, Any]:
    """Return the ABI item for `[function] name(type, ...) [view] returns (type [name], ...)`.

    A result without a name is named by its index, `value0`. Raises DeclarationError.
    """
    reader = _DeclarationReader(text)
    reader.skip("function")
    name = reader.name("the function")
    inputs = reader.parameters(named=False)
    while reader.peek() in _MODIFIERS:
        reader.take()
    if not reader.skip("returns"):
        raise DeclarationError(f"expected `returns (...)` {reader.position()}")
    outputs = reader.parameters(named=False)
    reader.end()
    if not outputs:
        raise DeclarationError("a function that returns nothing has no value")
    return {"type": "function", "name": name, "inputs": inputs, "outputs": outputs}


def parse_call(text: str) -> dict[str, Any]:
    """Return the ABI item for `name(type name, ...)`, a call whose results do not matter.

    Every argument needs a name. Raises DeclarationError.
    """
    reader = _DeclarationReader(text)
    name = reader.name("the function")
    inputs = reader.parameters()
    reader.end()
    return {"type": "function", "name": name, "inputs": inputs, "outputs": []}


@dataclass
class _DeclarationReader:
    """Reader for a declaration's words."""

    text: str
    _offset: int = 0

    def __post_init__(self) -> None:
        if len(self.text) > _LONGEST:
            raise DeclarationError(f"longer than {_LONGEST} characters")

    def peek(self) -> str:
        """Return the next word; empty at the end."""
        match = _TOKEN.match(self.text, self._offset)
        if match is None and self.text[self._offset :].strip():
            raise DeclarationError(f"expected no such character {self.position()}")
        return match[1] if match else ""

    def take(self) -> str:
        word = self.peek()
        match = _TOKEN.match(self.text, self._offset)
        self._offset = match.end() if match else len(self.text)
        return word

    def skip(self, word: str, *, refused: str = "") -> bool:
        """Take the word if it is the next one."""
        if self.peek() != word:
            return False
        if refused:
            raise DeclarationError(refused)
        self.take()
        return True

    def expect(self, word: str) -> None:
        if not self.skip(word):
            raise DeclarationError(f"expected `{word}` {self.position()}")

    def position(self) -> str:
        rest = self.text[self._offset :].strip()
        return f"at `{rest[:20]}`" if rest else "at the end"

    def name(self, what: str) -> str:
        word = self.peek()
        if not word or not (word[0].isalpha() or word[0] in "_$"):
            raise DeclarationError(f"expected the name of {what} {self.position()}")
        return self.take()

    def end(self) -> None:
        self.skip(";")
        if self.peek():
            raise DeclarationError(f"expected the end {self.position()}")

    def parameters(self, *, named: bool = True, may_index: bool = False, depth: int = 0) -> list[dict[str, Any]]:
        """Return the fields between parentheses."""
        if depth > _DEEPEST:
            raise DeclarationError(f"structs more than {_DEEPEST} deep")
        self.expect("(")
        fields: list[dict[str, Any]] = []
        while not self.skip(")"):
            if fields:
                self.expect(",")
            fields.append(self._parameter(len(fields), named=named, may_index=may_index, depth=depth))
        names = [field["name"] for field in fields]
        twice = next((name for index, name in enumerate(names) if name and name in names[:index]), None)
        if twice:
            raise DeclarationError(f"two arguments have the name {twice}")
        return fields

    def _parameter(self, index: int, *, named: bool, may_index: bool, depth: int) -> dict[str, Any]:
        field = self._type(named=named, depth=depth)
        if may_index:
            field["indexed"] = self.skip("indexed")
            if field["indexed"] and (field["type"] in ("string", "bytes", "tuple") or field["type"].endswith("]")):
                # The topic has only its hash.
                field = {"type": "bytes32", "hashed": field, "indexed": True}
        while self.peek() in _LOCATIONS:
            self.take()
        if self.peek() in (",", ")", "") and not named:
            return field | {"name": f"value{index}"}
        return field | {"name": self.name(f"argument {index + 1}")}

    def _type(self, *, named: bool, depth: int) -> dict[str, Any]:
        self.skip("tuple")
        if self.peek() == "(":
            field: dict[str, Any] = {"type": "tuple", "components": self.parameters(named=named, depth=depth + 1)}
        else:
            word = self.name("a type")
            if not _TYPE.fullmatch(word):
                rule = "write a struct as (type name, ...), a contract as address and an enum as uint8"
                raise DeclarationError(f"unknown type {word}: {rule}")
            field = {"type": word + "256" if word in ("uint", "int") else word}
        if self.peek().startswith("["):
            suffix = self.take()
            if suffix != "[]" or self.peek().startswith("["):
                raise DeclarationError("lists of a fixed length and lists of lists can't be declared")
            field["type"] += suffix
        return field
