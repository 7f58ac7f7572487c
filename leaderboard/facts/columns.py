"""The facts of an interval as columns: what rankings are made of. No database and no Django from here to the score.

Times are whole seconds since 1970, UTC. `agent` is an index into `Agents`, in int32. Order of rows means nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Whole = npt.NDArray[np.int64]
Index = npt.NDArray[np.int32]
Small = npt.NDArray[np.int8]
Truth = npt.NDArray[np.bool_]
Real = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Agents:
    """All agents, sorted by `ids`; FIDs are 0 where unknown."""

    # Primary keys of rows.
    ids: Whole
    fids: Whole
    creator_fids: Whole


@dataclass(frozen=True)
class Runs:
    agent: Index
    finished_at: Whole
    succeeded: Truth


@dataclass(frozen=True)
class Actions:
    """`kind` as ActionKind; `text` is 0 without one."""

    agent: Index
    at: Whole
    kind: Small
    cast: Whole
    text: Whole


@dataclass(frozen=True)
class Interactions:
    """`kind` as InteractionKind; `actor` is a FID; `cast` is a known one of the agent; `text` is 0 without one."""

    agent: Index
    at: Whole
    kind: Small
    actor: Whole
    cast: Whole
    text: Whole


@dataclass(frozen=True)
class Trades:
    """Of the agents' tokens; `wallet` is a key of the address, `is_own` whether it is one of the agent's wallets."""

    agent: Index
    at: Whole
    wallet: Whole
    is_own: Truth
    is_buy: Truth
    # In the token's smallest unit, rounded to what a float holds.
    amount: Real


@dataclass(frozen=True)
class Accounts:
    """What is known of those who interact and of creators, sorted by `fids`, each once."""

    fids: Whole
    # The newest from 0 to 1; NaN where unknown.
    scores: Real
    # 0 where unknown.
    registered_at: Whole


@dataclass(frozen=True)
class Doubt:
    """What the ranking of a longer interval, made at a time, held against an agent: 0 to 1, and flags from 0.5 on."""

    confidence: float
    flags: tuple[str, ...]
    computed_at: int


@dataclass(frozen=True)
class Facts:
    """What happened from `computed_at - seconds` (exclusive) up to `computed_at` (inclusive)."""

    computed_at: int
    seconds: int
    agents: Agents
    runs: Runs
    actions: Actions
    interactions: Interactions
    trades: Trades
    accounts: Accounts
    # By agent; of those against whom there is something.
    earlier: Mapping[int, Doubt] = field(default_factory=dict)
    # Who tells of each agent, as rows of partner keys, 0 for operators; empty where one tells of all.
    reporters: Whole = field(default_factory=lambda: np.zeros(0, np.int64))

    def reporter_numbers(self) -> Whole:
        """Who tells of each agent, counted from 0."""
        if not len(self.reporters):
            return np.zeros(len(self.agents.ids), np.int64)
        return np.unique(self.reporters, return_inverse=True)[1].astype(np.int64)
