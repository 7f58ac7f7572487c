"""Small scenes with agents and accounts as a ranking's facts."""

from dataclasses import dataclass, field

import numpy as np

from leaderboard.facts.columns import Accounts, Actions, Agents, Interactions, IntervalFacts, Runs

NOW = 1_790_000_000
DAY = 86_400
WEEK = 7 * DAY
POST = 1


@dataclass
class RankingScene:
    """Facts that are put together row by row; times are seconds before NOW."""

    seed: int = 1
    # FID, creator's FID and reporter.
    agents: list[tuple[int, int, int]] = field(default_factory=list)
    runs: list[tuple[int, int, bool]] = field(default_factory=list)
    casts: list[tuple[int, int, int]] = field(default_factory=list)
    # Agent, account, whether it is confirmed, and whether it is within the interval.
    interactions: list[tuple[int, int, bool, bool]] = field(default_factory=list)
    scores: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)

    def agent(self, *, fid: int = 0, creator: int = 0, reporter: int | None = None, casts: int = 20) -> int:
        """Add an agent with so many casts, evenly over the week, by default with its own reporter."""
        agent = len(self.agents)
        self.agents.append((fid, creator, agent + 1 if reporter is None else reporter))
        for number in range(casts):
            self.casts.append((agent, WEEK - 3600 - number * (WEEK - 7200) // max(casts, 1), 1000 * agent + number + 1))
        return agent

    def person(self, fid: int, *, score: float = 0.7) -> int:
        """Add an account with a known score."""
        self.scores[fid] = score
        return fid

    def crowd(self, agent: int, accounts: int, *, first_fid: int, score: float = 0.7, times: int = 1) -> list[int]:
        """Add accounts that like an agent's casts, and return their FIDs."""
        fids = [self.person(first_fid + number, score=score) for number in range(accounts)]
        for fid in fids:
            self.like(agent, fid, times=times)
        return fids

    def like(self, agent: int, fid: int, *, times: int = 1, is_confirmed: bool = True, is_current: bool = True) -> None:
        """Add an account's interactions with the agent."""
        self.interactions += [(agent, fid, is_confirmed, is_current)] * times

    def facts(self, *, shuffled: int = 0) -> IntervalFacts:
        """Return everything as columns, in another order for another number."""
        order = np.random.default_rng(shuffled).permutation if shuffled else np.arange
        fids = np.array(sorted(self.scores), np.int64)

        def columns(rows: list[tuple[int, ...]], width: int) -> list[np.ndarray]:
            table = np.array(rows, np.int64).reshape(-1, width)[order(len(rows))]
            return list(table.T)

        (fid, creator, reporter) = np.array(self.agents, np.int64).reshape(-1, 3).T
        run_agent, finished, succeeded = columns(self.runs, 3)
        cast_agent, cast_at, cast = columns(self.casts, 3)
        agent, actor, *marks = columns(self.interactions, 4)
        return IntervalFacts(
            computed_at=NOW,
            seconds=WEEK,
            agents=Agents(np.arange(1, len(self.agents) + 1), fid, creator),
            runs=Runs(run_agent.astype(np.int32), NOW - finished, succeeded.astype(np.bool_)),
            actions=Actions(cast_agent.astype(np.int32), NOW - cast_at, np.full(len(cast), POST, np.int8), cast),
            interactions=Interactions(agent.astype(np.int32), actor, *(mark.astype(np.bool_) for mark in marks)),
            accounts=Accounts(fids, np.array([self.scores[each] for each in fids.tolist()])),
            reporters=reporter,
        )


def town(seed: int = 1) -> RankingScene:
    """Build three reporters' agents, each with its own crowd and people who interact with all three."""
    scene = RankingScene(seed)
    for number in range(3):
        agent = scene.agent(fid=900_000_000 + number, creator=800_000_000 + number)
        scene.crowd(agent, 40, first_fid=100_000 * (number + 1), times=2)
        scene.crowd(agent, 30, first_fid=10_000)
    return scene
