"""An attacker's reports about its own agent: perfect runs, steady casts, and trades with itself."""

import numpy as np

from benchmarks.leaderboard.worlds.world import DAY, END, POST, QUOTE, REPLY, Purpose

from .orchard_people import register_accounts
from .orchard_plan import OrchardAgent
from .orchard_stage import OrchardStage

_DAILY_CASTS, _DAILY_RUNS = 30, 120
_WALLETS = 12
_ROUND_TRIPS = 400


def add_own_word(stage: OrchardStage, agent: OrchardAgent, *, days: int) -> None:
    """Add casts and succeeded runs at equal distances over the last days."""
    builder, rng = stage.builder, stage.rng
    count, runs = _DAILY_CASTS * days, _DAILY_RUNS * days
    times = END - 1 - np.arange(count) * (days * DAY) // count
    # A quarter are posts: the guide counts replies and quotes more.
    kinds = rng.choice([POST, REPLY, QUOTE], count, p=[0.25, 0.4, 0.35])
    builder.add_casts(agent.index, times, kind=kinds, text=builder.new_keys(count), purpose=Purpose.BOUGHT)
    finished_at = END - 1 - np.arange(runs) * (days * DAY) // runs
    builder.add_runs(agent.index, finished_at, True, purpose=Purpose.BOUGHT)


def add_wash_trades(stage: OrchardStage, agent: OrchardAgent) -> None:
    """Add purchases in the agent's token by own wallets, each sold again within the hour."""
    builder, rng = stage.builder, stage.rng
    wallets = rng.choice(builder.new_keys(_WALLETS), _ROUND_TRIPS)
    bought_at = rng.integers(builder.start + 1, builder.end - 7_200, _ROUND_TRIPS)
    amounts = rng.lognormal(40, 0.3, _ROUND_TRIPS)
    for times, is_buy in ((bought_at, True), (bought_at + rng.integers(60, 3_600, _ROUND_TRIPS), False)):
        builder.add_trades(
            agent.index, times, wallets, is_own=False, is_buy=is_buy, amount=amounts, purpose=Purpose.BOUGHT
        )
    # One cheap account for each wallet likes the agent once, so that traders look like fans.
    traders = register_accounts(builder, _WALLETS, scores=(0.05, 0.3), days=(1, 60), unknown=0.3)
    stage.add_reactions(agent, traders, np.ones(len(traders), np.int64), purpose=Purpose.BOUGHT)
