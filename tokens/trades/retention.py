"""Retention for trades and minute candles, by week."""

from datetime import datetime, timedelta

from django.conf import settings

from config.postgresql.partitions import PartitionedTable, week_of
from tokens.models import MinuteCandle, PoolTrade

TRADES = PartitionedTable(name=PoolTrade._meta.db_table, title="trades", days=lambda: settings.TRADE_DAYS)
MINUTE_CANDLES = PartitionedTable(
    name=MinuteCandle._meta.db_table, title="minute candles", days=lambda: settings.CANDLE_MINUTE_DAYS
)
# Trades and their minute candles are written together.
TRADE_TABLES = (TRADES, MINUTE_CANDLES)


def trades_from(now: datetime) -> datetime | None:
    """Return when the first week with trades begins, by TRADE_DAYS; None if all weeks have them."""
    return TRADES.oldest_week(now)


def minutes_from(now: datetime) -> datetime:
    """Return when the first week with minute candles begins, by CANDLE_MINUTE_DAYS."""
    return week_of(now - timedelta(days=settings.CANDLE_MINUTE_DAYS))
