"""Prometheus metrics for market data."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from prometheus_client import Metric
from redis.exceptions import RedisError

from config.watching.metrics import labelled_gauge
from tokens.market.price_comparison import compared_chains, read_differences


def price_differences(now: datetime) -> Iterator[Metric]:
    """Yield by chain how many tokens differ from the provider's price; nothing while Redis is unavailable."""
    try:
        counts = Counter(each.chain_id for each in read_differences())
    except RedisError:
        return
    yield labelled_gauge(
        "launchboard_market_price_differences",
        "Tokens with a price that differs from the provider's by more than MARKET_COMPARE_PERCENT.",
        "chain",
        {chain.chain_id: counts[chain.chain_id] for chain in compared_chains()},
    )
