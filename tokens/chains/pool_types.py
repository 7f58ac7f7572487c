"""Records for swaps and liquidity changes in pools, as the chain library returns them, and the pool selection."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from tokens.chains.addresses import ZERO_ADDRESS

# A block has fewer logs than 2 to this power.
_LOG_INDEX_BITS = 20
LOG_INDEX_LIMIT = 1 << _LOG_INDEX_BITS
# With 0x.
_POOL_ID_DIGITS = 66
# Fee in Uniswap v2 pairs, in parts per million: no log has it.
PAIR_FEE = 3_000


class HookFee(NamedTuple):
    """A fee that a v4 pool's hook took from a swap; the swap's amounts do not include it."""

    hook: str
    currency: str
    # Smallest units.
    amount: int


class Conversion(NamedTuple):
    """A fee conversion in a launched token's pool, as a locker reported it."""

    locker: str
    token: str


class Swap(NamedTuple):
    """A swap in a pool, which may belong to no indexed token.

    The pool received positive amounts and paid negative ones, in smallest units: the sign of Uniswap v3, opposite to
    v4's event. A named tuple, because a backfill creates millions.
    """

    # As `Token.pool_address`: EIP-55 or base58, the 32-byte pool id in lower case.
    pool: str
    block_number: int
    # Unix seconds.
    block_time: int
    # Lower-case hex, or a Solana signature.
    tx_hash: str
    # Unique in the block. Solana: transaction index in the slot, and instruction index in the transaction.
    log_index: int
    # Currency 0 and currency 1, by address. Solana: the base mint, which is the launched token, and the quote.
    amount0: int
    amount1: int
    # After the swap: square root of the price of currency 0 in currency 1, both in smallest units, times 2^96.
    sqrt_price: int
    # The pool's caller, mostly a router; EIP-55. Solana: the swap's payer.
    sender: str
    # The transaction's sender; None where only logs were read.
    trader: str | None
    # The transaction's index in the block; on Solana part of `log_index`.
    tx_index: int | None = None
    # Liquidity providers' share of the amount paid in, in parts per million. None for v3 pools, which have a fixed fee,
    # for curves, and on Solana.
    fee: int | None = None
    # Conversions for which this was the pool's last swap. It is itself the conversion if the pool's own token was
    # converted by the token's own locker.
    conversions: tuple[Conversion, ...] = ()
    # Fees that hooks took between this swap and the transaction's previous one, and between this swap and the next one.
    fees_before: tuple[HookFee, ...] = ()
    fees_after: tuple[HookFee, ...] = ()
    # Fees in currency 0 and currency 1 that the trader paid on top, or did not get, as a declared launchpad reports.
    reported_fees: tuple[int, int] | None = None
    # Set if a launchpad's declaration decoded the swap: only this launchpad's tokens have it. Otherwise None.
    launchpad: str | None = None


class LiquidityChange(NamedTuple):
    """Liquidity that was added to a pool's tick range, or removed (negative). Fields as in `Swap`.

    Amounts are at least 0, and None for v4, whose event has none.
    """

    pool: str
    block_number: int
    block_time: int
    tx_hash: str
    log_index: int
    tick_lower: int
    tick_upper: int
    liquidity: int
    trader: str | None = None
    tx_index: int | None = None
    amount0: int | None = None
    amount1: int | None = None


class UndecodableLog(NamedTuple):
    """A log from a trusted contract that is left out: it does not match its launchpad's event."""

    block_number: int
    tx_hash: str
    log_index: int
    # EIP-55.
    emitter: str
    # Launchpad name; None where the emitter may be a token's own curve.
    launchpad: str | None
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolSelection:
    """Pools whose swaps and liquidity changes are read; None is every pool of the kind, which the caller filters.

    Pools that the read blocks launch are always included.
    """

    # Lower-case addresses.
    v3_pools: frozenset[str] | None
    # Lower-case pool ids in the chain's v4 PoolManager.
    v4_pools: frozenset[str] | None

    def includes(self, pool: str) -> bool:
        """Return whether a pool, in any case, is selected."""
        key = pool.lower()
        selected = self.v4_pools if is_v4_pool(key) else self.v3_pools
        return selected is None or key in selected

    def includes_all(self, other: "PoolSelection") -> bool:
        """Return whether every pool in another selection is selected."""
        kinds = ((self.v3_pools, other.v3_pools), (self.v4_pools, other.v4_pools))
        return all(mine is None or (theirs is not None and theirs <= mine) for mine, theirs in kinds)

    def adding(self, pools: Iterable[str]) -> "PoolSelection":
        """Return the selection extended by these pools, in any case."""
        added = select_pools(pool for pool in pools if not self.includes(pool))
        return PoolSelection(
            v3_pools=None if self.v3_pools is None else self.v3_pools | (added.v3_pools or frozenset()),
            v4_pools=None if self.v4_pools is None else self.v4_pools | (added.v4_pools or frozenset()),
        )


EVERY_POOL = PoolSelection(v3_pools=None, v4_pools=None)


def select_pools(pools: Iterable[str]) -> PoolSelection:
    """Return the selection of exactly these pools, in any case."""
    keys = {pool.lower() for pool in pools}
    v4_pools = frozenset(filter(is_v4_pool, keys))
    return PoolSelection(v3_pools=frozenset(keys - v4_pools), v4_pools=v4_pools)


def is_v4_pool(pool: str) -> bool:
    """Return whether it is a 32-byte v4 pool id rather than a v3 pool's address."""
    return len(pool) == _POOL_ID_DIGITS


def chain_position(block_number: int, log_index: int) -> int:
    """Return a log's position in its chain as one number, which sorts as the chain does."""
    return block_number << _LOG_INDEX_BITS | log_index


def position_of(log: Swap | LiquidityChange | UndecodableLog) -> int:
    """Return a log's position in its chain."""
    return chain_position(log.block_number, log.log_index)


def split_position(position: int) -> tuple[int, int]:
    """Return a position's block number and log index."""
    return position >> _LOG_INDEX_BITS, position & (LOG_INDEX_LIMIT - 1)


def order_currencies(token: str, quote: str, *, pool: str, wrapped_native: str | None) -> tuple[str, str]:
    """Return the pool's currencies in pool order, which is the numeric order of their addresses.

    A quote token of zero is the native coin. Only v4 pools hold it; other pools hold its wrapped form.
    """
    if quote == ZERO_ADDRESS and pool and not is_v4_pool(pool):
        quote = wrapped_native or quote
    low, high = sorted((token, quote), key=str.lower)
    return low, high
