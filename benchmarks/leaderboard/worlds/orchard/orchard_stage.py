"""The orchard's stage: builder, people, sellers' accounts and agents, with the rows that all parts add."""

import numpy as np
import numpy.typing as npt

from benchmarks.leaderboard.worlds.world import DAY, LIKE, QUOTE, RECAST, REPLY, Purpose, WorldBuilder
from leaderboard.facts.columns import Int64Array

from .orchard_people import OrchardCrowd, delay_to_waking, register_accounts, register_people
from .orchard_plan import OrchardAgent

# Shares for likes, recasts, replies and quotes.
Shares = tuple[float, float, float, float]
MOSTLY_LIKES: Shares = (0.72, 0.12, 0.13, 0.03)
CONVERSATION: Shares = (0.35, 0.05, 0.57, 0.03)
ONLY_LIKES: Shares = (1, 0, 0, 0)
ONLY_QUOTES: Shares = (0, 0, 0, 1)

_KINDS = np.array([LIKE, RECAST, REPLY, QUOTE])
# The hub misses some messages, and each quote is looked up for an hour only.
_CONFIRMED, _CONFIRMED_QUOTES = 0.98, 0.9


class OrchardStage:
    """Shared state while a world is built."""

    def __init__(self, builder: WorldBuilder, agents: list[OrchardAgent]) -> None:
        self.builder, self.rng, self.agents = builder, builder.rng, agents
        size = len(agents)
        self.people = register_people(builder, 25 * size)
        # Agents' accounts interact with other agents as well.
        self.droids = register_accounts(builder, size, scores=(0.1, 0.85), days=(1, 500), unknown=0.1)
        for agent, fid in zip(agents, self.droids.fids.tolist(), strict=True):
            agent.fid = 0 if agent.kind.startswith("fidless") else fid

    @property
    def honest(self) -> list[OrchardAgent]:
        """Honest agents with a cast."""
        return [agent for agent in self.agents if not agent.attack and len(agent.casts)]

    def add_interactions(
        self,
        agent: OrchardAgent,
        actors: Int64Array,
        times: Int64Array,
        casts: Int64Array,
        *,
        shares: Shares = MOSTLY_LIKES,
        purpose: Purpose = Purpose.ORGANIC,
        confirmed: float = _CONFIRMED,
    ) -> None:
        """Add accounts' interactions with the agent's casts.

        confirmed: share that the hub returns among likes, recasts and replies; slightly less for quotes.
        """
        if not len(actors):
            return
        kinds = self.rng.choice(_KINDS, len(actors), p=shares)
        has_text = kinds >= REPLY
        limits = np.where(kinds == QUOTE, confirmed * _CONFIRMED_QUOTES, confirmed)
        self.builder.add_interactions(
            agent.index,
            casts,
            actors,
            times,
            kind=kinds,
            text=np.where(has_text, self.builder.new_keys(len(actors)), 0),
            purpose=purpose,
            is_confirmed=self.rng.random(len(actors)) < limits,
        )

    def add_reactions(
        self,
        agent: OrchardAgent,
        crowd: OrchardCrowd,
        counts: npt.NDArray[np.int64],
        *,
        shares: Shares = MOSTLY_LIKES,
        purpose: Purpose = Purpose.ORGANIC,
        not_before: int = 0,
    ) -> int:
        """Add interactions that follow casts within hours, as people do; return their number.

        counts: each account's interactions.
        """
        recent = np.flatnonzero(agent.cast_at >= not_before)
        if not len(recent) or not len(crowd):
            return 0
        # A few casts get most attention.
        appeal = self.rng.lognormal(0, 1, len(recent))
        rows = np.repeat(np.arange(len(crowd)), counts)
        cast = recent[self.rng.choice(len(recent), len(rows), p=appeal / appeal.sum())]
        delays = self.rng.lognormal(np.log(2_400), 1.6, len(rows)).clip(15, 4 * DAY).astype(np.int64)
        times = delay_to_waking(self.rng, agent.cast_at[cast] + delays, crowd.zones[rows])
        self.add_interactions(agent, crowd.fids[rows], times, agent.casts[cast], shares=shares, purpose=purpose)
        return int(np.count_nonzero((times > self.builder.start) & (times <= self.builder.end)))

    def newest_casts(
        self, agent: OrchardAgent, times: Int64Array, numbers: Int64Array
    ) -> tuple[Int64Array, Int64Array]:
        """Return for each time a cast published before it, and the time, after the first cast at least.

        numbers: the interaction's position among its account's. Later ones like older casts if the time has
        not advanced, because an account likes a cast once.
        """
        times = np.maximum(times, agent.cast_at[0] + 30)
        places = np.searchsorted(agent.cast_at, times) - 1 - numbers % 3
        return agent.casts[places.clip(0)], times
