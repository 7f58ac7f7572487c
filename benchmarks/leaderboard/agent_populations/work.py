"""Runs of agents and trades of their tokens, honest and with themselves."""

import numpy as np

from benchmarks.leaderboard.agent_populations.accounts import draw_weighted
from benchmarks.leaderboard.agent_populations.rows import draw_keys
from leaderboard.facts.columns import BoolArray, Float64Array, Int32Array, Int64Array, Runs, Trades


def draw_runs(rng: np.random.Generator, *, agents: int, scale: float, after: int, until: int) -> Runs:
    """Draw some 25 runs a week, of which 7 in 8 succeed; one agent in seven is not worth much."""
    counts = rng.poisson(25 * scale * np.exp(1.2 * rng.standard_normal(agents)))
    agent = np.repeat(np.arange(agents, dtype=np.int32), counts)
    chance = np.where(rng.random(agents) < 0.15, rng.beta(3, 2, size=agents), rng.beta(14, 2, size=agents))
    at = rng.integers(after + 1, until + 1, size=agent.size)
    return Runs(agent, at, rng.random(agent.size) < chance[agent])


def draw_trades(
    rng: np.random.Generator,
    sizes: Float64Array,
    self_traders: Int32Array,
    *,
    stealth: float,
    scale: float,
    after: int,
    until: int,
) -> Trades:
    """Draw trades of the public and of agents' own wallets; of a self-trader's, `stealth` is the public's share.

    Half of the tokens are not traded. Among the others one in three has wallets of its own that trade: they buy back
    evenly, or sell fees, up to a tenth of all; one in ten of these makes a market, both ways, with up to a sixth.
    """
    wanted = 15 * scale * np.exp(1.3 * rng.standard_normal(sizes.size)) * np.sqrt(1 + sizes / scale / 50)
    wanted[rng.random(sizes.size) < 0.5] = 0
    washed = np.clip(150 * scale * np.exp(0.7 * rng.standard_normal(sizes.size)), 24, 5000)
    wanted[self_traders] = stealth * washed[self_traders]
    counts = rng.poisson(wanted)
    parts = [_of_the_public(rng, counts, after, until), _of_own_wallets(rng, counts, self_traders, after, until)]
    parts += [
        _with_itself(rng, one, int((1 - stealth) * washed[one] / 2), after, until) for one in self_traders.tolist()
    ]
    return Trades(*(np.concatenate(column) for column in zip(*parts, strict=True)))


# The columns of Trades, in its order.
_Columns = tuple[Int32Array, Int64Array, Int64Array, BoolArray, BoolArray, Float64Array]


def _of_the_public(rng: np.random.Generator, counts: Int64Array, after: int, until: int) -> _Columns:
    agent = np.repeat(np.arange(counts.size, dtype=np.int32), counts)
    # Few wallets of each token trade most.
    rank = np.floor(rng.random(agent.size) ** 1.8 * (2 + 0.6 * counts[agent])).astype(np.int64)
    first = np.cumsum(3 + counts) - counts
    wallets = draw_keys(rng, int(counts.sum() + 3 * counts.size) + 3)
    return (
        agent,
        rng.integers(after + 1, until + 1, size=agent.size),
        wallets[first[agent] + rank],
        np.zeros(agent.size, dtype=np.bool_),
        rng.random(agent.size) < 0.56,
        draw_amounts(rng, agent.size),
    )


def _of_own_wallets(
    rng: np.random.Generator, counts: Int64Array, self_traders: Int32Array, after: int, until: int
) -> _Columns:
    chance = rng.random(counts.size)
    share = np.where(chance < 0.03, rng.uniform(0.05, 0.17, size=counts.size), rng.uniform(0, 0.1, size=counts.size))
    share[(chance > 0.33) | np.isin(np.arange(counts.size), self_traders)] = 0
    agent = np.repeat(np.arange(counts.size, dtype=np.int32), rng.poisson(share * counts))
    buys = np.where(chance < 0.03, 0.5, np.where(chance < 0.2, 1.0, 0.0))
    wallets = draw_keys(rng, counts.size)
    return (
        agent,
        rng.integers(after + 1, until + 1, size=agent.size),
        wallets[agent],
        np.ones(agent.size, dtype=np.bool_),
        rng.random(agent.size) < buys[agent],
        draw_amounts(rng, agent.size),
    )


def _with_itself(rng: np.random.Generator, agent: int, rounds: int, after: int, until: int) -> _Columns:
    """Draw buys and sells within a minute to a day and 1 to 25 % of the amount; not all wallets are declared."""
    care = rng.random()
    wallets = draw_keys(rng, int(rng.integers(2, 7)))
    declared = rng.random(wallets.size) < 1 - 0.5 * care
    declared[0] = True
    seller = rng.integers(0, wallets.size, size=rounds)
    # Half of the rounds go through one wallet, half from one to another.
    buyer = np.where(rng.random(rounds) < 0.5, seller, rng.integers(0, wallets.size, size=rounds))
    at = rng.integers(after + 1, until + 1, size=rounds)
    gap = np.exp(rng.uniform(np.log(20), np.log(300 + 80_000 * care), size=rounds)).astype(np.int64)
    amount = draw_amounts(rng, rounds)
    tolerance = 0.01 + 0.24 * care
    sold = np.maximum(amount * (1 - tolerance * rng.random(rounds)), 1).round()
    who = np.concatenate([buyer, seller])
    return (
        np.full(2 * rounds, agent, dtype=np.int32),
        np.concatenate([at, np.minimum(at + gap, until)]),
        wallets[who],
        declared[who],
        np.arange(2 * rounds) < rounds,
        np.concatenate([amount, sold]),
    )


def draw_amounts(rng: np.random.Generator, count: int) -> Float64Array:
    """Draw token amounts with 18 decimals, lognormal; one in four is a round number."""
    amount = np.exp(11 + 1.8 * rng.standard_normal(count))
    ten = 10 ** np.floor(np.log10(amount))
    amount = np.where(rng.random(count) < 0.25, np.maximum(np.round(amount / ten), 1) * ten, amount)
    return np.round(amount * 1e18)


def draw_creators(
    rng: np.random.Generator, fids: Int64Array, activity: Float64Array, families: list[Int32Array], *, agents: int
) -> Int64Array:
    """Draw the creators' FIDs, from active accounts; one in ten is unknown, and a family has one."""
    creators = fids[draw_weighted(rng, np.sqrt(activity), agents)]
    creators[rng.random(agents) < 0.1] = 0
    for family in families:
        creators[family] = fids[rng.integers(0, fids.size)]
    return creators
