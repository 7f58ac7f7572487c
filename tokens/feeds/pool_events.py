"""Swaps and liquidity changes in a block range, with the pool's reserves after each, in the chain's sequence."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from heapq import merge
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from django.db.models import OuterRef, QuerySet, Subquery, Sum

from tokens.chains.addresses import format_address, format_transaction
from tokens.chains.pool_types import chain_position, split_position
from tokens.chains.registry.chains import ChainInfo
from tokens.feeds.feed_pairs import FeedPair, find_pairs
from tokens.feeds.pool_amounts import PoolReserves, liquidity_amounts
from tokens.models import PoolLiquidityChange, PoolTrade, Token
from tokens.trades.pool_prices import price_root

# Blocks and events in one response.
MOST_BLOCKS, MOST_EVENTS = 1_000, 5_000
# The sender where only a transaction's logs were read.
UNKNOWN_MAKER = "0x" + "0" * 40
_TRADE_COLUMNS = (
    "position", "token_id", "at", "tx_hash", "tx_index", "trader", "is_buy", "is_conversion", "amount_token",
    "amount_quote", "price",
)  # fmt: skip
_CHANGE_COLUMNS = (
    "position", "token_id", "at", "tx_hash", "tx_index", "trader", "tick_lower", "tick_upper", "liquidity",
    "amount0", "amount1",
)  # fmt: skip


class TooManyEventsError(Exception):
    """Raised for a range with more than MOST_EVENTS events."""


class UnplacedEventError(Exception):
    """Raised for an event that was stored without its transaction's index, with its block."""

    def __init__(self, block: int) -> None:
        super().__init__(f"block {block} was indexed before transaction indexes were stored")
        self.block = block


class PoolEvent(NamedTuple):
    """A swap, or liquidity that was added (join) or removed (exit)."""

    kind: Literal["swap", "join", "exit"]
    pair: FeedPair
    block: int
    # Unix seconds.
    timestamp: int
    tx_hash: str
    tx_index: int
    # In the block.
    log_index: int
    maker: str
    # Smallest units, not negative.
    amount_token: int
    amount_quote: int
    # False for joins and exits.
    is_buy: bool
    # After the event; None for a join or exit in a pool without a known price.
    price: Decimal | None
    # Token and quote token after the event, in smallest units; None if unknown.
    reserves: tuple[int, int] | None


@dataclass(kw_only=True)
class _ReplayedPool:
    """A pool's price and liquidity while a range's events are replayed."""

    pair: FeedPair
    price: Decimal | None = None
    # Square root of the price; None if unknown.
    root: int | None = field(init=False)
    reserves: PoolReserves = field(default_factory=PoolReserves)

    def __post_init__(self) -> None:
        self.root = self.pair.root

    def set_price(self, price: Decimal) -> None:
        pair = self.pair
        self.price = price
        self.root = price_root(
            price, decimals=pair.decimals, quote_decimals=pair.quote_decimals, is_currency0=pair.is_currency0
        )

    def token_first(self, amounts: tuple[int, int]) -> tuple[int, int]:
        """Convert currency 0 and currency 1 amounts to token and quote token amounts."""
        return amounts if self.pair.is_currency0 else amounts[::-1]

    def held(self) -> tuple[int, int] | None:
        # A bonding curve has no positions.
        amounts = None if self.root is None or self.pair.is_curve else self.reserves.at(self.root)
        # If liquidity was added before the chain was followed, only its removal is stored.
        return None if amounts is None or min(amounts) < 0 else self.token_first(amounts)


def read_pool_events(chain: ChainInfo, first: int, last: int) -> list[PoolEvent]:
    """Return the events in these blocks, which must be served, in at most seven queries.

    Raises TooManyEventsError and UnplacedEventError.
    """
    start, end = chain_position(first, 0), chain_position(last + 1, 0)
    within = {"position__gte": start, "position__lt": end, "token__chain_id": chain.chain_id}
    trades = _read(PoolTrade.objects.filter(**within), _TRADE_COLUMNS)
    changes = _read(PoolLiquidityChange.objects.filter(**within), _CHANGE_COLUMNS)
    if len(trades) + len(changes) > MOST_EVENTS:
        raise TooManyEventsError
    pairs = find_pairs({row[1] for row in (*trades, *changes)})
    pools = _ReplayedPools(pairs)
    pools.load_liquidity(start)
    pools.load_prices(changes, start)
    rows = merge(trades, changes, key=itemgetter(0))
    return list(_replay(pools, rows))


def _read(rows: QuerySet[Any], columns: Sequence[str]) -> list[tuple[Any, ...]]:
    return list(rows.order_by("position").values_list(*columns)[: MOST_EVENTS + 1])


class _ReplayedPools:
    """The pools of a range's tokens, by token and position in the chain."""

    def __init__(self, pairs: Mapping[int, Sequence[FeedPair]]) -> None:
        self._pools = {token_id: [_ReplayedPool(pair=pair) for pair in own] for token_id, own in pairs.items()}

    def find(self, token_id: int, position: int, tx_hash: str = "", *, is_join: bool = False) -> _ReplayedPool | None:
        """Return an event's pool; None if its quote token has unknown decimals."""
        pools = reversed(self._pools.get(token_id, ()))
        return next((pool for pool in pools if pool.pair.has_event(position, tx_hash, is_join=is_join)), None)

    def load_liquidity(self, start: int) -> None:
        """Add the liquidity that the pools have before a position."""
        before = PoolLiquidityChange.objects.filter(position__lt=start).order_by()
        single = before.filter(token_id__in=[token_id for token_id, own in self._pools.items() if len(own) == 1])
        ranges = single.values_list("token_id", "tick_lower", "tick_upper").annotate(total=Sum("liquidity"))
        for token_id, lower, upper, total in ranges:
            self._pools[token_id][0].reserves.add(lower, upper, int(total))
        moved = [token_id for token_id, own in self._pools.items() if len(own) > 1]
        columns = ("token_id", "position", "tx_hash", "tick_lower", "tick_upper", "liquidity")
        for token_id, position, tx_hash, lower, upper, liquidity in (
            before.filter(token_id__in=moved).values_list(*columns) if moved else ()
        ):
            if pool := self.find(token_id, position, _transaction(tx_hash), is_join=liquidity > 0):
                pool.reserves.add(lower, upper, int(liquidity))

    def load_prices(self, changes: Collection[tuple[Any, ...]], start: int) -> None:
        """Set the price before a position for pools with changes; before any trade, the pool's first price stays."""
        times: dict[int, datetime] = {row[1]: row[2] for row in changes if row[1] in self._pools}
        if not times:
            return
        # Trades are stored by time. The time at `start` is unknown, but few trades before the last change are later.
        trades = PoolTrade.objects.filter(token_id=OuterRef("pk"), at__lte=max(times.values()), position__lt=start)
        newest = trades.order_by("-at", "-position")
        last = {name: Subquery(newest.values(name)[:1]) for name in ("price", "position")}
        tokens = Token.objects.filter(pk__in=times).annotate(**last)
        for token_id, price, position in tokens.values_list("pk", *last):
            if price is not None and (pool := self.find(token_id, position)):
                pool.set_price(price)


def _replay(pools: _ReplayedPools, rows: Iterable[tuple[Any, ...]]) -> Iterator[PoolEvent]:
    for position, token_id, mined_at, tx_hash, tx_index, trader, *facts in rows:
        # A trade begins with its side, and a change with a tick.
        is_trade, transaction = isinstance(facts[0], bool), _transaction(tx_hash)
        # If the quote token has unknown decimals, there are no trades and no amounts.
        pool = pools.find(token_id, position, transaction, is_join=not is_trade and facts[2] > 0)
        if pool is None:
            continue
        block, log_index = split_position(position)
        if tx_index is None:
            raise UnplacedEventError(block)
        maker = UNKNOWN_MAKER if trader is None else format_address(bytes(trader))
        origin = _Origin(block, int(mined_at.timestamp()), transaction, tx_index, log_index, maker)
        if is_trade:
            yield _swap(pool, origin, *facts)
        elif event := _change(pool, origin, *facts):
            yield event


def _transaction(stored: bytes | None) -> str:
    return "" if stored is None else format_transaction(bytes(stored))


class _Origin(NamedTuple):
    """An event's log, transaction and maker: these fields have the same sequence in `PoolEvent`."""

    block: int
    timestamp: int
    tx_hash: str
    tx_index: int
    log_index: int
    maker: str


def _swap(
    state: _ReplayedPool,
    origin: _Origin,
    is_buy: bool,
    is_conversion: bool,
    amount_token: Decimal,
    amount_quote: Decimal,
    price: Decimal,
) -> PoolEvent:
    state.set_price(price)
    if is_conversion:
        origin = origin._replace(maker=state.pair.locker)
    return PoolEvent("swap", state.pair, *origin, int(amount_token), int(amount_quote), is_buy, price, state.held())


def _change(
    state: _ReplayedPool,
    origin: _Origin,
    tick_lower: int,
    tick_upper: int,
    liquidity: Decimal,
    amount0: Decimal | None,
    amount1: Decimal | None,
) -> PoolEvent | None:
    """Return a join or exit with its event's amounts, else with amounts at the pool's price; None without either."""
    change = int(liquidity)
    state.reserves.add(tick_lower, tick_upper, change)
    if amount0 is not None and amount1 is not None:
        amounts = int(amount0), int(amount1)
    elif state.root is not None:
        amounts = liquidity_amounts(change, state.root, tick_lower, tick_upper)
    else:
        return None
    token, quote = state.token_first(amounts)
    return PoolEvent(
        "join" if change > 0 else "exit", state.pair, *origin, token, quote, False, state.price, state.held()
    )
