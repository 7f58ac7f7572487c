"""DUPLICATE_TEXT: replies and quotes of different accounts that say the same.

What is said to many agents ("gm") is a custom. A text counts as copied by as many accounts as say it to this agent,
beyond the first and beyond what its use towards other agents would let expect. Who lies about his own agents could as
well leave their texts out; what matters is that he can't make others' look bad.
"""

from dataclasses import dataclass

import numpy as np

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import Facts, Index, Real, Whole
from leaderboard.facts.grouping import distinct
from leaderboard.facts.short_keys import hex_of
from leaderboard.wash.evidence_accounts import share
from leaderboard.wash.findings import Evidence, Finding, Ramp, Sign

FLAG = "DUPLICATE_TEXT"
WEIGHT = 0.75
COPIED = Ramp(0.16, 0.36)
# How much more than expected from other agents is custom still.
_CUSTOM = 2.0
# An agent has a say in what is custom by so many texts, and what is custom anywhere among one reporter's agents is no
# copy: whoever invents a crowd that says other things must not make what is said to everybody look copied.
_SAY = 100
# Added to the texts of an agent, so that a handful proves little.
DOUBT = 5
MAX_TEXTS = 12
MAX_ACTORS = 12
MAX_CASTS = 5


@dataclass(frozen=True)
class Texts:
    """What accounts say to agents, each text of an account to an agent once; sorted by agent and text."""

    agent: Index
    text: Whole
    # How many accounts say it to this agent, and to how many that is expected of.
    accounts: Index
    expected: Real
    # Of each agent: texts of accounts altogether.
    said: Real


def find(facts: Facts, audience: Audience) -> Finding:
    """The share of an agent's texts that are copies."""
    texts = gather_texts(facts, audience)
    copies = np.clip(texts.accounts - 1 - _CUSTOM * texts.expected, 0, None)
    copied = np.bincount(texts.agent, copies, audience.agents)
    starts = np.searchsorted(texts.agent, np.arange(audience.agents + 1, dtype=np.int32))

    def describe(agent: int) -> Evidence:
        own = starts[agent] + np.flatnonzero(copies[starts[agent] : starts[agent + 1]] > 0)
        own = own[np.lexsort((texts.text[own], -copies[own]))]
        rows = audience.rows_of(agent)
        return {
            "texts": int(texts.said[agent]),
            "doubt": DOUBT,
            "custom": _CUSTOM,
            "listed": [
                {
                    "key": hex_of(int(texts.text[at])),
                    "accounts": int(texts.accounts[at]),
                    "expected": float(texts.expected[at]),
                    **_uses(facts, rows[facts.interactions.text[rows] == texts.text[at]]),
                }
                for at in own[:MAX_TEXTS]
            ],
            "others": {"texts": len(own[MAX_TEXTS:]), "copies": float(copies[own[MAX_TEXTS:]].sum())},
        }

    return Finding((Sign("copied", share(copied, texts.said, doubt=DOUBT), COPIED),), describe)


def gather_texts(facts: Facts, audience: Audience) -> Texts:
    """Counts the accounts that say each text to each agent, and what other agents' texts would let expect."""
    spoken = facts.interactions.text[audience.rows] != 0
    rows = audience.rows[spoken]
    pair = np.repeat(np.arange(len(audience.pair_agent), dtype=np.int32), audience.pair_count)[spoken]
    known, text = np.unique(facts.interactions.text[rows], return_inverse=True)
    width = max(len(known), 1)
    once, _ = distinct(pair.astype(np.int64) * width + text)
    said = np.bincount(audience.pair_agent[once // width], minlength=audience.agents)
    keys, accounts = distinct(audience.pair_agent[once // width].astype(np.int64) * width + once % width)
    agent, text = (keys // width).astype(np.int32), keys % width
    reporters = facts.reporter_numbers()
    say = np.minimum(1, _SAY / np.maximum(said, 1))
    heard = np.bincount(reporters, say * said)
    counted = say[agent] * accounts
    told, at = np.unique(reporters[agent] * width + text, return_inverse=True)
    weights = np.bincount(at, counted)
    # As the agent's own reporter tells of others, and as another one does, whichever has more of it.
    around = (weights[at] - counted) / np.maximum(heard[reporters[agent]] - (say * said)[agent], 1)
    elsewhere = _most_of_others(told // width, told % width, weights / np.maximum(heard[told // width], _SAY))[at]
    return Texts(agent, known[text], accounts, np.maximum(around, elsewhere) * said[agent], said.astype(np.float64))


def _most_of_others(reporter: Whole, text: Whole, rates: Real) -> Real:
    """For each text of a reporter the highest rate that another reporter has of it; 0 without any."""
    order = np.lexsort((rates, text))
    last = np.flatnonzero(np.append(text[order][1:] != text[order][:-1], True)[: len(order)])
    sizes = np.diff(last, prepend=-1)
    first, second = order[last], order[np.maximum(last - 1, 0)]
    of_second = np.where(sizes > 1, rates[second], 0)
    place = np.searchsorted(text[first], text)
    return np.where(reporter[first][place] == reporter, of_second[place], rates[first][place])


def _uses(facts: Facts, rows: Index) -> Evidence:
    interactions = facts.interactions
    casts, times = np.unique(interactions.cast[rows], return_counts=True)
    order = np.lexsort((casts, -times))[:MAX_CASTS]
    return {
        "uses": len(rows),
        "casts": [{"cast": hex_of(int(casts[at])), "uses": int(times[at])} for at in order],
        "actors": [int(fid) for fid in np.unique(interactions.actor[rows])[:MAX_ACTORS]],
    }
