"""Scenes of a week among 300 other agents: the engagement of a few more, each actor added separately."""

from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from benchmarks.leaderboard.agent_populations import populate
from leaderboard.facts.columns import (
    Accounts,
    Actions,
    Agents,
    Float64Array,
    Int32Array,
    Int64Array,
    Interactions,
    IntervalFacts,
    Runs,
)
from leaderboard.facts.short_keys import text_key

Columns = TypeVar("Columns", Agents, Runs, Actions, Interactions, Accounts)

MINUTE, HOUR, DAY = 60, 3600, 86_400
WEEK = 7 * DAY
LIKE, RECAST, REPLY = 1, 2, 3
GM = text_key("gm")
# Beyond the accounts of the others.
_FIRST_FID = 5_000_000


@dataclass
class Scene:
    """The others, and added agents. Times are seconds since the beginning of the week."""

    seed: int
    others: IntervalFacts = field(init=False)
    rng: np.random.Generator = field(init=False)
    _agents: list[tuple[int, int]] = field(default_factory=list)
    _accounts: list[tuple[int, float, int]] = field(default_factory=list)
    _casts: list[tuple[int, int, int]] = field(default_factory=list)
    _rows: list[tuple[int, int, int, int, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.others = populate(seed=self.seed, agents=300).facts
        self.rng = np.random.default_rng(self.seed + 10_000)

    @property
    def first(self) -> int:
        """Return the index of the first agent that was added."""
        return self.others.agents.ids.size

    def agent(self, *, creator: int = 0) -> tuple[int, int]:
        """Add one more agent; return its index and FID."""
        (fid,) = self.accounts(1, scores=(0.4, 0.6), days=(100, 200))
        self._agents.append((fid, creator))
        return self.first + len(self._agents) - 1, fid

    def accounts(self, count: int, *, scores: tuple[float, float], days: tuple[float, float]) -> list[int]:
        """Add accounts by FID, with scores and ages in days between these."""
        fids = [_FIRST_FID + len(self._accounts) + number for number in range(count)]
        for fid in fids:
            age = int(self.rng.uniform(*days) * DAY)
            self._accounts.append((fid, float(self.rng.uniform(*scores)), self.others.computed_at - age))
        return fids

    def people(self, count: int, *, least_score: float | None = None) -> Int64Array:
        """Draw accounts that are also at other agents, by FID: the likelier one is met, the more it does there.

        With a score from `least_score` on, or any.
        """
        known = self.others.accounts
        found = known.fids if least_score is None else known.fids[known.scores >= least_score]
        actors, counts = np.unique(self.others.interactions.actor, return_counts=True)
        counts = counts * np.isin(actors, found)
        return self.rng.choice(actors, size=count, replace=False, p=counts / counts.sum())

    def casts(self, agent: int, count: int) -> Int32Array:
        """Add casts of an agent over the week; return their indexes among those of the scene, in the order of time."""
        first = len(self._casts)
        for at in sorted(self.rng.integers(HOUR, WEEK - 12 * HOUR, size=count).tolist()):
            self._casts.append((agent, at, int(self.rng.integers(1, 2**62))))
        return np.arange(first, first + count, dtype=np.int32)

    def takes_up(self, actor: int, cast: int, *, after: float, kind: int = LIKE, text: int | None = None) -> None:
        """Add an interaction `after` seconds from the cast; a reply has a new text unless there is a text."""
        agent, at, key = self._casts[cast]
        if kind == REPLY and text is None:
            text = int(self.rng.integers(1000, 2**62))
        self._rows.append((agent, at + int(after), kind, actor, key, text or 0))

    def public(self, casts: Int32Array, count: int, *, people: Int64Array | None = None) -> None:
        """Add interactions by people who like some casts and are liked by some more than others, at any time."""
        fans = self.people(max(8, count // 2)) if people is None else people
        zeal, appeal = self._unequal(fans.size), self._unequal(casts.size)
        for _ in range(count):
            kind = int(self.rng.choice([LIKE, RECAST, REPLY], p=[0.65, 0.12, 0.23]))
            after = float(np.clip(np.exp(8 + 1.7 * self.rng.standard_normal()), 5, 3 * DAY))
            text = GM if self.rng.random() < 0.15 else None
            actor, cast = int(self.rng.choice(fans, p=zeal)), int(self.rng.choice(casts, p=appeal))
            self.takes_up(actor, cast, after=after, kind=kind, text=text if kind == REPLY else None)

    def _unequal(self, count: int) -> Float64Array:
        weights = np.exp(self.rng.standard_normal(count))
        return weights / weights.sum()

    def facts(self) -> IntervalFacts:
        """Return the others and the scene, as columns."""
        begin = self.others.computed_at - WEEK
        marks = {(row[2], row[3], row[4]): row for row in self._rows if row[2] != REPLY}
        rows = np.array([*marks.values(), *(row for row in self._rows if row[2] == REPLY)], dtype=np.int64)
        rows = rows[rows[:, 1] <= WEEK]
        casts = np.array(self._casts, dtype=np.int64)
        return replace(
            self.others,
            agents=self._all_agents(),
            runs=self._runs(begin),
            actions=_joined(
                self.others.actions,
                Actions(casts[:, 0], begin + casts[:, 1], np.ones(len(casts), np.int8), casts[:, 2], casts[:, 2] + 1),
            ),
            interactions=_joined(
                self.others.interactions,
                Interactions(rows[:, 0], begin + rows[:, 1], rows[:, 2], rows[:, 3], rows[:, 4], rows[:, 5]),
            ),
            accounts=_joined(self.others.accounts, Accounts(*map(np.array, zip(*self._accounts, strict=True)))),
        )

    def _all_agents(self) -> Agents:
        last = int(self.others.agents.ids[-1])
        fids, creators = (np.array(column, dtype=np.int64) for column in zip(*self._agents, strict=True))
        return _joined(self.others.agents, Agents(last + 1 + np.arange(fids.size), fids, creators))

    def _runs(self, begin: int) -> Runs:
        agent = np.repeat(self.first + np.arange(len(self._agents)), 30)
        at = begin + self.rng.integers(1, WEEK, size=agent.size)
        return _joined(self.others.runs, Runs(agent, at, self.rng.random(agent.size) < 0.9))


def _joined(first: Columns, second: Columns) -> Columns:
    names = vars(first)
    return type(first)(
        **{
            name: np.concatenate([getattr(first, name), getattr(second, name)]).astype(getattr(first, name).dtype)
            for name in names
        }
    )
