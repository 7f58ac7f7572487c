"""Trade and candle rows, written without a chain, and the partitions that they need."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import connection

from tests.rows.factories import TokenFactory
from tokens.chains.pool_types import chain_position
from tokens.models import Candle, LaunchFacts, MinuteCandle, PoolTrade, Token
from tokens.models.candle import CandleColumns

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


def make_trade(token: Token, *, block: int = 1, log_index: int = 0, **columns: Any) -> PoolTrade:
    """Create a trade, by default in the block's second in WEEK."""
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
    return PoolTrade.objects.create(token=token, position=chain_position(block, log_index), **values | columns)


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
