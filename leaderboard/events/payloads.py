"""Event payloads about agents: the rules of each event type, and the parser of its JSON. No database.

An event is an object with a `type` and the keys of that type (docs/agents.md). `parse_event` is the only way from JSON
to events, for API calls and for files. `leaderboard.events.recording` resolves the agents and checks the reporter.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Generic, TypeVar

from config.parsing import json_rules
from config.parsing.json_rules import (
    REQUIRED,
    Component,
    FieldRule,
    InvalidFieldsError,
    choice,
    list_of,
    object_of,
    object_schema,
    parse_object,
)
from leaderboard.events import field_rules
from leaderboard.events.reported_events import (
    ActionEvent,
    DescriptionEvent,
    Event,
    InteractionEvent,
    RunEvent,
    ScoreEvent,
    TradeEvent,
)
from leaderboard.facts.short_keys import cast_key
from leaderboard.models.facts import InteractionKind

Parsed = TypeVar("Parsed")

MAX_WALLETS = 100


def parse_event(value: Any, *, latest: datetime) -> Event:
    """Parse a JSON value into an event; times after `latest` are rejected (`field_rules.latest_accepted_time`).

    Raises InvalidFieldsError with every problem and its path in the event.
    """
    if not isinstance(value, dict):
        raise InvalidFieldsError([("", "must be a JSON object")])
    type_name = value.get("type")
    parser = _PARSERS.get(type_name) if isinstance(type_name, str) else None
    if parser is None:
        raise InvalidFieldsError([("type", _TYPE_RULE if "type" in value else "is required")])
    return parser(value, latest)


class _EventSchema(Generic[Parsed]):
    """Rule of one event type: fast for valid payloads, exhaustive for invalid ones."""

    def __init__(
        self,
        type_name: str,
        build: Callable[..., Parsed],
        keys: Mapping[str, FieldRule],
        *,
        name: str,
        description: str,
    ) -> None:
        self.type_name = type_name
        self._build, self._keys = build, {"type": FieldRule(rule=choice(type_name)), **keys}
        self.component = Component(name, object_schema(self._keys, description=description))
        self._rules = {name: (key.attribute or name, key.rule.parse) for name, key in self._keys.items()}
        required = {name for name, key in self._keys.items() if key.default is REQUIRED}
        self._required = {self._rules[name][0] for name in required}
        self._defaults = {self._rules[name][0]: self._keys[name].default for name in self._keys if name not in required}
        self._times = [
            (name, attribute) for name, (attribute, rule) in self._rules.items() if rule is field_rules.time.parse
        ]

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


def _action(*, text_key: int | None, **values: Any) -> ActionEvent:
    return ActionEvent(text_key=text_key or 0, **values)


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


_EVENT_ID = FieldRule(
    rule=field_rules.event_id,
    description="Your own id, unique among your events of this type. An event with a known id adds nothing.",
)
_TIME = FieldRule(rule=field_rules.time)
_AGENT_ID = FieldRule(
    rule=field_rules.agent_id, attribute="agent_id", description="Your own id of the agent; it never changes."
)
_CAST_TEXT = "Only a key of the text is stored; texts that differ in case, punctuation, links or names share it."
_ANY_EVENT = {"id": _EVENT_ID, "at": _TIME}
_AGENT_EVENT = _ANY_EVENT | {"agentId": _AGENT_ID}

_DESCRIPTION: _EventSchema[dict[str, Any]] = _EventSchema(
    "agent",
    dict,
    _AGENT_EVENT
    | {
        "name": FieldRule(rule=field_rules.name, default=None, nullable=True),
        "fid": FieldRule(
            rule=field_rules.fid,
            default=None,
            nullable=True,
            description="The agent's own FID; no two agents may share one.",
        ),
        "token": FieldRule(
            rule=object_of(
                {"chainId": FieldRule(rule=field_rules.chain_id), "address": FieldRule(rule=field_rules.address)},
                name="AgentTokenShape",
                description="The agent's token, on any chain; it may be launched later.",
            ),
            default=None,
            nullable=True,
            description="No two agents may share one. An agent without a token is not ranked.",
        ),
        "creatorFid": FieldRule(
            rule=field_rules.fid,
            attribute="creator_fid",
            default=None,
            nullable=True,
            description="FID of the agent's creator.",
        ),
        "wallets": FieldRule(
            rule=list_of(field_rules.address, most=MAX_WALLETS),
            default=None,
            nullable=True,
            description="All addresses that trade for the agent: its own and its creator's. At most 1,000 per batch.",
        ),
    },
    name="DescribedShape",
    description="Description of an agent, valid from `at`. Absent keys change nothing, null clears a value.\n\n"
    "For each key the newest event is kept, in whatever order events arrive.",
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
    "score",
    ScoreEvent,
    _ANY_EVENT
    | {
        "fid": FieldRule(rule=field_rules.fid),
        "score": FieldRule(rule=field_rules.score),
        "registeredAt": FieldRule(
            rule=field_rules.time,
            attribute="registered_at",
            default=None,
            description="When the account was registered. The newest event decides.",
        ),
    },
    name="ScoredShape",
    description="Social score of an account, such as a creator or an account that interacts.\n\n"
    "It affects all agents, so the key needs the scope `scores` as well. A time in the future counts as now.",
)


def _parse_score(value: dict[str, Any], latest: datetime) -> ScoreEvent:
    values = _SCORE.parse(value, latest)
    # A score dated in the future would hide all newer ones until then.
    values["at"] = field_rules.not_after_report(values["at"], latest=latest)
    return ScoreEvent(**values)


_RUN = _EventSchema(
    "run",
    _run,
    {
        "id": _EVENT_ID,
        "agentId": _AGENT_ID,
        "startedAt": FieldRule(rule=field_rules.time, attribute="started_at"),
        "finishedAt": FieldRule(rule=field_rules.time, attribute="finished_at", description="Not before startedAt."),
        "succeeded": FieldRule(rule=json_rules.boolean),
        "kind": FieldRule(rule=field_rules.run_kind, default="", description="Free text."),
    },
    name="RanShape",
    description="Run of the agent, with a start and an end.",
)
_ACTION = _EventSchema(
    "action",
    _action,
    _AGENT_EVENT
    | {
        "kind": FieldRule(rule=field_rules.action_kind),
        "castHash": FieldRule(rule=field_rules.cast_hash, attribute="cast_hash"),
        "text": FieldRule(rule=field_rules.text_key, attribute="text_key", default=None, description=_CAST_TEXT),
    },
    name="ActedShape",
    description="Cast written by the agent. A cast that replies and quotes is a reply.",
)
_INTERACTION = _EventSchema(
    "interaction",
    _interaction,
    _AGENT_EVENT
    | {
        "kind": FieldRule(rule=field_rules.interaction_kind),
        "castHash": FieldRule(rule=field_rules.cast_key, attribute="cast_key", description="The agent's cast."),
        "actorFid": FieldRule(
            rule=field_rules.fid, attribute="actor_fid", description="FID of the account that interacted."
        ),
        "messageHash": FieldRule(
            rule=field_rules.cast_hash,
            attribute="message_hash",
            default=None,
            description="Hash of the reply or quote itself. Required for these kinds, not allowed for others.",
        ),
        "text": FieldRule(
            rule=field_rules.text_key,
            attribute="text_key",
            default=None,
            description=f"Replies and quotes only. {_CAST_TEXT}",
        ),
    },
    name="InteractedShape",
    description="Reaction or reply of an account to a cast of the agent.",
)
_TRADE = _EventSchema(
    "trade",
    TradeEvent,
    _AGENT_EVENT
    | {
        "txHash": FieldRule(rule=field_rules.tx_hash, attribute="tx_hash"),
        "logIndex": FieldRule(rule=field_rules.log_index, attribute="log_index"),
        "wallet": FieldRule(rule=field_rules.address, description="Address that sold or bought the tokens."),
        "side": FieldRule(rule=field_rules.is_buy, attribute="is_buy"),
        "amount": FieldRule(rule=field_rules.amount, description="In the token's smallest unit."),
    },
    name="TradedShape",
    description="Purchase or sale of the agent's token, by any wallet.",
)
_SCHEMAS: Mapping[str, _EventSchema[Any]] = {
    each.type_name: each for each in (_DESCRIPTION, _RUN, _ACTION, _INTERACTION, _TRADE, _SCORE)
}
_PARSERS: Mapping[str, Callable[[dict[str, Any], datetime], Event]] = {
    **_SCHEMAS,
    "agent": _parse_description,
    "score": _parse_score,
}
EVENT_COMPONENT = Component(
    "Event",
    {
        "oneOf": [each.component for each in _SCHEMAS.values()],
        "discriminator": {
            "propertyName": "type",
            "mapping": {type_name: each.component.reference for type_name, each in _SCHEMAS.items()},
        },
    },
)
EVENT_TYPES = tuple(_SCHEMAS)
_TYPE_RULE = f"must be one of {', '.join(EVENT_TYPES)}"
