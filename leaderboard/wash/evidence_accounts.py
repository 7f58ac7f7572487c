"""Lists of accounts in evidence: those with most interactions one by one, and the sum of the others."""

import numpy as np
import numpy.typing as npt

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import Float64Array, Int32Array, Int64Array
from leaderboard.wash.findings import Evidence

MAX_LISTED = 25


def list_accounts(audience: Audience, pairs: npt.NDArray[np.integer]) -> Evidence:
    """List the accounts of some of an agent's pairs with FID, interactions, score and registration time."""
    pairs = pairs[np.lexsort((audience.fids[audience.pair_actor[pairs]], -audience.pair_count[pairs]))]
    shown, others = pairs[:MAX_LISTED], audience.pair_count[pairs[MAX_LISTED:]].astype(np.int64)
    return {
        "accounts": [_account(audience, int(pair)) for pair in shown],
        "others": {
            "accounts": len(others),
            "interactions": int(others.sum()),
            "squares": int((others**2).sum()),
        },
    }


def _account(audience: Audience, pair: int) -> Evidence:
    actor = audience.pair_actor[pair]
    score, registered_at = float(audience.scores[actor]), int(audience.registered_at[actor])
    return {
        "fid": int(audience.fids[actor]),
        "interactions": int(audience.pair_count[pair]),
        "score": None if np.isnan(score) else round(score, 4),
        "registeredAt": registered_at or None,
    }


def interactions_by_account(audience: Audience) -> Int64Array:
    """Sum each account's interactions over all agents."""
    sums = np.bincount(audience.pair_actor, audience.pair_count, len(audience.fids))
    return sums.astype(np.int64)


def select_pairs(audience: Audience, agent: int, chosen: npt.NDArray[np.bool_]) -> Int32Array:
    """Return the chosen pairs of an agent."""
    own = audience.pairs_of(agent)
    pairs: Int32Array = (np.flatnonzero(chosen[own]) + own.start).astype(np.int32)
    return pairs


def share(part: npt.NDArray[np.number], whole: npt.NDArray[np.number], *, allowance: float = 0) -> Float64Array:
    """Return part / whole, 0 for an empty whole.

    `allowance` is added to the whole, so that small numbers prove little.
    """
    ratio: Float64Array = part / np.maximum(whole + allowance, 1)
    return ratio
