"""Pairs of scenes for each sign of each flag: one that it must flag, and its honest twin, which it must not.

Each returns its agent's index.
"""

from tests.rows.wash_scenes import DAY, WashScene

MANY = 30


def concentrated(scene: WashScene, *, honest: bool) -> int:
    agent = scene.agent()
    scene.crowd(agent, 300 if honest else 10, first_fid=2_000_003, times=1 if honest else 60)
    return agent


def ring(scene: WashScene, *, honest: bool) -> int:
    agents = [scene.agent(fid=800_000_000 + 7001 * number) for number in range(4)]
    for agent in agents:
        scene.crowd(agent, 20, first_fid=3_000_017 + 70_001 * agent)
    for number in range(MANY):
        fid = scene.person(4_000_037 + 1009 * number)
        for agent in agents[:1] if honest else agents:
            scene.like(agent, fid, times=3)
    return agents[0]


def members(scene: WashScene, *, honest: bool) -> int:
    fids = [700_000_000 + 7001 * number for number in range(4)]
    agents = [scene.agent(fid=fid) for fid in fids]
    for agent in agents:
        scene.crowd(agent, 20, first_fid=5_000_011 + 70_001 * agent)
    # An account that is liked by agents that it doesn't like back is in no ring with them.
    for agent in agents[:1] if honest else agents:
        for fid in fids:
            if fid != fids[agent - agents[0]]:
                scene.like(agent, scene.person(fid), times=15)
    return agents[0]


def clockwork(scene: WashScene, *, honest: bool) -> int:
    agent = scene.agent()
    scene.crowd(agent, 40, first_fid=6_000_011)
    for number in range(15):
        fid = scene.person(6_500_003 + 1013 * number)
        scene.like(agent, fid, times=5, delay=None if honest else 40 + number)
    return agent


def bursts(scene: WashScene, *, honest: bool) -> int:
    agent = scene.agent()
    scene.crowd(agent, 40, first_fid=7_000_003)
    for number in range(40):
        fid = scene.person(7_500_013 + 1013 * number)
        scene.like(agent, fid)
        if not honest:
            kept = scene.interactions[-1]
            scene.interactions[-1] = (kept[0], 2 * DAY + 10_000 * (number // 8) + number % 8 * 12, *kept[2:])
    return agent


def low_scores(scene: WashScene, *, honest: bool) -> int:
    agent = scene.agent()
    scene.crowd(agent, 60, first_fid=8_000_009, score=0.6 if honest else 0.1)
    return agent


def newborn(scene: WashScene, *, honest: bool) -> int:
    agent = scene.agent()
    for number in range(60):
        scene.like(agent, scene.person(8_500_003 + 997 * number, age=400 if honest else 5))
    return agent


def batch(scene: WashScene, *, honest: bool) -> int:
    agent = scene.agent()
    scene.crowd(agent, 60, first_fid=9_000_001)
    for number in range(12):
        scene.like(agent, scene.person(9_500_003 + number * (60_000 if honest else 2)), times=4)
    return agent


def copied(scene: WashScene, *, honest: bool) -> int:
    agent = scene.agent()
    for number in range(40):
        fid = scene.person(10_000_019 + 1009 * number)
        scene.like(agent, fid, text=5_000 + (number if honest else number % 3))
    return agent


def self_trades(scene: WashScene, *, honest: bool) -> int:
    agent = scene.agent()
    scene.crowd(agent, 60, first_fid=11_000_003)
    for number in range(40):
        scene.trades.append((agent, 6 * DAY - number * 9000, 70 + number, False, number % 3 > 0, 100.0 + 31 * number))
    for number in range(30):
        # An agent that sells for its creator, and does not buy back.
        amount = 500.0 + 97 * (number // 2)
        scene.trades.append(
            (agent, 5 * DAY - number * 3000, 1 + number % 2, True, not honest and number % 2 == 0, amount)
        )
    return agent


def round_trips(scene: WashScene, *, honest: bool) -> int:
    agent = scene.agent()
    scene.crowd(agent, 60, first_fid=12_000_017)
    for number in range(60):
        wallet = number if honest else number // 2
        scene.trades.append((agent, DAY // 2 + number % 2 * 60, wallet, False, number % 2 == 0, 10.0 + wallet))
    return agent


def league(scene: WashScene, *, honest: bool, wallets: int = 6, is_own: bool = True) -> int:
    """Add a purchase every two hours and a sale 20 minutes later by the next wallet, of which one is declared."""
    agent = scene.agent()
    scene.crowd(agent, 60, first_fid=13_000_027)
    for number in range(70):
        scene.trades.append((agent, 6 * DAY - number * 7000, 100 + number, False, number % 3 > 0, 3.0 * 1.4**number))
    for number in range(50):
        for is_buy, later in ((True, 0), (False, 1)):
            wallet = (number + later) % wallets
            # People who come back, and the agent that sells, do so for amounts and at times of their own.
            at = 5 * DAY - number * 7200 - later * (30_000 if honest else 1200)
            amount = (1000.0 + 37 * number) * (1 - later * (0.6 if honest else 0.12))
            scene.trades.append((agent, at, wallet, is_own and wallet == 0, is_buy, amount))
    return agent


def strangers(scene: WashScene, *, honest: bool) -> int:
    return league(scene, honest=honest, is_own=False)


SCENES = [
    ("CONCENTRATED", "shortfall", concentrated),
    ("CONCENTRATED", "devoted", concentrated),
    ("RECIPROCAL_RING", "feeders", ring),
    ("RECIPROCAL_RING", "members", members),
    ("BURST_TIMING", "clockwork", clockwork),
    ("BURST_TIMING", "bursts", bursts),
    ("LOW_SCORE_AUDIENCE", "low", low_scores),
    ("LOW_SCORE_AUDIENCE", "newborn", newborn),
    ("LOW_SCORE_AUDIENCE", "batch", batch),
    ("DUPLICATE_TEXT", "copied", copied),
    ("SELF_TRADE", "bothSides", self_trades),
    ("SELF_TRADE", "matched", self_trades),
    ("SELF_TRADE", "circles", league),
    ("SELF_TRADE", "strangers", strangers),
    ("SELF_TRADE", "roundTrips", round_trips),
]
