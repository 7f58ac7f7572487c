"""Attacks: what is bought or made up for planted agents, and framings: what competitors do against honest ones."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.leaderboard.worlds.bazaar.bazaar_accounts import BazaarCrowd, draw_scores, enroll, registrations
from benchmarks.leaderboard.worlds.bazaar.bazaar_publics import add_trades, trade_in_pairs
from benchmarks.leaderboard.worlds.bazaar.bazaar_stall import HUMAN_MIX, BazaarMarket, BazaarStall, Mix
from benchmarks.leaderboard.worlds.world import Purpose


def add_pools(market: BazaarMarket, size: int) -> None:
    """Add each attack vendor's accounts, which its clients share."""
    rng, builder = market.builder.rng, market.builder
    aged = draw_scores(rng, size, 0.62, unknown=0)
    market.pools["slow drip"] = enroll(builder, registrations(rng, size, 500, 1_600), aged, haste=2)
    market.pools["rented fans"] = market.people.sample(rng, size)
    for attack, mean in (("covered farm", 0.3), ("mimicked delays", 0.28), ("paraphrase", 0.33)):
        registered_at = registrations(rng, size, 20, 400, batch=9)
        market.pools[attack] = enroll(builder, registered_at, draw_scores(rng, size, mean, unknown=0.25))
    # Programs that mimic people copy the rhythm that their owners have, all in one time zone.
    market.pools["mimicked delays"].zones[:] = 8


def add_attacks(stalls: Sequence[BazaarStall]) -> None:
    """Add all planted agents' bought rows; a second attack makes a third of them."""
    rings: dict[int, list[BazaarStall]] = {}
    for stall in stalls:
        plan = stall.plan
        side = stall.bought // (1 if plan.attack == "volume wash" else 3) if plan.side_attack else 0
        if plan.ring >= 0:
            rings.setdefault(plan.ring, []).append(stall)
        for attack, count in ((plan.attack, stall.bought - side), (plan.side_attack, side)):
            if attack in _ATTACKS and (count or attack == "volume wash"):
                _ATTACKS[attack](stall, count)
    for ring in rings.values():
        _feed_ring(ring)
    farm = stalls[0].market.pools["covered farm"]
    for stall in stalls:
        if not stall.plan.attack and stall.organic > 10 and stall.rng.random() < 0.33:
            # The covered farm interacts with honest agents, which did not pay for it.
            actors = farm.sample(stall.rng, int(stall.rng.integers(3, 4 + stall.organic // 4)))
            stall.engage(actors, stall.reactions(actors, cover=0.4))


def _wash(stall: BazaarStall, _: int) -> None:
    """Add trades in pairs among an owner's 4 to 20 wallets; one or two are declared in every third case."""
    rng, stealth = stall.rng, stall.market.stealth
    pairs = max(8, round(stall.organic_trades * (1 - stealth) / stealth / 2))
    declared = int(rng.integers(1, 3)) if rng.random() < 0.35 else 0
    wallets = stall.builder.new_keys(int(rng.integers(4, 21)))
    trade_in_pairs(stall, wallets, pairs, 400, declared=declared, purpose=Purpose.BOUGHT)


def _hire(stall: BazaarStall, crowd: BazaarCrowd, count: int, cover: float, mix: Mix = HUMAN_MIX, **truth: Any) -> None:
    """Add these accounts' bought interactions, whose share `cover` hides in the public's bursts."""
    actors = crowd.repeat(stall.rng, count)
    stall.engage(actors, stall.reactions(actors, cover=cover), mix, purpose=Purpose.BOUGHT, **truth)


def _drip(stall: BazaarStall, count: int) -> None:
    """Add aged accounts about once each, up to three days after a cast."""
    actors = stall.market.pools["slow drip"].sample(stall.rng, count).repeat(stall.rng, count, 0)
    rows = stall.pick_casts(count)
    stall.engage(actors, (rows, stall.cast_at[rows] + stall.rng.uniform(900, 260_000, count)), purpose=Purpose.BOUGHT)


def _rent(stall: BazaarStall, count: int) -> None:
    """Add each rented trader's interactions, half in bursts; some must buy the token as well."""
    fans = stall.market.pools["rented fans"].sample(stall.rng, count // 2 + 1)
    _hire(stall, fans, count, 0.5, (0.5, 0.25, 0.2, 0.05))
    if stall.plan.is_traded and stall.rng.random() < 0.5:
        add_trades(stall, stall.rng.choice(stall.market.wallets, count // 4 + 1), True, purpose=Purpose.BOUGHT)


def _use_farm(vendor: str, cover: float, each: float, mix: Mix, stall: BazaarStall, count: int) -> None:
    """Add about `each` interactions by a vendor's accounts."""
    _hire(stall, stall.market.pools[vendor].sample(stall.rng, 1 + int(count / each)), count, cover, mix)


def _name_accounts(stall: BazaarStall, count: int) -> None:
    """Add interactions by accounts with a good score, about once each, that only the reporter has."""
    people = stall.market.people
    named = people.take(people.scores > 0.55).sample(stall.rng, count)
    _hire(stall, named, count, 0.3, (0.75, 0.2, 0.04, 0.01), is_confirmed=False)


def _invent_accounts(stall: BazaarStall, count: int) -> None:
    """Add interactions by accounts without a score that only the reporter has."""
    size = 1 + int(count * 0.7)
    invented = enroll(stall.builder, registrations(stall.rng, size, 7, 900), np.full(size, np.nan))
    _hire(stall, invented, count, 0.2, is_confirmed=False)


def _boast(stall: BazaarStall, count: int) -> None:
    """Add casts with few texts and successful runs around the clock, and perhaps a few invented accounts."""
    rng, builder = stall.rng, stall.builder
    casts, runs = (rng.uniform(builder.start, builder.end, count) for count in rng.integers(150, 600, 2))
    texts = rng.choice(builder.new_keys(int(rng.integers(20, 200))), len(casts))
    builder.add_casts(stall.agent, casts, text=texts, purpose=Purpose.BOUGHT)
    builder.add_runs(stall.agent, runs, True, purpose=Purpose.BOUGHT)
    if rng.random() < 0.5:
        _invent_accounts(stall, min(count, 12))


def _feed_ring(ring: Sequence[BazaarStall]) -> None:
    """Add interactions by the other members' accounts and by 5 to 13 helpers per member."""
    market, rng = ring[0].market, ring[0].rng
    size = len(ring) * int(rng.integers(5, 14))
    helpers = enroll(market.builder, registrations(rng, size, 10, 900), draw_scores(rng, size, 0.5))
    members = market.programs.take(np.isin(market.programs.fids, [stall.fid for stall in ring]))
    helpers = market.pools[f"ring {ring[0].plan.ring}"] = members.join(helpers)
    for stall in ring:
        others = helpers.take((helpers.fids != stall.fid) & (rng.random(len(helpers)) < 0.7))
        _hire(stall, others, stall.bought, 0.4)


_ATTACKS: dict[str, Callable[[BazaarStall, int], None]] = {
    "volume wash": _wash,
    "slow drip": _drip,
    "rented fans": _rent,
    "covered farm": partial(_use_farm, "covered farm", 0.5, 1.6, HUMAN_MIX),
    "mimicked delays": partial(_use_farm, "mimicked delays", 0, 3, HUMAN_MIX),
    "paraphrase": partial(_use_farm, "paraphrase", 0.3, 2, (0.1, 0.02, 0.8, 0.08)),
    "named accounts": _name_accounts,
    "invented accounts": _invent_accounts,
    "own word": _boast,
}


def _trade_back_and_forth(stall: BazaarStall) -> None:
    """Add a stranger's wallet that buys and sells in turn, to look like the agent's own wash trading."""
    pairs = int(stall.rng.uniform(0.15, 0.75) * max(stall.organic_trades, 20))
    trade_in_pairs(stall, stall.builder.new_keys(1), pairs, 200, purpose=Purpose.FRAMING)


def _send_crowd(
    low: int, high: int, mean: float, stall: BazaarStall, *, each: int = 1, share: float = 0, pace: str = ""
) -> None:
    """Add a vendor's accounts (a handful is fresh), which make `each` interactions, or a `share` overall if more."""
    rng, count = stall.rng, int(stall.rng.integers(low, high + 1))
    registered_at = registrations(rng, count, 7, 14 if high < 10 else 300, batch=12)
    accounts = enroll(stall.builder, registered_at, draw_scores(rng, count, mean, unknown=0.2))
    chosen = np.arange(max(count * each, round(stall.organic * share / (1 - share)))) % count
    actors = accounts.take(chosen)
    rows, at = stall.reactions(actors)
    if pace == "clock":
        rows = stall.pick_casts(len(chosen))
        at = stall.cast_at[rows] + rng.uniform(4, 90, count).round()[chosen]
    elif pace == "burst":
        # Two to twelve minutes on one cast.
        rows = np.repeat(stall.pick_casts(1), len(chosen))
        at = stall.cast_at[rows] + rng.uniform(60, 9_000) + rng.uniform(0, rng.uniform(120, 720), len(chosen))
    texts, mix = (stall.builder.new_keys(1), (0.0, 0.0, 1.0, 0.0)) if pace == "text" else (None, HUMAN_MIX)
    stall.engage(actors, (rows, at), mix, texts, purpose=Purpose.FRAMING)


def _force_ring(stall: BazaarStall) -> None:
    """Add a ring's agents and helpers, which interact with the victim as with each other."""
    ring = str(stall.rng.choice([name for name in stall.market.pools if name.startswith("ring ")]))
    actors = stall.market.pools[ring].repeat(stall.rng, int(30 + stall.organic * 0.3))
    stall.engage(actors, stall.reactions(actors, cover=0.4), purpose=Purpose.FRAMING)


FRAMINGS: dict[str, Callable[[BazaarStall], None]] = {
    "adjoining ids": partial(_send_crowd, 3, 8, 0.08, share=0.15),
    "same text": partial(_send_crowd, 25, 100, 0.15, pace="text"),
    "back and forth": _trade_back_and_forth,
    "burst": partial(_send_crowd, 40, 250, 0.3, pace="burst"),
    "clockwork": partial(_send_crowd, 5, 15, 0.15, each=6, share=0.25, pace="clock"),
    "low scores": partial(_send_crowd, 60, 400, 0.06),
    "devoted crowd": partial(_send_crowd, 12, 50, 0.35, each=8),
    "forced ring": _force_ring,
}
