"""LOW_SCORE_AUDIENCE: an audience of low scores, newborn accounts, or accounts registered in batches.

Sellers of engagement register accounts in batches. The protocol numbers accounts consecutively, so their FIDs are close
together. Accounts of unknown score count as neither low nor good.
"""

import numpy as np

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import BoolArray, Float64Array, Int64Array, IntervalFacts
from leaderboard.wash.evidence_accounts import list_accounts, select_pairs, share
from leaderboard.wash.findings import Evidence, Finding, Ramp, Sign
from leaderboard.wash.reporters import comparison_accounts

FLAG = "LOW_SCORE_AUDIENCE"
WEIGHT = 0.75
LOW_SCORE = 0.35
NEWBORN_SECONDS = 30 * 86_400
# Honest newcomers have such audiences, too.
LOW = Ramp(0.45, 0.8, top=0.6)
NEWBORN = Ramp(0.35, 0.8, top=0.6)
BATCH = Ramp(0.03, 0.15)
# A batch has at least this many accounts that came back, each within _NEAR FIDs of the next.
_MIN_BATCH = 3
_MIN_RETURNS = 2
_MAX_FID_GAP = 30
# Where both registration times are known, they must be this close.
_MAX_REGISTRATION_GAP = 7 * 86_400
# Largest distance in ranks among all accounts, as a share of the mean distance in a random audience of this size.
_MAX_RANK_SHARE = 0.1
# Accounts of other reporters' audiences that count among all accounts.
_OTHERS = 2_000
# Added to the total, so that a handful of known accounts proves little.
SMALL_NUMBER_ALLOWANCE = 5


def detect(facts: IntervalFacts, audience: Audience) -> Finding:
    """Measure the shares of interactions from low-score (among known), newborn and batch-registered accounts."""
    scores = audience.scores[audience.pair_actor]
    registered_at = audience.registered_at[audience.pair_actor]
    known, low = ~np.isnan(scores), scores < LOW_SCORE
    newborn = (registered_at > 0) & (registered_at > facts.computed_at - NEWBORN_SECONDS)
    batched = in_batches(audience, facts.reporter_numbers())
    interactions = audience.interactions
    known_interactions = _interactions_of(audience, known)

    def describe(agent: int) -> Evidence:
        return {
            "interactions": int(interactions[agent]),
            "knownInteractions": int(known_interactions[agent]),
            "doubt": SMALL_NUMBER_ALLOWANCE,
            "lowScore": LOW_SCORE,
            "newbornSeconds": NEWBORN_SECONDS,
            **{
                name: list_accounts(audience, select_pairs(audience, agent, chosen))
                for name, chosen in (("low", low), ("newborn", newborn), ("batch", batched))
            },
        }

    return Finding(
        (
            Sign(
                "low", share(_interactions_of(audience, low), known_interactions, allowance=SMALL_NUMBER_ALLOWANCE), LOW
            ),
            Sign(
                "newborn",
                share(_interactions_of(audience, newborn), interactions, allowance=SMALL_NUMBER_ALLOWANCE),
                NEWBORN,
            ),
            Sign(
                "batch",
                share(_interactions_of(audience, batched), interactions, allowance=SMALL_NUMBER_ALLOWANCE),
                BATCH,
            ),
        ),
        describe,
    )


def in_batches(audience: Audience, reporters: Int64Array) -> BoolArray:
    """Mask pairs with an account in a batch of accounts that came back to the same agent."""
    chosen = np.zeros(len(audience.pair_agent), np.bool_)
    returning = np.flatnonzero(audience.pair_count >= _MIN_RETURNS)
    if not len(returning):
        return chosen
    agent, fid = audience.pair_agent[returning], audience.fids[audience.pair_actor[returning]]
    registered_at = audience.registered_at[audience.pair_actor[returning]]
    # Pairs are sorted by agent and FID, so that neighbours are next to each other.
    near = (agent[1:] == agent[:-1]) & (np.diff(fid) <= _MAX_FID_GAP)
    near &= np.diff(audience.pair_actor[returning]) <= _max_rank_distances(audience, reporters)[agent[1:]]
    unknown = (registered_at[1:] == 0) | (registered_at[:-1] == 0)
    near &= unknown | (np.abs(np.diff(registered_at)) <= _MAX_REGISTRATION_GAP)
    starts = np.concatenate([[0], np.flatnonzero(~near) + 1])
    sizes = np.diff(starts, append=len(returning))
    chosen[returning] = np.repeat(sizes >= _MIN_BATCH, sizes)
    return chosen


def _max_rank_distances(audience: Audience, reporters: Int64Array) -> Float64Array:
    """Return, per agent, the largest distance between neighbours in a batch, in ranks among all accounts."""
    returns = audience.per_agent(audience.pair_count >= _MIN_RETURNS)
    everyone = comparison_accounts(audience, audience.pair_count > 0, reporters, others=_OTHERS)
    limits: Float64Array = _MAX_RANK_SHARE * everyone / np.maximum(returns, 1)
    return limits


def _interactions_of(audience: Audience, chosen: BoolArray) -> Float64Array:
    return audience.per_agent(chosen * audience.pair_count)
