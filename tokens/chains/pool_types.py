"""Records of swaps and liquidity changes in pools, as the chain library returns them, and the selection of pools."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from tokens.chains.addresses import ZERO_ADDRESS

# A block has fewer logs than 2 to this power.
_LOG_INDEX_BITS = 20
LOG_INDEX_LIMIT = 1 << _LOG_INDEX_BITS
# With 0x.
_POOL_ID_DIGITS = 66
# Of Uniswap v2's pairs, in parts per million: no log has it.
PAIR_FEE = 3_000


class HookFee(NamedTuple):
    """A fee that the hook of a v4 pool took of a swap, beside the amounts of the swap."""

    hook: str
    currency: str
    # Smallest units.
    amount: int


class Conversion(NamedTuple):
    """The exchange of fees in the pool of a launched token, as a locker reported it."""

    locker: str
    token: str


class Swap(NamedTuple):
    """A swap in a pool, which may be of no indexed token.

    Amounts are what the pool received (positive) or paid (negative), in smallest units: the sign of Uniswap v3, and the
    opposite of v4's event. A named tuple, because a backfill makes millions.
    """

    # As `Token.pool_address`: EIP-55 or base58, the 32-byte pool id in lower case.
    pool: str
    block_number: int
    # Unix seconds.
    block_time: int
    # Lower-case hex, or a Solana signature.
    tx_hash: str
    # Unique in the block. Solana: index of the transaction in its slot, and of the instruction in it.
    log_index: int
    # Of currency 0 and currency 1, by address. Solana: of the base mint, which is the launched token, and the quote.
    amount0: int
    amount1: int
    # After the swap: the square root of smallest units of currency 1 for one of currency 0, times 2^96.
    sqrt_price: int
    # The caller of the pool, mostly a router; EIP-55. Solana: the swap's payer.
    sender: str
    # The sender of the transaction; None where only logs were read.
    trader: str | None
    # The transaction's index in the block; on Solana part of `log_index`.
    tx_index: int | None = None
    # What liquidity providers got of the amount that was paid in, in parts per million. None of v3's pools, where it is
    # the pool's own, of curves, and on Solana.
    fee: int | None = None
    # Conversions for which this was the last swap in its pool: one of the pool's own token, by its own locker, is this.
    conversions: tuple[Conversion, ...] = ()
    # Fees that hooks took between the swaps of the transaction around this one, before it and after it.
    fees_before: tuple[HookFee, ...] = ()
    fees_after: tuple[HookFee, ...] = ()
    # Of currency 0 and currency 1: what the trader paid besides, or got less, as a declared launchpad reports it.
    reported_fees: tuple[int, int] | None = None
    # Of a swap that is read by a launchpad's declaration: only this launchpad's tokens have it. None of any other one.
    launchpad: str | None = None


class LiquidityChange(NamedTuple):
    """Liquidity that was added to a range of ticks of a pool, or removed (negative). Fields as in `Swap`.

    Amounts are at least 0, and None of v4, whose event has none.
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
    """A log of a trusted contract that is left out: it does not match the event that its launchpad has."""

    block_number: int
    tx_hash: str
    log_index: int
    # EIP-55.
    emitter: str
    # Name of the launchpad; None where the emitter is the own curve of a token, if of any.
    launchpad: str | None
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolSelection:
    """The pools to read swaps and liquidity changes of; None is every pool of the kind, which the caller filters.

    Pools that are launched in the blocks that are read are always included.
    """

    # Lower-case addresses.
    v3_pools: frozenset[str] | None
    # Lower-case pool ids of the chain's v4 PoolManager.
    v4_pools: frozenset[str] | None

    def includes(self, pool: str) -> bool:
        """Return whether a pool, in any case, is selected."""
        key = pool.lower()
        selected = self.v4_pools if is_v4_pool(key) else self.v3_pools
        return selected is None or key in selected

    def includes_all(self, other: "PoolSelection") -> bool:
        """Return whether every pool of another selection is selected."""
        kinds = ((self.v3_pools, other.v3_pools), (self.v4_pools, other.v4_pools))
        return all(mine is None or (theirs is not None and theirs <= mine) for mine, theirs in kinds)

    def adding(self, pools: Iterable[str]) -> "PoolSelection":
        """Return the selection with these pools, in any case, too."""
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
    """Return whether it is a v4 pool id, of 32 bytes, rather than the address of a v3 pool."""
    return len(pool) == _POOL_ID_DIGITS


def chain_position(block_number: int, log_index: int) -> int:
    """Return the place of a log in its chain as one number, which sorts as the chain does."""
    return block_number << _LOG_INDEX_BITS | log_index


def position_of(log: Swap | LiquidityChange | UndecodableLog) -> int:
    """Return the place of a log in its chain."""
    return chain_position(log.block_number, log.log_index)


def split_position(position: int) -> tuple[int, int]:
    """Return block number and log index of a position."""
    return position >> _LOG_INDEX_BITS, position & (LOG_INDEX_LIMIT - 1)


def order_currencies(token: str, quote: str, *, pool: str, wrapped_native: str | None) -> tuple[str, str]:
    """Return the currencies of a token's pool in their order, which is the numeric order of their addresses.

    A quote token of zero is the native coin, which only pools of v4 hold itself.
    """
    if quote == ZERO_ADDRESS and pool and not is_v4_pool(pool):
        quote = wrapped_native or quote
    low, high = sorted((token, quote), key=str.lower)
    return low, high
