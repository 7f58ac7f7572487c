"""Price per place: bought accounts that bring an agent without its own public among the first."""

from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from benchmarks.leaderboard.worlds.world import POST, Purpose, World, choose_rows, join_rows
from leaderboard.facts.audiences import build_audience
from leaderboard.facts.columns import Accounts, Actions, Agents, Interactions, IntervalFacts, Runs
from leaderboard.ranking.scoring import best_first, score_agents

PLACES = (100, 50, 25, 10)
# Score from which an account counts as good.
GOOD_SCORE = 0.5
_FIRST_FID = 100_000_000
_MOST_ACCOUNTS = 16_384
_DAILY_CASTS = 30


class Bought(NamedTuple):
    """Bought accounts: interactions for each, and their social score."""

    each: int
    score: float


@dataclass(frozen=True)
class Price:
    """Bought accounts for a place, and their interactions, beside the honest agent's good accounts there.

    `honest_accounts` have a confirmed interaction within the interval, `honest_week` within the last seven days.
    In week-long and longer intervals they are the same.
    """

    place: int
    accounts: int
    actions: int
    honest_accounts: int
    honest_week: int


def measure_prices(world: World, bought: Bought) -> list[Price]:
    """Return each place's price in bought accounts; the agent's own word is perfect.

    Each account has one interaction with another agent as well, without which it would be narrow.
    """
    facts = world.without(Purpose.BOUGHT, Purpose.FRAMING)
    audience = build_audience(facts)
    is_good = (audience.scores >= GOOD_SCORE)[audience.pair_actor] & audience.is_confirmed
    current, week = (audience.per_agent(good).astype(int) for good in (is_good & audience.is_current, is_good))
    order = best_first(score_agents(facts))
    place_of = cache(lambda accounts: _place(facts, accounts, bought))
    found = []
    for place in PLACES:
        low, high = 0, _MOST_ACCOUNTS
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if place_of(middle) <= place else (middle + 1, high)
        agent = order[place - 1]
        found.append(Price(place, low, low * (bought.each + 1), int(current[agent]), int(week[agent])))
    return found


def _place(facts: IntervalFacts, accounts: int, bought: Bought) -> int:
    """Return the place, from 1, for an added agent with so many bought accounts."""
    order = best_first(score_agents(_with_bought_agent(facts, accounts, bought)))
    return int(np.flatnonzero(order == len(order) - 1)[0]) + 1


def _with_bought_agent(facts: IntervalFacts, accounts: int, bought: Bought) -> IntervalFacts:
    agent, rng = len(facts.agents.ids), np.random.default_rng(accounts)
    start, count = facts.computed_at - facts.seconds, _DAILY_CASTS * facts.seconds // 86_400
    at = start + 1 + np.arange(count) * (facts.seconds - 1) // count
    casts = rng.integers(1, 2**62, count)
    own = np.full(count, agent, np.int32)
    fids = _FIRST_FID + 1_009 * np.arange(accounts)
    number = accounts * bought.each
    interactions = Interactions(
        np.full(number, agent, np.int32), np.repeat(fids, bought.each), *np.ones((2, number), np.bool_)
    )
    # These draws chose casts and delays, which no score reads. Without them the cover would be another one.
    rng.integers(0, count, number)
    rng.integers(60, 86_400, number)
    cover = choose_rows(facts.interactions, rng.integers(0, len(facts.interactions.agent), accounts))
    every = np.ones(accounts, np.bool_)
    cover = replace(cover, actor=fids, is_confirmed=every, is_current=every)
    return replace(
        facts,
        agents=join_rows(facts.agents, Agents(facts.agents.ids[-1:] + 1, np.zeros(1, np.int64), np.zeros(1, np.int64))),
        runs=join_rows(facts.runs, Runs(own, at, np.ones(count, np.bool_))),
        actions=join_rows(facts.actions, Actions(own, at, np.full(count, POST, np.int8), casts)),
        interactions=join_rows(join_rows(facts.interactions, interactions), cover),
        accounts=join_rows(facts.accounts, Accounts(fids, np.full(accounts, bought.score))),
        reporters=np.append(facts.reporters, facts.reporters.max(initial=0) + 1),
    )
