"""Readers for `[launchpads.<name>]` tables in a registry file: texts, addresses, events, and paths to their values."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tokens.chains.abi.codec import AbiEvent, declared_event, declared_function
from tokens.chains.abi.declarations import parse_event, parse_function
from tokens.chains.abi.paths import Path
from tokens.chains.addresses import ZERO_ADDRESS
from tokens.chains.registry.entry_rules import Rule, evm_address, plain_text
from tokens.chains.registry.launchpads import Argument, Condition, Constant, OtherLog, Sender, Value, View

# Value kind, which is its first key -> required keys, and optional keys.
VALUES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "call": (("call",), ("to", "args", "result")),
    "log": (("log", "by", "result"), ("having",)),
    "tx": (("tx",), ()),
}
# The chain's native coin, as an address.
NATIVE = "native"
_MAX_VALUES = 5
_HEX = re.compile(r"0x([0-9a-fA-F]{2})*")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_CHAIN_ID = re.compile(r"[1-9][0-9]{0,17}")
_PLACE = re.compile(r"[0-9]{1,9}")

Refuse = Callable[[str, str], None]
_Declared = TypeVar("_Declared")


@dataclass
class TableReader:
    """Reader for one launchpad's tables. It reports each mistake with its place."""

    _report: Refuse
    has_mistakes: bool = field(default=False, init=False)

    def event(self, table: Mapping[str, Any], key_path: str) -> "tuple[AbiEvent, ValueReader] | None":
        """Return a table's event and the reader for its arguments; None, refused, if the event is not valid."""
        text = self.text(table.get("event"), f"{key_path}.event")
        if not text:
            return None
        try:
            return declared_event(text), ValueReader(self, parse_event(text)["inputs"])
        except ValueError as error:
            self.refuse(f"{key_path}.event", str(error))
            return None

    def tables(
        self, listed: object, key_path: str, read: Callable[[Mapping[str, Any], str], _Declared | None]
    ) -> Iterator[_Declared]:
        """Yield the declarations in a list of tables."""
        for index, entry in enumerate(self.list(listed, key_path)):
            if not isinstance(entry, dict):
                self.refuse(f"{key_path}[{index}]", "expected a table")
            elif declared := read(entry, f"{key_path}[{index}]"):
                yield declared

    def check_keys(self, table: Mapping[str, Any], known: Sequence[str], key_path: str) -> None:
        """Refuse keys that are not known."""
        for key in table:
            if key not in known:
                self.refuse(f"{key_path}.{key}", f"unknown key: expected one of {', '.join(sorted(known))}")

    def list(self, value: object, key_path: str) -> list[Any]:
        """Return a list; an empty one, refused, for anything else."""
        if isinstance(value, list):
            return value
        self.refuse(key_path, "expected a list between [ and ]")
        return []

    def text(self, value: object, key_path: str) -> str:
        """Return a text that is not empty; an empty one, refused, for anything else."""
        return self.check(plain_text, value, key_path)

    def address(self, value: object, key_path: str) -> str:
        """Return an address in EIP-55; an empty text, refused, for anything else."""
        return self.check(evm_address, value, key_path)

    def check(self, rule: Rule, value: object, key_path: str) -> str:
        """Return the text that a rule makes of a value; an empty one, refused, if it breaks the rule."""
        try:
            return str(rule(value))
        except ValueError as broken:
            self.refuse(key_path, str(broken))
            return ""

    def contracts(self, table: object, key_path: str) -> dict[int, tuple[str, ...]]:
        """Return EIP-55 addresses by chain; nothing, refused, for anything but such a table."""
        if not isinstance(table, dict) or not table:
            self.refuse(key_path, 'expected a chain and its contracts, such as { 8453 = ["0x..."] }')
            return {}
        addresses_by_chain = {}
        for key, addresses in table.items():
            if not _CHAIN_ID.fullmatch(key):
                self.refuse(f"{key_path}.{key}", "expected the id of an EVM chain")
                continue
            listed = self.list(addresses, f"{key_path}.{key}")
            if addresses == []:
                self.refuse(f"{key_path}.{key}", "expected an address at least, or no entry for the chain")
            addresses_by_chain[int(key)] = tuple(
                self.address(address, f"{key_path}.{key}[{index}]") for index, address in enumerate(listed)
            )
        return addresses_by_chain

    def refuse(self, key_path: str, rule: str) -> None:
        """Report a mistake."""
        self.has_mistakes = True
        self._report(key_path, rule)


@dataclass
class ValueReader:
    """Reader for one launch's values. `_arguments` are the launch event's."""

    _reader: TableReader
    _arguments: Sequence[Mapping[str, Any]]

    def token(self, given: object, key_path: str) -> Path:
        """Return the path to the argument that has the launched token."""
        if given is None:
            self._reader.refuse(key_path, "missing: the argument that has the launched token")
            return ()
        return self.path(given, key_path, ("address",))

    def path(self, given: object, key_path: str, types: Sequence[str]) -> Path:
        """Return the path to an event argument that has one of the types."""
        return self._path(given, self._arguments, key_path, types)

    def conditions(self, listed: object, key_path: str) -> list[Condition]:
        """Return the conditions in a list of tables."""
        conditions = []
        for index, entry in enumerate(self._reader.list(listed, key_path)):
            if not isinstance(entry, dict) or entry.keys() != {"value", "is"}:
                self._reader.refuse(f"{key_path}[{index}]", "expected { value = ..., is = [...] }")
                continue
            value = self._read(entry["value"], f"{key_path}[{index}].value", ())
            expected = self._reader.list(entry["is"], f"{key_path}[{index}].is")
            if not expected or not all(isinstance(each, str | int) for each in expected):
                self._reader.refuse(f"{key_path}[{index}].is", "expected texts, whole numbers, true or false")
                continue
            for each in expected:
                # Logs have addresses in EIP-55: one with a wrong checksum would never be equal.
                if isinstance(each, str) and _ADDRESS.fullmatch(each) and each != ZERO_ADDRESS:
                    self._reader.address(each, f"{key_path}[{index}].is")
            if value:
                conditions.append(Condition(value=value, expected=frozenset(map(_comparable, expected))))
        return conditions

    def read_all(self, given: object, key_path: str, types: Sequence[str]) -> tuple[Value, ...]:
        """Return a field's values: one, or a list in which the first usable one counts."""
        if not isinstance(given, list):
            value = self._read(given, key_path, types)
            return (value,) if value else ()
        if not 1 <= len(given) <= _MAX_VALUES:
            self._reader.refuse(key_path, f"expected 1 to {_MAX_VALUES} values")
        values = [self._read(each, f"{key_path}[{index}]", types) for index, each in enumerate(given)]
        return tuple(value for value in values if value)

    def _read(self, given: object, key_path: str, types: Sequence[str]) -> Value | None:
        if given == NATIVE and "address" in types:
            return Constant(value=ZERO_ADDRESS)
        if isinstance(given, str) and given.startswith("0x"):
            return Constant(value=self._reader.address(given, key_path))
        if isinstance(given, str):
            path = self._path(given, self._arguments, key_path, types)
            return Argument(path=path) if path else None
        kind = next((key for key in VALUES if isinstance(given, dict) and key in given), None)
        if kind is None or not isinstance(given, dict):
            self._reader.refuse(
                key_path, "expected the name of an argument, or { call = ... }, { log = ... }, { tx = ... }"
            )
            return None
        required, optional = VALUES[kind]
        self._reader.check_keys(given, (*required, *optional), key_path)
        if missing := [key for key in required if key not in given]:
            self._reader.refuse(f"{key_path}.{missing[0]}", "missing")
            return None
        return {"call": self._view, "log": self._other_log, "tx": self._sender}[kind](given, key_path, types)

    def _view(self, given: Mapping[str, Any], key_path: str, types: Sequence[str]) -> View | None:
        try:
            item, function = parse_function(str(given["call"])), declared_function(str(given["call"]))
        except ValueError as error:
            self._reader.refuse(f"{key_path}.call", str(error))
            return None
        arguments = self._reader.list(given.get("args", []), f"{key_path}.args")
        if len(arguments) != len(item["inputs"]):
            self._reader.refuse(f"{key_path}.args", f"expected {len(item['inputs'])}, as {function.signature} has")
            return None
        if "result" not in given and len(item["outputs"]) > 1:
            self._reader.refuse(f"{key_path}.result", f"missing: one of {_names(item['outputs'])}")
            return None
        result = self._path(
            given.get("result", item["outputs"][0]["name"]), item["outputs"], f"{key_path}.result", types
        )
        contract = self._target(given.get("to"), f"{key_path}.to")
        return View(
            function=function,
            contract=contract,
            arguments=tuple(
                self._target(argument, f"{key_path}.args[{index}]") for index, argument in enumerate(arguments)
            ),
            result=result,
        )

    def _other_log(self, given: Mapping[str, Any], key_path: str, types: Sequence[str]) -> OtherLog | None:
        try:
            item, event = parse_event(str(given["log"])), declared_event(str(given["log"]))
        except ValueError as error:
            self._reader.refuse(f"{key_path}.log", str(error))
            return None
        emitter = self._target(given["by"], f"{key_path}.by")
        if "having" not in given and isinstance(emitter, str):
            self._reader.refuse(f"{key_path}.having", "missing: a contract of several tokens emits it")
        return OtherLog(
            event=event,
            emitter=emitter,
            having=self._path(given["having"], item["inputs"], f"{key_path}.having", ("address",))
            if "having" in given
            else None,
            result=self._path(given["result"], item["inputs"], f"{key_path}.result", types),
        )

    def _sender(self, given: Mapping[str, Any], key_path: str, types: Sequence[str]) -> Sender | None:
        if given["tx"] != "from" or (types and "address" not in types):
            self._reader.refuse(f"{key_path}.tx", 'expected "from", for an address')
            return None
        return Sender()

    def _target(self, given: object, key_path: str) -> Argument | str:
        """Return an address, or the argument that has it; without one, the launched token."""
        if given is None:
            return Argument(path=())
        if isinstance(given, str) and given.startswith("0x"):
            return self._reader.address(given, key_path)
        return Argument(path=self._path(given, self._arguments, key_path, ("address",)))

    def _path(self, given: object, fields: Sequence[Mapping[str, Any]], key_path: str, types: Sequence[str]) -> Path:
        """Return the keys on an existing path to a value with one of the types; without `types`, to a single value."""
        text = self._reader.text(given, key_path)
        if not text:
            return ()
        keys: list[str | int] = []
        value: Mapping[str, Any] = {"type": "tuple", "components": fields}
        for key in text.split("."):
            kind = value["type"]
            if kind.endswith("[]") and _PLACE.fullmatch(key):
                value = {**value, "type": kind[:-2]}
                keys.append(int(key))
                continue
            member = next((each for each in value.get("components", ()) if each["name"] == key), None)
            if kind != "tuple" or member is None:
                expected = "a place from 0" if kind.endswith("[]") else _names(value.get("components", ()))
                missing = f"{key or 'an empty name'} is not there"
                self._reader.refuse(key_path, f"{missing}: expected {expected or 'nothing below ' + kind}")
                return ()
            value = member
            keys.append(key)
        if not types and (value["type"].startswith("tuple") or value["type"].endswith("]")):
            self._reader.refuse(key_path, f"{text} is {value['type']}: expected a single value")
        elif types and "hashed" in value and "bytes32" not in types:
            self._reader.refuse(key_path, f"{text} is indexed: a log has only the hash of a {value['hashed']['type']}")
        elif types and value["type"] not in types:
            self._reader.refuse(key_path, f"{text} is {value['type']}: expected {' or '.join(types)}")
        return tuple(keys)


def _names(fields: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(each["name"] for each in fields)


def _comparable(value: object) -> object:
    """Convert a value to its form in decoded logs: addresses in EIP-55, other hex in lower case."""
    try:
        return evm_address(value)
    except ValueError:
        return value.lower() if isinstance(value, str) and _HEX.fullmatch(value) else value
