"""LOW_SCORE_AUDIENCE: an audience of little worth: of low scores, newborn, or registered in one go.

Who sells engagement registers accounts by the batch, so that their FIDs, which the protocol counts up, stand side by
side. Accounts with an unknown score are taken for neither low nor good.
"""

import numpy as np

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import Facts, Real, Truth, Whole
from leaderboard.wash.evidence_accounts import listed, pairs_of, share
from leaderboard.wash.findings import Evidence, Finding, Ramp, Sign
from leaderboard.wash.reporters import accounts_around

FLAG = "LOW_SCORE_AUDIENCE"
WEIGHT = 0.75
LOW_SCORE = 0.35
NEWBORN_SECONDS = 30 * 86_400
# Honest newcomers have such audiences, too.
LOW = Ramp(0.45, 0.8, top=0.6)
NEWBORN = Ramp(0.35, 0.8, top=0.6)
BATCH = Ramp(0.03, 0.15)
# A batch: so many accounts that came back, each so near to the next by FID.
_MIN_BATCH = 3
_MIN_RETURNS = 2
_NEAR = 30
# Where both registrations are known, they must be as near as neighbours' are.
_NEAR_SECONDS = 7 * 86_400
# And so near in the order of all accounts that interact with anyone, if chance strewed this audience over them.
_CHANCE = 0.1
# So many accounts that interact with agents of other reporters alone are among them.
_OTHERS = 2_000
# Added to the whole, so that a handful of known accounts proves little.
DOUBT = 5


def find(facts: Facts, audience: Audience) -> Finding:
    """The shares of interactions from accounts of low score (among those known), newborn, and of batches."""
    scores = audience.scores[audience.pair_actor]
    registered_at = audience.registered_at[audience.pair_actor]
    known, low = ~np.isnan(scores), scores < LOW_SCORE
    newborn = (registered_at > 0) & (registered_at > facts.computed_at - NEWBORN_SECONDS)
    batched = in_batches(audience, facts.reporter_numbers())
    interactions = audience.interactions
    known_interactions = _of(audience, known)

    def describe(agent: int) -> Evidence:
        return {
            "interactions": int(interactions[agent]),
            "knownInteractions": int(known_interactions[agent]),
            "doubt": DOUBT,
            "lowScore": LOW_SCORE,
            "newbornSeconds": NEWBORN_SECONDS,
            **{
                name: listed(audience, pairs_of(audience, agent, chosen))
                for name, chosen in (("low", low), ("newborn", newborn), ("batch", batched))
            },
        }

    return Finding(
        (
            Sign("low", share(_of(audience, low), known_interactions, doubt=DOUBT), LOW),
            Sign("newborn", share(_of(audience, newborn), interactions, doubt=DOUBT), NEWBORN),
            Sign("batch", share(_of(audience, batched), interactions, doubt=DOUBT), BATCH),
        ),
        describe,
    )


def in_batches(audience: Audience, reporters: Whole) -> Truth:
    """Whether each pair's account stands in a batch of those that came back to the same agent."""
    chosen = np.zeros(len(audience.pair_agent), np.bool_)
    returning = np.flatnonzero(audience.pair_count >= _MIN_RETURNS)
    if not len(returning):
        return chosen
    agent, fid = audience.pair_agent[returning], audience.fids[audience.pair_actor[returning]]
    registered_at = audience.registered_at[audience.pair_actor[returning]]
    # Pairs are sorted by agent and FID, so that neighbours are next to each other.
    near = (agent[1:] == agent[:-1]) & (np.diff(fid) <= _NEAR)
    near &= np.diff(audience.pair_actor[returning]) <= _limits(audience, reporters)[agent[1:]]
    unknown = (registered_at[1:] == 0) | (registered_at[:-1] == 0)
    near &= unknown | (np.abs(np.diff(registered_at)) <= _NEAR_SECONDS)
    starts = np.concatenate([[0], np.flatnonzero(~near) + 1])
    sizes = np.diff(starts, append=len(returning))
    chosen[returning] = np.repeat(sizes >= _MIN_BATCH, sizes)
    return chosen


def _limits(audience: Audience, reporters: Whole) -> Real:
    """How many places apart, among all accounts, the neighbours in a batch of each agent's may stand at the most."""
    returns = audience.per_agent(audience.pair_count >= _MIN_RETURNS)
    everyone = accounts_around(audience, audience.pair_count > 0, reporters, others=_OTHERS)
    limits: Real = _CHANCE * everyone / np.maximum(returns, 1)
    return limits


def _of(audience: Audience, chosen: Truth) -> Real:
    return audience.per_agent(chosen * audience.pair_count)
