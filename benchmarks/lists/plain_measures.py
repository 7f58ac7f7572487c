"""Single measures of wash that would be counted first, which the detectors are compared with."""

from collections.abc import Mapping

import numpy as np

from leaderboard.facts.columns import Float64Array, IntervalFacts

# Under so many interactions an agent is not judged.
_LEAST = 15
_LOW, _UNKNOWN = 0.25, 0.1
_MONTH = 30 * 86_400


def measure_plainly(facts: IntervalFacts) -> Mapping[str, Float64Array]:
    """Return name -> one value for each agent, the higher the more it looks like wash; 0 with few interactions."""
    interactions, count = facts.interactions, facts.agents.ids.size
    total = np.bincount(interactions.agent, minlength=count)

    def share(of: Float64Array) -> Float64Array:
        return np.bincount(interactions.agent, weights=of, minlength=count) / np.maximum(total, 1)

    agent, times, place = _by_account(interactions.agent, interactions.actor)
    accounts = np.bincount(agent, minlength=count)
    known = np.searchsorted(facts.accounts.fids, interactions.actor).clip(0, facts.accounts.fids.size - 1)
    is_known = facts.accounts.fids[known] == interactions.actor
    scores = np.where(is_known, np.nan_to_num(facts.accounts.scores[known], nan=_UNKNOWN), _UNKNOWN)
    registered = np.where(is_known, facts.accounts.registered_at[known], 0)
    found = {
        "interactions": total.astype(np.float64),
        "interactions an account": total / np.maximum(accounts, 1),
        "concentration (HHI)": np.bincount(agent, weights=times**2.0, minlength=count) / np.maximum(total, 1) ** 2,
        "share of accounts with a low score": share((scores < _LOW).astype(np.float64)),
        "share of accounts of the last month": share((registered > facts.computed_at - _MONTH).astype(np.float64)),
        "share of repeated texts": _repeated(facts),
        "share of what its accounts do": share(_share_of_account(times, place, interactions.actor)),
    }
    return {name: np.where(total >= _LEAST, values, 0.0) for name, values in found.items()}


def _by_account(agent: np.ndarray, actor: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each pair's agent, how often it interacts, and for each interaction which pair it is of."""
    pairs, place, times = np.unique(agent.astype(np.int64) * 2**32 + actor, return_inverse=True, return_counts=True)
    return (pairs >> 32).astype(np.int64), times, place


def _share_of_account(times: np.ndarray, place: np.ndarray, actor: np.ndarray) -> Float64Array:
    """Return for each interaction the share of its account's interactions that are at this agent."""
    _, account, does = np.unique(actor, return_inverse=True, return_counts=True)
    return times[place] / does[account]


def _repeated(facts: IntervalFacts) -> Float64Array:
    interactions, count = facts.interactions, facts.agents.ids.size
    has_text = interactions.text != 0
    pairs = np.stack([interactions.agent[has_text].astype(np.int64), interactions.text[has_text]])
    unique, times = np.unique(pairs, axis=1, return_counts=True)
    repeated = np.bincount(unique[0], weights=np.where(times > 1, times, 0), minlength=count)
    return repeated / np.maximum(np.bincount(interactions.agent[has_text], minlength=count), 1)
