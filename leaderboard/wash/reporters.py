"""How much what others tell counts where an agent is judged: its own reporter's word comes first.

Whoever tells of agents can invent as many as his key may have, and a crowd for each. What is usual, or due to chance,
is therefore taken from all agents or from those of the judged one's reporter, whichever speaks for it: no key can make
another's agents look like wash. What a reporter can do for his own agents is bounded by constants.
"""

import numpy as np

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import Index, Real, Truth, Whole
from leaderboard.facts.grouping import distinct


def accounts_around(audience: Audience, chosen: Truth, reporters: Whole, *, others: int) -> Real:
    """How many accounts each agent's chosen pairs are held against: those of its reporter's, and so many of `others`.

    `chosen` is one entry per pair, `reporters` the number of each agent's.
    """
    pairs = np.flatnonzero(chosen)
    keys = reporters[audience.pair_agent[pairs]] * len(audience.fids)
    keys += audience.pair_actor[pairs]
    told, _ = distinct(keys)
    own = np.bincount(told // max(len(audience.fids), 1), minlength=int(reporters.max(initial=0)) + 1)
    everyone = np.count_nonzero(np.bincount(audience.pair_actor[pairs], minlength=len(audience.fids)))
    return np.minimum(own + others, everyone)[reporters].astype(np.float64)


def medians(values: Index, reporters: Index, *, number: int) -> Index:
    """The median of each of so many reporters' values, which are whole and not negative; -1 without any.

    Of an even number of values the lower one of the middle.
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
