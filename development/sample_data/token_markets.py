"""Invented tokens' market data: two in five were traded, and a few have most of the volume. Pure."""

from datetime import UTC, datetime
from random import Random
from typing import Any

from development.sample_data.evm_launches import BEGIN, SPAN_SECONDS

_TRADED = 0.4
_END = BEGIN + SPAN_SECONDS
# Initial market cap, which a token without trades keeps.
_STARTING_CAP = 30_000.0


def draw_market(random: Random, *, supply: int, decimals: int) -> dict[str, Any] | None:
    """Return `tokens.models.Market` columns for a token; None if the provider never had data.

    Market caps are log-normal around 12,000 USD. A third has no trades, and many of these have the same cap, so that
    rows tie. Single values are missing, as in the provider's data.
    """
    if random.random() > _TRADED:
        return None
    dead = random.random() < 0.35
    market_cap = _STARTING_CAP if dead and random.random() < 0.5 else round(random.lognormvariate(9.4, 1.9), 2)
    trades = 0 if dead else int(random.lognormvariate(2.5, 1.8))
    age = random.randrange(30 * 86_400) if dead else int(random.expovariate(1 / 6_000))
    return {
        "price_usd": market_cap / (supply / 10**decimals),
        "quote_price_usd": 3_000.0 + random.randrange(-500, 500),
        "market_cap": _or_unknown(random, 0.06, market_cap),
        "volume_24h": round(trades * random.lognormvariate(4.0, 1.0), 2),
        "liquidity_usd": _or_unknown(random, 0.03, round(market_cap**0.8 * 5, 2)),
        "tx_count_24h": _or_unknown(random, 0.03, trades),
        "price_change_1h": _or_unknown(random, 0.08, 0.0 if dead else _change(random, 3.0)),
        "price_change_6h": _or_unknown(random, 0.05, 0.0 if dead else _change(random, 7.0)),
        "price_change_24h": _or_unknown(random, 0.05, 0.0 if dead else _change(random, 14.0)),
        "updated_at": datetime.fromtimestamp(_END - age, UTC),
    }


def _or_unknown(random: Random, chance: float, value: float) -> float | None:
    return None if random.random() < chance else value


def _change(random: Random, percent: float) -> float:
    """Return a price change in percent, mostly small and sometimes very large; at least -99.99."""
    return round(max(-99.99, random.gauss(0, 1) ** 3 * percent), 2)
