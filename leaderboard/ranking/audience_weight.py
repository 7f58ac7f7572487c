"""Weight of each agent's audience, with what is discounted of it. docs/leaderboard.md explains the formula."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import BoolArray, Float64Array, IntervalFacts
from leaderboard.ranking.discounts import DISCOUNTS, Discount, bounded

# Assumed for an account of unknown social score: a reporter can invent any number of them.
UNKNOWN_SCORE = 0.05
# Share of its weight that an account counts without a confirmed interaction within the interval. In a day there are few
# accounts: a few bought ones, or own word, would decide the first places.
EARLIER_SHARE = 0.5
# A discount is flagged if it takes this share of an audience's weight, and this much weight: that of a few accounts.
FLAG_SHARE, _FLAG_WEIGHT = 0.1, 1.0
# Accounts listed as evidence, the heaviest first.
MAX_ACCOUNTS = 10


@dataclass(frozen=True)
class Discounted:
    """Part of the audiences that one discount applies to: a mask of pairs, and of each agent what the part counts.

    What it counts is part of the next one's weight. So an account that leaves a discount never lowers the sum.
    """

    discount: Discount
    pairs: BoolArray
    # Of the pairs, with what the part before counts.
    weight: Float64Array
    limit: Float64Array

    @property
    def counted(self) -> Float64Array:
        """What the part counts, for each agent."""
        return bounded(self.weight, self.limit)


@dataclass(frozen=True)
class AudienceWeight:
    """Weight of each agent's audience, and of each pair of agent and account."""

    audience: Audience
    pair_weight: Float64Array
    # Of the accounts without a discount.
    independent: Float64Array
    discounted: tuple[Discounted, ...]

    @property
    def whole(self) -> Float64Array:
        """Weight without discounts."""
        return self.audience.per_agent(self.pair_weight)

    @property
    def counted(self) -> Float64Array:
        """Weight that counts."""
        return self.independent + (self.discounted[-1].counted if self.discounted else 0)

    @property
    def discounted_share(self) -> Float64Array:
        """Share of the weight that is not counted, from 0 to 1."""
        return np.clip(1 - self.counted / np.maximum(self.whole, 1e-12), 0, 1)

    def flagged(self) -> list[tuple[Discounted, BoolArray]]:
        """Return each discounted part with a mask of the agents to which its flag applies."""
        found = []
        for part in self.discounted:
            lost = part.weight - part.counted
            found.append((part, (lost >= _FLAG_WEIGHT) & (lost >= FLAG_SHARE * self.whole)))
        return found

    def figures(self) -> dict[int, dict[str, Any]]:
        """Return the figures of each agent's audience; agents without accounts are left out."""
        accounts = np.diff(self.audience.starts).tolist()
        weights = [np.round(part, 6).tolist() for part in (self.whole, self.independent, self.counted)]
        return {
            agent: {"accounts": number, "weight": whole, "independent": independent, "counted": counted}
            for agent, (number, whole, independent, counted) in enumerate(zip(accounts, *weights, strict=True))
            if number
        }

    def describe(self, part: Discounted, agent: int) -> dict[str, Any]:
        """Return the evidence of a discount for an agent: the figures of the formula, and the heaviest accounts."""
        pairs = self.audience.pairs_of(agent)
        chosen = pairs.start + np.flatnonzero(part.pairs[pairs])
        fids, counts = self.audience.fids[self.audience.pair_actor[chosen]], self.audience.pair_count[chosen]
        scores = self.audience.scores[self.audience.pair_actor[chosen]]
        listed = np.lexsort((fids, -self.pair_weight[chosen]))[:MAX_ACCOUNTS]
        return {
            "meaning": part.discount.meaning,
            "accounts": len(chosen),
            "interactions": int(counts.sum()),
            "weight": round(float(part.weight[agent]), 6),
            "limit": round(float(part.limit[agent]), 6),
            "counted": round(float(part.counted[agent]), 6),
            "independent": round(float(self.independent[agent]), 6),
            "listed": [
                {
                    "fid": int(fids[at]),
                    "interactions": int(counts[at]),
                    "score": None if np.isnan(scores[at]) else round(float(scores[at]), 6),
                    "weight": round(float(self.pair_weight[chosen[at]]), 6),
                }
                for at in listed.tolist()
            ],
        }


def weigh_audience(facts: IntervalFacts, audience: Audience, *, without: Collection[str] = ()) -> AudienceWeight:
    """Weigh each agent's accounts; discounts of the flags in `without` are left out."""
    scores = np.where(np.isnan(audience.scores), UNKNOWN_SCORE, audience.scores)[audience.pair_actor]
    counts = audience.pair_count.astype(np.float64)
    weights = scores**2 * 2 * counts / (counts + 1) * np.where(audience.is_current, 1, EARLIER_SHARE)
    left = np.ones(len(weights), np.bool_)
    masks = []
    for discount in DISCOUNTS:
        if discount.flag not in without:
            chosen = discount.find(facts, audience) & left
            left &= ~chosen
            masks.append((discount, chosen))
    independent = audience.per_agent(weights * left)
    parts, carried = [], np.zeros(audience.agents)
    for discount, chosen in masks:
        weight = audience.per_agent(weights * chosen) + carried
        parts.append(Discounted(discount, chosen, weight, discount.limit(independent)))
        carried = parts[-1].counted
    return AudienceWeight(audience, weights, independent, tuple(parts))
