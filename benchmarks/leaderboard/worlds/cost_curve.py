"""Price of a place: bought accounts that bring an agent without a public of its own among the first."""

from dataclasses import dataclass, replace

import numpy as np

from benchmarks.leaderboard.worlds.world import POST, Purpose, World, choose_rows, join_rows
from leaderboard.facts.audiences import build_audience
from leaderboard.facts.columns import Accounts, Actions, Agents, Interactions, IntervalFacts, Runs
from leaderboard.ranking.scoring import best_first, score_agents

PLACES = (100, 50, 25, 10)
# Score of a bought account, and from which an account counts as good.
_BOUGHT_SCORE, GOOD_SCORE = 0.7, 0.5
_FIRST_FID = 100_000_000
_MOST_ACCOUNTS = 16_384
_DAILY_CASTS = 30


@dataclass(frozen=True)
class Price:
    """Bought accounts for a place, and their interactions, beside the good accounts of the honest agent there.

    The latter are those with a confirmed interaction within the interval.
    """

    place: int
    accounts: int
    actions: int
    honest_accounts: int


def measure_prices(world: World, *, each: int) -> list[Price]:
    """Return the price of each place if each bought account interacts `each` times; the agent's own word is perfect.

    Each account has one interaction with another agent as well, without which it would be narrow.
    """
    facts = world.without(Purpose.BOUGHT, Purpose.FRAMING)
    audience = build_audience(facts)
    is_good = (audience.scores >= GOOD_SCORE)[audience.pair_actor]
    good = audience.per_agent(is_good & audience.is_current).astype(int)
    order = best_first(score_agents(facts))
    found = []
    for place in PLACES:
        low, high = 0, _MOST_ACCOUNTS
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if _place(facts, middle, each) <= place else (middle + 1, high)
        found.append(Price(place, low, low * (each + 1), int(good[order[place - 1]])))
    return found


def _place(facts: IntervalFacts, accounts: int, each: int) -> int:
    """Return the place, from 1, of an added agent with so many bought accounts."""
    bought = _with_bought_agent(facts, accounts, each)
    order = best_first(score_agents(bought))
    return int(np.flatnonzero(order == len(order) - 1)[0]) + 1


def _with_bought_agent(facts: IntervalFacts, accounts: int, each: int) -> IntervalFacts:
    agent, rng = len(facts.agents.ids), np.random.default_rng(accounts)
    start, count = facts.computed_at - facts.seconds, _DAILY_CASTS * facts.seconds // 86_400
    at = start + 1 + np.arange(count) * (facts.seconds - 1) // count
    casts = rng.integers(1, 2**62, count)
    own = np.full(count, agent, np.int32)
    fids = _FIRST_FID + 1_009 * np.arange(accounts)
    number = accounts * each
    interactions = Interactions(
        np.full(number, agent, np.int32), np.repeat(fids, each), *np.ones((2, number), np.bool_)
    )
    # These draws chose casts and delays, which no score reads. Without them the cover would be another one.
    rng.integers(0, count, number)
    rng.integers(60, 86_400, number)
    cover = choose_rows(facts.interactions, rng.integers(0, len(facts.interactions.agent), accounts))
    bought = np.ones(accounts, np.bool_)
    cover = replace(cover, actor=fids, is_confirmed=bought, is_current=bought)
    return replace(
        facts,
        agents=join_rows(facts.agents, Agents(facts.agents.ids[-1:] + 1, np.zeros(1, np.int64), np.zeros(1, np.int64))),
        runs=join_rows(facts.runs, Runs(own, at, np.ones(count, np.bool_))),
        actions=join_rows(facts.actions, Actions(own, at, np.full(count, POST, np.int8), casts)),
        interactions=join_rows(join_rows(facts.interactions, interactions), cover),
        accounts=join_rows(facts.accounts, Accounts(fids, np.full(accounts, _BOUGHT_SCORE))),
        reporters=np.append(facts.reporters, facts.reporters.max(initial=0) + 1),
    )
