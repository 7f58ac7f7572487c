"""Events become rows, many at a time and each once: the one way for calls and files."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import IntegrityError, connection, models, transaction

from accounts.models import PartnerKey
from leaderboard import describing, fact_rows
from leaderboard.events import Event
from tokens.copy_text import CopyText
from tokens.staging import column_types, names, staged

# 64 bits of a digest, as whatever else locks by a number has its own.
_LOCK = int.from_bytes(hashlib.sha256(b"launchboard facts").digest()[:8], signed=True)

_INSERT = "INSERT INTO {table} ({columns}) SELECT {columns} FROM staged_fact ON CONFLICT DO NOTHING"


@dataclass(frozen=True)
class Reporter:
    """Who tells of events: `source` is whose ids they have.

    Of which agents it may tell depends on the key: without one of all, as operators do.
    """

    source: str
    partner_key_id: int | None = None

    @classmethod
    def of_key(cls, key: PartnerKey) -> "Reporter":
        """A partner."""
        return cls(source=f"key {key.pk}", partner_key_id=key.pk)


@dataclass(frozen=True)
class Recorded:
    """How many events told something new, and how many nothing; together all."""

    added: int
    known: int


def record(events: Sequence[Event], *, reporter: Reporter) -> Recorded:
    """Keep what events tell, all or nothing. Safe to repeat: an event or fact that is known adds nothing.

    Raises BadEvents for agents that don't exist and FIDs that are others', NotYours.
    """
    try:
        return _record(events, reporter)
    except IntegrityError:
        # An operator has just deleted the agent, or given another one its FID: now that can be seen.
        return _record(events, reporter)


def write_alone() -> None:
    """Have all others who write facts wait until the end of this database transaction; to be taken before any row.

    Facts have two unique constraints, and two who tell of the same in another order would wait for each other. None of
    them takes long.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("a lock until the end of a transaction is of no use outside of one")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])


def _record(events: Sequence[Event], reporter: Reporter) -> Recorded:
    with transaction.atomic():
        write_alone()
        agents = describing.find(events, partner_key_id=reporter.partner_key_id)
        facts = fact_rows.make(events, agent_ids=agents.ids, source=reporter.source)
        added = agents.described
        for model, rows in facts.told.items():
            added += _insert(model, rows)
        for model, rows in facts.beside.items():
            _insert(model, rows)
        # At the end of the caller's transaction nobody could look again.
        connection.check_constraints()
    return Recorded(added=added, known=len(events) - added)


def _insert(model: type[models.Model], rows: CopyText) -> int:
    """Add rows that are not there, by any of their constraints; how many were added."""
    types = column_types(model, rows.columns)
    statement = _INSERT.format(table=model._meta.db_table, columns=names(rows.columns))
    with connection.cursor() as cursor, staged(cursor, "staged_fact", types, rows):
        cursor.execute(statement)
        added: int = cursor.rowcount
    return added
