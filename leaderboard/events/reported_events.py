"""Reported events about agents, one dataclass per type, as `leaderboard.events.payloads` parses them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from leaderboard.models.facts import ActionKind, InteractionKind


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

    `leaderboard.facts.short_keys` computes the keys; 0 means none. `message_hash` is empty without a message.
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
