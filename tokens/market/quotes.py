"""Token quotes, derived from the market-data provider's responses. Pure functions."""

from dataclasses import dataclass

from tokens.market.pool_statistics import PoolStatistics
from tokens.market.provider_responses import AMOUNT, PRICE, market_cap_or_fdv, to_float


@dataclass(frozen=True, kw_only=True)
class Quote:
    """`Market` columns that a response sets: USD or percentage points, None if unknown."""

    price_usd: float
    quote_price_usd: float | None = None
    market_cap: float | None = None
    volume_24h: float | None = None
    liquidity_usd: float | None = None
    tx_count_24h: int | None = None
    price_change_1h: float | None = None
    price_change_6h: float | None = None
    price_change_24h: float | None = None


def quote_from_pool(pool: PoolStatistics, *, token: str, supply: float | None) -> Quote | None:
    """Return the quote for the token with this `address_key` in a pool; `supply` is in whole tokens.

    None if the token is not in the pool or its price is invalid: without a valid price no other value is trusted.
    """
    is_base = token == pool.base_token
    if token not in (pool.base_token, pool.quote_token):
        return None
    # The provider reports price changes and capitalisation for the base token only.
    prices = (to_float(pool.base_token_price_usd), to_float(pool.quote_token_price_usd))
    price, other = prices if is_base else prices[::-1]
    if price is None:
        return None
    reported_cap = market_cap_or_fdv(to_float(pool.market_cap_usd), to_float(pool.fdv_usd)) if is_base else None
    changes = pool.price_change_percentage if is_base else {}
    return Quote(
        price_usd=price,
        quote_price_usd=other,
        market_cap=reported_cap or _fully_diluted_value(price, supply),
        volume_24h=to_float(pool.volume_usd["h24"]),
        liquidity_usd=to_float(pool.reserve_in_usd),
        tx_count_24h=trade_count(pool, "h24"),
        price_change_1h=to_float(changes.get("h1")),
        price_change_6h=to_float(changes.get("h6")),
        price_change_24h=to_float(changes.get("h24")),
    )


def trade_count(pool: PoolStatistics, period: str) -> int | None:
    """Return buys plus sells; None if either is unknown."""
    buys, sells = pool.transactions[period]["buys"], pool.transactions[period]["sells"]
    return None if buys is None or sells is None else buys + sells


def _fully_diluted_value(price: float, supply: float | None) -> float | None:
    worth = 0.0 if supply is None else price * supply
    return worth if 0 < worth < AMOUNT.highest and price < PRICE.highest else None
