"""Organic publics for each agent kind, and token trades, which excite each other around price moves."""

import numpy as np

from benchmarks.leaderboard.worlds.bazaar.bazaar_accounts import BazaarCrowd, enroll, registrations
from benchmarks.leaderboard.worlds.bazaar.bazaar_stall import BazaarStall, excited_lags
from benchmarks.leaderboard.worlds.world import DAY
from leaderboard.facts.columns import BoolArray, Float64Array, Int64Array


def add_public(stall: BazaarStall) -> None:
    """Add an agent's organic interactions: the share that its kind is about, and people in its circle."""
    special, (low, high) = _SPECIAL.get(stall.plan.kind, (_respond_fast, (0, 0.2)))
    count = int(stall.organic * stall.rng.uniform(low, high))
    if count:
        special(stall, count)
    actors = _people(stall, stall.organic - count)
    stall.engage(actors, stall.reactions(actors, branching=stall.rng.uniform(0.15, 0.65)))


def _people(stall: BazaarStall, count: int, zone: int | None = None) -> BazaarCrowd:
    """Return `count` people as rows, the faithful ones often; half a family's are the owner's."""
    rng, people, pools = stall.rng, stall.market.people, stall.market.pools
    distinct = max(1, round(count ** rng.uniform(0.78, 0.95)))
    accounts = people.sample(rng, distinct, stall.circle if zone is None else -1, zone)
    if stall.plan.kind == "family":
        family = pools.setdefault(f"family {stall.plan.owner}", people.sample(rng, 400, stall.circle))
        accounts = family.sample(rng, distinct // 2 + 1).join(accounts.take(np.arange(distinct // 2)))
    return accounts.repeat(rng, count, 0.6)


def _respond_fast(stall: BazaarStall, count: int) -> None:
    """Add programs that respond within seconds: few read a price bot's posts, and many look for any new post."""
    rng, is_price_bot = stall.rng, stall.plan.kind == "price bot"
    programs = min(count, int(rng.integers(4, 13)) if is_price_bot else 2 + int(count**0.75))
    actors = stall.market.programs.sample(rng, programs, stall.circle).repeat(rng, count, 0.4)
    rows = stall.pick_casts(count)
    at = stall.cast_at[rows] + (2 + actors.fids % 31) * rng.lognormal(0, 0.25, count)
    own_texts = 1 + actors.fids * 4 + rng.integers(0, 3, count)
    texts = np.where(rng.random(count) < 0.6, own_texts, stall.write_texts(count))
    stall.engage(actors, (rows, at), (0.55, 0.15, 0.28, 0.02), texts)


def _add_commands(stall: BazaarStall, count: int) -> None:
    """Add replies with few frequent texts, some time after what the user looked at."""
    actors, commands = _people(stall, count), stall.builder.new_keys(int(stall.rng.integers(3, 9)))
    texts = stall.write_texts(count, commands, stall.rng.uniform(0.65, 0.95))
    stall.engage(actors, stall.reactions(actors, branching=0.4), (0.02, 0, 0.97, 0.01), texts)


def _add_club(stall: BazaarStall, count: int) -> None:
    """Add a circle with 4 to 60 accounts. Each account comes daily at its own hour and reads the newest casts."""
    rng = stall.rng
    members = stall.market.people.sample(rng, int(np.clip(count // 9, 4, 60)), stall.circle)
    chosen = rng.integers(0, len(members), count)
    hours = rng.normal(13, 4, len(members)) - members.zones
    at = stall.builder.start + rng.integers(0, 7, count) * DAY + hours[chosen] * 3_600 + rng.normal(0, 2_400, count)
    rows = np.maximum(np.searchsorted(stall.cast_at, at) - rng.geometric(0.6, count), 0)
    at = np.maximum(at, stall.cast_at[rows] + rng.exponential(1_800, count))
    stall.engage(members.take(chosen), (rows, at), (0.5, 0.1, 0.37, 0.03))


def _add_viral(stall: BazaarStall, count: int) -> None:
    """Add people from all circles who react to one cast, with power-law delays."""
    rng = stall.rng
    actors = stall.market.people.sample(rng, count).repeat(rng, count, 0.1)
    rows = np.repeat(stall.pick_casts(1), count)
    delays = rng.pareto(0.9, count).clip(0, 200) * rng.uniform(0, 2_400, count)
    stall.engage(actors, (rows, stall.cast_at[rows] + 30 + delays), (0.6, 0.25, 0.11, 0.04))


def _add_newcomers(stall: BazaarStall, count: int) -> None:
    """Add accounts with unknown score, which come minutes or hours after their registration and seldom return."""
    rng, size = stall.rng, 1 + int(count * 0.7)
    registered_at = registrations(rng, size, 1.2, 6)
    crowd = enroll(stall.builder, registered_at, np.full(size, np.nan))
    chosen = np.arange(count) % size
    at = registered_at[chosen] + rng.lognormal(np.log(1_500), 1.5, count) + (np.arange(count) >= size) * DAY / 2
    rows = np.maximum(np.searchsorted(stall.cast_at, at) - rng.geometric(0.4, count), 0)
    at = np.maximum(at, stall.cast_at[rows] + 20)
    stall.engage(crowd.take(chosen), (rows, at), (0.55, 0.05, 0.38, 0.02))


def _add_region(stall: BazaarStall, count: int) -> None:
    """Add people in one time zone, who come in the eight hours around its midday, or a day later."""
    actors = _people(stall, count, stall.zone)
    rows, at = stall.reactions(actors)
    local = at + stall.zone * 3_600
    at = at - local % DAY + 10 * 3_600 + local % DAY / 3
    stall.engage(actors, (rows, np.where(at < stall.cast_at[rows], at + DAY, at)))


# Kind -> its own interactions, and their share's range.
_SPECIAL = {
    "command bot": (_add_commands, (0.7, 0.95)),
    "price bot": (_respond_fast, (0.4, 0.8)),
    "bot magnet": (_respond_fast, (0.35, 0.75)),
    "club": (_add_club, (1, 1)),
    "viral": (_add_viral, (0.6, 0.9)),
    "onboarding": (_add_newcomers, (0.55, 0.9)),
    "time zone": (_add_region, (1, 1)),
}


def add_organic_trades(stall: BazaarStall) -> None:
    """Add trades by the public, by one of a dozen arbitrage wallets and by what the kind has, and fee sales."""
    rng, new_wallets = stall.rng, stall.builder.new_keys
    count = stall.organic_trades = int(np.clip(rng.lognormal(np.log(45), 1.2), 3, 1_500))
    wallets = rng.choice(stall.market.wallets, max(2, int(count**0.85)), replace=False)
    shares = np.arange(1, len(wallets) + 1) ** -0.7
    add_trades(stall, rng.choice(wallets, count, p=shares / shares.sum()), rng.random(count) < 0.55)
    if rng.random() < 0.25:
        trade_in_pairs(stall, rng.choice(stall.market.wallets[:12], 1), int(count * rng.uniform(0.02, 0.06)), 20)
    if stall.plan.kind == "market maker":
        trade_in_pairs(stall, new_wallets(1), int(count * rng.uniform(0.2, 0.7)), 900)
    elif stall.plan.kind == "two-sided treasury":
        trade_in_pairs(stall, new_wallets(3), int(count * rng.uniform(0.7, 2)), 5_000, declared=3)
    elif rng.random() < 0.5:
        add_trades(stall, np.repeat(new_wallets(1), 1 + rng.poisson(count * 0.03)), False, is_own=True)


def trade_in_pairs(
    stall: BazaarStall, wallets: Int64Array, pairs: int, lag: float, *, declared: int = 0, purpose: int = 0
) -> None:
    """Add trades, each reversed by a wallet after `lag` seconds or so; the first `declared` ones are own."""
    rng, at, is_buy = stall.rng, _busy_times(stall, pairs), stall.rng.random(pairs) < 0.5
    chosen = rng.integers(0, len(wallets), 2 * pairs)
    at = np.concatenate([at, at + rng.lognormal(np.log(lag), 0.9, pairs)])
    amount = stall.trade_scale * np.tile(rng.lognormal(0.4, 0.8, pairs), 2) * rng.uniform(0.95, 1.02, 2 * pairs)
    columns = {"is_own": chosen < declared, "is_buy": np.concatenate([is_buy, ~is_buy]), "amount": amount}
    stall.builder.add_trades(stall.agent, at, wallets[chosen], purpose=purpose, **columns)
    stall.organic_trades += 0 if purpose else 2 * pairs


def add_trades(
    stall: BazaarStall, wallets: Int64Array, is_buy: bool | BoolArray, *, is_own: bool = False, purpose: int = 0
) -> None:
    """Add one trade for each `wallets` row."""
    at, amount = _busy_times(stall, len(wallets)), stall.trade_scale * stall.rng.lognormal(0, 1.3, len(wallets))
    stall.builder.add_trades(stall.agent, at, wallets, is_own=is_own, is_buy=is_buy, amount=amount, purpose=purpose)


def _busy_times(stall: BazaarStall, count: int) -> Float64Array:
    """Return trade times: half the trades excite others, and half the remaining ones follow price moves."""
    rng = stall.rng
    roots, lags = excited_lags(rng, count, 0.5)
    after_moves = rng.choice(stall.moves, count) + rng.exponential(1_200, count)
    at = np.where(rng.random(count) < 0.5, after_moves, rng.uniform(stall.builder.start, stall.builder.end, count))
    return np.asarray(at[roots] + lags, np.float64)
