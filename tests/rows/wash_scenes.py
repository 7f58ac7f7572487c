"""Small scenes of agents and accounts, for one detector at a time."""

from dataclasses import dataclass, field

import numpy as np

from leaderboard.facts.columns import Accounts, Actions, Agents, Interactions, IntervalFacts, Runs, Trades

NOW = 1_790_000_000
DAY = 86_400
WEEK = 7 * DAY
POST, LIKE, REPLY = 1, 1, 3


@dataclass
class WashScene:
    """Facts that are put together row by row; times are seconds before NOW."""

    seed: int = 1
    agents: list[tuple[int, int]] = field(default_factory=list)
    runs: list[tuple[int, int, bool]] = field(default_factory=list)
    casts: list[tuple[int, int, int]] = field(default_factory=list)
    interactions: list[tuple[int, int, int, int, int, int]] = field(default_factory=list)
    trades: list[tuple[int, int, int, bool, bool, float]] = field(default_factory=list)
    known: dict[int, tuple[float, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)

    def agent(self, *, fid: int = 0, creator: int = 0, casts: int = 20) -> int:
        """Add an agent with so many casts, evenly over the week."""
        self.agents.append((fid, creator))
        agent = len(self.agents) - 1
        for number in range(casts):
            self.casts.append((agent, WEEK - 3600 - number * (WEEK - 7200) // max(casts, 1), 1000 * agent + number + 1))
        return agent

    def person(self, fid: int, *, score: float = 0.7, age: int = 900) -> int:
        """Add an account whose score and days since registration are known; 0 days for unknown."""
        self.known[fid] = (score, NOW - age * DAY if age else 0)
        return fid

    def crowd(self, agent: int, accounts: int, *, first_fid: int, score: float = 0.7, times: int = 1) -> None:
        """Add accounts far apart by FID, each of which likes some casts at its own pace."""
        for number in range(accounts):
            fid = self.person(first_fid + number * 997, score=score, age=400 + 5 * number)
            self.like(agent, fid, times=times)

    def like(self, agent: int, fid: int, *, times: int = 1, delay: float | None = None, text: int = 0) -> None:
        """Add interactions with casts of an agent: after so many seconds, or after a usual delay of people."""
        own = [cast for cast in self.casts if cast[0] == agent]
        for cast in self.random.choice(len(own), size=times, replace=times > len(own)).tolist():
            _, ago, key = own[cast]
            wait = float(self.random.lognormal(8, 1.6)) if delay is None else delay
            at = max(int(ago - wait), 1)
            self.interactions.append((agent, at, REPLY if text else LIKE, fid, key, text))

    def facts(self, *, shuffled: int = 0) -> IntervalFacts:
        """Return all of it as columns, in another order for another number."""
        order = np.random.default_rng(shuffled).permutation if shuffled else np.arange
        fids = sorted(self.known)

        def column(rows: list[tuple[float, ...]], at: int, kind: type, of: object = None) -> np.ndarray:
            values = np.array([row[at] for row in rows], kind)
            return values if of is None else values[of]

        runs, casts = order(len(self.runs)), order(len(self.casts))
        met, trades = order(len(self.interactions)), order(len(self.trades))
        return IntervalFacts(
            computed_at=NOW,
            seconds=WEEK,
            agents=Agents(
                np.arange(1, len(self.agents) + 1, dtype=np.int64),
                column(self.agents, 0, np.int64),
                column(self.agents, 1, np.int64),
            ),
            runs=Runs(
                column(self.runs, 0, np.int32, runs),
                NOW - column(self.runs, 1, np.int64, runs),
                column(self.runs, 2, np.bool_, runs),
            ),
            actions=Actions(
                column(self.casts, 0, np.int32, casts),
                NOW - column(self.casts, 1, np.int64, casts),
                np.full(len(self.casts), POST, np.int8),
                column(self.casts, 2, np.int64, casts),
                np.zeros(len(self.casts), np.int64),
            ),
            interactions=Interactions(
                column(self.interactions, 0, np.int32, met),
                NOW - column(self.interactions, 1, np.int64, met),
                column(self.interactions, 2, np.int8, met),
                column(self.interactions, 3, np.int64, met),
                column(self.interactions, 4, np.int64, met),
                column(self.interactions, 5, np.int64, met),
            ),
            trades=Trades(
                column(self.trades, 0, np.int32, trades),
                NOW - column(self.trades, 1, np.int64, trades),
                column(self.trades, 2, np.int64, trades),
                column(self.trades, 3, np.bool_, trades),
                column(self.trades, 4, np.bool_, trades),
                column(self.trades, 5, np.float64, trades),
            ),
            accounts=Accounts(
                np.array(fids, np.int64),
                np.array([self.known[fid][0] for fid in fids], np.float64),
                np.array([self.known[fid][1] for fid in fids], np.int64),
            ),
        )


def town(seed: int = 1) -> WashScene:
    """Build an honest surrounding: three agents, each with a crowd, so that there is something usual to differ from."""
    scene = WashScene(seed)
    for number in range(3):
        scene.crowd(scene.agent(fid=900_000_000 + number * 5000), 60, first_fid=100_000 + number * 100_003, times=2)
    return scene
