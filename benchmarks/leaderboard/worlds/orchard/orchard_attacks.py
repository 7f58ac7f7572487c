"""Engagement that planted agents' owners buy, by deals with account sellers."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.leaderboard.worlds.world import Purpose
from leaderboard.facts.columns import Int64Array

from .orchard_identities import CLAIMS, add_claimed_audience
from .orchard_own_word import add_own_word, add_wash_trades
from .orchard_people import OrchardCrowd, join_crowds, register_accounts
from .orchard_plan import OrchardAgent
from .orchard_schedules import (
    draw_burst_times,
    draw_daily_times,
    draw_drip_times,
    draw_last_day_times,
    draw_spike_times,
    draw_waking_times,
)
from .orchard_stage import MOSTLY_LIKES, ONLY_LIKES, ONLY_QUOTES, OrchardStage, Shares


@dataclass(frozen=True)
class OrchardSeller:
    """A seller's stock: accounts with one quality for all customers."""

    accounts: int
    scores: tuple[float, float]
    # Youngest and oldest account in days.
    days: tuple[float, float]
    # Share of accounts without a score.
    unknown: float = 0


@dataclass(frozen=True)
class OrchardDeal:
    """An attack's terms. Dear accounts interact more often, cheap ones once."""

    seller: OrchardSeller
    # Each account's mean interactions with the customer's agent.
    interactions: float
    # Each account's likes for honest agents, so that it is not narrow.
    cover: int
    times: Callable[[np.random.Generator, Int64Array, Int64Array, Int64Array], Int64Array] = draw_waking_times
    shares: Shares = MOSTLY_LIKES
    # Share of interactions that exist on the network.
    confirmed: float = 1
    # Account count that does not depend on the organic engagement; 0 where it does.
    fixed: int = 0


# An account's prices, in the range of public offers: 0.02, 0.3, 1, 3 and 15 USD.
_FRESH = OrchardSeller(3_000, (0.01, 0.15), (0, 7), unknown=0.5)
_AGED = OrchardSeller(5_000, (0.15, 0.45), (300, 1_500))
_ORDINARY = OrchardSeller(3_000, (0.35, 0.65), (60, 900))
_GOOD = OrchardSeller(2_000, (0.5, 0.8), (150, 1_200))
_PREMIUM = OrchardSeller(800, (0.75, 0.97), (500, 1_600))

DEALS = {
    "fresh farm": OrchardDeal(_FRESH, interactions=6, cover=0, times=draw_burst_times, shares=ONLY_LIKES),
    # One like for another owner's agent is the least that makes an account not narrow.
    "aged bulk": OrchardDeal(_AGED, interactions=1, cover=1),
    "premium accounts": OrchardDeal(_PREMIUM, interactions=2.5, cover=4),
    "cover likes": OrchardDeal(_ORDINARY, interactions=1.5, cover=10),
    # The hub returns two in three quotes; the others are invented.
    "quote only": OrchardDeal(_ORDINARY, interactions=2, cover=0, shares=ONLY_QUOTES, confirmed=0.67),
    "slow drip": OrchardDeal(_GOOD, interactions=4, cover=2, times=draw_drip_times),
    "day spike": OrchardDeal(_GOOD, interactions=2, cover=1, times=draw_spike_times),
    "daily roster": OrchardDeal(_GOOD, interactions=7, cover=1, times=draw_daily_times, shares=ONLY_LIKES),
    # A few good accounts suffice where most agents have one account a day or none.
    "thin day": OrchardDeal(_PREMIUM, interactions=1, cover=1, times=draw_last_day_times, shares=ONLY_LIKES, fixed=6),
    # The owners' own farm: each account likes several creators' agents that one key names.
    "many owners": OrchardDeal(
        OrchardSeller(400, (0.3, 0.6), (30, 600)), interactions=3, cover=0, times=draw_drip_times
    ),
}


def add_attacks(stage: OrchardStage, stealth: float, claimed: dict[int, OrchardCrowd]) -> None:
    """Add what is bought for each planted agent.

    stealth: organic interaction share. claimed: agent index -> the claimed account's audience.
    """
    stocks: dict[OrchardSeller, OrchardCrowd] = {}
    for agent in (agent for agent in stage.agents if agent.attack):
        bought = max(10, round(agent.organic * (1 - stealth) / stealth))
        if agent.attack in DEALS:
            _add_deal(stage, agent, bought, DEALS[agent.attack], stocks)
        if agent.attack in ("own word", "thin day"):
            add_own_word(stage, agent, days=1 if agent.attack == "thin day" else 7)
        elif agent.attack == "wash trades":
            add_wash_trades(stage, agent)
        elif agent.attack in CLAIMS:
            add_claimed_audience(stage, agent, claimed[agent.index])
        elif agent.attack == "rented fans":
            _add_rented_fans(stage, agent, bought)
        elif agent.attack == "imported source":
            _add_imported_source(stage, agent, bought)
    _add_circle(stage, stealth)


def _add_deal(
    stage: OrchardStage,
    agent: OrchardAgent,
    bought: int,
    deal: OrchardDeal,
    stocks: dict[OrchardSeller, OrchardCrowd],
) -> None:
    seller = deal.seller
    if seller not in stocks:
        stocks[seller] = register_accounts(
            stage.builder, seller.accounts, scores=seller.scores, days=seller.days, unknown=seller.unknown
        )
    crowd = stocks[seller].sample(stage.rng, deal.fixed or max(3, round(bought / deal.interactions)))
    counts = 1 + stage.rng.poisson(deal.interactions - 1, len(crowd))
    if deal.times is draw_daily_times:
        counts[:] = deal.interactions
    _add_bought(stage, agent, crowd, counts, deal)
    _add_cover(stage, crowd, deal.cover)


def _add_bought(
    stage: OrchardStage, agent: OrchardAgent, crowd: OrchardCrowd, counts: Int64Array, deal: OrchardDeal
) -> None:
    """Add bought accounts' interactions with the agent."""
    rows = np.repeat(np.arange(len(crowd)), counts)
    numbers = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    times = deal.times(stage.rng, numbers, counts[rows], crowd.zones[rows])
    casts, times = stage.newest_casts(agent, times, numbers)
    stage.add_interactions(
        agent,
        crowd.fids[rows],
        times,
        casts,
        shares=deal.shares,
        purpose=Purpose.BOUGHT,
        confirmed=deal.confirmed,
    )


def _add_cover(stage: OrchardStage, crowd: OrchardCrowd, likes: int) -> None:
    """Add each account's likes for popular honest agents."""
    honest = stage.honest
    sizes = np.array([agent.organic for agent in honest], np.float64)
    targets = stage.rng.choice(len(honest), len(crowd) * likes, p=sizes / sizes.sum())
    for target in np.unique(targets).tolist():
        likers = crowd.subset(np.flatnonzero(targets == target) % len(crowd))
        counts = np.ones(len(likers), np.int64)
        stage.add_reactions(honest[target], likers, counts, shares=ONLY_LIKES, purpose=Purpose.BOUGHT)


def _add_rented_fans(stage: OrchardStage, agent: OrchardAgent, bought: int) -> None:
    """Add interactions by an honest agent's real fans, who are paid for one or two each."""
    accounts = max(3, round(bought / 1.5))
    publics = [other.audience for other in stage.honest if other.audience and len(other.audience) >= 20]
    large = [audience for audience in publics if len(audience) >= accounts]
    source = large[int(stage.rng.integers(len(large)))] if large else join_crowds(*publics)
    fans = source.subset(np.unique(source.fids, return_index=True)[1]).sample(stage.rng, accounts)
    deal = OrchardDeal(_GOOD, interactions=1.5, cover=0)
    _add_bought(stage, agent, fans, 1 + stage.rng.poisson(0.5, len(fans)), deal)


def _add_imported_source(stage: OrchardStage, agent: OrchardAgent, bought: int) -> None:
    """Add invented interactions by well-known accounts, in a file that the operator imports as a source.

    None exists on the network, but what a source reports is confirmed.
    """
    scores = np.nan_to_num(stage.people.scores)
    weights = stage.people.activity * (scores > 0.6)
    named = stage.people.sample(stage.rng, max(3, round(bought / 2)), weights)
    deal = OrchardDeal(_GOOD, interactions=2, cover=0, times=draw_drip_times)
    _add_bought(stage, agent, named, 1 + stage.rng.poisson(1, len(named)), deal)


def _add_circle(stage: OrchardStage, stealth: float) -> None:
    """Add own agents' likes among each other, with forty further accounts for the same operator's programs.

    Each agent has its own key and creator, so that no account is narrow.
    """
    circle = [agent for agent in stage.agents if agent.attack == "like circle"]
    programs = register_accounts(stage.builder, 40, scores=(0.4, 0.75), days=(30, 400))
    members = stage.droids.subset(np.array([agent.index for agent in circle]))
    for agent in circle:
        crowd = join_crowds(programs, members.subset(np.flatnonzero(members.fids != agent.fid)))
        bought = agent.organic * (1 - stealth) / stealth
        counts = 1 + stage.rng.poisson(max(bought / len(crowd) - 1, 0), len(crowd))
        deal = OrchardDeal(_GOOD, interactions=1, cover=0)
        _add_bought(stage, agent, crowd, counts, deal)
