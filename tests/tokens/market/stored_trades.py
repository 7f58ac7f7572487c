"""Trade and candle rows, written without a chain, and the partitions that they need."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import connection

from tests.rows.factories import TokenFactory
from tokens.chains.pool_types import chain_position
from tokens.models import Candle, LaunchFacts, MinuteCandle, PoolTrade, Token
from tokens.models.candle import HOUR, CandleColumns

# A Monday.
WEEK = datetime(2026, 1, 5, tzinfo=UTC)
TRADER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
LOCKER = "0x63D2DfEA64b3433F4071A98665bcD7Ca14d93496"


def make_weeks(count: int, *, first: datetime = WEEK) -> None:
    """Create the partitions for `count` weeks."""
    with connection.cursor() as cursor:
        for week in (first + timedelta(weeks=number) for number in range(count)):
            for table in ("tokens_trade", "tokens_minutecandle"):
                create = f"CREATE TABLE IF NOT EXISTS {table}_{week:%Y%m%d} PARTITION OF {table}"
                cursor.execute(f"{create} FOR VALUES FROM (%s) TO (%s)", [week, week + timedelta(weeks=1)])


def make_traded_token(*, quote_decimals: int | None = 18, tick: int = -230_400, **columns: Any) -> Token:
    """Create a token that was launched when WEEK began, with the facts that describe its trades."""
    token = TokenFactory.create(**{"deployed_at": WEEK, "locker_address": LOCKER} | columns)
    LaunchFacts.objects.create(token=token, facts={"pool": {"pair_decimals": quote_decimals, "tick": tick}})
    return token


def trade_row(token: Token, *, block: int = 1, log_index: int = 0, **columns: Any) -> PoolTrade:
    """Return an unstored trade, by default in the block's second in WEEK."""
    values: dict[str, Any] = {
        "at": WEEK + timedelta(seconds=block),
        "tx_hash": block.to_bytes(32, "big"),
        "trader": bytes.fromhex(TRADER[2:]),
        "is_buy": True,
        "is_conversion": False,
        "amount_token": 10**18,
        "amount_quote": 10**18,
        "price": Decimal(1),
        "quote_usd": None,
    }
    return PoolTrade(token=token, position=chain_position(block, log_index), **values | columns)


def make_trade(token: Token, **columns: Any) -> PoolTrade:
    """Store the trade that `trade_row` returns."""
    row = trade_row(token, **columns)
    row.save(force_insert=True)
    return row


def candle_row(token: Token, at: datetime, *prices: float, seconds: int = 60, **columns: Any) -> CandleColumns:
    """Return an unstored candle for a minute, an hour or a day: open, high, low and close; USD prices are double."""
    names = ("open", "high", "low", "close")
    values: dict[str, Any] = {
        "token": token,
        "at": at,
        "first_position": int(at.timestamp()),
        "last_position": int(at.timestamp()),
        "volume_quote": 10,
        "volume_usd": Decimal("20.5"),
        "buys": 2,
        "sells": 1,
    }
    values |= dict(zip(names, map(Decimal, map(str, prices)), strict=True))
    values |= {f"{name}_usd": 2 * price for name, price in zip(names, prices, strict=True)} | columns
    if seconds == 60:
        return MinuteCandle(**values)
    return Candle(seconds=seconds, **values)


def make_candle(token: Token, at: datetime, *prices: float, seconds: int = 60, **columns: Any) -> CandleColumns:
    """Store the candle that `candle_row` returns."""
    row = candle_row(token, at, *prices, seconds=seconds, **columns)
    row.save(force_insert=True)
    return row


def make_hours(token: Token, last: datetime, prices: Iterable[float]) -> None:
    """Store candles for the hours back from the last one, whose price comes first."""
    Candle.objects.bulk_create(
        candle_row(token, last - timedelta(hours=back), price, price * 1.2, price * 0.9, price * 1.1, seconds=HOUR)
        for back, price in enumerate(prices)
    )


def make_half_day(token: Token, now: datetime) -> None:
    """Store 48 trades in the last 12 hours, the minute candles of their prices, and each fourth one's hour."""
    minutes, hours, trades = [], [], []
    for back in range(48):
        at, price = now - timedelta(minutes=15 * back), (100 + 3 * (back % 7) - 5 * (back % 5)) * 1e-9
        minute, factors = at.replace(second=0, microsecond=0), (1, 1.08, 0.94, 1.05 if back % 3 else 0.96)
        prices = [price * factor for factor in factors]
        usd = zip(("open_usd", "high_usd", "low_usd", "close_usd"), prices, strict=True)
        traded: dict[str, Any] = {name: 2_000 * value for name, value in usd}
        traded |= {"volume_usd": Decimal(100 + 37 * (back % 11)), "volume_quote": (back % 11 + 1) * 10**18}
        minutes.append(candle_row(token, minute, *prices, **traded))
        if back % 4 == 0:
            hours.append(candle_row(token, minute.replace(minute=0), *prices, seconds=HOUR, **traded))
        amounts = {"amount_token": (back + 3) * 10**24, "amount_quote": int((back + 3) * 10**24 * price)}
        trades.append(
            trade_row(token, block=1_000_000 - back, at=at, is_buy=bool(back % 3), quote_usd=Decimal(2_000), **amounts)
        )
    MinuteCandle.objects.bulk_create(minutes)
    Candle.objects.bulk_create(hours)
    PoolTrade.objects.bulk_create(trades)
