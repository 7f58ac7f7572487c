"""Parts of a drafted declaration: logs with an ABI's events and their arguments, and TOML lines. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokens.chains.abi.codec import Log
from tokens.chains.addresses import checksum_address
from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.generations.mined_transactions import MinedTransaction
from tokens.declaring.abi_files import Fields, FileEvent

TOKEN_NAMES = re.compile("token|coin|asset", re.I)
# Names with fewer letters must match in full, because they are part of many words.
_SHORT = 3
# The most list items that are drafted: as many as a launch may have owners.
_MOST_ITEMS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftValue:
    """A declaration line: its value in TOML, and a comment, which is empty for a certain value."""

    key: str
    value: str
    comment: str = ""

    def line(self) -> str:
        """Return the TOML line."""
        return f"{self.key} = {self.value}" + (f"  # {self.comment}" if self.comment else "")


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftTable:
    """A table about events after the launch: `trade`, `change` or `claim`."""

    key: str
    values: Sequence[DraftValue]
    # What is missing; empty for a table that can be declared as it is.
    missing: str = ""

    def lines(self, launchpad: str) -> Iterator[str]:
        """Yield the TOML lines, as comments if something is missing."""
        lines = [f"[[launchpads.{launchpad}.{self.key}]]", *(value.line() for value in self.values)]
        if self.missing:
            yield f"# {self.missing}"
        yield from (f"# {line}" for line in lines) if self.missing else lines


@dataclass(frozen=True, kw_only=True, slots=True)
class EventArgument:
    """An event argument, or a part of it, with its value in a log; None without a log."""

    path: str
    type: str
    value: Any = None

    @property
    def name(self) -> str:
        """The last part of the path; for a list item, the whole path."""
        return self.path.rpartition(".")[2] if not self.path[-1].isdecimal() else self.path


@dataclass(frozen=True, kw_only=True, slots=True)
class FileLog:
    """A log with one of the file's events."""

    mined: MinedTransaction
    event: FileEvent
    log: Log
    arguments: Sequence[EventArgument]

    @property
    def emitter(self) -> str:
        """The log's contract (EIP-55)."""
        return checksum_address(self.log["address"])

    @property
    def label(self) -> str:
        """The log in words."""
        return f"log {int(self.log['logIndex'], 16)} of {self.mined.hash}"

    def of_type(self, kind: str) -> list[EventArgument]:
        """Return the arguments with an ABI type."""
        return [argument for argument in self.arguments if argument.type == kind]

    def equal(self, kind: str, value: object) -> list[EventArgument]:
        """Return the arguments with an ABI type and a value."""
        return [argument for argument in self.of_type(kind) if argument.value == value]


def first_named(arguments: Sequence[EventArgument], names: Sequence[str]) -> EventArgument | None:
    """Return the argument whose name equals or contains a name, preferring earlier names; None without one."""
    for name in names:
        for argument in arguments:
            own = argument.name.lower()
            if own.strip("_") == name if len(name) < _SHORT else name in own:
                return argument
    return None


def quoted(key: str, text: str, comment: str = "") -> DraftValue:
    """Return a line with a text."""
    return DraftValue(key=key, value=f'"{text}"', comment=comment)


def find_file_logs(mined: MinedTransaction, events: Sequence[FileEvent]) -> Iterator[FileLog]:
    """Yield the transaction's logs with the file's events, by any emitter."""
    for log in mined.logs:
        for each in events:
            if log["topics"][:1] == [each.event.topic0] and len(log["topics"]) == each.event.indexed + 1:
                try:
                    values = each.event.decode(log)
                except LogDecodingError:
                    continue
                yield FileLog(mined=mined, event=each, log=log, arguments=tuple(event_arguments(each.fields, values)))


def event_arguments(fields: Fields, values: Mapping[str, Any] | None, above: str = "") -> Iterator[EventArgument]:
    """Yield all event arguments and parts that a path may name; without values, no list items."""
    for each in fields:
        path, kind, value = f"{above}{each['name']}", each["type"], values and values[each["name"]]
        if kind == "tuple":
            yield from event_arguments(each["components"], value, f"{path}.")
        elif kind.endswith("[]"):
            for index, item in enumerate((value or ())[:_MOST_ITEMS] if not kind.startswith("tuple") else ()):
                yield EventArgument(path=f"{path}.{index}", type=kind[:-2], value=item)
        elif "hashed" not in each:
            yield EventArgument(path=path, type=kind, value=value)
