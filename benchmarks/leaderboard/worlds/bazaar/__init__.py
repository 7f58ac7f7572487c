"""Traders' world: tokens trade a lot, attention comes in bursts around price moves, and programs are everywhere."""

from benchmarks.leaderboard.worlds.bazaar.bazaar_accounts import enroll_people, enroll_programs
from benchmarks.leaderboard.worlds.bazaar.bazaar_attacks import FRAMINGS, add_attacks, add_pools
from benchmarks.leaderboard.worlds.bazaar.bazaar_plans import draw_plans
from benchmarks.leaderboard.worlds.bazaar.bazaar_publics import add_organic_trades, add_public
from benchmarks.leaderboard.worlds.bazaar.bazaar_stall import BazaarMarket, BazaarStall
from benchmarks.leaderboard.worlds.world import World, WorldBuilder


def build_world(*, seed: int, stealth: float, agents: int = 1000) -> World:
    """Return a world with `agents` agents, in which planted agents have organic engagement in the share `stealth`."""
    builder = WorldBuilder(seed)
    rng = builder.rng
    own, people = enroll_programs(builder, agents), enroll_people(builder, 2_000 + 12 * agents)
    programs = own.join(enroll_programs(builder, 100 + agents, batch=3, haste=0.05))
    wallets, phrases = builder.new_keys(1_500 + 4 * agents), builder.new_keys(60)
    moves = rng.integers(builder.start, builder.end, 12)
    market = BazaarMarket(builder, stealth, people, programs, wallets, phrases, moves)
    add_pools(market, 250 + agents // 2)
    stalls = []
    for plan, fid in zip(draw_plans(rng, agents, FRAMINGS), own.fids.tolist(), strict=True):
        # One in ten agents' accounts and creators is unknown.
        own_fid = fid if plan.ring >= 0 or rng.random() < 0.9 else 0
        creator_fid = int(market.people.fids[plan.owner]) if rng.random() < 0.9 else 0
        stalls.append(BazaarStall(market, plan, fid=own_fid, creator_fid=creator_fid))
        add_public(stalls[-1])
        if plan.is_traded:
            add_organic_trades(stalls[-1])
    add_attacks(stalls)
    for stall in stalls:
        if stall.plan.framing:
            FRAMINGS[stall.plan.framing](stall)
    return builder.build()
