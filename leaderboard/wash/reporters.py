"""Baselines per reporter: each agent is compared with its own reporter's agents first.

A reporter can invent as many agents as its key allows, with a crowd for each. So baselines are computed from all agents
or from those of the agent's reporter, whichever favours the agent. No key can make another key's agents look
like wash; what a reporter can do for its own agents is bounded by constants.
"""

import numpy as np

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import BoolArray, Float64Array, Int32Array, Int64Array
from leaderboard.facts.grouping import count_distinct


def comparison_accounts(audience: Audience, chosen: BoolArray, reporters: Int64Array, *, others: int) -> Float64Array:
    """Count the accounts that each agent is compared with: its reporter's, and at most `others` more.

    `chosen` has one entry per pair, `reporters` the number of each agent's reporter.
    """
    pairs = np.flatnonzero(chosen)
    keys = reporters[audience.pair_agent[pairs]] * len(audience.fids)
    keys += audience.pair_actor[pairs]
    reported, _ = count_distinct(keys)
    own = np.bincount(reported // max(len(audience.fids), 1), minlength=int(reporters.max(initial=0)) + 1)
    everyone = np.count_nonzero(np.bincount(audience.pair_actor[pairs], minlength=len(audience.fids)))
    return np.minimum(own + others, everyone)[reporters].astype(np.float64)


def medians_by_reporter(values: Int32Array, reporters: Int32Array, *, number: int) -> Int32Array:
    """Return the median of each reporter's values, which are whole and not negative; -1 without values.

    Of an even number of values the lower middle one is taken.
    """
    width = int(values.max(initial=0)) + 1
    keys = reporters.astype(np.int64) * width
    keys += values
    keys.sort()
    starts = np.searchsorted(keys, np.arange(number + 1) * width)
    found = np.full(number, -1, np.int32)
    some = np.flatnonzero(np.diff(starts))
    found[some] = keys[(starts[some] + starts[some + 1] - 1) // 2] % width
    return found
