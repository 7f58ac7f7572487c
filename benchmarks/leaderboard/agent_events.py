"""Facts about invented agents as the events that partners report, one a line."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from benchmarks.leaderboard.agent_population import StoredFacts

_KINDS = ("like", "recast", "reply", "quote")
_ACTIONS = ("post", "reply", "quote")


def write_events(path: Path, facts: StoredFacts) -> int:
    """Write the file: agents first, then events by time; return its line count."""
    lines = 0
    with path.open("wb") as file:
        for event in _described(facts):
            file.write(orjson.dumps(event) + b"\n")
            lines += 1
        dated = [*_runs(facts), *_actions(facts), *_interactions(facts)]
        for number, (_, event) in enumerate(sorted(dated, key=lambda one: one[0])):
            file.write(orjson.dumps({"id": f"event-{number}", **event}) + b"\n")
        return lines + len(dated)


_DatedEvents = Iterator[tuple[int, dict[str, Any]]]


def _described(facts: StoredFacts) -> Iterator[dict[str, Any]]:
    agents = facts.agents
    at = _time(facts.computed_at - facts.seconds)
    for number, fid, creator in zip(
        agents.ids.tolist(), agents.fids.tolist(), agents.creator_fids.tolist(), strict=True
    ):
        token = {"chainId": 8453, "address": _hexadecimal(number, 40)}
        about = {"name": f"Agent {number}", "fid": fid or None, "token": token, "creatorFid": creator or None}
        yield {"id": f"agent-{number}", "type": "agent", "agentId": f"agent-{number}", "at": at, **about}


def _runs(facts: StoredFacts) -> _DatedEvents:
    runs = facts.runs
    for agent, at, succeeded in zip(
        _names(facts, runs.agent), runs.finished_at.tolist(), runs.succeeded.tolist(), strict=True
    ):
        times = {"startedAt": _time(at - 20), "finishedAt": _time(at)}
        yield at, {"type": "run", "agentId": agent, **times, "succeeded": succeeded}


def _actions(facts: StoredFacts) -> _DatedEvents:
    rows = facts.actions
    columns = (rows.at, rows.kind, rows.cast, rows.text)
    for agent, at, kind, cast, text in zip(_names(facts, rows.agent), *(c.tolist() for c in columns), strict=True):
        event = {"type": "action", "agentId": agent, "at": _time(at), "kind": _ACTIONS[kind - 1]}
        yield at, {**event, "castHash": _hexadecimal(cast, 40), "text": f"What I found today is {text}."}


def _interactions(facts: StoredFacts) -> _DatedEvents:
    rows = facts.interactions
    columns = (rows.at, rows.kind, rows.actor, rows.cast, rows.text)
    for number, (agent, at, kind, actor, cast, text) in enumerate(
        zip(_names(facts, rows.agent), *(column.tolist() for column in columns), strict=True)
    ):
        event = {"type": "interaction", "agentId": agent, "at": _time(at), "kind": _KINDS[kind - 1], "actorFid": actor}
        event["castHash"] = _hexadecimal(cast, 40)
        if kind > 2:
            event |= {"messageHash": _hexadecimal(number + 1, 40), "text": f"I say {text}!"}
        yield at, event


def _names(facts: StoredFacts, agent: np.ndarray[Any, Any]) -> list[str]:
    return [f"agent-{number}" for number in facts.agents.ids[agent].tolist()]


def _time(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


def _hexadecimal(key: int, digits: int) -> str:
    """Return 0x and so many hex digits, whose first sixteen are a key."""
    return f"0x{key % 2**64:016x}".ljust(2 + digits, "0")
