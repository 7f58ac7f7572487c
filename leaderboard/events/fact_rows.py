"""Conversion from events to fact table rows, as text for PostgreSQL's COPY."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import models

from config.postgresql.bulk_load import CopyText, format_copy_rows
from leaderboard.events.reported_events import ActionEvent, Event, InteractionEvent, RunEvent, ScoreEvent, TradeEvent
from leaderboard.facts.short_keys import cast_key, event_hex, run_key
from leaderboard.models import Action, Interaction, Run, SocialScore, Trade

Rows = Mapping[type[models.Model], CopyText]
AgentIds = Mapping[str, int]
RowBuilder = Callable[[Any, AgentIds, str, bool], CopyText]

_INTERACTION = ("key", "agent_id", "at", "kind", "actor_fid", "cast_key", "message_key", "text_key", "is_confirmed")


@dataclass(frozen=True)
class FactRows:
    """Rows by model.

    `reported` has a row for each event except descriptions. `accounts` has a SocialAccount row for each account with
    a registration time.
    """

    reported: Rows
    accounts: CopyText


def build_fact_rows(events: Iterable[Event], *, agent_ids: AgentIds, source: str, is_confirmed: bool) -> FactRows:
    """Return the rows for events from `source`; `agent_ids` maps public ids to primary keys.

    `is_confirmed` applies to the interactions.
    """
    by_type = defaultdict[type, list[Any]](list)
    for event in events:
        by_type[type(event)].append(event)
    reported = {
        model: rows(by_type[kind], agent_ids, source, is_confirmed)
        for kind, (model, rows) in _ROWS.items()
        if kind in by_type
    }
    return FactRows(reported=reported, accounts=_accounts(by_type[ScoreEvent]))


def _interactions(events: Sequence[InteractionEvent], agent_ids: AgentIds, source: str, is_confirmed: bool) -> CopyText:
    """Build the rows without the general encoder: most events are interactions, and all their values are digits."""
    lines = [
        f"{event_hex(source, event.id)}\t{agent_ids[event.agent_id]}\t{event.at.isoformat()}\t{event.kind.value}"
        f"\t{event.actor_fid}\t{event.cast_key}\t{event.message_key}\t{event.text_key}\t{is_confirmed}\n"
        for event in events
    ]
    return CopyText(_INTERACTION, "".join(lines).encode())


def _same_columns(*columns: str, **derived: Callable[[Any], Any]) -> RowBuilder:
    """Return a row builder that copies these event attributes and adds columns derived from the event."""

    def build(events: Sequence[Any], agent_ids: AgentIds, source: str, is_confirmed: bool) -> CopyText:
        return format_copy_rows(
            {"key": event_hex(source, event.id), "agent_id": agent_ids[event.agent_id]}
            | {column: getattr(event, column) for column in columns}
            | {column: derive(event) for column, derive in derived.items()}
            for event in events
        )

    return build


def _scores(events: Sequence[ScoreEvent], agent_ids: AgentIds, source: str, is_confirmed: bool) -> CopyText:
    return format_copy_rows({"fid": event.fid, "at": event.at, "score": event.score} for event in events)


def _accounts(events: Sequence[ScoreEvent]) -> CopyText:
    """Return one row per account; the newest event about an account counts."""
    newest = dict[int, ScoreEvent]()
    for event in events:
        if event.registered_at is not None and (event.fid not in newest or event.at > newest[event.fid].at):
            newest[event.fid] = event
    return format_copy_rows(
        {"fid": event.fid, "registered_at": event.registered_at, "told_at": event.at} for event in newest.values()
    )


_ROWS: Mapping[type, tuple[type[models.Model], RowBuilder]] = {
    ActionEvent: (
        Action,
        _same_columns("at", "kind", "cast_hash", "text_key", cast_key=lambda event: cast_key(event.cast_hash)),
    ),
    InteractionEvent: (Interaction, _interactions),
    RunEvent: (
        Run,
        _same_columns("kind", "started_at", "finished_at", "succeeded", run_key=lambda event: run_key(event.id)),
    ),
    TradeEvent: (Trade, _same_columns("at", "tx_hash", "log_index", "wallet", "is_buy", "amount")),
    ScoreEvent: (SocialScore, _scores),
}
