"""Audience weight per agent, with its discounts. docs/leaderboard.md explains the formula."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import BoolArray, Float64Array, IntervalFacts
from leaderboard.ranking import responses
from leaderboard.ranking.discounts import DISCOUNTS, Discount, bounded

# Assumed for an account without a known social score: a reporter can invent any number of such accounts.
UNKNOWN_SCORE = 0.05
# Factor for an account's weight without a confirmed interaction within the interval. A day has few accounts: a few
# bought accounts, or the agent's own word, would decide the first places.
EARLIER_SHARE = 0.5
# A discount is flagged if it takes this share of an audience's weight, and at least this weight (a few accounts).
FLAG_SHARE, _FLAG_WEIGHT = 0.1, 1.0
# Accounts listed as evidence, the heaviest first.
MAX_ACCOUNTS = 10


@dataclass(frozen=True)
class Discounted:
    """Pairs that one discount applies to, with their weight and its limit for each agent.

    The next discount's weight includes the counted weight. So an account that leaves a discount never lowers the sum.
    """

    discount: Discount
    pairs: BoolArray
    # The pairs' weight per agent, plus the weight that the previous discount counts.
    weight: Float64Array
    limit: Float64Array

    @property
    def counted(self) -> Float64Array:
        """Weight that counts despite the discount, for each agent."""
        return bounded(self.weight, self.limit)


@dataclass(frozen=True)
class AudienceWeight:
    """Audience weight per agent, and per (agent, account) pair."""

    audience: Audience
    pair_weight: Float64Array
    # Weight per agent of accounts without a discount.
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
        """Weight share that is not counted, from 0 to 1."""
        return np.clip(1 - self.counted / np.maximum(self.whole, 1e-12), 0, 1)

    def flagged(self) -> list[tuple[Discounted, BoolArray]]:
        """Return each discounted part with a mask that selects the flagged agents."""
        flags = []
        for discounted in self.discounted:
            lost = discounted.weight - discounted.counted
            flags.append((discounted, (lost >= _FLAG_WEIGHT) & (lost >= FLAG_SHARE * self.whole)))
        return flags

    def figures(self) -> dict[int, responses.AudienceShape]:
        """Return agent -> audience figures; agents without accounts are left out."""
        accounts = np.diff(self.audience.starts).tolist()
        weights = [np.round(weight, 6).tolist() for weight in (self.whole, self.independent, self.counted)]
        return {
            agent: {"accounts": number, "weight": total, "independent": independent, "counted": counted}
            for agent, (number, total, independent, counted) in enumerate(zip(accounts, *weights, strict=True))
            if number
        }

    def describe(self, discounted: Discounted, agent: int) -> responses.DiscountEvidence:
        """Return a discount's evidence for an agent: the formula's figures, and the heaviest accounts."""
        pairs = self.audience.pairs_of(agent)
        rows = pairs.start + np.flatnonzero(discounted.pairs[pairs])
        fids, counts = self.audience.fids[self.audience.pair_actor[rows]], self.audience.pair_count[rows]
        scores = self.audience.scores[self.audience.pair_actor[rows]]
        heaviest = np.lexsort((fids, -self.pair_weight[rows]))[:MAX_ACCOUNTS]
        return {
            "meaning": discounted.discount.meaning,
            "accounts": len(rows),
            "interactions": int(counts.sum()),
            "weight": round(float(discounted.weight[agent]), 6),
            "limit": round(float(discounted.limit[agent]), 6),
            "counted": round(float(discounted.counted[agent]), 6),
            "independent": round(float(self.independent[agent]), 6),
            "listed": [
                {
                    "fid": int(fids[index]),
                    "interactions": int(counts[index]),
                    "score": None if np.isnan(scores[index]) else round(float(scores[index]), 6),
                    "weight": round(float(self.pair_weight[rows[index]]), 6),
                }
                for index in heaviest.tolist()
            ],
        }


def weigh_audience(facts: IntervalFacts, audience: Audience, *, without: Collection[str] = ()) -> AudienceWeight:
    """Weigh each agent's accounts; discounts whose flags are in `without` are left out."""
    scores = np.where(np.isnan(audience.scores), UNKNOWN_SCORE, audience.scores)[audience.pair_actor]
    counts = audience.pair_count.astype(np.float64)
    weights = scores**2 * 2 * counts / (counts + 1) * np.where(audience.is_current, 1, EARLIER_SHARE)
    is_independent = np.ones(len(weights), np.bool_)
    masks = []
    for discount in DISCOUNTS:
        if discount.flag not in without:
            applies = discount.find(facts, audience) & is_independent
            is_independent &= ~applies
            masks.append((discount, applies))
    independent = audience.per_agent(weights * is_independent)
    parts, carried = [], np.zeros(audience.agents)
    for discount, applies in masks:
        weight = audience.per_agent(weights * applies) + carried
        parts.append(Discounted(discount, applies, weight, discount.limit(independent)))
        carried = parts[-1].counted
    return AudienceWeight(audience, weights, independent, tuple(parts))
