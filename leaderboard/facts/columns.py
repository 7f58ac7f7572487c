"""Facts of an interval as numpy columns, the input of rankings. No database and no Django from here to the score.

Times are whole seconds since 1970, UTC. `agent` is an index into `Agents`, in int32. The order of rows has no meaning.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]
Int32Array = npt.NDArray[np.int32]
Int8Array = npt.NDArray[np.int8]
BoolArray = npt.NDArray[np.bool_]
Float64Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Agents:
    """All agents, sorted by `ids`; FIDs are 0 where unknown."""

    # Primary keys of rows.
    ids: Int64Array
    fids: Int64Array
    creator_fids: Int64Array


@dataclass(frozen=True)
class Runs:
    agent: Int32Array
    finished_at: Int64Array
    succeeded: BoolArray


@dataclass(frozen=True)
class Actions:
    """Casts of agents: `kind` as ActionKind; `text` is 0 without one."""

    agent: Int32Array
    at: Int64Array
    kind: Int8Array
    cast: Int64Array
    text: Int64Array


@dataclass(frozen=True)
class Interactions:
    """Interactions with known casts of agents.

    `kind` is an InteractionKind, `actor` a FID; `text` is 0 without one.
    """

    agent: Int32Array
    at: Int64Array
    kind: Int8Array
    actor: Int64Array
    cast: Int64Array
    text: Int64Array


@dataclass(frozen=True)
class Trades:
    """Trades of the agents' tokens: `wallet` is a key of the address, `is_own` marks the agent's own wallets."""

    agent: Int32Array
    at: Int64Array
    wallet: Int64Array
    is_own: BoolArray
    is_buy: BoolArray
    # In the token's smallest unit, rounded to what a float holds.
    amount: Float64Array


@dataclass(frozen=True)
class Accounts:
    """Known data of creators and of accounts that interact, sorted by `fids`, each once."""

    fids: Int64Array
    # The newest from 0 to 1; NaN where unknown.
    scores: Float64Array
    # 0 where unknown.
    registered_at: Int64Array


@dataclass(frozen=True)
class PriorFinding:
    """Wash finding about an agent in the current ranking of a longer interval.

    `confidence` is from 0 to 1; there are flags from 0.5 on.
    """

    confidence: float
    flags: tuple[str, ...]
    computed_at: int


@dataclass(frozen=True)
class IntervalFacts:
    """Facts from `computed_at - seconds` (exclusive) to `computed_at` (inclusive)."""

    computed_at: int
    seconds: int
    agents: Agents
    runs: Runs
    actions: Actions
    interactions: Interactions
    trades: Trades
    accounts: Accounts
    # By agent; agents without a finding are missing.
    prior: Mapping[int, PriorFinding] = field(default_factory=dict)
    # Reporter of each agent: primary key of the partner key, 0 for operators; empty if all have the same reporter.
    reporters: Int64Array = field(default_factory=lambda: np.zeros(0, np.int64))

    def reporter_numbers(self) -> Int64Array:
        """Return the number of each agent's reporter, counted from 0."""
        if not len(self.reporters):
            return np.zeros(len(self.agents.ids), np.int64)
        return np.unique(self.reporters, return_inverse=True)[1].astype(np.int64)
