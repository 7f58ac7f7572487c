"""How evidence lists accounts: those with most interactions one by one, and the sum of the others."""

import numpy as np
import numpy.typing as npt

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import Index, Real, Whole
from leaderboard.wash.findings import Evidence

MAX_LISTED = 25


def listed(audience: Audience, pairs: npt.NDArray[np.integer]) -> Evidence:
    """The accounts of some of an agent's pairs, with FID, interactions with the agent, score and registration."""
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


def totals(audience: Audience) -> Whole:
    """The interactions of each account, over all agents."""
    weighted = np.bincount(audience.pair_actor, audience.pair_count, len(audience.fids))
    return weighted.astype(np.int64)


def pairs_of(audience: Audience, agent: int, chosen: npt.NDArray[np.bool_]) -> Index:
    """The chosen among an agent's pairs."""
    own = audience.pairs_of(agent)
    pairs: Index = (np.flatnonzero(chosen[own]) + own.start).astype(np.int32)
    return pairs


def share(part: npt.NDArray[np.number], whole: npt.NDArray[np.number], *, doubt: float = 0) -> Real:
    """Part of whole, 0 where there is none; `doubt` is added to the whole, so that small numbers prove little."""
    ratio: Real = part / np.maximum(whole + doubt, 1)
    return ratio
