"""Writing and unwinding trades, in the same transaction as their blocks."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Max, Min, Q, QuerySet
from django.db.models.functions import Greatest
from django.utils import timezone

from tokens.chains.pool_types import LiquidityChange, Swap, chain_position, split_position
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import TransactionFacts
from tokens.installation.installed_registry import registry
from tokens.models import ChainHead, PoolLiquidityChange, PoolTrade, Token
from tokens.models.expressions import equals_any
from tokens.trades import market_rows, pool_log_rows, quote_rates, rolling_sums
from tokens.trades.pool_log_rows import StagedTrades
from tokens.trades.pool_tokens import PoolToken, PoolTokenCache, select_declared
from tokens.trades.prices.liquidity_bounds import bound_prices
from tokens.trades.trade_rows import address_bytes, make_trade_rows, transaction_bytes

# More blocks than any chain has above the newest block that a node reported.
_UNREPORTED_BLOCKS = 100_000
# Positions are 64-bit integers.
_MAX_BLOCK = split_position(2**63 - 1)[0] - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredTrades:
    """Counts of new rows, and the token ids behind new and altered rows."""

    trades: int
    liquidity_changes: int
    token_ids: frozenset[int]


class UnsummedToken(NamedTuple):
    """A token with new trades or liquidity changes: first and last trade time, and trade count."""

    token_id: int
    first_at: datetime | None
    last_at: datetime | None
    trades: int


class ComparedPoolLogs(NamedTuple):
    """Positions where stored rows differ from a reading, and where equal trades lack only their hook's fee."""

    altered: set[int]
    without_fee: set[int]


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedTrades:
    """Trades in these pools, converted from swaps before their blocks are written."""

    pools: frozenset[str]
    trades: StagedTrades


def store_trades(
    swaps: Sequence[Swap],
    liquidity_changes: Sequence[LiquidityChange],
    *,
    chain: ChainInfo,
    live: bool,
    cache: PoolTokenCache | None = None,
    prepared: PreparedTrades | None = None,
) -> StoredTrades:
    """Store reference prices, and trades and liquidity changes in indexed tokens' pools. Idempotent.

    Logs in other pools are dropped. Pass logs in chain order, in a database transaction that holds the chain's lock,
    after the launches in the same blocks. `live` also updates candles, rolling sums and markets, which history leaves
    to `sum_up`. History also passes its `cache`, and the trades `prepared` from these swaps.
    """
    tokens = (cache or PoolTokenCache(chain)).find({log.pool for logs in (swaps, liquidity_changes) for log in logs})
    quote_rates.store_reference_prices(chain, swaps)
    swaps = select_declared(swaps, tokens)
    if prepared is None or tokens.keys() - prepared.pools:
        swaps = bound_prices(swaps, liquidity_changes, tokens)
    staged = _convert(chain, swaps, tokens, prepared, valued=live)
    trades = pool_log_rows.add_trades(staged, merged=live)
    changed = pool_log_rows.add_liquidity_changes(
        (tokens[change.pool], change) for change in liquidity_changes if change.pool in tokens
    )
    token_ids = frozenset({*(row.token_id for row in trades.rows), *changed, *trades.altered})
    if live:
        if trades.altered:
            # The recount includes these tokens' new rows: adding them would count them twice.
            rolling_sums.recount(chain.chain_id, trades.altered)
        counted = [row for row in trades.rows if row.token_id not in trades.altered]
        rolling_sums.add_trades(chain.chain_id, counted)
        market_rows.refresh_markets(chain, token_ids)
    return StoredTrades(trades=len(trades.rows), liquidity_changes=len(changed), token_ids=token_ids)


def price_launches(transactions: Iterable[TransactionFacts], *, chain: ChainInfo) -> None:
    """Compute markets for tokens launched on curves, which have no pool log before their first trade.

    Call it after `store_trades` for the same blocks. One query and one statement; none without such launches.
    """
    launches = (launch for facts in transactions for launch in facts.launches if launch.curve_config)
    addresses = [launch.token for launch in launches if launch.pool and launch.pool.tick is not None]
    if addresses:
        token_ids = Token.objects.filter(equals_any("contract_address", addresses), chain_id=chain.chain_id)
        market_rows.refresh_markets(chain, list(token_ids.values_list("pk", flat=True)))


def prepare_trades(
    swaps: Sequence[Swap],
    *,
    before: Sequence[Swap],
    launched: Collection[str],
    cache: PoolTokenCache,
    liquidity_changes: Sequence[LiquidityChange] = (),
) -> Callable[[], PreparedTrades]:
    """Look up tokens and rates; return a function that converts the swaps in any thread, without the database.

    `before` are the swaps between the stored ones and these: their prices set rates. `launched` are tokens launched in
    the same blocks: `store_trades` later converts swaps in their pools, and in pools that have one as quote token.
    `liquidity_changes` are all unstored changes up to these swaps. Chain order and lock as for `store_trades`.
    """
    indexed = cache.find({swap.pool for swap in swaps})
    swaps = select_declared(swaps, indexed)
    # Unknown decimals may be stored before these swaps are.
    tokens = {
        pool: token
        for pool, token in indexed.items()
        if token.quote_decimals is not None and token.quote not in launched
    }
    priced = cache.find({swap.pool for swap in before}) | indexed
    before = select_declared(before, priced)
    bounded = bound_prices([*before, *swaps], liquidity_changes, priced)
    rates = quote_rates.load_rates(cache.chain, _quotes(tokens), bounded)
    swaps = bounded[len(before) :]
    now = timezone.now()

    def convert() -> PreparedTrades:
        rows = make_trade_rows(swaps, tokens, rates, valued=False)
        return PreparedTrades(pools=frozenset(tokens), trades=pool_log_rows.stage_trades(rows, now=now))

    return convert


def unwind_trades(chain_id: int, *, above: int) -> int:
    """Delete trades, liquidity changes and reference prices above this block. Return the number of trades.

    Their tokens' candles, rolling sums and markets are computed anew. Lock as for `store_trades`.
    """
    quote_rates.delete_reference_prices(chain_id, above=above)
    newest = _newest_block(chain_id)
    deleted = pool_log_rows.delete_blocks(chain_id, above + 1, max(newest, above), now=timezone.now())
    recount_tokens(chain_id, deleted.token_ids)
    return deleted.trades


def delete_pool_logs(chain_id: int, positions: Collection[int]) -> int:
    """Delete trades and liquidity changes that the chain lacks. Return their number; else as `unwind_trades`."""
    deleted = pool_log_rows.delete_positions(chain_id, positions, now=timezone.now())
    recount_tokens(chain_id, deleted.token_ids)
    return deleted.trades + deleted.liquidity_changes


def find_pool_logs(chain_id: int, first: int, last: int) -> set[int]:
    """Return the positions where these blocks have stored trades and liquidity changes."""
    return {
        position
        for model in (PoolTrade, PoolLiquidityChange)
        for position in _of_blocks(model, chain_id, first, last).values_list("position", flat=True)
    }


def compare_pool_logs(
    swaps: Sequence[Swap], liquidity_changes: Sequence[LiquidityChange], *, chain: ChainInfo
) -> ComparedPoolLogs:
    """Return where stored trades and liquidity changes differ from these logs, and which trades lack a fee.

    A field that only one side has, such as a trader, does not count as a difference. `store_trades` adds a missing hook
    fee: versions before 0.3.0 stored none, and a node may have left out its log.
    """
    logs: list[Swap | LiquidityChange] = [*swaps, *liquidity_changes]
    blocks = {log.block_number for log in logs}
    compared = ComparedPoolLogs(altered=set(), without_fee=set())
    if not blocks:
        return compared
    stored = _stored_logs(chain.chain_id, min(blocks), max(blocks))
    read = _read_logs(swaps, liquidity_changes, chain)
    for position in stored.keys() & read.keys():
        row, log = stored[position], read[position]
        if log is None or not _are_equal(row, log):
            compared.altered.add(position)
        elif row.protocol_fee is None and log.protocol_fee is not None:
            compared.without_fee.add(position)
    return compared


def find_traded_tokens(chain_id: int, first: int, last: int) -> list[UnsummedToken]:
    """Return the tokens with trades or liquidity changes in these blocks, sorted by id."""
    changes = _of_blocks(PoolLiquidityChange, chain_id, first, last).values_list("token_id").distinct()
    tokens = {token_id: UnsummedToken(token_id, None, None, 0) for (token_id,) in changes}
    trades = _of_blocks(PoolTrade, chain_id, first, last).values_list("token_id")
    rows = trades.annotate(first_at=Min("at"), last_at=Max("at"), trades=Count("*"))
    tokens |= {row[0]: UnsummedToken(*row) for row in rows}
    return [tokens[token_id] for token_id in sorted(tokens)]


def sum_up(chain_id: int, tokens: Sequence[UnsummedToken]) -> None:
    """Compute the tokens' daily candles, rolling sums and markets anew. Lock as for `store_trades`."""
    traded = [(token.token_id, token.first_at, token.last_at) for token in tokens if token.first_at and token.last_at]
    pool_log_rows.rebuild_candles(traded, now=timezone.now())
    recount_tokens(chain_id, [token.token_id for token in tokens])


def recount_tokens(chain_id: int, token_ids: Collection[int]) -> None:
    """Compute the tokens' rolling sums and markets anew. Lock as for `store_trades`."""
    if token_ids:
        rolling_sums.recount(chain_id, token_ids)
        market_rows.refresh_markets(registry().chains[chain_id], token_ids)


def refresh_starting_prices(chain_id: int) -> None:
    """Price rolling sums that open at a launch's price, and their markets, by rates that were stored since.

    Call it after history has stored past rates. Lock as for `store_trades`.
    """
    token_ids = rolling_sums.refresh_starting_prices(chain_id)
    market_rows.refresh_markets(registry().chains[chain_id], token_ids)


def _convert(
    chain: ChainInfo,
    swaps: Sequence[Swap],
    tokens: Mapping[str, PoolToken],
    prepared: PreparedTrades | None,
    *,
    valued: bool,
) -> StagedTrades:
    """Return the prepared trades, and the trades from swaps in the other pools."""
    others = tokens if prepared is None else {pool: tokens[pool] for pool in tokens.keys() - prepared.pools}
    if prepared is not None and not others:
        return prepared.trades
    rates = quote_rates.load_rates(chain, _quotes(others), swaps)
    converted = pool_log_rows.stage_trades(make_trade_rows(swaps, others, rates, valued=valued), now=timezone.now())
    return converted if prepared is None else prepared.trades.joined(converted)


def _quotes(tokens: Mapping[str, PoolToken]) -> set[str]:
    return {token.quote for token in tokens.values()}


def _newest_block(chain_id: int) -> int:
    """Return a block number that no row on the chain exceeds.

    Trades have no chain column: without this limit, a search above a block would also visit rows on all chains with
    higher block numbers.
    """
    heads = ChainHead.objects.filter(pk=chain_id).values_list(Greatest("head", "followed"), flat=True)
    newest = heads.first()
    return _MAX_BLOCK if newest is None else newest + _UNREPORTED_BLOCKS


def _of_blocks(model: type[PoolTrade | PoolLiquidityChange], chain_id: int, first: int, last: int) -> QuerySet[Any]:
    positions = Q(position__gte=chain_position(first, 0), position__lt=chain_position(last + 1, 0))
    return model._default_manager.filter(positions, token__chain_id=chain_id)


class _PoolLog(NamedTuple):
    """A stored trade or liquidity change: facts that the chain always has, and fields that a reading may lack."""

    facts: tuple[Any, ...]
    # None if unknown.
    optional: tuple[Any, ...] = ()
    protocol_fee: int | None = None


def _stored_logs(chain_id: int, first: int, last: int) -> dict[int, _PoolLog]:
    """Return position -> row for stored trades and liquidity changes in these blocks.

    One log makes one row. If a wrong time or index once stored two, neither counts as right.
    """
    logs: dict[int, _PoolLog] = {}
    for trade in _of_blocks(PoolTrade, chain_id, first, last):
        tx_hash, trader = bytes(trade.tx_hash), None if trade.trader is None else bytes(trade.trader)
        sides = trade.is_buy, trade.is_conversion, trade.amount_token, trade.amount_quote, trade.price
        facts = trade.token_id, int(trade.at.timestamp()), tx_hash, *sides
        optional = trader, trade.tx_index, trade.fee, trade.token_fee
        logs[trade.position] = _PoolLog(() if trade.position in logs else facts, optional, trade.protocol_fee)
    for change in _of_blocks(PoolLiquidityChange, chain_id, first, last):
        ticks = change.tick_lower, change.tick_upper, change.liquidity
        texts = [None if value is None else bytes(value) for value in (change.trader, change.tx_hash)]
        of_change = change.token_id, int(change.at.timestamp()), *ticks
        logs[change.position] = _PoolLog(
            () if change.position in logs else of_change,
            (*texts, change.tx_index, change.amount0, change.amount1),
        )
    return logs


def _read_logs(
    swaps: Sequence[Swap], liquidity_changes: Sequence[LiquidityChange], chain: ChainInfo
) -> dict[int, _PoolLog | None]:
    """Return position -> row for each log; None for a log that makes no row."""
    logs: list[Swap | LiquidityChange] = [*swaps, *liquidity_changes]
    tokens = PoolTokenCache(chain).find({log.pool for log in logs})
    swaps = select_declared(swaps, tokens)
    logs = [*swaps, *liquidity_changes]
    rows: dict[int, _PoolLog | None] = {chain_position(log.block_number, log.log_index): None for log in logs}
    # No rates: these logs have no USD price.
    bounded = bound_prices(swaps, liquidity_changes, tokens)
    for row in make_trade_rows(bounded, tokens, quote_rates.QuoteRates({})):
        sides = row.is_buy, row.is_conversion, row.amount_token, row.amount_quote, row.price
        optional = row.trader, row.tx_index, row.fee, row.token_fee
        rows[row.position] = _PoolLog((row.token_id, row.at, row.tx_hash, *sides), optional, row.protocol_fee)
    for change in liquidity_changes:
        if change.pool in tokens:
            facts = (change.block_time, change.tick_lower, change.tick_upper, change.liquidity)
            position = chain_position(change.block_number, change.log_index)
            trader = None if change.trader is None else address_bytes(change.trader)
            texts = trader, transaction_bytes(change.tx_hash)
            amounts = change.amount0, change.amount1
            rows[position] = _PoolLog((tokens[change.pool].token_id, *facts), (*texts, change.tx_index, *amounts))
    return rows


def _are_equal(stored: _PoolLog, read: _PoolLog) -> bool:
    pairs = zip((*stored.optional, stored.protocol_fee), (*read.optional, read.protocol_fee), strict=True)
    return stored.facts == read.facts and all(None in pair or pair[0] == pair[1] for pair in pairs)
