"""Events as rows of the tables of facts, in the text that COPY takes."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import models

from config.postgresql.bulk_load import CopyText, copy_text
from leaderboard.events.payloads import Acted, Event, Interacted, Ran, Scored, Traded
from leaderboard.facts.short_keys import cast_key, event_hex, run_key
from leaderboard.models import Action, Interaction, Run, SocialScore, Trade

Rows = Mapping[type[models.Model], CopyText]
AgentIds = Mapping[str, int]

_INTERACTION = ("key", "agent_id", "at", "kind", "actor_fid", "cast_key", "message_key", "text_key")


@dataclass(frozen=True)
class Facts:
    """`told` has a row for each event but those that describe agents.

    `registered` has rows of SocialAccount, one for each account of which events tell when it was registered.
    """

    told: Rows
    registered: CopyText


def make(events: Iterable[Event], *, agent_ids: AgentIds, source: str) -> Facts:
    """The rows of events that `source` tells of; `agent_ids` are the primary keys of their agents."""
    by_type = defaultdict[type, list[Any]](list)
    for event in events:
        by_type[type(event)].append(event)
    told = {model: rows(by_type[kind], agent_ids, source) for kind, (model, rows) in _ROWS.items() if kind in by_type}
    return Facts(told=told, registered=_accounts(by_type[Scored]))


def _interactions(events: Sequence[Interacted], agent_ids: AgentIds, source: str) -> CopyText:
    """There are far more of these than of all else; all of it is digits, which COPY takes as they are."""
    lines = [
        f"{event_hex(source, event.id)}\t{agent_ids[event.agent_id]}\t{event.at.isoformat()}\t{event.kind.value}"
        f"\t{event.actor_fid}\t{event.cast_key}\t{event.message_key}\t{event.text_key}\n"
        for event in events
    ]
    return CopyText(_INTERACTION, "".join(lines).encode())


def _actions(events: Sequence[Acted], agent_ids: AgentIds, source: str) -> CopyText:
    return copy_text(
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


def _runs(events: Sequence[Ran], agent_ids: AgentIds, source: str) -> CopyText:
    return copy_text(
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


def _trades(events: Sequence[Traded], agent_ids: AgentIds, source: str) -> CopyText:
    return copy_text(
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


def _scores(events: Sequence[Scored], agent_ids: AgentIds, source: str) -> CopyText:
    return copy_text({"fid": event.fid, "at": event.at, "score": event.score} for event in events)


def _accounts(events: Sequence[Scored]) -> CopyText:
    """Of two that tell of one account the newer one's row."""
    newest = dict[int, Scored]()
    for event in events:
        if event.registered_at is not None and (event.fid not in newest or event.at > newest[event.fid].at):
            newest[event.fid] = event
    return copy_text(
        {"fid": event.fid, "registered_at": event.registered_at, "told_at": event.at} for event in newest.values()
    )


_ROWS: Mapping[type, tuple[type[models.Model], Callable[[Any, AgentIds, str], CopyText]]] = {
    Interacted: (Interaction, _interactions),
    Acted: (Action, _actions),
    Ran: (Run, _runs),
    Traded: (Trade, _trades),
    Scored: (SocialScore, _scores),
}
