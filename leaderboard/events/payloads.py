"""Event payloads about agents: each event type, and the parser of its JSON. No database.

An event is an object with a `type` and the keys of that type (docs/agents.md). `parse_event` is the only way from JSON
to events, for API calls and for files. `leaderboard.events.recording` resolves the agents and checks the reporter.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from config.parsing.json_rules import REQUIRED, FieldRule, InvalidFieldsError, list_of, object_of, parse_object
from leaderboard.events import field_rules
from leaderboard.facts.short_keys import cast_key
from leaderboard.models.facts import ActionKind, InteractionKind

Parsed = TypeVar("Parsed")

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

    The keys are those of `leaderboard.facts.short_keys`; 0 means none. `message_hash` is empty without a message.
    """

    id: str
    at: datetime
    agent_id: str
    kind: InteractionKind
    actor_fid: int
    cast_key: int
    message_hash: str
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


class _EventSchema(Generic[Parsed]):
    """Schema of one event type: fast for valid payloads, exhaustive for invalid ones."""

    def __init__(self, build: Callable[..., Parsed], keys: Mapping[str, FieldRule]) -> None:
        self._build, self._keys = build, {"type": FieldRule(rule=str), **keys}
        self._rules = {name: (key.attribute or name, key.rule) for name, key in self._keys.items()}
        required = {name for name, key in self._keys.items() if key.default is REQUIRED}
        self._required = {self._rules[name][0] for name in required}
        self._defaults = {self._rules[name][0]: self._keys[name].default for name in self._keys if name not in required}
        self._times = [(name, attribute) for name, (attribute, rule) in self._rules.items() if rule is field_rules.time]

    def __call__(self, value: dict[str, Any], latest: datetime) -> Parsed:
        """Parse an event. Raises InvalidFieldsError."""
        return self._build(**self.parse(value, latest))

    def parse(self, value: dict[str, Any], latest: datetime) -> dict[str, Any]:
        """Return the parsed values by attribute. Raises InvalidFieldsError."""
        values = self._defaults.copy()
        all_rules = self._rules
        try:
            for name, item in value.items():
                attribute, rule = all_rules[name]
                if item is not None:
                    values[attribute] = rule(item)
            is_valid = self._required <= values.keys()
        except (KeyError, ValueError):
            is_valid = False
        if not is_valid:
            raise InvalidFieldsError(parse_object(value, self._keys)[1])
        for name, attribute in self._times:
            if values[attribute] is not None and values[attribute] > latest:
                raise InvalidFieldsError([(name, field_rules.FUTURE_RULE)])
        del values["type"]
        return values


# Key of an agent's description -> column.
_COLUMNS = {"fid": "fid", "creatorFid": "creator_fid"}
# Kinds of interaction that are casts themselves.
_MESSAGE_KINDS = (InteractionKind.REPLY, InteractionKind.QUOTE)


def _run(**values: Any) -> RunEvent:
    if values["finished_at"] < values["started_at"]:
        raise InvalidFieldsError([("finishedAt", "must not be before startedAt")])
    return RunEvent(**values)


def _interaction(
    *, kind: InteractionKind, message_hash: str | None, text_key: int | None, **values: Any
) -> InteractionEvent:
    if kind in _MESSAGE_KINDS:
        if message_hash is None:
            raise InvalidFieldsError([("messageHash", "is required for replies and quotes")])
    elif (message_hash, text_key) != (None, None):
        keys = {"messageHash": message_hash, "text": text_key}
        raise InvalidFieldsError(
            [(name, "is allowed for replies and quotes only") for name, key in keys.items() if key is not None]
        )
    message_key = cast_key(message_hash) if message_hash else 0
    return InteractionEvent(
        kind=kind, message_hash=message_hash or "", message_key=message_key, text_key=text_key or 0, **values
    )


_EVENT_ID, _TIME = FieldRule(rule=field_rules.event_id), FieldRule(rule=field_rules.time)
_AGENT_ID = FieldRule(rule=field_rules.agent_id, attribute="agent_id")
_ANY_EVENT = {"id": _EVENT_ID, "at": _TIME}
_AGENT_EVENT = _ANY_EVENT | {"agentId": _AGENT_ID}

_DESCRIPTION: _EventSchema[dict[str, Any]] = _EventSchema(
    dict,
    _AGENT_EVENT
    | {
        "name": FieldRule(rule=field_rules.name, default=None),
        "fid": FieldRule(rule=field_rules.fid, default=None),
        "token": FieldRule(
            rule=object_of(
                {"chainId": FieldRule(rule=field_rules.chain_id), "address": FieldRule(rule=field_rules.address)}
            ),
            default=None,
        ),
        "creatorFid": FieldRule(rule=field_rules.fid, attribute="creator_fid", default=None),
        "wallets": FieldRule(rule=list_of(field_rules.address, most=MAX_WALLETS), default=None),
    },
)


def _parse_description(value: dict[str, Any], latest: datetime) -> DescriptionEvent:
    values = _DESCRIPTION.parse(value, latest)
    # Null clears a column, and an absent key changes nothing.
    changes = {column: values[column] for name, column in _COLUMNS.items() if name in value}
    if "name" in value:
        changes["name"] = values["name"] or ""
    if "token" in value:
        token = values["token"] or {}
        changes |= {"token_chain_id": token.get("chainId"), "token_address": token.get("address", "")}
    wallets = tuple(dict.fromkeys(values["wallets"] or ())) if "wallets" in value else None
    return DescriptionEvent(
        id=values["id"], at=values["at"], agent_id=values["agent_id"], changes=changes, wallets=wallets
    )


_SCORE = _EventSchema(
    ScoreEvent,
    _ANY_EVENT
    | {
        "fid": FieldRule(rule=field_rules.fid),
        "score": FieldRule(rule=field_rules.score),
        "registeredAt": FieldRule(rule=field_rules.time, attribute="registered_at", default=None),
    },
)


def _parse_score(value: dict[str, Any], latest: datetime) -> ScoreEvent:
    values = _SCORE.parse(value, latest)
    # A score dated in the future would hide all newer ones until then.
    values["at"] = field_rules.not_after_report(values["at"], latest=latest)
    return ScoreEvent(**values)


_PARSERS: dict[str | None, Callable[[dict[str, Any], datetime], Event]] = {
    "agent": _parse_description,
    "run": _EventSchema(
        _run,
        {
            "id": _EVENT_ID,
            "agentId": _AGENT_ID,
            "startedAt": FieldRule(rule=field_rules.time, attribute="started_at"),
            "finishedAt": FieldRule(rule=field_rules.time, attribute="finished_at"),
            "succeeded": FieldRule(rule=field_rules.boolean),
            "kind": FieldRule(rule=field_rules.run_kind, default=""),
        },
    ),
    "action": _EventSchema(
        ActionEvent,
        _AGENT_EVENT
        | {
            "kind": FieldRule(rule=field_rules.action_kind),
            "castHash": FieldRule(rule=field_rules.cast_hash, attribute="cast_hash"),
            "text": FieldRule(rule=field_rules.text_key, attribute="text_key", default=0),
        },
    ),
    "interaction": _EventSchema(
        _interaction,
        _AGENT_EVENT
        | {
            "kind": FieldRule(rule=field_rules.interaction_kind),
            "castHash": FieldRule(rule=field_rules.cast_key, attribute="cast_key"),
            "actorFid": FieldRule(rule=field_rules.fid, attribute="actor_fid"),
            "messageHash": FieldRule(rule=field_rules.cast_hash, attribute="message_hash", default=None),
            "text": FieldRule(rule=field_rules.text_key, attribute="text_key", default=None),
        },
    ),
    "trade": _EventSchema(
        TradeEvent,
        _AGENT_EVENT
        | {
            "txHash": FieldRule(rule=field_rules.tx_hash, attribute="tx_hash"),
            "logIndex": FieldRule(rule=field_rules.log_index, attribute="log_index"),
            "wallet": FieldRule(rule=field_rules.address),
            "side": FieldRule(rule=field_rules.is_buy, attribute="is_buy"),
            "amount": FieldRule(rule=field_rules.amount),
        },
    ),
    "score": _parse_score,
}
EVENT_TYPES = tuple(filter(None, _PARSERS))
_TYPE_RULE = f"must be one of {', '.join(EVENT_TYPES)}"


def _string_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None
