"""Honest crowds around a launch: another person or bot decides each purchase."""

from collections.abc import Callable

from benchmarks.integrity.opening_chain import Order, Route, Swap, Transaction
from benchmarks.integrity.opening_scene import Scene

# Trading bots' settings that many users share, in gwei.
_BOT_PRESETS = (0.01, 0.05, 0.1)
# Share of user operations that have a transaction for themselves, then of those with 2, 3 and 4 to 6 others.
_OPERATIONS = (0.6, 0.2, 0.1, 0.05, 0.03, 0.02)


def add_bystanders(scene: Scene) -> None:
    """Add snipers and the first minute's buyers, mostly early."""
    for _ in range(scene.between(scene.knobs.snipers)):
        _add_sniper(scene)
    for _ in range(scene.between(scene.knobs.bystanders)):
        scene.add_stranger(_early(scene, scene.knobs.length_ms / 3), scene.retail_fee())


def _early(scene: Scene, mean_ms: float) -> float:
    delay = min(float(scene.rng.exponential(mean_ms)), scene.knobs.length_ms)
    return scene.next_part(scene.launch_ms) + delay


def _add_sniper(scene: Scene) -> None:
    """Add a bot's purchase, on average 100 ms after the launch is visible."""
    seen = scene.next_part(scene.launch_ms)
    scene.add_stranger(seen + float(scene.rng.exponential(100)), scene.bot_fee(), "sniper")


def _start(scene: Scene) -> None:
    own = (Swap(scene.new_account("creator")),) if scene.is_drawn(scene.knobs.own_purchases) else ()
    scene.add_launch(own)


def add_quiet_launch(scene: Scene) -> None:
    """Add a launch that only few notice."""
    _start(scene)
    add_bystanders(scene)


def add_rush(scene: Scene) -> None:
    """Add an announced launch: many independent buyers, a third with a bot."""
    _start(scene)
    for _ in range(scene.between(scene.knobs.rush)):
        is_bot = scene.is_drawn(0.33)
        scene.add_stranger(_early(scene, 1_500 if is_bot else 8_000), scene.bot_fee() if is_bot else scene.retail_fee())


def add_sniper_race(scene: Scene) -> None:
    """Add a launch that 2 to 12 different owners' competing bots buy at once."""
    _start(scene)
    for _ in range(scene.between((2, 12))):
        _add_sniper(scene)
    add_bystanders(scene)


def add_copy_traders(scene: Scene) -> None:
    """Add one to three calls: a leader's purchase, then 3 to 40 copying bots' users, many with a shared fee."""
    _start(scene)
    for _ in range(scene.between((1, 3))):
        called = scene.next_part(scene.launch_ms) + float(scene.rng.uniform(0, scene.knobs.length_ms * 0.8))
        scene.add_stranger(called, scene.retail_fee(), "leader")
        seen = scene.next_part(called)
        for _ in range(scene.between((3, 40))):
            fee = float(scene.rng.choice(_BOT_PRESETS)) if scene.is_drawn(0.6) else scene.bot_fee()
            # Fast bots react within a block part, a chat's followers within seconds.
            delay = scene.rng.exponential(150) if scene.is_drawn(0.4) else scene.rng.lognormal(7.5, 0.8)
            scene.add_stranger(seen + float(delay), fee, "copier")
    add_bystanders(scene)


def add_batches(scene: Scene) -> None:
    """Add different users' purchases in one transaction: settlements for two to four orders, and ERC-4337 operations.

    Among operations' transactions 60 % have one swap, and among settlements 70 %, because solvers net
    orders in the same pair. On Solana a relayer's transaction takes their place.
    """
    _start(scene)
    for _ in range(scene.between((3, 20))):
        if scene.is_drawn(0.7):
            users, route = 1 + int(scene.rng.choice(len(_OPERATIONS), p=_OPERATIONS)), Route.OPERATIONS
        else:
            users, route = (1 if scene.is_drawn(0.7) else scene.between((2, 4))), Route.SETTLEMENT
        swaps = tuple(Swap(scene.new_account("user")) for _ in range(users))
        transaction = Transaction(scene.new_account("relayer"), swaps, route)
        scene.orders.append(Order(_early(scene, 20_000), scene.bot_fee(), (transaction,)))
    add_bystanders(scene)


def add_market_makers(scene: Scene) -> None:
    """Add one to three makers or arbitrageurs that buy and sell in turns, 0.2 to 6 s apart, beside buyers."""
    _start(scene)
    for _ in range(scene.between((1, 3))):
        account = scene.new_account("maker")
        at_ms, is_purchase = _early(scene, 3_000), True
        while at_ms < scene.launch_ms + scene.knobs.length_ms:
            scene.add_swap(at_ms, scene.bot_fee(), Swap(account, is_purchase))
            is_purchase = not is_purchase if scene.is_drawn(0.7) else is_purchase
            at_ms += float(scene.rng.uniform(200, 6_000))
    add_bystanders(scene)


def add_sandwiches(scene: Scene) -> None:
    """Add buyers with a bot's purchase before and its sale after them, 2 to 10 times."""
    _start(scene)
    for _ in range(scene.between((2, 10))):
        at_ms, fee = _early(scene, 20_000), scene.retail_fee()
        bot = scene.new_account("sandwich")
        front, victim, back = (
            Transaction(account, (Swap(account, is_purchase),))
            for account, is_purchase in ((bot, True), (scene.new_account("victim"), True), (bot, False))
        )
        if scene.chain.is_evm:
            scene.orders.append(Order(at_ms, fee * 1.0001, (front,)))
            scene.orders.append(Order(at_ms, fee, (victim,)))
            scene.orders.append(Order(at_ms + 0.01, fee, (back,)))
        else:
            scene.orders.append(Order(at_ms, scene.bot_fee(), (front, victim, back)))
    add_bystanders(scene)


# Kind -> adds a launch and its crowd.
CROWDS: dict[str, Callable[[Scene], None]] = {
    "quiet launch": add_quiet_launch,
    "rush": add_rush,
    "sniper race": add_sniper_race,
    "copy traders": add_copy_traders,
    "batches of users": add_batches,
    "market makers": add_market_makers,
    "sandwiches": add_sandwiches,
}
