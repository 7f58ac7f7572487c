"""Token trades: by publics, treasuries, market makers, washers and enemies."""

import numpy as np

from benchmarks.leaderboard.worlds.meadow.meadow_crowd import ZONES, Meadow, MeadowAgent, shift_to_waking
from benchmarks.leaderboard.worlds.world import WEEK, Purpose
from leaderboard.facts.columns import Int64Array

_OTHERS_WITH_TOKEN = 0.4


def add_trades_of_tokens(meadow: Meadow) -> None:
    """Add the trades for agents that have a token; amounts and trade counts are heavy-tailed."""
    rng = meadow.rng
    traders = meadow.builder.new_keys(3 * len(meadow.agents))
    for agent in meadow.agents:
        is_target = agent.attack == "volume wash" or agent.framing == "back and forth"
        is_two_sided = agent.kind in ("two-sided treasury", "market maker")
        if not (is_target or is_two_sided or rng.random() < _OTHERS_WITH_TOKEN):
            continue
        scale = 10 ** rng.uniform(18, 22)
        count = (25 if is_target else 1) + int(min(rng.lognormal(np.log(18), 1.2), 900))
        _trade_publicly(meadow, agent, traders, count, scale)
        total = count + (_trade_both_ways(meadow, agent, count, scale) if is_two_sided else 0)
        if agent.attack == "volume wash":
            _wash_volume(meadow, agent, round(total * (1 / meadow.stealth - 1)), scale)
        if agent.framing == "back and forth":
            # Fees limit the enemy to about the token's own trades.
            delays = rng.integers(20, 900, int(total * rng.uniform(0.2, 0.7)) + 5)
            wallets = np.tile(meadow.builder.new_keys(1), (2, len(delays)))
            _add_pairs(meadow, agent, wallets, wallets[0, :0], delays, scale)


def _waking_times(meadow: Meadow, count: int) -> Int64Array:
    at = meadow.builder.start + meadow.rng.integers(1, WEEK, count)
    return shift_to_waking(meadow.rng, at, meadow.rng.choice(ZONES, count))


def _trade_publicly(meadow: Meadow, agent: MeadowAgent, traders: Int64Array, count: int, scale: float) -> None:
    """Add holders, some trading many tokens; every sixth owner trades a little, too."""
    rng = meadow.rng
    holders = np.concatenate([meadow.builder.new_keys(count // 2 + 1), rng.choice(traders, count // 4 + 1)])
    wallets = rng.choice(holders, count)
    is_own = (wallets == holders[0]) & (rng.random() < 0.16)
    is_buy, amounts = rng.random(count) < rng.beta(12, 10), scale * rng.lognormal(0, 1.3, count)
    at = _waking_times(meadow, count)
    meadow.builder.add_trades(agent.index, at, wallets, is_own=is_own, is_buy=is_buy, amount=amounts)


def _trade_both_ways(meadow: Meadow, agent: MeadowAgent, count: int, scale: float) -> int:
    """Add the trades by a treasury's declared wallets or by a market maker, day and night, and return their number."""
    rng, is_own = meadow.rng, agent.kind == "two-sided treasury"
    share = rng.uniform(0.52, 0.85) if is_own else rng.uniform(0.3, 0.65)
    own = round(count * share / (1 - share))
    wallets = rng.choice(meadow.builder.new_keys(int(rng.integers(1, 4)) if is_own else 1), own)
    at, is_buy = meadow.builder.start + rng.integers(1, WEEK, own), rng.random(own) < rng.uniform(0.42, 0.58)
    amounts = scale * rng.uniform(0.6, 2) * rng.lognormal(0, 0.9 if is_own else 0.35, own)
    meadow.builder.add_trades(agent.index, at, wallets, is_own=is_own, is_buy=is_buy, amount=amounts)
    return own


def _wash_volume(meadow: Meadow, agent: MeadowAgent, count: int, scale: float) -> None:
    """Add trades among an owner's wallets: what one sells, another buys within hours."""
    rng, pairs = meadow.rng, count // 2 + 1
    wallets = meadow.builder.new_keys(int(rng.integers(3, 10)))
    declared = wallets[: int(rng.integers(1, 3))] if rng.random() < 0.4 else wallets[:0]
    seller = rng.integers(0, len(wallets), pairs)
    buyer = (seller + rng.integers(1, len(wallets), pairs)) % len(wallets)
    delays = rng.lognormal(np.log(2_500), 1.3, pairs).astype(np.int64)
    _add_pairs(meadow, agent, wallets[np.stack([seller, buyer])], declared, delays, scale)


def _add_pairs(
    meadow: Meadow, agent: MeadowAgent, wallets: Int64Array, declared: Int64Array, delays: Int64Array, scale: float
) -> None:
    """Add a trade for each pair from two wallet rows, and after `delays` the reverse, with almost equal amounts."""
    rng, count, traders = meadow.rng, len(delays), wallets.ravel()
    at, is_buy = _waking_times(meadow, count), np.repeat([False, True], count) ^ np.tile(rng.random(count) < 0.5, 2)
    times, is_own = np.concatenate([at, at + delays]), np.isin(traders, declared)
    amounts = scale * np.tile(rng.lognormal(0.2, 0.7, count), 2) * rng.normal(1, 0.04, 2 * count)
    purpose = Purpose.BOUGHT if agent.attack else Purpose.FRAMING
    meadow.builder.add_trades(
        agent.index, times, traders, is_own=is_own, is_buy=is_buy, amount=amounts, purpose=purpose
    )
