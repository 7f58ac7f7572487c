"""SELF_TRADE: the agent's own wallets trade its token, or wallets buy and sell it in circles.

After Victor and Weintraud (2021, arXiv 2102.07001): trades are wash where a set of wallets buys and sells the same
volume within a window, so that nobody's position has changed. The set here is the agent's own wallets together, whose
trades count by their share whether they balance or not, and any other wallet alone.
"""

import numpy as np

from leaderboard.audiences import Audience
from leaderboard.columns import Facts, Real, Trades, Truth, Whole
from leaderboard.wash.accounts import share
from leaderboard.wash.findings import Evidence, Finding, Ramp, Sign

FLAG = "SELF_TRADE"
WEIGHT = 0.8
OWN = Ramp(0.15, 0.3)
OWN_VOLUME = Ramp(0.25, 0.5)
ROUND = Ramp(0.4, 0.8, top=0.6)
# Buys and sells of a wallet within a day match if they differ by no more than this share of both.
_MARGIN = 0.01
_WINDOW = 86_400
# Added to the trades, so that a handful proves little.
DOUBT = 5
MAX_TRADES = 40


def find(facts: Facts, audience: Audience) -> Finding:
    """The shares of trades by own wallets, by number and by volume, and of volume in round trips."""
    trades, agents = facts.trades, audience.agents
    number, volume = _by_agent(trades, None, agents)
    own_number, own_volume = _by_agent(trades, trades.is_own, agents)
    circling = in_round_trips(facts)
    by_agent = np.argsort(trades.agent, kind="stable")
    starts = np.searchsorted(trades.agent[by_agent], np.arange(agents + 1))
    _, round_volume = _by_agent(trades, circling, agents)
    enough = number / np.maximum(number + DOUBT, 1)

    def describe(agent: int) -> Evidence:
        rows = by_agent[starts[agent] : starts[agent + 1]]
        return {
            "trades": int(number[agent]),
            "volume": float(volume[agent]),
            "doubt": DOUBT,
            "own": _list(trades, rows[trades.is_own[rows]]),
            "roundTrips": _list(trades, rows[circling[rows]]),
        }

    return Finding(
        (
            Sign("own", share(own_number, number, doubt=DOUBT), OWN),
            Sign("ownVolume", enough * _of(own_volume, volume), OWN_VOLUME),
            Sign("roundTrips", enough * _of(round_volume, volume), ROUND),
        ),
        describe,
    )


def in_round_trips(facts: Facts) -> Truth:
    """Whether each trade belongs to a wallet's day in which it sold what it bought."""
    trades = facts.trades
    day = (facts.computed_at - trades.at) // _WINDOW
    order = np.lexsort((trades.amount, day, trades.wallet, trades.agent))
    chosen = np.zeros(len(order), np.bool_)
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
    return chosen


def _by_agent(trades: Trades, chosen: Truth | None, agents: int) -> tuple[Real, Real]:
    """The number and the volume of each agent's chosen trades, summed in an order that rows have no say in."""
    rows = np.arange(len(trades.agent)) if chosen is None else np.flatnonzero(chosen)
    rows = rows[np.lexsort((trades.amount[rows], trades.agent[rows]))]
    agent = trades.agent[rows]
    return (
        np.bincount(agent, minlength=agents).astype(np.float64),
        np.bincount(agent, trades.amount[rows], agents).astype(np.float64, copy=False),
    )


def _of(part: Real, whole: Real) -> Real:
    return np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)


def _list(trades: Trades, rows: Whole) -> Evidence:
    rows = rows[np.lexsort((trades.wallet[rows], trades.at[rows], -trades.amount[rows]))]
    others = rows[MAX_TRADES:]
    return {
        "listed": [
            {
                "at": int(trades.at[row]),
                "wallet": f"{int(trades.wallet[row]) & (1 << 64) - 1:016x}",
                "side": "buy" if trades.is_buy[row] else "sell",
                "amount": float(trades.amount[row]),
            }
            for row in rows[:MAX_TRADES]
        ],
        "others": {"trades": len(others), "volume": float(trades.amount[others].sum())},
    }
