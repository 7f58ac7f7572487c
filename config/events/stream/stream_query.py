"""Stream query: the event to go on from, and event filters. OpenAPI describes it by the same parsers.

A parameter without a value counts as absent, as everywhere in the API.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from config.events.event_types import EventColumns, event_types
from config.parsing.scalar_parsers import parse_whole_number

# Types that clients get by default start with it. Fees are claimed far more often than tokens are launched.
_STREAMED = "token."
MAX_BIGINT = 2**63 - 1

# EVM address in any case, base58 address, or FID.
CREATOR_PATTERN = "0[xX][0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44}|[1-9][0-9]{0,17}"
_CREATOR = re.compile(CREATOR_PATTERN)
# Fields in an event's data that name a token creator.
CREATOR_FIELDS = ("msg_sender", "requestor_address", "requestor_fid", "admin")


class StreamQueryError(ValueError):
    """Raised for invalid parameters; `details` maps each to its rule."""

    def __init__(self, details: Mapping[str, str]) -> None:
        super().__init__(", ".join(details))
        self.details = details


@dataclass(frozen=True, slots=True)
class StreamFilter:
    """A client's conditions, each None or empty for any value. Clients with equal ones share encoded events."""

    chain_id: int | None = None
    # Empty for `default_types`.
    types: frozenset[str] = frozenset()
    # FID as digits, or an address in the form of `creator_keys`.
    creator: str = ""

    @property
    def streamed_types(self) -> frozenset[str]:
        """Return the event types that the client gets."""
        return self.types or default_types()

    def matches(self, event: EventColumns, creators: frozenset[str]) -> bool:
        """Return whether a client gets the event, whose `creator_keys` are these."""
        return (
            (self.chain_id is None or self.chain_id == event.chain_id)
            and event.type in self.streamed_types
            and (not self.creator or self.creator in creators)
        )


@dataclass(frozen=True, slots=True)
class StreamQuery:
    """Client request: its filter, and its last event's id, None to start with new events."""

    filter: StreamFilter
    last_event_id: int | None


def creator_keys(data: Mapping[str, Any]) -> frozenset[str]:
    """Return the addresses and FIDs of a token's creators, EVM addresses in lower case."""
    return frozenset(_creator_key(str(data[name])) for name in CREATOR_FIELDS if data.get(name) is not None)


def streamed_types() -> list[str]:
    """Return the types of events that the stream sends."""
    return sorted(default_types() | {name for name, each in event_types().items() if each.is_stream_only})


@cache
def default_types() -> frozenset[str]:
    """Return the types that a client gets without naming any."""
    types = event_types().items()
    return frozenset(
        name for name, each in types if name.startswith(_STREAMED) and each.is_public and not each.is_stream_only
    )


def parse_chain_id(text: str) -> int:
    """Return the chain id. Raises ValueError."""
    return parse_whole_number(text, least=1, most=MAX_BIGINT)


def parse_types(text: str) -> frozenset[str]:
    """Return the types, which commas separate. Raises ValueError."""
    types, type_names = text.split(","), streamed_types()
    if not set(types) <= set(type_names) or len(types) > len(type_names):
        raise ValueError(f"must be 1 to {len(type_names)} of {', '.join(type_names)}, separated by commas")
    return frozenset(types)


def parse_creator(text: str) -> str:
    """Return the creator in the form of `creator_keys`. Raises ValueError."""
    if not _CREATOR.fullmatch(text):
        raise ValueError("must be an address or a FID")
    return _creator_key(text)


def parse_event_id(text: str) -> int:
    """Return an event id, or 0 to begin with the oldest stored event. Raises ValueError."""
    return parse_whole_number(text, least=0, most=MAX_BIGINT)


PARSERS: Mapping[str, Callable[[str], Any]] = {
    "chainId": parse_chain_id,
    "type": parse_types,
    "creator": parse_creator,
    "lastEventId": parse_event_id,
}


def parse_stream_query(parameters: Iterable[tuple[str, str]], *, last_event_id: str) -> StreamQuery:
    """Parse the query, and the header Last-Event-ID, empty if there is none. Raises StreamQueryError.

    The header wins: an EventSource that reconnects repeats the first request's query, and adds the header.
    """
    values: dict[str, Any] = {}
    seen_names: set[str] = set()
    details: dict[str, str] = {}
    parameter_pairs = [*parameters, *([("Last-Event-ID", last_event_id)] if last_event_id else [])]
    for name, text in parameter_pairs:
        parse = parse_event_id if name == "Last-Event-ID" else PARSERS.get(name)
        if parse is None or not text:
            continue
        if name in seen_names:
            details[name] = "must be given once"
            continue
        seen_names.add(name)
        try:
            values[name] = parse(text)
        except ValueError as error:
            details[name] = str(error)
    if details:
        raise StreamQueryError(details)
    stream_filter = StreamFilter(values.get("chainId"), values.get("type", frozenset()), values.get("creator", ""))
    return StreamQuery(stream_filter, values.get("Last-Event-ID", values.get("lastEventId")))


def _creator_key(text: str) -> str:
    """Return an EVM address in lower case, and all else unchanged: case matters in base58."""
    return text.lower() if text.startswith(("0x", "0X")) else text
