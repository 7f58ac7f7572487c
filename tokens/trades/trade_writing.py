"""Writing and unwinding of trades: with their blocks, in the same transaction."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet
from django.db.models.functions import Greatest
from django.utils import timezone

from tokens.chains.pool_types import LiquidityChange, Swap, chain_position, split_position
from tokens.chains.registry.chains import ChainInfo
from tokens.installation.installed_registry import registry
from tokens.models import ChainHead, PoolLiquidityChange, PoolTrade
from tokens.trades import market_rows, pool_log_rows, quote_rates, rolling_sums
from tokens.trades.pool_tokens import PoolToken, find_pool_tokens
from tokens.trades.trade_rows import make_trade_rows

# No chain has this many blocks above the newest one that a node reported.
_UNREPORTED_BLOCKS = 100_000
# Positions are 64-bit integers.
_MAX_BLOCK = split_position(2**63 - 1)[0] - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredTrades:
    """Counts of rows that were new, and the ids of the tokens of these and of altered rows."""

    trades: int
    liquidity_changes: int
    token_ids: frozenset[int]


def store_trades(
    swaps: Sequence[Swap], liquidity_changes: Sequence[LiquidityChange], *, chain: ChainInfo, live: bool
) -> StoredTrades:
    """Store trades and liquidity changes of pools of indexed tokens, their candles and reference prices. Idempotent.

    Others are dropped. In chain order; call it in a database transaction that holds the chain's lock, after the
    launches of the same blocks. `live` updates rolling sums and markets as well, which history leaves to
    `recount_tokens`.
    """
    tokens = _find_tokens(chain, swaps, liquidity_changes)
    quote_rates.store_reference_prices(chain, swaps)
    rates = quote_rates.load_rates(chain, {token.quote for token in tokens.values()}, swaps)
    trades = pool_log_rows.add_trades(make_trade_rows(swaps, tokens, rates), now=timezone.now())
    changed = pool_log_rows.add_liquidity_changes(
        (tokens[change.pool], change) for change in liquidity_changes if change.pool in tokens
    )
    token_ids = frozenset({*(row.token_id for row in trades.rows), *changed, *trades.altered})
    if live:
        if trades.altered:
            # Recounted after all rows of the token are stored: not to be added once more.
            rolling_sums.recount(chain.chain_id, trades.altered)
        counted = [row for row in trades.rows if row.token_id not in trades.altered]
        rolling_sums.add_trades(chain.chain_id, counted)
        market_rows.refresh_markets(chain, token_ids)
    return StoredTrades(trades=len(trades.rows), liquidity_changes=len(changed), token_ids=token_ids)


def unwind_trades(chain_id: int, *, above: int) -> int:
    """Delete the trades, liquidity changes and reference prices of blocks above this number. Return the trades.

    Candles, rolling sums and markets of their tokens are computed anew. Call it as `store_trades`.
    """
    quote_rates.delete_reference_prices(chain_id, above=above)
    newest = _newest_block(chain_id)
    deleted = pool_log_rows.delete_blocks(chain_id, above + 1, max(newest, above), now=timezone.now())
    recount_tokens(chain_id, deleted.token_ids)
    return deleted.trades


def delete_pool_logs(chain_id: int, positions: Collection[int]) -> int:
    """Delete trades and liquidity changes that the chain does not have. Return how many; else as `unwind_trades`."""
    deleted = pool_log_rows.delete_positions(chain_id, positions, now=timezone.now())
    recount_tokens(chain_id, deleted.token_ids)
    return deleted.trades + deleted.liquidity_changes


def find_pool_logs(chain_id: int, first: int, last: int) -> set[int]:
    """Return the positions of the stored trades and liquidity changes of these blocks."""
    return {
        position
        for model in (PoolTrade, PoolLiquidityChange)
        for position in _of_blocks(model, chain_id, first, last).values_list("position", flat=True)
    }


def find_altered_positions(
    swaps: Sequence[Swap], liquidity_changes: Sequence[LiquidityChange], *, chain: ChainInfo
) -> set[int]:
    """Return the positions of stored trades and liquidity changes that differ from these.

    A trader that only one of the two knows is no difference.
    """
    logs: list[Swap | LiquidityChange] = [*swaps, *liquidity_changes]
    blocks = {log.block_number for log in logs}
    if not blocks:
        return set()
    stored = _stored_logs(chain.chain_id, min(blocks), max(blocks))
    read = _read_logs(swaps, liquidity_changes, chain)
    return {position for position in stored.keys() & read.keys() if not _are_equal(stored[position], read[position])}


def is_counted(swaps: Sequence[Swap], chain_id: int) -> bool:
    """Return whether rolling sums have the times of some of these swaps."""
    return bool(swaps) and max(swap.block_time for swap in swaps) >= rolling_sums.counts_from(chain_id)


def find_tokens_since(chain_id: int, *, first: int) -> list[int]:
    """Return the ids of the tokens with trades or liquidity changes from block `first` on."""
    return sorted(
        {
            token_id
            for model in (PoolTrade, PoolLiquidityChange)
            for token_id in _of_blocks(model, chain_id, first, _newest_block(chain_id))
            .values_list("token_id", flat=True)
            .distinct()
        }
    )


def recount_tokens(chain_id: int, token_ids: Collection[int]) -> None:
    """Compute rolling sums and markets of tokens anew. Call it as `store_trades`."""
    if token_ids:
        rolling_sums.recount(chain_id, token_ids)
        market_rows.refresh_markets(registry().chains[chain_id], token_ids)


def _find_tokens(
    chain: ChainInfo, swaps: Sequence[Swap], liquidity_changes: Sequence[LiquidityChange]
) -> dict[str, PoolToken]:
    pools = {log.pool for logs in (swaps, liquidity_changes) for log in logs}
    return find_pool_tokens(chain.chain_id, pools, is_solana=chain.is_solana) if pools else {}


def _newest_block(chain_id: int) -> int:
    """Return a block number that none of the chain's rows exceeds.

    Without this limit, a search for the rows above a block would also visit those of all chains with higher numbers:
    a trade has no chain of its own.
    """
    heads = ChainHead.objects.filter(pk=chain_id).values_list(Greatest("head", "followed"), flat=True)
    newest = heads.first()
    return _MAX_BLOCK if newest is None else newest + _UNREPORTED_BLOCKS


def _of_blocks(model: type[PoolTrade | PoolLiquidityChange], chain_id: int, first: int, last: int) -> QuerySet[Any]:
    positions = Q(position__gte=chain_position(first, 0), position__lt=chain_position(last + 1, 0))
    return model._default_manager.filter(positions, token__chain_id=chain_id)


class _PoolLog(NamedTuple):
    """A stored trade or liquidity change: everything that the chain has of it, and a trader."""

    facts: tuple[Any, ...]
    trader: bytes | None = None


def _stored_logs(chain_id: int, first: int, last: int) -> dict[int, _PoolLog]:
    """Return position -> row, of the trades and liquidity changes of these blocks."""
    found: dict[int, _PoolLog] = {}
    for trade in _of_blocks(PoolTrade, chain_id, first, last):
        tx_hash, trader = bytes(trade.tx_hash), None if trade.trader is None else bytes(trade.trader)
        sides = trade.is_buy, trade.is_conversion, trade.amount_token, trade.amount_quote, trade.price
        facts = trade.token_id, int(trade.at.timestamp()), tx_hash, *sides
        # A log makes one row: of two, from a time that was wrong once, neither is right.
        found[trade.position] = _PoolLog(() if trade.position in found else facts, trader)
    for change in _of_blocks(PoolLiquidityChange, chain_id, first, last):
        ticks = change.tick_lower, change.tick_upper, change.liquidity
        found[change.position] = _PoolLog((change.token_id, int(change.at.timestamp()), *ticks))
    return found


def _read_logs(
    swaps: Sequence[Swap], liquidity_changes: Sequence[LiquidityChange], chain: ChainInfo
) -> dict[int, _PoolLog | None]:
    """Return position -> row of each log; None for one that makes no row."""
    tokens = _find_tokens(chain, swaps, liquidity_changes)
    logs: list[Swap | LiquidityChange] = [*swaps, *liquidity_changes]
    found: dict[int, _PoolLog | None] = {chain_position(log.block_number, log.log_index): None for log in logs}
    # No rates: a price in USD is no fact of these logs.
    for row in make_trade_rows(swaps, tokens, quote_rates.QuoteRates({})):
        sides = row.is_buy, row.is_conversion, row.amount_token, row.amount_quote, row.price
        found[row.position] = _PoolLog((row.token_id, row.at, row.tx_hash, *sides), row.trader)
    for change in liquidity_changes:
        if change.pool in tokens:
            facts = (change.block_time, change.tick_lower, change.tick_upper, change.liquidity)
            position = chain_position(change.block_number, change.log_index)
            found[position] = _PoolLog((tokens[change.pool].token_id, *facts))
    return found


def _are_equal(stored: _PoolLog, read: _PoolLog | None) -> bool:
    if read is None or stored.facts != read.facts:
        return False
    return None in (stored.trader, read.trader) or stored.trader == read.trader
