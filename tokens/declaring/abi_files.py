"""Events in an ABI file: a JSON array, or a compiler's artifact with `abi`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.http.errors import PermanentError
from tokens.chains.abi.codec import AbiEvent, declared_event
from tokens.chains.abi.declarations import parse_event

Fields = Sequence[Mapping[str, Any]]


class AbiFileError(PermanentError):
    """A file that is no ABI, or one without an event."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileEvent:
    """An ABI event in the form that declarations use."""

    text: str
    event: AbiEvent
    # Named fields. Indexed texts, lists and structs are hashes.
    fields: Fields


def read_events(path: Path) -> list[FileEvent]:
    """Return the events that can be declared. Raises AbiFileError."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise AbiFileError(f"{path}: can't be read as JSON: {error}") from error
    items = document.get("abi") if isinstance(document, dict) else document
    if not isinstance(items, list):
        raise AbiFileError(f'{path}: expected a JSON array, or an object with "abi"')
    events = list(_events(items))
    if not events:
        raise AbiFileError(f"{path}: no event can be declared; of a proxy, take the ABI of its implementation")
    return events


def read_all_events(paths: Sequence[Path]) -> list[FileEvent]:
    """Return the events of several files, each once. Raises AbiFileError."""
    events = [event for path in paths for event in read_events(path)]
    return list({(each.event.topic0, each.event.indexed): each for each in reversed(events)}.values())[::-1]


def _events(items: Sequence[object]) -> Iterator[FileEvent]:
    for item in items:
        if isinstance(item, dict) and item.get("type") == "event" and not item.get("anonymous"):
            try:
                text = f"{item['name']}({_fields_text(item['inputs'])})"
                yield FileEvent(text=text, event=declared_event(text), fields=parse_event(text)["inputs"])
            except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
                # A type that no declaration has, such as a list with a fixed length.
                continue


def _fields_text(fields: Fields) -> str:
    names = [field["name"] for field in fields]
    return ", ".join(_field_text(field, index, names) for index, field in enumerate(fields))


def _field_text(field: Mapping[str, Any], index: int, names: Sequence[str]) -> str:
    kind: str = field["type"]
    if kind.startswith("tuple"):
        kind = f"({_fields_text(field['components'])}){kind.removeprefix('tuple')}"
    # Compilers leave a name empty where the source has none.
    name = field["name"] if field["name"] and names.count(field["name"]) == 1 else f"{field['name']}arg{index}"
    return f"{kind}{' indexed' if field.get('indexed') else ''} {name}"
