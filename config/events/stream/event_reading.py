"""Reader for published events on a separate connection, without Django's models."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Any, LiteralString, Self

import orjson
import psycopg
from psycopg.rows import TupleRow, class_row
from psycopg.types.json import set_json_loads

from config.events.stream.stream_query import CREATOR_FIELDS, StreamFilter

# Session name in pg_stat_activity.
APPLICATION_NAME = "launchboard stream"
# libpq rounds 1 up to 2.
_CONNECT_SECONDS = 5
_STATEMENT_MS = 10_000

# Data of other events never leaves the database. Their ids are read, so that the next page starts after them.
_NEW: LiteralString = """
SELECT id, type, version, created_at, chain_id, subject,
    CASE WHEN audience IN ('public', 'stream') AND type = ANY(%(streamed)s) THEN data END AS data
FROM events_event WHERE id > %(after)s ORDER BY id LIMIT %(limit)s
"""
# The creator's case is ignored here: `StreamFilter.matches` decides.
_MATCHING: LiteralString = """
SELECT id, type, version, created_at, chain_id, subject, data FROM events_event
WHERE id > %(after)s AND id <= %(upto)s AND audience IN ('public', 'stream') AND type = ANY(%(types)s)
    AND (%(chain_id)s::bigint IS NULL OR chain_id = %(chain_id)s)
    AND (%(creator)s = '' OR lower(%(creator)s) IN (
        SELECT lower(data ->> field) FROM unnest(%(creator_fields)s::text[]) AS field))
ORDER BY id LIMIT %(limit)s
"""
_NEWEST: LiteralString = "SELECT coalesce(max(id), 0) FROM events_event"
_OLDEST: LiteralString = "SELECT coalesce(min(id), 0) FROM events_event"


@dataclass(frozen=True, slots=True)
class EventRow:
    """Published event row; `data` is None if the stream doesn't send the event."""

    id: int
    type: str
    version: int
    created_at: datetime
    chain_id: int | None
    subject: str
    data: dict[str, Any] | None


def connection_options(database: Mapping[str, Any]) -> dict[str, Any]:
    """Return psycopg's parameters for a database in DATABASES."""
    names = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    address_parameters = {name: database[key] for name, key in names.items() if database.get(key)}
    configured_options: dict[str, Any] = database.get("OPTIONS", {})
    options = f"{configured_options.get('options', '')} -c statement_timeout={_STATEMENT_MS}".strip()
    return (
        {"connect_timeout": _CONNECT_SECONDS, "application_name": APPLICATION_NAME}
        | configured_options
        | address_parameters
        | {"options": options}
    )


class EventReader:
    """Published events in PostgreSQL, read one statement at a time. It connects on use, and again after a failure.

    Its methods raise psycopg.Error, after which the next call connects.
    """

    def __init__(self, options: Mapping[str, Any], *, streamed: Collection[str]) -> None:
        """Connect with psycopg's `options`; `streamed` are the types whose data is read."""
        self._options, self._streamed = dict(options), list(streamed)
        self._connection: psycopg.AsyncConnection[TupleRow] | None = None
        # The connection runs one statement at a time, so that any number of readers use one session.
        self._turn = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, value: Any, trace: TracebackType | None) -> None:
        await self._close()

    @property
    def is_connected(self) -> bool:
        """Return whether the last statement succeeded."""
        return self._connection is not None

    async def fetch_new(self, *, after: int, limit: int) -> list[EventRow]:
        """Return the first `limit` events with ids above `after`, without the data of those that are not streamed."""
        return await self._fetch_rows(_NEW, {"after": after, "limit": limit, "streamed": self._streamed})

    async def fetch_matching(self, wanted: StreamFilter, *, after: int, upto: int, limit: int) -> list[EventRow]:
        """Return the first `limit` streamed events with ids above `after`, up to and including `upto`, that match."""
        parameters = {"after": after, "upto": upto, "limit": limit, "chain_id": wanted.chain_id}
        creator = {"creator": wanted.creator, "creator_fields": list(CREATOR_FIELDS)}
        return await self._fetch_rows(_MATCHING, parameters | {"types": list(wanted.streamed_types)} | creator)

    async def newest_id(self) -> int:
        """Return the newest event's id, 0 without any."""
        return await self._fetch_number(_NEWEST)

    async def oldest_id(self) -> int:
        """Return the oldest stored event's id, 0 without any."""
        return await self._fetch_number(_OLDEST)

    async def _fetch_rows(self, statement: LiteralString, parameters: Mapping[str, Any]) -> list[EventRow]:
        async with self._turn:
            connection = await self._connect()
            try:
                async with connection.cursor(row_factory=class_row(EventRow)) as cursor:
                    await cursor.execute(statement, parameters)
                    return await cursor.fetchall()
            except psycopg.Error:
                await self._close()
                raise

    async def _fetch_number(self, statement: LiteralString) -> int:
        async with self._turn:
            connection = await self._connect()
            try:
                row = await (await connection.execute(statement)).fetchone()
            except psycopg.Error:
                await self._close()
                raise
        return int(row[0]) if row else 0

    async def _connect(self) -> psycopg.AsyncConnection[TupleRow]:
        if self._connection is None:
            self._connection = await psycopg.AsyncConnection.connect(**self._options, autocommit=True)
            set_json_loads(orjson.loads, self._connection)
        return self._connection

    async def _close(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await connection.close()
