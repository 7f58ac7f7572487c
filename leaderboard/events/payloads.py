"""What is told of agents: each type of event with what its JSON becomes. No database.

An event is an object with a `type` and the keys of that type (docs/agents.md). `read` is the one way from JSON to
events, whether they come in a call or from a file; whether its agent exists, and whose that is, `leaderboard.events.recording`
finds out.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from config.json_rules import Key, Refused, Rule, list_of, object_of, read_object
from leaderboard.events import field_rules as rules
from leaderboard.models.facts import ActionKind, InteractionKind
from tokens.deploying.rules.scalars import choice

MAX_WALLETS = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Described:
    """What an agent is, from `at` on.

    `changes` are columns of Agent with their new values, as far as the event names them; `wallets` None where it
    names none.
    """

    id: str
    at: datetime
    agent_id: str
    changes: Mapping[str, Any]
    wallets: tuple[str, ...] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    id: str
    agent_id: str
    kind: str
    started_at: datetime
    finished_at: datetime
    succeeded: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Acted:
    """The agent cast something; `text_key` is 0 without a text."""

    id: str
    at: datetime
    agent_id: str
    kind: ActionKind
    # 0x and 40 lower-case hex digits.
    cast_hash: str
    text_key: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Interacted:
    """Somebody took up a cast of the agent; the keys are those of `leaderboard.facts.short_keys`, 0 where there is nothing."""

    id: str
    at: datetime
    agent_id: str
    kind: InteractionKind
    actor_fid: int
    cast_key: int
    message_key: int
    text_key: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Traded:
    """The agent's token was bought or sold; `amount` is in its smallest unit."""

    id: str
    at: datetime
    agent_id: str
    tx_hash: str
    log_index: int
    # EIP-55, or base58.
    wallet: str
    is_buy: bool
    amount: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Scored:
    """An account's social score, from 0 to 1; of no agent. `at` is never ahead of when it was told."""

    id: str
    at: datetime
    fid: int
    score: float
    registered_at: datetime | None


AgentEvent = Described | Ran | Acted | Interacted | Traded
Event = AgentEvent | Scored


def read(value: Any, *, latest: datetime) -> Event:
    """The event that a parsed JSON value is. Times after `latest` are refused (`event_rules.latest_time`).

    Raises Refused, which has all that is wrong, each with its path in the event.
    """
    if not isinstance(value, dict):
        raise Refused([("", "must be a JSON object")])
    reader = _READERS.get(_text_or_none(value.get("type")))
    if reader is None:
        raise Refused([("type", _TYPE_RULE if "type" in value else "is required")])
    return reader(value, latest)


class _Shape:
    """The rules for the keys of a type: quick while all is well, and thorough about what is not."""

    def __init__(self, *, required: Mapping[str, Rule], optional: Mapping[str, Rule]) -> None:
        self._rules: dict[str, Rule] = {"type": str, **required, **optional}
        self._required = frozenset(("type", *required))
        self._keys = {name: Key(rule=rule) for name, rule in self._rules.items() if name in self._required}
        self._keys |= {name: Key(rule=rule, default=None) for name, rule in optional.items()}

    def take(self, value: dict[str, Any]) -> dict[str, Any]:
        """What the rules make of the values that are not null. Raises Refused."""
        taken: dict[str, Any] = {}
        every = self._rules
        try:
            for name, item in value.items():
                rule = every[name]
                if item is not None:
                    taken[name] = rule(item)
            is_well = self._required <= taken.keys()
        except (KeyError, ValueError):
            is_well = False
        if not is_well:
            raise Refused(read_object(value, self._keys)[1])
        return taken


_EVENT: dict[str, Rule] = {"id": rules.event_id, "at": rules.time}
_OF_AGENT = _EVENT | {"agentId": rules.agent_id}

_DESCRIBED = _Shape(
    required=_OF_AGENT,
    optional={
        "name": rules.name,
        "fid": rules.fid,
        "token": object_of({"chainId": Key(rule=rules.chain_id), "address": Key(rule=rules.address)}),
        "creatorFid": rules.fid,
        "wallets": list_of(rules.address, most=MAX_WALLETS),
    },
)
_RAN = _Shape(
    required={
        "id": rules.event_id,
        "agentId": rules.agent_id,
        "startedAt": rules.time,
        "finishedAt": rules.time,
        "succeeded": rules.truth,
    },
    optional={"kind": rules.run_kind},
)
_ACTED = _Shape(
    required=_OF_AGENT | {"kind": rules.action_kind, "castHash": rules.cast_hash}, optional={"text": rules.text_key}
)
_INTERACTED = _Shape(
    required=_OF_AGENT | {"kind": rules.interaction_kind, "castHash": rules.key_of_cast, "actorFid": rules.fid},
    optional={"messageHash": rules.key_of_cast, "text": rules.text_key},
)
_TRADED = _Shape(
    required=_OF_AGENT
    | {
        "txHash": rules.tx_hash,
        "logIndex": rules.log_index,
        "wallet": rules.address,
        "side": choice("buy", "sell"),
        "amount": rules.amount,
    },
    optional={},
)
_SCORED = _Shape(required=_EVENT | {"fid": rules.fid, "score": rules.score}, optional={"registeredAt": rules.time})

# The interactions that are casts themselves.
_MESSAGES = (InteractionKind.REPLY, InteractionKind.QUOTE)
# Of an agent's description: key -> column. What is null is taken away.
_COLUMNS = {"fid": "fid", "creatorFid": "creator_fid"}


def _described(value: dict[str, Any], latest: datetime) -> Described:
    taken = _DESCRIBED.take(value)
    _refuse_future(taken, latest, "at")
    changes = {column: taken.get(name) for name, column in _COLUMNS.items() if name in value}
    if "name" in value:
        changes["name"] = taken.get("name", "")
    if "token" in value:
        token = taken.get("token", {})
        changes |= {"token_chain_id": token.get("chainId"), "token_address": token.get("address", "")}
    wallets = tuple(dict.fromkeys(taken.get("wallets", ()))) if "wallets" in value else None
    return Described(id=taken["id"], at=taken["at"], agent_id=taken["agentId"], changes=changes, wallets=wallets)


def _ran(value: dict[str, Any], latest: datetime) -> Ran:
    taken = _RAN.take(value)
    _refuse_future(taken, latest, "startedAt", "finishedAt")
    if taken["finishedAt"] < taken["startedAt"]:
        raise Refused([("finishedAt", "must not be before startedAt")])
    return Ran(
        id=taken["id"],
        agent_id=taken["agentId"],
        kind=taken.get("kind", ""),
        started_at=taken["startedAt"],
        finished_at=taken["finishedAt"],
        succeeded=taken["succeeded"],
    )


def _acted(value: dict[str, Any], latest: datetime) -> Acted:
    taken = _ACTED.take(value)
    _refuse_future(taken, latest, "at")
    return Acted(
        id=taken["id"],
        at=taken["at"],
        agent_id=taken["agentId"],
        kind=taken["kind"],
        cast_hash=taken["castHash"],
        text_key=taken.get("text", 0),
    )


def _interacted(value: dict[str, Any], latest: datetime) -> Interacted:
    taken = _INTERACTED.take(value)
    _refuse_future(taken, latest, "at")
    kind: InteractionKind = taken["kind"]
    if kind in _MESSAGES:
        if "messageHash" not in taken:
            raise Refused([("messageHash", "is required of replies and quotes")])
    elif "messageHash" in taken or "text" in taken:
        raise Refused([(name, "is of replies and quotes alone") for name in ("messageHash", "text") if name in taken])
    return Interacted(
        id=taken["id"],
        at=taken["at"],
        agent_id=taken["agentId"],
        kind=kind,
        actor_fid=taken["actorFid"],
        cast_key=taken["castHash"],
        message_key=taken.get("messageHash", 0),
        text_key=taken.get("text", 0),
    )


def _traded(value: dict[str, Any], latest: datetime) -> Traded:
    taken = _TRADED.take(value)
    _refuse_future(taken, latest, "at")
    return Traded(
        id=taken["id"],
        at=taken["at"],
        agent_id=taken["agentId"],
        tx_hash=taken["txHash"],
        log_index=taken["logIndex"],
        wallet=taken["wallet"],
        is_buy=taken["side"] == "buy",
        amount=taken["amount"],
    )


def _scored(value: dict[str, Any], latest: datetime) -> Scored:
    taken = _SCORED.take(value)
    _refuse_future(taken, latest, "at", "registeredAt")
    return Scored(
        id=taken["id"],
        # One that is ahead would be the newest for as long, whatever is found meanwhile.
        at=rules.reached(taken["at"], latest=latest),
        fid=taken["fid"],
        score=taken["score"],
        registered_at=taken.get("registeredAt"),
    )


_READERS: dict[str | None, Callable[[dict[str, Any], datetime], Event]] = {
    "agent": _described,
    "run": _ran,
    "action": _acted,
    "interaction": _interacted,
    "trade": _traded,
    "score": _scored,
}
TYPES = tuple(filter(None, _READERS))
_TYPE_RULE = f"must be one of {', '.join(TYPES)}"


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _refuse_future(taken: Mapping[str, Any], latest: datetime, *names: str) -> None:
    for name in names:
        if name in taken and taken[name] > latest:
            raise Refused([(name, rules.FUTURE)])
