"""Wallets among which a token circles: what one of them buys, it or another of them sells again before long.

After Victor and Weintraud (2021, arXiv 2102.07001), whose wash trades are those that leave the positions of a set of
wallets as they were, within a small window. Who is of a set need not be declared: it shows in that a wallet comes back,
and that most of what it does has a counterpart. People who trade seldom find one, and then by chance.
"""

from dataclasses import dataclass

import numpy as np

from leaderboard.facts.columns import Real, Trades, Truth, Whole

# A sale returns a purchase up to so much later; a bot waits, to look like two people.
WINDOW = 3 * 3_600
# What a sale may fall short of the purchase by: fees, and what is held back so that amounts are not the same.
MARGIN = 0.25
# How many trades on a counterpart is looked for: the busier a token, the sooner one turns up by chance.
_NEIGHBOURS = 4
# A wallet circles if it came back so often, and so many of its trades, and such a share, have a counterpart.
_COMES_BACK = 4
_LEAST, _SHARE = 3, 0.5
# The agent's own are one wallet, and who knows them already needs less.
_LEAST_OWN, _SHARE_OWN = 2, 0.4


@dataclass(frozen=True)
class Circles:
    """What wallets that circle did. `chosen` is one entry per trade, the others are numbers of trades per agent."""

    chosen: Truth
    # By the agent's wallets, which count as one.
    own: Real
    # By wallets that are not the agent's.
    others: Real
    # By the busiest of them alone: a market maker goes round as well.
    busiest: Real

    @property
    def in_league(self) -> Real:
        """By the agent's wallets and those that circle along with them, the busiest spared; 0 if its own do not."""
        return np.where(self.own > 0, self.own + self.others - self.busiest, 0)


def find_circles(trades: Trades, agents: int) -> Circles:
    """Which trades are by wallets that mostly return what wallets of this agent's token bought just before."""
    wallet = _wallets(trades)
    size = np.bincount(wallet)
    matched = _matched(trades, size[wallet] >= _COMES_BACK)
    buys = np.bincount(wallet[matched & trades.is_buy], minlength=len(size))
    sells = np.bincount(wallet[matched & ~trades.is_buy], minlength=len(size))
    agent, is_own = np.zeros(len(size), np.int64), np.zeros(len(size), np.bool_)
    agent[wallet], is_own[wallet] = trades.agent, trades.is_own
    circles = (buys > 0) & (sells > 0)
    circles &= buys + sells >= np.where(is_own, _LEAST_OWN, _LEAST)
    circles &= buys + sells >= np.where(is_own, _SHARE_OWN, _SHARE) * size
    by_own, by_others = (np.where(circles & side, size, 0).astype(np.float64) for side in (is_own, ~is_own))
    busiest = np.zeros(agents)
    np.maximum.at(busiest, agent, by_others)
    return Circles(
        circles[wallet],
        np.bincount(agent, by_own, agents).astype(np.float64),
        np.bincount(agent, by_others, agents).astype(np.float64),
        busiest,
    )


def _wallets(trades: Trades) -> Whole:
    """A number for each trade's agent and wallet, from 0 on; an agent's own wallets have one together."""
    address = np.where(trades.is_own, 0, trades.wallet)
    order = np.lexsort((address, trades.is_own, trades.agent))
    differs = np.zeros(len(order), np.bool_)
    for column in (trades.agent, trades.is_own, address):
        differs[1:] |= column[order[1:]] != column[order[:-1]]
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(differs)
    return numbers


def _matched(trades: Trades, among: Truth) -> Truth:
    """Whether each trade is one of a purchase and a sale that returns it, both `among` those to look at."""
    rows = np.flatnonzero(among)
    keys = (trades.wallet, trades.amount, ~trades.is_buy, trades.at, trades.agent)
    rows = rows[np.lexsort(tuple(key[rows] for key in keys))]
    agent, at = trades.agent[rows], trades.at[rows]
    is_buy, amount = trades.is_buy[rows], trades.amount[rows]
    found = np.zeros(len(rows), np.bool_)
    for apart in range(1, _NEIGHBOURS + 1):
        match = (agent[apart:] == agent[:-apart]) & is_buy[:-apart] & ~is_buy[apart:]
        match &= at[apart:] - at[:-apart] <= WINDOW
        match &= amount[apart:] <= amount[:-apart]
        match &= amount[apart:] >= (1 - MARGIN) * amount[:-apart]
        found[apart:] |= match
        found[:-apart] |= match
    chosen = np.zeros(len(among), np.bool_)
    chosen[rows] = found
    return chosen
