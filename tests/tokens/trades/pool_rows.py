"""Trade, candle and liquidity rows, written without the service's code."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal

from django.db import connection

from tests.rows.factories import TokenFactory
from tokens.models import Candle, LaunchFacts, MinuteCandle, PoolLiquidityChange, PoolTrade, Token
from tokens.trades.trade_rows import TradeRow

CHAIN = 8453
WETH = "0x4200000000000000000000000000000000000006"
# A Wednesday at midday.
NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
_EXACT = Context(prec=200, rounding=ROUND_HALF_UP)


def make_partitions(*, weeks: int = 4) -> None:
    """Make the partitions for trades and minute candles: for NOW's week, weeks before, and the next one."""
    monday = (NOW - timedelta(days=NOW.weekday())).date()
    with connection.cursor() as cursor:
        for week in range(-weeks, 2):
            first = monday + timedelta(weeks=week)
            for table in ("tokens_trade", "tokens_minutecandle"):
                cursor.execute(
                    f"CREATE TABLE {table}_{first:%Y%m%d} PARTITION OF {table} "
                    f"FOR VALUES FROM ('{first}Z') TO ('{first + timedelta(weeks=1)}Z')"
                )


def make_pool_token(*, tick: int | None = -230_400, quote_decimals: int | None = 18, **fields: object) -> Token:
    """Make a token in a pool, launched at a tick."""
    token = TokenFactory(**{"chain_id": CHAIN, "paired_token": WETH, "supply": 10**29, **fields})
    LaunchFacts.objects.create(token=token, facts={"pool": {"tick": tick, "pair_decimals": quote_decimals}})
    return token


def trade_row(
    token_id: int,
    at: datetime,
    *,
    position: int | None = None,
    trader: bytes | None = b"\x01" * 20,
    is_buy: bool = True,
    is_conversion: bool = False,
    amount_quote: int = 10**18,
    price: Decimal | str = "0.0000000001",
    quote_usd: Decimal | str | None = "3000",
) -> TradeRow:
    """Return a trade; by default the first of its second, in a quote token with 18 decimals."""
    unix_time = int(at.timestamp())
    rate = None if quote_usd is None else Decimal(quote_usd)
    return TradeRow(
        token_id=token_id,
        at=unix_time,
        position=unix_time << 20 if position is None else position,
        tx_hash=b"\x02" * 32,
        trader=trader,
        is_buy=is_buy,
        is_conversion=is_conversion,
        amount_token=10**24,
        amount_quote=amount_quote,
        price=Decimal(price),
        quote_usd=rate,
        value_usd=None if rate is None else trade_value(amount_quote, rate),
    )


def trade_value(amount_quote: int, rate: Decimal) -> Decimal:
    exact = _EXACT.multiply(Decimal(amount_quote).scaleb(-18, _EXACT), rate)
    return exact.quantize(Decimal("0.000001"), context=_EXACT)


def write_trades(rows: Iterable[TradeRow]) -> None:
    """Insert trades, and make their tokens' candles anew."""
    written = list(rows)
    columns = ("token_id", "position", "tx_hash", "trader", "is_buy", "is_conversion", "amount_token", "amount_quote")
    PoolTrade.objects.bulk_create(
        PoolTrade(
            at=datetime.fromtimestamp(row.at, UTC),
            price=row.price,
            quote_usd=row.quote_usd,
            **{column: getattr(row, column) for column in columns},
        )
        for row in written
    )
    remake_candles({row.token_id for row in written})


def remake_candles(token_ids: Iterable[int]) -> None:
    """Make tokens' candles anew, from their stored trades."""
    for model, seconds in ((MinuteCandle, 60), (Candle, 86_400)):
        model.objects.filter(token_id__in=token_ids).delete()
        buckets = defaultdict(list)
        for trade in PoolTrade.objects.filter(token_id__in=token_ids).order_by("position"):
            buckets[trade.token_id, int(trade.at.timestamp()) // seconds * seconds].append(trade)
        extra = {} if model is MinuteCandle else {"seconds": seconds}
        model.objects.bulk_create(
            model(token_id=token_id, at=datetime.fromtimestamp(start, UTC), **_candle(trades), **extra)
            for (token_id, start), trades in buckets.items()
        )


def _candle(trades: Sequence[PoolTrade]) -> dict[str, object]:
    prices = [trade.price for trade in trades]
    counted = [trade for trade in trades if not trade.is_conversion]
    known = all(trade.quote_usd is not None for trade in trades)
    usd = [float(_EXACT.multiply(trade.price, trade.quote_usd)) for trade in trades] if known else [None]
    values = [trade_value(int(trade.amount_quote), trade.quote_usd) for trade in counted if trade.quote_usd]
    return {
        "first_position": trades[0].position,
        "last_position": trades[-1].position,
        "open": prices[0],
        "high": max(prices),
        "low": min(prices),
        "close": prices[-1],
        "open_usd": usd[0],
        "high_usd": max(usd) if known else None,
        "low_usd": min(usd) if known else None,
        "close_usd": usd[-1],
        "volume_quote": sum(trade.amount_quote for trade in counted),
        "volume_usd": sum(values, Decimal(0)),
        "buys": sum(trade.is_buy for trade in counted),
        "sells": sum(not trade.is_buy for trade in counted),
    }


def add_liquidity(token_id: int, lower: int, upper: int, liquidity: int, *, position: int = 1) -> None:
    """Insert a liquidity change."""
    PoolLiquidityChange.objects.create(
        token_id=token_id, position=position, at=NOW, tick_lower=lower, tick_upper=upper, liquidity=liquidity
    )
