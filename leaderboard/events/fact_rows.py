"""Conversion of events into rows of the fact tables, as text for PostgreSQL's COPY."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import models

from config.postgresql.bulk_load import CopyText, format_copy_rows
from leaderboard.events.payloads import ActionEvent, Event, InteractionEvent, RunEvent, ScoreEvent, TradeEvent
from leaderboard.facts.short_keys import cast_key, event_hex, run_key
from leaderboard.models import Action, Interaction, Run, SocialScore, Trade

Rows = Mapping[type[models.Model], CopyText]
AgentIds = Mapping[str, int]

_INTERACTION = ("key", "agent_id", "at", "kind", "actor_fid", "cast_key", "message_key", "text_key")


@dataclass(frozen=True)
class FactRows:
    """Rows by model.

    `reported` has a row for each event except descriptions. `accounts` has rows of SocialAccount, one for each
    account with a registration time.
    """

    reported: Rows
    accounts: CopyText


def build_fact_rows(events: Iterable[Event], *, agent_ids: AgentIds, source: str) -> FactRows:
    """Return the rows for events of `source`; `agent_ids` maps public ids to primary keys."""
    by_type = defaultdict[type, list[Any]](list)
    for event in events:
        by_type[type(event)].append(event)
    reported = {
        model: rows(by_type[kind], agent_ids, source) for kind, (model, rows) in _ROWS.items() if kind in by_type
    }
    return FactRows(reported=reported, accounts=_accounts(by_type[ScoreEvent]))


def _interactions(events: Sequence[InteractionEvent], agent_ids: AgentIds, source: str) -> CopyText:
    """Build the rows without the general encoder: most events are interactions, and all their values are digits."""
    lines = [
        f"{event_hex(source, event.id)}\t{agent_ids[event.agent_id]}\t{event.at.isoformat()}\t{event.kind.value}"
        f"\t{event.actor_fid}\t{event.cast_key}\t{event.message_key}\t{event.text_key}\n"
        for event in events
    ]
    return CopyText(_INTERACTION, "".join(lines).encode())


def _actions(events: Sequence[ActionEvent], agent_ids: AgentIds, source: str) -> CopyText:
    return format_copy_rows(
        {
            "key": event_hex(source, event.id),
            "agent_id": agent_ids[event.agent_id],
            "at": event.at,
            "kind": event.kind.value,
            "cast_hash": event.cast_hash,
            "cast_key": cast_key(event.cast_hash),
            "text_key": event.text_key,
        }
        for event in events
    )


def _runs(events: Sequence[RunEvent], agent_ids: AgentIds, source: str) -> CopyText:
    return format_copy_rows(
        {
            "key": event_hex(source, event.id),
            "agent_id": agent_ids[event.agent_id],
            "kind": event.kind,
            "started_at": event.started_at,
            "finished_at": event.finished_at,
            "succeeded": event.succeeded,
            "run_key": run_key(event.id),
        }
        for event in events
    )


def _trades(events: Sequence[TradeEvent], agent_ids: AgentIds, source: str) -> CopyText:
    return format_copy_rows(
        {
            "key": event_hex(source, event.id),
            "agent_id": agent_ids[event.agent_id],
            "at": event.at,
            "tx_hash": event.tx_hash,
            "log_index": event.log_index,
            "wallet": event.wallet,
            "is_buy": event.is_buy,
            "amount": event.amount,
        }
        for event in events
    )


def _scores(events: Sequence[ScoreEvent], agent_ids: AgentIds, source: str) -> CopyText:
    return format_copy_rows({"fid": event.fid, "at": event.at, "score": event.score} for event in events)


def _accounts(events: Sequence[ScoreEvent]) -> CopyText:
    """Return one row per account; of two events about one account, the newer counts."""
    newest = dict[int, ScoreEvent]()
    for event in events:
        if event.registered_at is not None and (event.fid not in newest or event.at > newest[event.fid].at):
            newest[event.fid] = event
    return format_copy_rows(
        {"fid": event.fid, "registered_at": event.registered_at, "told_at": event.at} for event in newest.values()
    )


_ROWS: Mapping[type, tuple[type[models.Model], Callable[[Any, AgentIds, str], CopyText]]] = {
    InteractionEvent: (Interaction, _interactions),
    ActionEvent: (Action, _actions),
    RunEvent: (Run, _runs),
    TradeEvent: (Trade, _trades),
    ScoreEvent: (SocialScore, _scores),
}
