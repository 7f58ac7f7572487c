"""An interval's facts as numpy columns, the input for rankings. No database and no Django from here to the score.

Times are whole seconds since 1970, UTC. `agent` is an index into `Agents`, in int32. Row order has no meaning.
"""

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
    """All agents, sorted by `ids`; an unknown FID is 0."""

    # Primary keys of the rows.
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
    """Agents' casts; `kind` is an ActionKind."""

    agent: Int32Array
    at: Int64Array
    kind: Int8Array
    cast: Int64Array


@dataclass(frozen=True)
class Interactions:
    """Interactions with agents' known casts, in the judged period; `actor` is a FID.

    The judged period ends with the interval and has at least a week (`models.Interval.judged_length`).
    """

    agent: Int32Array
    actor: Int64Array
    # Whether an interaction counts as confirmed, decided when it was stored (docs/leaderboard.md).
    is_confirmed: BoolArray
    # Whether an interaction is within the interval. Accounts that have only earlier interactions count less.
    is_current: BoolArray


@dataclass(frozen=True)
class Accounts:
    """Creators and accounts that interact, sorted by `fids`, each once."""

    fids: Int64Array
    # The newest score from 0 to 1; NaN if unknown.
    scores: Float64Array


@dataclass(frozen=True)
class IntervalFacts:
    """Facts from `computed_at - seconds` (exclusive) to `computed_at` (inclusive); interactions may be earlier."""

    computed_at: int
    seconds: int
    agents: Agents
    runs: Runs
    actions: Actions
    interactions: Interactions
    accounts: Accounts
    # Each agent's reporter: the partner key's primary key, 0 for operators; empty if all have the same reporter.
    reporters: Int64Array = field(default_factory=lambda: np.zeros(0, np.int64))

    def owner_numbers(self) -> Int64Array:
        """Return a number for each agent's owner, from 0: its reporter and its creator together.

        Another reporter's descriptions then never change an owner. Without a creator, a key's agents share one owner,
        and each operator's agent has its own.
        """
        reporters = self.reporters if len(self.reporters) else np.zeros(len(self.agents.ids), np.int64)
        unknown = np.where(reporters > 0, 0, -self.agents.ids)
        owners = np.stack([reporters, np.where(self.agents.creator_fids > 0, self.agents.creator_fids, unknown)])
        return np.unique(owners, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)
