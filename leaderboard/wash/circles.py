"""Wallets among which a token circulates: one buys, and the same or another sells the amount again before long.

After Victor and Weintraud (2021, arXiv 2102.07001): wash trades leave the positions of a set of wallets unchanged
within a short time. The set need not be declared: its wallets trade repeatedly, and most of their trades have a
counterpart. Occasional traders find a counterpart only by chance.
"""

from dataclasses import dataclass

import numpy as np

from leaderboard.facts.columns import BoolArray, Float64Array, Int64Array, Trades

# Longest time between a purchase and the sale that returns it; a bot waits, to look like two people.
RETURN_SECONDS = 3 * 3_600
# A sale may be smaller than the purchase by this share: fees, and amounts varied on purpose.
MARGIN = 0.25
# Following trades searched for a counterpart: the busier a token, the more turn up by chance.
_NEIGHBOURS = 4
# A wallet circles if it has this many trades, and this number and share of them have a counterpart.
_MIN_TRADES = 4
_MIN_MATCHED, _MIN_SHARE = 3, 0.5
# The agent's own wallets count as one; since they are declared, lower thresholds suffice.
_MIN_MATCHED_OWN, _MIN_SHARE_OWN = 2, 0.4


@dataclass(frozen=True)
class Circles:
    """Trades of circling wallets. `chosen` has one entry per trade, the others are numbers of trades per agent."""

    chosen: BoolArray
    # By the agent's wallets, which count as one.
    own: Float64Array
    # By wallets that are not the agent's.
    others: Float64Array
    # By the busiest of the others only: it may be a market maker, which circles as well.
    busiest: Float64Array

    @property
    def in_league(self) -> Float64Array:
        """Trades by the agent's wallets and by those circling with them, less the busiest; 0 without own wallets."""
        return np.where(self.own > 0, self.own + self.others - self.busiest, 0)


def find_circles(trades: Trades, agents: int) -> Circles:
    """Find trades by wallets that mostly return what wallets of this agent's token bought just before."""
    wallet = _wallets(trades)
    size = np.bincount(wallet)
    matched = _matched(trades, size[wallet] >= _MIN_TRADES)
    buys = np.bincount(wallet[matched & trades.is_buy], minlength=len(size))
    sells = np.bincount(wallet[matched & ~trades.is_buy], minlength=len(size))
    agent, is_own = np.zeros(len(size), np.int64), np.zeros(len(size), np.bool_)
    agent[wallet], is_own[wallet] = trades.agent, trades.is_own
    circles = (buys > 0) & (sells > 0)
    circles &= buys + sells >= np.where(is_own, _MIN_MATCHED_OWN, _MIN_MATCHED)
    circles &= buys + sells >= np.where(is_own, _MIN_SHARE_OWN, _MIN_SHARE) * size
    by_own, by_others = (np.where(circles & side, size, 0).astype(np.float64) for side in (is_own, ~is_own))
    busiest = np.zeros(agents)
    np.maximum.at(busiest, agent, by_others)
    return Circles(
        circles[wallet],
        np.bincount(agent, by_own, agents).astype(np.float64),
        np.bincount(agent, by_others, agents).astype(np.float64),
        busiest,
    )


def _wallets(trades: Trades) -> Int64Array:
    """Assign a number to each trade's pair of agent and wallet; an agent's own wallets share one number."""
    address = np.where(trades.is_own, 0, trades.wallet)
    order = np.lexsort((address, trades.is_own, trades.agent))
    differs = np.zeros(len(order), np.bool_)
    for column in (trades.agent, trades.is_own, address):
        differs[1:] |= column[order[1:]] != column[order[:-1]]
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(differs)
    return numbers


def _matched(trades: Trades, among: BoolArray) -> BoolArray:
    """Mask trades that form a pair of a purchase and the sale that returns it; both must be in `among`."""
    rows = np.flatnonzero(among)
    keys = (trades.wallet, trades.amount, ~trades.is_buy, trades.at, trades.agent)
    rows = rows[np.lexsort(tuple(key[rows] for key in keys))]
    agent, at = trades.agent[rows], trades.at[rows]
    is_buy, amount = trades.is_buy[rows], trades.amount[rows]
    found = np.zeros(len(rows), np.bool_)
    for apart in range(1, _NEIGHBOURS + 1):
        match = (agent[apart:] == agent[:-apart]) & is_buy[:-apart] & ~is_buy[apart:]
        match &= at[apart:] - at[:-apart] <= RETURN_SECONDS
        match &= amount[apart:] <= amount[:-apart]
        match &= amount[apart:] >= (1 - MARGIN) * amount[:-apart]
        found[apart:] |= match
        found[:-apart] |= match
    chosen = np.zeros(len(among), np.bool_)
    chosen[rows] = found
    return chosen
