"""Event payloads about agents: each event type, and the parser of its JSON. No database.

An event is an object with a `type` and the keys of that type (docs/agents.md). `parse_event` is the only way from JSON
to events, for API calls and for files. `leaderboard.events.recording` resolves the agents and checks the reporter.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from config.json_rules import FieldRule, InvalidFieldsError, Rule, choice, list_of, object_of, parse_object
from leaderboard.events import field_rules
from leaderboard.models.facts import ActionKind, InteractionKind

MAX_WALLETS = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class DescriptionEvent:
    """Description of an agent, valid from `at`.

    `changes` maps the columns of Agent that the event names to their new values. `wallets` is None if the event has no
    such key.
    """

    id: str
    at: datetime
    agent_id: str
    changes: Mapping[str, Any]
    wallets: tuple[str, ...] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class RunEvent:
    id: str
    agent_id: str
    kind: str
    started_at: datetime
    finished_at: datetime
    succeeded: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ActionEvent:
    """Cast written by the agent; `text_key` is 0 without a text."""

    id: str
    at: datetime
    agent_id: str
    kind: ActionKind
    # 0x and 40 lower-case hex digits.
    cast_hash: str
    text_key: int


@dataclass(frozen=True, kw_only=True, slots=True)
class InteractionEvent:
    """Reaction or reply to a cast of the agent.

    The keys are those of `leaderboard.facts.short_keys`; 0 means none.
    """

    id: str
    at: datetime
    agent_id: str
    kind: InteractionKind
    actor_fid: int
    cast_key: int
    message_key: int
    text_key: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TradeEvent:
    """Purchase or sale of the agent's token; `amount` is in its smallest unit."""

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
class ScoreEvent:
    """Social score of an account, from 0 to 1; concerns no single agent.

    `at` is never later than the time of the report.
    """

    id: str
    at: datetime
    fid: int
    score: float
    registered_at: datetime | None


AgentEvent = DescriptionEvent | RunEvent | ActionEvent | InteractionEvent | TradeEvent
Event = AgentEvent | ScoreEvent


def parse_event(value: Any, *, latest: datetime) -> Event:
    """Parse a JSON value into an event; times after `latest` are rejected (`field_rules.latest_accepted_time`).

    Raises InvalidFieldsError with every problem and its path in the event.
    """
    if not isinstance(value, dict):
        raise InvalidFieldsError([("", "must be a JSON object")])
    parser = _PARSERS.get(_string_or_none(value.get("type")))
    if parser is None:
        raise InvalidFieldsError([("type", _TYPE_RULE if "type" in value else "is required")])
    return parser(value, latest)


class _EventSchema:
    """Schema of one event type: fast for valid payloads, exhaustive for invalid ones."""

    def __init__(self, *, required: Mapping[str, Rule], optional: Mapping[str, Rule]) -> None:
        self._rules: dict[str, Rule] = {"type": str, **required, **optional}
        self._required = frozenset(("type", *required))
        self._keys = {name: FieldRule(rule=rule) for name, rule in self._rules.items() if name in self._required}
        self._keys |= {name: FieldRule(rule=rule, default=None) for name, rule in optional.items()}

    def parse(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return the parsed values that are not null. Raises InvalidFieldsError."""
        values: dict[str, Any] = {}
        all_rules = self._rules
        try:
            for name, item in value.items():
                rule = all_rules[name]
                if item is not None:
                    values[name] = rule(item)
            is_valid = self._required <= values.keys()
        except (KeyError, ValueError):
            is_valid = False
        if not is_valid:
            raise InvalidFieldsError(parse_object(value, self._keys)[1])
        return values


_ANY_EVENT: dict[str, Rule] = {"id": field_rules.event_id, "at": field_rules.time}
_AGENT_EVENT = _ANY_EVENT | {"agentId": field_rules.agent_id}

_DESCRIPTION_SCHEMA = _EventSchema(
    required=_AGENT_EVENT,
    optional={
        "name": field_rules.name,
        "fid": field_rules.fid,
        "token": object_of(
            {"chainId": FieldRule(rule=field_rules.chain_id), "address": FieldRule(rule=field_rules.address)}
        ),
        "creatorFid": field_rules.fid,
        "wallets": list_of(field_rules.address, most=MAX_WALLETS),
    },
)
_RUN_SCHEMA = _EventSchema(
    required={
        "id": field_rules.event_id,
        "agentId": field_rules.agent_id,
        "startedAt": field_rules.time,
        "finishedAt": field_rules.time,
        "succeeded": field_rules.boolean,
    },
    optional={"kind": field_rules.run_kind},
)
_ACTION_SCHEMA = _EventSchema(
    required=_AGENT_EVENT | {"kind": field_rules.action_kind, "castHash": field_rules.cast_hash},
    optional={"text": field_rules.text_key},
)
_INTERACTION_SCHEMA = _EventSchema(
    required=_AGENT_EVENT
    | {"kind": field_rules.interaction_kind, "castHash": field_rules.cast_key, "actorFid": field_rules.fid},
    optional={"messageHash": field_rules.cast_key, "text": field_rules.text_key},
)
_TRADE_SCHEMA = _EventSchema(
    required=_AGENT_EVENT
    | {
        "txHash": field_rules.tx_hash,
        "logIndex": field_rules.log_index,
        "wallet": field_rules.address,
        "side": choice("buy", "sell"),
        "amount": field_rules.amount,
    },
    optional={},
)
_SCORE_SCHEMA = _EventSchema(
    required=_ANY_EVENT | {"fid": field_rules.fid, "score": field_rules.score},
    optional={"registeredAt": field_rules.time},
)

# Kinds of interaction that are casts themselves.
_MESSAGE_KINDS = (InteractionKind.REPLY, InteractionKind.QUOTE)
# Key of an agent's description -> column. Null clears the column.
_COLUMNS = {"fid": "fid", "creatorFid": "creator_fid"}


def _parse_description(value: dict[str, Any], latest: datetime) -> DescriptionEvent:
    values = _DESCRIPTION_SCHEMA.parse(value)
    _reject_future(values, latest, "at")
    changes = {column: values.get(name) for name, column in _COLUMNS.items() if name in value}
    if "name" in value:
        changes["name"] = values.get("name", "")
    if "token" in value:
        token = values.get("token", {})
        changes |= {"token_chain_id": token.get("chainId"), "token_address": token.get("address", "")}
    wallets = tuple(dict.fromkeys(values.get("wallets", ()))) if "wallets" in value else None
    return DescriptionEvent(
        id=values["id"], at=values["at"], agent_id=values["agentId"], changes=changes, wallets=wallets
    )


def _parse_run(value: dict[str, Any], latest: datetime) -> RunEvent:
    values = _RUN_SCHEMA.parse(value)
    _reject_future(values, latest, "startedAt", "finishedAt")
    if values["finishedAt"] < values["startedAt"]:
        raise InvalidFieldsError([("finishedAt", "must not be before startedAt")])
    return RunEvent(
        id=values["id"],
        agent_id=values["agentId"],
        kind=values.get("kind", ""),
        started_at=values["startedAt"],
        finished_at=values["finishedAt"],
        succeeded=values["succeeded"],
    )


def _parse_action(value: dict[str, Any], latest: datetime) -> ActionEvent:
    values = _ACTION_SCHEMA.parse(value)
    _reject_future(values, latest, "at")
    return ActionEvent(
        id=values["id"],
        at=values["at"],
        agent_id=values["agentId"],
        kind=values["kind"],
        cast_hash=values["castHash"],
        text_key=values.get("text", 0),
    )


def _parse_interaction(value: dict[str, Any], latest: datetime) -> InteractionEvent:
    values = _INTERACTION_SCHEMA.parse(value)
    _reject_future(values, latest, "at")
    kind: InteractionKind = values["kind"]
    if kind in _MESSAGE_KINDS:
        if "messageHash" not in values:
            raise InvalidFieldsError([("messageHash", "is required for replies and quotes")])
    elif "messageHash" in values or "text" in values:
        raise InvalidFieldsError(
            [(name, "is allowed for replies and quotes only") for name in ("messageHash", "text") if name in values]
        )
    return InteractionEvent(
        id=values["id"],
        at=values["at"],
        agent_id=values["agentId"],
        kind=kind,
        actor_fid=values["actorFid"],
        cast_key=values["castHash"],
        message_key=values.get("messageHash", 0),
        text_key=values.get("text", 0),
    )


def _parse_trade(value: dict[str, Any], latest: datetime) -> TradeEvent:
    values = _TRADE_SCHEMA.parse(value)
    _reject_future(values, latest, "at")
    return TradeEvent(
        id=values["id"],
        at=values["at"],
        agent_id=values["agentId"],
        tx_hash=values["txHash"],
        log_index=values["logIndex"],
        wallet=values["wallet"],
        is_buy=values["side"] == "buy",
        amount=values["amount"],
    )


def _parse_score(value: dict[str, Any], latest: datetime) -> ScoreEvent:
    values = _SCORE_SCHEMA.parse(value)
    _reject_future(values, latest, "at", "registeredAt")
    return ScoreEvent(
        id=values["id"],
        # A score dated in the future would hide all newer ones until then.
        at=field_rules.not_after_report(values["at"], latest=latest),
        fid=values["fid"],
        score=values["score"],
        registered_at=values.get("registeredAt"),
    )


_PARSERS: dict[str | None, Callable[[dict[str, Any], datetime], Event]] = {
    "agent": _parse_description,
    "run": _parse_run,
    "action": _parse_action,
    "interaction": _parse_interaction,
    "trade": _parse_trade,
    "score": _parse_score,
}
EVENT_TYPES = tuple(filter(None, _PARSERS))
_TYPE_RULE = f"must be one of {', '.join(EVENT_TYPES)}"


def _string_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _reject_future(values: Mapping[str, Any], latest: datetime, *names: str) -> None:
    for name in names:
        if name in values and values[name] > latest:
            raise InvalidFieldsError([(name, field_rules.FUTURE_RULE)])
