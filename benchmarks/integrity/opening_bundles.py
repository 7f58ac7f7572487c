"""Bundles: purchases by one actor's wallets, among independent buyers."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from benchmarks.integrity.opening_chain import Order, Route, Swap, Transaction
from benchmarks.integrity.opening_crowds import add_bystanders
from benchmarks.integrity.opening_scene import Scene

# Transactions in a Jito bundle, and purchases that fit into one.
_JITO_TRANSACTIONS = 5
_JITO_PURCHASES = 4

Item = TypeVar("Item")


def _in_groups(items: Sequence[Item], size: int) -> list[tuple[Item, ...]]:
    return [tuple(items[start : start + size]) for start in range(0, len(items), size)]


def _wallets(scene: Scene, number: int) -> list[Swap]:
    return [Swap(scene.new_account("wallet"), actor="bundler") for _ in range(number)]


def _start_apart(scene: Scene) -> None:
    """Add a launch without the actor's part; the creator may have their own purchase."""
    own = (Swap(scene.new_account("creator")),) if scene.is_drawn(scene.knobs.own_purchases) else ()
    scene.add_launch(own)


def _soon(scene: Scene) -> float:
    """Return when a bundle arrives: at once when the launch is visible, or within the first 20 s."""
    seen = scene.next_part(scene.launch_ms)
    return seen + float(scene.rng.uniform(0, 50) if scene.is_drawn(0.5) else scene.rng.uniform(0, 20_000))


def _send(scene: Scene, swaps: Sequence[Swap], at_ms: float, fee: float, route: Route = Route.DIRECT) -> None:
    """Add one script's wallets, one transaction each: disguised ones have fees and arrivals that differ."""
    for number, swap in enumerate(swaps):
        own_fee, own_ms = fee, at_ms + 0.5 * number
        if scene.is_drawn(scene.knobs.disguise):
            own_fee = fee * float(scene.rng.lognormal(0, 0.5))
            own_ms = at_ms + float(scene.rng.uniform(0, 400))
        scene.add_swap(own_ms, own_fee, swap, route=route)


def _send_atomic(scene: Scene, swaps: Sequence[Swap], at_ms: float) -> None:
    """Add wallets by Solana's Jito bundles: several purchases a transaction if they would not fit otherwise."""
    each = min(_JITO_PURCHASES, -(-len(swaps) // _JITO_TRANSACTIONS))
    transactions = [Transaction(group[0].account, group) for group in _in_groups(swaps, each)]
    for bundle in _in_groups(transactions, _JITO_TRANSACTIONS):
        scene.orders.append(Order(at_ms, scene.bot_fee(), bundle))


def add_one_transaction(scene: Scene) -> None:
    """Add one contract's transaction that buys for all wallets; on Solana for at most four."""
    _start_apart(scene)
    most = scene.between(scene.knobs.wallets)
    swaps = tuple(_wallets(scene, most if scene.chain.is_evm else min(most, _JITO_PURCHASES)))
    transaction = Transaction(scene.new_account("bundler"), swaps)
    scene.orders.append(Order(_soon(scene), scene.bot_fee(), (transaction,)))
    add_bystanders(scene)


def add_consecutive(scene: Scene) -> None:
    """Add wallets that one script sends at one moment with one fee, on Solana as Jito bundles."""
    _start_apart(scene)
    swaps = _wallets(scene, scene.between(scene.knobs.wallets))
    if scene.chain.is_evm:
        _send(scene, swaps, _soon(scene), scene.bot_fee())
    else:
        _send_atomic(scene, swaps, _soon(scene))
    add_bystanders(scene)


def add_spread_over_block(scene: Scene) -> None:
    """Add wallets anywhere in one block, each with its own fee, with others' traffic between them."""
    _start_apart(scene)
    length = scene.chain.block_ms
    block = int(_soon(scene) // length) + 1
    for swap in _wallets(scene, scene.between(scene.knobs.wallets)):
        scene.add_swap(block * length + float(scene.rng.uniform(0, length)), scene.bot_fee(), swap)
    add_bystanders(scene)


def add_over_blocks(scene: Scene) -> None:
    """Add wallets in groups, one group in each block, over two to four blocks."""
    _start_apart(scene)
    length = scene.chain.block_ms
    blocks = scene.between((2, 4))
    first = int(_soon(scene) // length) + 1
    swaps = _wallets(scene, max(blocks, scene.between(scene.knobs.wallets)))
    for number in range(blocks):
        at_ms = (first + number) * length + float(scene.rng.uniform(0, length - 20))
        _send(scene, swaps[number::blocks], at_ms, scene.bot_fee())
    add_bystanders(scene)


def add_with_launch(scene: Scene) -> None:
    """Add a creator who buys in the launch's transaction, and wallets that follow it before all other traffic.

    A third launches through a contract that buys for up to six wallets itself.
    """
    swaps = _wallets(scene, scene.between(scene.knobs.wallets))
    own = min(6, len(swaps) - 1) if scene.is_drawn(1 / 3) else 1
    if scene.chain.is_evm:
        scene.add_launch(tuple(swaps[:own]))
        _send(scene, swaps[own:], scene.launch_ms + 0.01, scene.launch_fee)
    else:
        launch = Transaction(swaps[0].account, tuple(swaps[:own]), is_launch=True)
        each = min(_JITO_PURCHASES, -(-len(swaps) // (_JITO_TRANSACTIONS - 1)))
        groups = [Transaction(group[0].account, group) for group in _in_groups(swaps[own:], each)]
        first, later = groups[: _JITO_TRANSACTIONS - 1], groups[_JITO_TRANSACTIONS - 1 :]
        scene.orders.append(Order(scene.launch_ms, scene.bot_fee(), (launch, *first)))
        for transaction in later:
            scene.orders.append(Order(scene.next_part(scene.launch_ms), scene.bot_fee(), (transaction,)))
    add_bystanders(scene)


def add_routed(scene: Scene) -> None:
    """Add wallets that buy through an aggregator, whose transactions have 10 to 48 logs more; one script, one fee."""
    _start_apart(scene)
    _send(scene, _wallets(scene, scene.between(scene.knobs.wallets)), _soon(scene), scene.bot_fee(), Route.AGGREGATOR)
    add_bystanders(scene)


def add_mixed_with_rush(scene: Scene) -> None:
    """Add one script's wallets within the rush at an announced launch."""
    _start_apart(scene)
    _send(scene, _wallets(scene, scene.between(scene.knobs.wallets)), _soon(scene), scene.bot_fee())
    for _ in range(scene.between(scene.knobs.rush)):
        delay = float(scene.rng.exponential(6_000))
        scene.add_stranger(scene.next_part(scene.launch_ms) + delay, scene.retail_fee())


def add_one_funder(scene: Scene) -> None:
    """Add one funder's wallets, which act like people: any time in the minute, wallets' fees."""
    _start_apart(scene)
    seen = scene.next_part(scene.launch_ms)
    for swap in _wallets(scene, scene.between(scene.knobs.wallets)):
        scene.add_swap(seen + float(scene.rng.uniform(0, scene.knobs.length_ms - 3_000)), scene.retail_fee(), swap)
    add_bystanders(scene)


# Kind -> adds a launch with a bundle and its bystanders.
BUNDLES: dict[str, Callable[[Scene], None]] = {
    "one transaction": add_one_transaction,
    "consecutive": add_consecutive,
    "spread over a block": add_spread_over_block,
    "over 2 to 4 blocks": add_over_blocks,
    "with the launch": add_with_launch,
    "through a router": add_routed,
    "within a rush": add_mixed_with_rush,
    "one funder": add_one_funder,
}
