"""Events become rows, many at a time and each once: the one way for calls and files."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import IntegrityError, connection, models, transaction

from accounts.models import PartnerKey, Scope
from config.postgresql.advisory_locks import lock_number, take
from config.postgresql.bulk_load import CopyText, column_types, names, staged
from leaderboard.events import agent_descriptions, fact_rows
from leaderboard.events.errors import LacksScores, Trouble
from leaderboard.events.payloads import Event, Scored
from leaderboard.models import SocialAccount

_LOCK = lock_number("facts")

_INSERT = "INSERT INTO {table} ({columns}) SELECT {columns} FROM staged_fact ON CONFLICT {instead}"
# The newer event's word of when an account was registered counts.
_NEWER = """(fid) DO UPDATE SET registered_at = EXCLUDED.registered_at, told_at = EXCLUDED.told_at
WHERE leaderboard_socialaccount.told_at < EXCLUDED.told_at"""


@dataclass(frozen=True)
class Reporter:
    """Who tells of events: `source` is whose ids they have.

    Of which agents it may tell depends on the key: without one of all, as operators do. Scores concern everybody's
    accounts, so that keys need a scope of their own for them.
    """

    source: str
    partner_key_id: int | None = None
    tells_scores: bool = True

    @classmethod
    def of_key(cls, key: PartnerKey) -> "Reporter":
        """A partner."""
        return cls(source=f"key {key.pk}", partner_key_id=key.pk, tells_scores=Scope.SCORES in key.scopes)


@dataclass(frozen=True)
class Recorded:
    """How many events told something new, and how many nothing; together all."""

    added: int
    known: int


def record(events: Sequence[Event], *, reporter: Reporter) -> Recorded:
    """Keep what events tell, all or nothing. Safe to repeat: an event or fact that is known adds nothing.

    Raises BadEvents for agents that don't exist and FIDs and tokens that are others', NotYours, LacksScores.
    """
    if not reporter.tells_scores:
        _refuse_scores(events)
    try:
        return _record(events, reporter)
    except IntegrityError:
        # An operator has just deleted the agent, or given another one its FID or token: now that can be seen.
        return _record(events, reporter)


def write_alone() -> None:
    """Have all others who write facts wait until the end of this database transaction; to be taken before any row.

    Facts have two unique constraints, and two who tell of the same in another order would wait for each other. None of
    them takes long.
    """
    take(_LOCK)


def _refuse_scores(events: Sequence[Event]) -> None:
    rule = f"is taken of keys with the scope {Scope.SCORES} alone"
    troubles = [Trouble(index, "type", rule) for index, event in enumerate(events) if isinstance(event, Scored)]
    if troubles:
        raise LacksScores(troubles)


def _record(events: Sequence[Event], reporter: Reporter) -> Recorded:
    with transaction.atomic():
        write_alone()
        agents = agent_descriptions.find(events, partner_key_id=reporter.partner_key_id)
        facts = fact_rows.make(events, agent_ids=agents.ids, source=reporter.source)
        added = agents.described
        for model, rows in facts.told.items():
            added += _insert(model, rows)
        if facts.registered.text:
            _insert(SocialAccount, facts.registered, instead=_NEWER)
        # At the end of the caller's transaction nobody could look again.
        connection.check_constraints()
    return Recorded(added=added, known=len(events) - added)


def _insert(model: type[models.Model], rows: CopyText, *, instead: str = "DO NOTHING") -> int:
    """Add rows that are not there, by any of their constraints, and do what `instead` says with others; how many."""
    types = column_types(model, rows.columns)
    statement = _INSERT.format(table=model._meta.db_table, columns=names(rows.columns), instead=instead)
    with connection.cursor() as cursor, staged(cursor, "staged_fact", types, rows):
        cursor.execute(statement)
        added: int = cursor.rowcount
    return added
