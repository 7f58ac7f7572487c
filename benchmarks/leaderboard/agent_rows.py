"""Facts about invented agents as PostgreSQL rows, by COPY in its binary format, with the indexes built at the end.

https://www.postgresql.org/docs/current/sql-copy.html ("Binary Format"). All rows in a table have one width here, so
that numpy writes them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from psycopg import Connection, sql

from benchmarks.leaderboard.agent_population import StoredFacts, draw_keys
from leaderboard.facts.columns import Int64Array

Array = np.ndarray[Any, Any]

# Microseconds are counted from 2000-01-01.
_EPOCH_SECONDS = 946_684_800
_HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_TRAILER = b"\xff\xff"
_ROWS_AT_ONCE = 200_000
_FACTS = [f"leaderboard_{name}" for name in ("run", "action", "interaction", "socialscore", "socialaccount")]

# The foreign keys, indexes and keys: what drops each, in this order, and what creates it again.
_DEFINITIONS = """
SELECT drop, make FROM (
    SELECT
        CASE contype WHEN 'f' THEN 0 ELSE 2 END AS place,
        format('ALTER TABLE %%s DROP CONSTRAINT %%I', conrelid::regclass, conname) AS drop,
        format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS make
    FROM pg_constraint
    WHERE contype IN ('f', 'p', 'u') AND %(tables)s::regclass[] && ARRAY[conrelid::regclass, confrelid::regclass]
    UNION ALL
    SELECT 1, format('DROP INDEX %%I', index.relname), pg_get_indexdef(index.oid)
    FROM pg_index JOIN pg_class AS index ON index.oid = indexrelid
    WHERE indrelid = ANY(%(tables)s::regclass[])
        AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
) AS found ORDER BY place
"""


@dataclass(frozen=True)
class Field:
    """A fixed-width field in network order, as PostgreSQL takes it for a column."""

    wire: str
    values: Array


def fill(connection: Connection[Any], facts: StoredFacts, *, seed: int) -> int:
    """Write the facts into empty tables, each agent with a database token; return the fact row count.

    Row times are the facts' times, and rows are stored by time, as they are where facts are reported
    as they happen. Needs as many tokens as there are agents.
    """
    rng = np.random.default_rng(seed)
    with connection.transaction():
        found: list[tuple[str, str]] = connection.execute(_DEFINITIONS, {"tables": _FACTS}).fetchall()
        connection.execute("SET LOCAL maintenance_work_mem = '512MB'")
        for drop, _ in found:
            connection.execute(drop)
        _write_agents(connection, facts)
        written = _write_runs(connection, facts, rng) + _write_actions(connection, facts, rng)
        written += _write_interactions(connection, facts, rng)
        _write_accounts(connection, facts)
        for _, make in reversed(found):
            connection.execute(make)
    for table in ("leaderboard_agent", *_FACTS):
        connection.execute(sql.SQL("VACUUM (ANALYZE) {}").format(sql.Identifier(table)))
    return written


def _write_agents(connection: Connection[Any], facts: StoredFacts) -> None:
    agents = facts.agents
    tokens = connection.execute(
        "SELECT chain_id, contract_address FROM tokens_token ORDER BY id LIMIT %s", [agents.ids.size]
    ).fetchall()
    assert len(tokens) == agents.ids.size, "there are too few tokens"
    columns = (
        "id",
        "agent_id",
        "name",
        "fid",
        "creator_fid",
        "token_chain_id",
        "token_address",
        "is_hidden",
        "created_at",
    )
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    rows = zip(agents.ids.tolist(), agents.fids.tolist(), agents.creator_fids.tolist(), tokens, strict=True)
    with connection.cursor().copy(sql.SQL("COPY leaderboard_agent ({}) FROM STDIN").format(names)) as copy:
        for number, fid, creator, (chain, address) in rows:
            copy.write_row(
                (
                    number,
                    f"agent-{number}",
                    f"Agent {number}",
                    fid or None,
                    creator or None,
                    chain,
                    address,
                    False,
                    "now",
                )
            )


def _write_runs(connection: Connection[Any], facts: StoredFacts, rng: np.random.Generator) -> int:
    runs = facts.runs
    order = np.argsort(runs.finished_at)
    at = runs.finished_at[order]
    fields = {
        "key": _keys(rng, order.size),
        "agent_id": _whole(facts.agents.ids[runs.agent[order]]),
        "kind": Field("V0", np.empty(order.size, "V0")),
        "started_at": _moment(at - rng.integers(1, 300, size=order.size)),
        "finished_at": _moment(at),
        "succeeded": Field("|u1", runs.succeeded[order]),
    }
    return _copy(connection, "leaderboard_run", fields)


def _write_actions(connection: Connection[Any], facts: StoredFacts, rng: np.random.Generator) -> int:
    actions = facts.actions
    order = np.argsort(actions.at)
    cast = actions.cast[order]
    fields = {
        "key": _keys(rng, order.size),
        "agent_id": _whole(facts.agents.ids[actions.agent[order]]),
        "at": _moment(actions.at[order]),
        "kind": Field(">i2", actions.kind[order]),
        "cast_hash": _hexadecimal(cast, digits=40),
        "cast_key": _whole(cast),
        "text_key": _whole(actions.text[order]),
    }
    return _copy(connection, "leaderboard_action", fields)


def _write_interactions(connection: Connection[Any], facts: StoredFacts, rng: np.random.Generator) -> int:
    interactions = facts.interactions
    order = np.argsort(interactions.at)
    kind = interactions.kind[order]
    fields = {
        "key": _keys(rng, order.size),
        "agent_id": _whole(facts.agents.ids[interactions.agent[order]]),
        "at": _moment(interactions.at[order]),
        "kind": Field(">i2", kind),
        "actor_fid": _whole(interactions.actor[order]),
        "cast_key": _whole(interactions.cast[order]),
        "message_key": _whole(np.where(kind > 2, draw_keys(rng, order.size), 0)),
        "text_key": _whole(interactions.text[order]),
        "is_confirmed": Field("|u1", interactions.is_confirmed[order]),
    }
    return _copy(connection, "leaderboard_interaction", fields)


def _write_accounts(connection: Connection[Any], facts: StoredFacts) -> None:
    """Write scores, found on the facts' first day, and registrations."""
    accounts = facts.accounts
    scored, registered = ~np.isnan(accounts.scores), accounts.registered_at != 0
    first = np.full(int(scored.sum()), facts.computed_at - facts.seconds, np.int64)
    fids, scores = _whole(accounts.fids[scored]), Field(">f8", accounts.scores[scored])
    _copy(connection, "leaderboard_socialscore", {"fid": fids, "at": _moment(first), "score": scores})
    times = _moment(accounts.registered_at[registered])
    rows = {"fid": _whole(accounts.fids[registered]), "registered_at": times, "told_at": times}
    _copy(connection, "leaderboard_socialaccount", rows)


def _copy(connection: Connection[Any], table: str, fields: Mapping[str, Field]) -> int:
    """Write rows with these fields; return their count."""
    layout = [("fields", ">i2")]
    for name, field in fields.items():
        layout += [(f"length of {name}", ">i4"), (name, field.wire)]
    count = next(iter(fields.values())).values.size
    names = sql.SQL(", ").join(map(sql.Identifier, fields))
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(sql.Identifier(table), names)
    with connection.cursor().copy(statement) as copy:
        copy.write(_HEADER)
        for first in range(0, count, _ROWS_AT_ONCE):
            part = slice(first, min(first + _ROWS_AT_ONCE, count))
            rows = np.empty(part.stop - part.start, dtype=layout)
            rows["fields"] = len(fields)
            for name, field in fields.items():
                rows[f"length of {name}"] = np.dtype(field.wire).itemsize
                rows[name] = field.values[part]
            copy.write(rows.tobytes())
        copy.write(_TRAILER)
    return count


def _keys(rng: np.random.Generator, count: int) -> Field:
    """Return random UUIDs, as fact keys are digests."""
    return Field("V16", np.frombuffer(rng.bytes(16 * count), dtype="V16"))


def _whole(values: Int64Array) -> Field:
    return Field(">i8", values)


def _moment(seconds: Int64Array) -> Field:
    return Field(">i8", (seconds - _EPOCH_SECONDS) * 1_000_000)


def _hexadecimal(keys: Int64Array, *, digits: int) -> Field:
    """Return 0x and so many hex digits, whose first sixteen are a key."""
    text = np.full((keys.size, 2 + digits), ord("0"), dtype=np.uint8)
    text[:, 1] = ord("x")
    found = np.frombuffer(keys.astype(">i8").tobytes().hex().encode(), dtype=np.uint8)
    text[:, 2:18] = found.reshape(keys.size, 16)
    wire = f"S{2 + digits}"
    return Field(wire, text.reshape(-1).view(wire))
