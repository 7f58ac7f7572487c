"""Recording events as fact rows, in bulk and idempotently: the only write path for API calls and files."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import IntegrityError, connection, models, transaction
from django.db.models import Count

from accounts.models import PartnerKey, Scope
from config.postgresql.advisory_locks import advisory_lock_key, take_transaction_lock
from config.postgresql.bulk_load import CopyText, column_list, column_types, staging_table
from leaderboard.events import agent_descriptions, fact_rows
from leaderboard.events.errors import EventProblem, MissingScoresScopeError
from leaderboard.events.fact_rows import AgentIds
from leaderboard.events.reported_events import Event, InteractionEvent, ScoreEvent
from leaderboard.models import HubQuote, Interaction, InteractionKind, SocialAccount

# Quotes per agent that wait for the hub. Further quotes stay unconfirmed: invented quotes must not delay other agents'.
MAX_WAITING_QUOTES = 500
_LOCK = advisory_lock_key("facts")

_INSERT = "INSERT INTO {table} ({columns}) SELECT {columns} FROM staged_fact ON CONFLICT {on_conflict}"
# Interactions that a partner key reported before the operator.
_CONFIRM = """
UPDATE leaderboard_interaction AS known SET is_confirmed = true FROM staged_fact AS fact
WHERE NOT known.is_confirmed AND known.cast_key = fact.cast_key AND known.actor_fid = fact.actor_fid
    AND known.kind = fact.kind AND known.message_key = fact.message_key AND known.agent_id = fact.agent_id
"""
# The newer event decides when an account was registered.
_KEEP_NEWER = """(fid) DO UPDATE SET registered_at = EXCLUDED.registered_at, told_at = EXCLUDED.told_at
WHERE leaderboard_socialaccount.told_at < EXCLUDED.told_at"""


@dataclass(frozen=True)
class Reporter:
    """Event source: `source` is the namespace for event ids.

    A partner key may report only on its own agents; operators, who have no key, on all. Social scores affect all
    agents' audiences, so a key needs a separate scope for them.
    """

    source: str
    partner_key_id: int | None = None
    may_report_scores: bool = True

    @property
    def is_trusted(self) -> bool:
        """Whether reported interactions count as confirmed: the operator's, or all if no hub is configured."""
        return self.partner_key_id is None or not settings.FARCASTER_HUB_URL

    @classmethod
    def for_key(cls, key: PartnerKey) -> "Reporter":
        """Return the reporter for a partner key."""
        return cls(source=f"key {key.pk}", partner_key_id=key.pk, may_report_scores=Scope.SCORES in key.scopes)


@dataclass(frozen=True)
class RecordedCounts:
    """Number of events that added a fact, and number of events that were already known; together all events."""

    added: int
    known: int


def record_events(events: Sequence[Event], *, reporter: Reporter) -> RecordedCounts:
    """Record events, all or nothing. Safe to repeat: a known event or fact adds nothing.

    Raises InvalidEventsError for unknown agents and for FIDs and tokens that belong to other agents, ForeignAgentError,
    MissingScoresScopeError.
    """
    if not reporter.may_report_scores:
        _reject_scores(events)
    try:
        return _record(events, reporter)
    except IntegrityError:
        # An operator has just deleted the agent or moved its FID or token; a second attempt sees the committed change.
        return _record(events, reporter)


def lock_fact_writes() -> None:
    """Take the fact writers' advisory lock until the transaction ends; call it before any row lock.

    Fact tables have two unique constraints. Two writers with the same facts in different sequence would deadlock.
    Writers hold the lock briefly.
    """
    take_transaction_lock(_LOCK)


def _reject_scores(events: Sequence[Event]) -> None:
    rule = f"requires a key with the scope {Scope.SCORES}"
    problems = [
        EventProblem(index, "type", rule) for index, event in enumerate(events) if isinstance(event, ScoreEvent)
    ]
    if problems:
        raise MissingScoresScopeError(problems)


def _record(events: Sequence[Event], reporter: Reporter) -> RecordedCounts:
    with transaction.atomic():
        lock_fact_writes()
        agents = agent_descriptions.resolve_agents(events, partner_key_id=reporter.partner_key_id)
        fact_tables = fact_rows.build_fact_rows(
            events, agent_ids=agents.ids, source=reporter.source, is_confirmed=reporter.is_trusted
        )
        added = agents.described
        for model, rows in fact_tables.reported.items():
            confirm = _CONFIRM if model is Interaction and reporter.partner_key_id is None else ""
            added += _insert(model, rows, then=confirm)
        if fact_tables.accounts.text:
            _insert(SocialAccount, fact_tables.accounts, on_conflict=_KEEP_NEWER)
        if not reporter.is_trusted:
            _queue_quotes(events, agents.ids)
        # Deferred constraints must fail here: the caller's commit has no second attempt.
        connection.check_constraints()
    return RecordedCounts(added=added, known=len(events) - added)


def _queue_quotes(events: Sequence[Event], agent_ids: AgentIds) -> None:
    """Queue unconfirmed quotes for a look-up on the hub, up to MAX_WAITING_QUOTES per agent."""
    quotes = {
        (agent_ids[event.agent_id], event.message_hash): event
        for event in events
        if isinstance(event, InteractionEvent) and event.kind is InteractionKind.QUOTE
    }
    if not quotes:
        return
    stored = Interaction.objects.filter(cast_key__in={event.cast_key for event in quotes.values()}, is_confirmed=True)
    confirmed = set(stored.filter(kind=InteractionKind.QUOTE).values_list("agent_id", "message_key"))
    waiting = HubQuote.objects.filter(agent__in={agent_id for agent_id, _ in quotes})
    counts = waiting.values("agent").annotate(number=Count("pk"))
    numbers = {int(row["agent"]): int(row["number"]) for row in counts}
    rows = []
    for (agent_id, message_hash), event in quotes.items():
        number = numbers.get(agent_id, 0)
        if number < MAX_WAITING_QUOTES and (agent_id, event.message_key) not in confirmed:
            numbers[agent_id] = number + 1
            rows.append(HubQuote(agent_id=agent_id, fid=event.actor_fid, message_hash=message_hash, at=event.at))
    HubQuote.objects.bulk_create(rows, ignore_conflicts=True)


def _insert(model: type[models.Model], rows: CopyText, *, on_conflict: str = "DO NOTHING", then: str = "") -> int:
    """Insert rows and return how many were written.

    `on_conflict` applies to rows that violate any unique constraint; `then` is a statement on the staged rows.
    """
    types = column_types(model, rows.columns)
    statement = _INSERT.format(table=model._meta.db_table, columns=column_list(rows.columns), on_conflict=on_conflict)
    with connection.cursor() as cursor, staging_table(cursor, "staged_fact", types, rows):
        cursor.execute(statement)
        added: int = cursor.rowcount
        if then:
            cursor.execute(then)
    return added
