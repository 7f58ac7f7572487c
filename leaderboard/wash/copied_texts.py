"""DUPLICATE_TEXT: replies and quotes of different accounts with the same text.

A text used towards many agents ("gm") is a custom. Its copies are the accounts that send it to this agent, beyond the
first and beyond what its use towards other agents predicts. A reporter could hide copies among its own agents by
leaving texts out; it must not be able to make other reporters' agents look bad.
"""

from dataclasses import dataclass

import numpy as np

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import Float64Array, Int32Array, Int64Array, IntervalFacts
from leaderboard.facts.grouping import count_distinct
from leaderboard.facts.short_keys import key_to_hex
from leaderboard.wash.evidence_accounts import share
from leaderboard.wash.findings import Evidence, Finding, Ramp, Sign

FLAG = "DUPLICATE_TEXT"
WEIGHT = 0.75
COPIED = Ramp(0.16, 0.36)
# Multiple of the expected number that still counts as custom.
_CUSTOM_MULTIPLE = 2.0
# Texts by which one agent counts towards what is custom. What is custom among any reporter's agents is no copy: an
# invented crowd with other texts must not make common texts look copied.
_MAX_SAMPLED_TEXTS = 100
# Added to the texts of an agent, so that a handful proves little.
SMALL_NUMBER_ALLOWANCE = 5
MAX_TEXTS = 12
MAX_ACTORS = 12
MAX_CASTS = 5


@dataclass(frozen=True)
class TextCounts:
    """Texts that accounts send to agents, each text of an account to an agent once; sorted by agent and text."""

    agent: Int32Array
    text: Int64Array
    # Number of accounts that send the text to this agent, and the expected number.
    accounts: Int32Array
    expected: Float64Array
    # Of each agent: all texts of accounts.
    sent: Float64Array


def detect(facts: IntervalFacts, audience: Audience) -> Finding:
    """Measure the share of an agent's texts that are copies."""
    texts = count_texts(facts, audience)
    copies = np.clip(texts.accounts - 1 - _CUSTOM_MULTIPLE * texts.expected, 0, None)
    copied = np.bincount(texts.agent, copies, audience.agents)
    starts = np.searchsorted(texts.agent, np.arange(audience.agents + 1, dtype=np.int32))

    def describe(agent: int) -> Evidence:
        own = starts[agent] + np.flatnonzero(copies[starts[agent] : starts[agent + 1]] > 0)
        own = own[np.lexsort((texts.text[own], -copies[own]))]
        rows = audience.rows_of(agent)
        return {
            "texts": int(texts.sent[agent]),
            "doubt": SMALL_NUMBER_ALLOWANCE,
            "custom": _CUSTOM_MULTIPLE,
            "listed": [
                {
                    "key": key_to_hex(int(texts.text[at])),
                    "accounts": int(texts.accounts[at]),
                    "expected": float(texts.expected[at]),
                    **_uses(facts, rows[facts.interactions.text[rows] == texts.text[at]]),
                }
                for at in own[:MAX_TEXTS]
            ],
            "others": {"texts": len(own[MAX_TEXTS:]), "copies": float(copies[own[MAX_TEXTS:]].sum())},
        }

    return Finding((Sign("copied", share(copied, texts.sent, allowance=SMALL_NUMBER_ALLOWANCE), COPIED),), describe)


def count_texts(facts: IntervalFacts, audience: Audience) -> TextCounts:
    """Count the accounts that send each text to each agent, and the number that other agents' texts predict."""
    has_text = facts.interactions.text[audience.rows] != 0
    rows = audience.rows[has_text]
    pair = np.repeat(np.arange(len(audience.pair_agent), dtype=np.int32), audience.pair_count)[has_text]
    known, text = np.unique(facts.interactions.text[rows], return_inverse=True)
    width = max(len(known), 1)
    once, _ = count_distinct(pair.astype(np.int64) * width + text)
    sent = np.bincount(audience.pair_agent[once // width], minlength=audience.agents)
    keys, accounts = count_distinct(audience.pair_agent[once // width].astype(np.int64) * width + once % width)
    agent, text = (keys // width).astype(np.int32), keys % width
    reporters = facts.reporter_numbers()
    weight = np.minimum(1, _MAX_SAMPLED_TEXTS / np.maximum(sent, 1))
    reporter_totals = np.bincount(reporters, weight * sent)
    counted = weight[agent] * accounts
    reporter_texts, at = np.unique(reporters[agent] * width + text, return_inverse=True)
    weights = np.bincount(at, counted)
    # The rate among the same reporter's other agents, or among another reporter's, whichever is higher.
    own_rate = (weights[at] - counted) / np.maximum(reporter_totals[reporters[agent]] - (weight * sent)[agent], 1)
    other_rate = _max_of_other_reporters(
        reporter_texts // width,
        reporter_texts % width,
        weights / np.maximum(reporter_totals[reporter_texts // width], _MAX_SAMPLED_TEXTS),
    )[at]
    return TextCounts(
        agent, known[text], accounts, np.maximum(own_rate, other_rate) * sent[agent], sent.astype(np.float64)
    )


def _max_of_other_reporters(reporter: Int64Array, text: Int64Array, rates: Float64Array) -> Float64Array:
    """Return, for each text of a reporter, its highest rate among other reporters; 0 if no other has it."""
    order = np.lexsort((rates, text))
    last = np.flatnonzero(np.append(text[order][1:] != text[order][:-1], True)[: len(order)])
    sizes = np.diff(last, prepend=-1)
    first, second = order[last], order[np.maximum(last - 1, 0)]
    of_second = np.where(sizes > 1, rates[second], 0)
    place = np.searchsorted(text[first], text)
    return np.where(reporter[first][place] == reporter, of_second[place], rates[first][place])


def _uses(facts: IntervalFacts, rows: Int32Array) -> Evidence:
    interactions = facts.interactions
    casts, times = np.unique(interactions.cast[rows], return_counts=True)
    order = np.lexsort((casts, -times))[:MAX_CASTS]
    return {
        "uses": len(rows),
        "casts": [{"cast": key_to_hex(int(casts[at])), "uses": int(times[at])} for at in order],
        "actors": [int(fid) for fid in np.unique(interactions.actor[rows])[:MAX_ACTORS]],
    }
