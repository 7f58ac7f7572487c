"""SELF_TRADE: the agent's own wallets trade its token with themselves, or with wallets in league with them.

After Victor and Weintraud (2021, arXiv 2102.07001): trades are wash if a set of wallets buys and sells the same volume
within a short time, so that no position has changed. The agent's own wallets are such a set, checked for trades on both
sides, and for purchases and sales that match one by one. Undeclared wallets are found by their trades (`circles`); any
other wallet is a set of its own.
"""

import numpy as np
import numpy.typing as npt

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import BoolArray, Float64Array, Int64Array, IntervalFacts, Trades
from leaderboard.facts.short_keys import key_to_hex
from leaderboard.wash.circles import find_circles
from leaderboard.wash.evidence_accounts import share
from leaderboard.wash.findings import Evidence, Finding, Ramp, Sign

FLAG = "SELF_TRADE"
WEIGHT = 0.8
BOTH_SIDES = Ramp(0.08, 0.16)
MATCHED = Ramp(0.04, 0.14)
# No honest agent in seeds 1 to 50 has circling wallets of its own.
CIRCLES = Ramp(0.02, 0.08)
# Arbitrage and market makers circle, too.
STRANGERS = Ramp(0.15, 0.4, top=0.6)
ROUND_TRIPS = Ramp(0.4, 0.8, top=0.6)
# A purchase and a sale match if they are within a day and their amounts differ by no more than this share.
MATCH_SECONDS = 86_400
_MARGIN = 0.02
# Following trades, sorted by amount, that are searched for a match.
_NEIGHBOURS = 4
# Added to the trades, so that a handful proves little.
SMALL_NUMBER_ALLOWANCE = 5
MAX_TRADES = 25


def detect(facts: IntervalFacts, audience: Audience) -> Finding:
    """Measure the shares of own trades on both sides, of matched, circling and round-trip trades."""
    trades, agents = facts.trades, audience.agents
    order = np.lexsort((trades.amount, trades.agent))
    starts = np.searchsorted(trades.agent[order], np.arange(agents + 1))
    matched, round_trips = _matched(trades, order), _in_round_trips(facts)
    number = _count_trades(trades, np.ones(len(order), np.bool_), agents)
    bought, sold = (_count_trades(trades, trades.is_own & side, agents) for side in (trades.is_buy, ~trades.is_buy))
    circles = find_circles(trades, agents)

    def describe(agent: int) -> Evidence:
        rows = order[starts[agent] : starts[agent + 1]]
        return {
            "trades": int(number[agent]),
            "ownBuys": int(bought[agent]),
            "ownSells": int(sold[agent]),
            "doubt": SMALL_NUMBER_ALLOWANCE,
            "own": _list_trades(trades, rows[trades.is_own[rows]]),
            "matched": _list_trades(trades, rows[matched[rows]]),
            "circles": _list_trades(trades, rows[circles.chosen[rows]]),
            "circlingOwn": int(circles.own[agent]),
            "spared": int(circles.busiest[agent]),
            "roundTrips": _list_trades(trades, rows[round_trips[rows]]),
        }

    return Finding(
        (
            Sign(
                "bothSides", share(2 * np.minimum(bought, sold), number, allowance=SMALL_NUMBER_ALLOWANCE), BOTH_SIDES
            ),
            Sign(
                "matched",
                share(_count_trades(trades, matched, agents), number, allowance=SMALL_NUMBER_ALLOWANCE),
                MATCHED,
            ),
            Sign("circles", share(circles.in_league, number, allowance=SMALL_NUMBER_ALLOWANCE), CIRCLES),
            Sign("strangers", share(circles.others, number, allowance=SMALL_NUMBER_ALLOWANCE), STRANGERS),
            Sign(
                "roundTrips",
                share(_count_trades(trades, round_trips, agents), number, allowance=SMALL_NUMBER_ALLOWANCE),
                ROUND_TRIPS,
            ),
        ),
        describe,
    )


def _matched(trades: Trades, order: Int64Array) -> BoolArray:
    """Mask trades of own wallets that match an own trade on the other side; rows are sorted by agent and amount."""
    rows = order[trades.is_own[order]]
    agent, amount = trades.agent[rows], trades.amount[rows]
    at, is_buy = trades.at[rows], trades.is_buy[rows]
    found = np.zeros(len(rows), np.bool_)
    for apart in range(1, _NEIGHBOURS + 1):
        match = (agent[apart:] == agent[:-apart]) & (is_buy[apart:] != is_buy[:-apart])
        match &= amount[apart:] - amount[:-apart] <= _MARGIN * amount[apart:]
        match &= np.abs(at[apart:] - at[:-apart]) <= MATCH_SECONDS
        found[apart:] |= match
        found[:-apart] |= match
    chosen = np.zeros(len(order), np.bool_)
    chosen[rows] = found
    return chosen


def _in_round_trips(facts: IntervalFacts) -> BoolArray:
    """Mask trades of a day in which the wallet, not one of the agent's, sold what it bought."""
    trades = facts.trades
    chosen = np.zeros(len(trades.agent), np.bool_)
    day = (facts.computed_at - trades.at) // MATCH_SECONDS
    order = np.lexsort((trades.amount, day, trades.wallet, trades.agent))
    if not len(order):
        return chosen
    goes_on = np.ones(len(order), np.bool_)
    goes_on[0] = False
    for column in (trades.agent, trades.wallet, day):
        goes_on[1:] &= column[order[1:]] == column[order[:-1]]
    starts = np.flatnonzero(~goes_on)
    signed = np.where(trades.is_buy, trades.amount, -trades.amount)[order]
    net, gross = np.add.reduceat(signed, starts), np.add.reduceat(np.abs(signed), starts)
    sizes = np.diff(starts, append=len(order))
    chosen[order] = np.repeat((sizes >= 2) & (np.abs(net) <= _MARGIN * gross), sizes)
    return chosen & ~trades.is_own


def _count_trades(trades: Trades, chosen: BoolArray, agents: int) -> Float64Array:
    return np.bincount(trades.agent[chosen], minlength=agents).astype(np.float64)


def _list_trades(trades: Trades, rows: npt.NDArray[np.int64]) -> Evidence:
    rows = rows[np.lexsort((trades.is_buy[rows], trades.wallet[rows], trades.at[rows], -trades.amount[rows]))]
    return {
        "listed": [
            {
                "at": int(trades.at[row]),
                "wallet": key_to_hex(int(trades.wallet[row])),
                "side": "buy" if trades.is_buy[row] else "sell",
                "amount": float(trades.amount[row]),
            }
            for row in rows[:MAX_TRADES]
        ],
        "others": len(rows[MAX_TRADES:]),
    }
