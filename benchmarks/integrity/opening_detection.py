"""What the detector marks in generated openings, against their truth. Django must be set up before it is imported."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from math import comb

from benchmarks.integrity.bundle_counts import BundleCounts
from benchmarks.integrity.opening_chain import Opening, PlacedSwap
from tokens.chains.pool_types import chain_position
from tokens.integrity.bundle_detection import find_bundles
from tokens.integrity.first_trades import LaunchPlace, LaunchTrade

# An opening's default length.
SECONDS = 60
_AMOUNT = 10**18


def measure_openings(openings: Iterable[Opening]) -> BundleCounts:
    """Return these openings' counts together."""
    return sum((_measure_opening(opening) for opening in openings), BundleCounts())


def _measure_opening(opening: Opening) -> BundleCounts:
    counted = [swap for swap in opening.swaps if swap.seconds <= opening.seconds + SECONDS]
    purchases = {_position(swap): swap for swap in counted if swap.is_purchase}
    if len(purchases) != sum(swap.is_purchase for swap in counted):
        raise ValueError("Two purchases have one place.")
    sizes = Counter(swap.actor for swap in purchases.values() if swap.actor)
    bundled = {place for place, swap in purchases.items() if sizes[swap.actor] > 1}
    found = _find(opening, counted)
    marked = {place for bundle in found for place in bundle}
    blocks = Counter(swap.block for swap in purchases.values())
    peer = {place for place, swap in purchases.items() if blocks[swap.block] > 1}
    return BundleCounts(
        bundled=len(bundled),
        bundled_marked=len(bundled & marked),
        honest=len(purchases) - len(bundled),
        honest_marked=len(marked - bundled),
        peer_bundled=len(bundled & peer),
        peer_honest=len(peer - bundled),
        pairs=sum(comb(len(bundle), 2) for bundle in found),
        true_pairs=sum(comb(len(bundled.intersection(bundle)), 2) for bundle in found),
        launches=1,
        launches_marked=bool(found),
        pieces=sum(bool(bundled.intersection(bundle)) for bundle in found),
        bundles=sum(size > 1 for size in sizes.values()),
    )


def _find(opening: Opening, counted: Sequence[PlacedSwap]) -> list[list[int]]:
    """Return the purchases' places in each bundle that the detector finds, from the rows that it reads."""
    start = datetime.fromtimestamp(opening.seconds, UTC)
    trades = [
        LaunchTrade(
            _position(swap),
            start + timedelta(seconds=swap.seconds - opening.seconds),
            swap.transaction,
            swap.place,
            swap.sender,
            swap.is_purchase,
            _AMOUNT,
        )
        for swap in counted
    ]
    # As in the report: on Solana the place for a launch without a purchase is unknown.
    is_known = opening.chain.is_evm or opening.has_own_purchase
    launch = LaunchPlace(opening.transaction, opening.block, opening.place if is_known else None)
    bundles = find_bundles(trades, launch)
    return [[purchase.position for purchase in bundle.purchases] for bundle in bundles]


def _position(swap: PlacedSwap) -> int:
    return chain_position(swap.block, swap.log_index)
