"""Trades in Harbour's tokens: organic markets, and trading back and forth."""

import numpy as np

from benchmarks.leaderboard.worlds.world import DAY, Purpose
from leaderboard.facts.columns import Int64Array

from .harbour_plan import HarbourAgent
from .harbour_stage import HarbourStage

_TRADED = 0.4
# Kind -> house wallets, whether they are declared, and their trades per other trade.
_HOUSES = {"two-sided treasury": (3, True, (1.1, 2.5)), "market maker": (1, False, (0.5, 1.3))}
_LEAST, _LEAST_OBSERVED, _MOST = 5, 25, 1_500


def add_market(stage: HarbourStage, agent: HarbourAgent) -> None:
    """Add organic trades in an agent's token, if it is traded."""
    rng, builder = stage.rng, stage.builder
    is_observed = agent.attack == "volume wash" or agent.framing == "back and forth" or agent.kind in _HOUSES
    if not is_observed and rng.random() > _TRADED:
        return
    agent.lot = float(10 ** rng.uniform(19, 23))
    count = int(min((_LEAST_OBSERVED if is_observed else _LEAST) * (1 + rng.pareto(1.1)), _MOST))
    holders = rng.choice(stage.wallets, int(np.ceil(count / 1.8)))
    # Buyers prevail in a growth phase.
    is_buy = rng.random(count) < rng.uniform(0.5, 0.7)
    amount = agent.lot * rng.lognormal(0, 1.4, count)
    at, wallet = _draw_moments(stage, count), rng.choice(holders, count)
    builder.add_trades(agent.index, at, wallet, is_own=False, is_buy=is_buy, amount=amount.round())
    # Ordinary treasuries only buy back at times.
    wallets, is_own, rates = _HOUSES.get(agent.kind, (1, True, (0.0, 0.05)))
    own = int(count * rng.uniform(*rates))
    wallet, is_buy = rng.choice(builder.new_keys(wallets), own), rng.random(own) < 0.5
    amount = agent.lot * rng.lognormal(-0.3, 0.3, own)
    builder.add_trades(
        agent.index, _draw_moments(stage, own), wallet, is_own=is_own, is_buy=is_buy, amount=amount.round()
    )
    agent.organic_trades = count + own


def add_paired_trades(
    stage: HarbourStage, agent: HarbourAgent, pairs: int, *, wallets: int, purpose: Purpose, declared: int = 0
) -> None:
    """Add pairs: a sale, and soon after a purchase for about the same amount, by one owner's wallets.

    A script trades in sessions up to two hours long. The first `declared` wallets are declared.
    """
    rng, builder = stage.rng, stage.builder
    seller = rng.integers(0, wallets, pairs)
    buyer = (seller + rng.integers(1, max(wallets, 2), pairs)) % wallets
    sessions = rng.integers(builder.start, builder.end - DAY // 8, int(rng.integers(3, 20)))
    sold_at = rng.choice(sessions, pairs) + rng.integers(1, DAY // 12, pairs)
    places, is_buy = np.concatenate((seller, buyer)), np.repeat([False, True], pairs)
    at, wallet = np.tile(sold_at, 2) + is_buy * rng.integers(5, 240, 2 * pairs), builder.new_keys(wallets)[places]
    amounts = np.tile(agent.lot * rng.lognormal(0.3, 0.5, pairs), 2) * rng.uniform(0.97, 1.0, 2 * pairs)
    is_own, amount = places < declared, amounts.round()
    builder.add_trades(agent.index, at, wallet, is_own=is_own, is_buy=is_buy, amount=amount, purpose=purpose)


def _draw_moments(stage: HarbourStage, count: int) -> Int64Array:
    """Return trade times: half around a few events, such as news."""
    rng, start, end = stage.rng, stage.builder.start, stage.builder.end
    after = rng.choice(rng.integers(start, end, 4), count) + rng.exponential(DAY / 6, count).astype(np.int64)
    is_anywhere = (rng.random(count) < 0.5) | (after > end)
    return np.where(is_anywhere, rng.integers(start + 1, end, count), after)
