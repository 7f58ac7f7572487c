"""Trades and candles generated in SQL, in chain order, into weekly partitions with their indexes.

    python -m benchmarks.trades.stored_trades DATABASE [--trades 20000000] [--tokens 200000] [--weeks 8]

Half the trades are in 450 tokens among 200,000; most tokens have few.
"""

import argparse
from datetime import UTC, datetime, timedelta

from benchmarks.lists import dataset
from benchmarks.trades import traded_tokens

_WEEK = timedelta(days=7)
# By default minute candles are stored for so long.
_MINUTE_DAYS = timedelta(days=30)
_PARTITION = "CREATE TABLE {table}_{at:%Y%m%d} PARTITION OF {table} FOR VALUES FROM ('{at}') TO ('{end}')"
# Block numbers are seconds, and the values have as many digits as real ones.
_TRADES = """
INSERT INTO tokens_trade
SELECT floor(power(%(tokens)s + 1, random())), to_timestamp(second), (second << 20) + n %% 1048576,
    sha256(n::text::bytea), substring(sha256(floor(power(100000, random()))::text::bytea), 1, 20), random() < 0.55,
    random() < 0.01, random(1e22, 1e26), random(1e14, 1e18), random(1e23, 9e23) * 1e-32, random(3e14, 4e14) * 1e-11
FROM (
    SELECT n, %(first)s + n * %(seconds)s::bigint / %(count)s AS second FROM generate_series(0, %(count)s - 1) AS n
) AS numbered
"""
# Simpler than the service's, with the same size: opening and closing prices are not from the first and the
# last trade.
_CANDLES = """
INSERT INTO {table} (
    token_id, {seconds_column} at, first_position, last_position, open, high, low, close, open_usd, high_usd, low_usd,
    close_usd, volume_quote, volume_usd, buys, sells
)
SELECT token_id, {seconds_value} date_bin(make_interval(secs => {seconds}), at, 'epoch'), min(position), max(position),
    min(price), max(price), min(price), max(price), min(price) * 3500, max(price) * 3500, min(price) * 3500,
    max(price) * 3500, sum(amount_quote), round(sum(amount_quote) * 3500e-18, 6), count(*) FILTER (WHERE is_buy),
    count(*) FILTER (WHERE NOT is_buy)
FROM tokens_trade WHERE at >= %(first)s AND at < %(end)s GROUP BY 1, {group}
"""


def make_trades(database: str, *, trades: int, tokens: int, weeks: int) -> None:
    """Create a database with so many trades in the last weeks, and their candles; minutes within their retention."""
    now = datetime.now(UTC).replace(microsecond=0)
    midnight = now.replace(hour=0, minute=0, second=0)
    monday = midnight - timedelta(days=midnight.weekday())
    first_at = monday - weeks * _WEEK
    traded_tokens.make_database(database, count=tokens, launched_at=first_at)
    with dataset.connect(database) as connection:
        for at in (first_at + week * _WEEK for week in range(weeks + 1)):
            end = at + _WEEK
            has_minutes = end > now - _MINUTE_DAYS
            for table in ("tokens_trade", "tokens_minutecandle") if has_minutes else ("tokens_trade",):
                connection.execute(_PARTITION.format(table=table, at=at, end=end))
            seconds = int((min(end, now) - at).total_seconds())
            count = int(trades * seconds / (now - first_at).total_seconds())
            values = {"tokens": tokens, "first": int(at.timestamp()), "seconds": seconds, "count": count}
            connection.execute(_TRADES, values)
            for seconds in (60, 3600, 86_400) if has_minutes else (3600, 86_400):
                connection.execute(_candles(seconds), {"first": at, "end": end})
            print(f"{datetime.now(UTC):%H:%M:%S} trades up to {end:%Y-%m-%d}", flush=True)
        connection.execute("VACUUM (ANALYZE)")


def _candles(seconds: int) -> str:
    if seconds == 60:
        return _CANDLES.format(table="tokens_minutecandle", seconds_column="", seconds_value="", seconds=60, group="2")
    return _CANDLES.format(
        table="tokens_candle", seconds_column="seconds,", seconds_value=f"{seconds},", seconds=seconds, group="3"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Create a database with trades.")
    parser.add_argument("database")
    parser.add_argument("--trades", type=int, default=20_000_000)
    parser.add_argument("--tokens", type=int, default=200_000)
    parser.add_argument("--weeks", type=int, default=8)
    options = parser.parse_args()
    dataset.start_server()
    make_trades(options.database, trades=options.trades, tokens=options.tokens, weeks=options.weeks)


if __name__ == "__main__":
    main()
