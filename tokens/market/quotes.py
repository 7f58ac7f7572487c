"""What a token is worth by one answer of the market-data provider: pure."""

from dataclasses import dataclass, replace

from tokens.market.provider_responses import AMOUNT, PRICE, Pool, TokenAnswer, market_cap, number


@dataclass(frozen=True, kw_only=True)
class Quote:
    """The columns of Market that an answer fills: USD, percent points, None where unknown."""

    price_usd: float
    quote_price_usd: float | None
    market_cap: float | None
    volume_24h: float | None
    liquidity_usd: float | None
    tx_count_24h: int | None
    price_change_1h: float | None
    price_change_6h: float | None
    price_change_24h: float | None


def quote_in_pool(pool: Pool, *, token: str, supply: float | None) -> Quote | None:
    """What the pool says of the token with this `address_key`, whose supply is in whole tokens.

    None where the token is not in the pool, or its price makes no sense: then nothing beside the price is believed.
    """
    is_base = token == pool.base_token
    if token not in (pool.base_token, pool.quote_token):
        return None
    # The provider tells price changes and capitalisation of the base token alone.
    prices = (number(pool.base_token_price_usd), number(pool.quote_token_price_usd))
    price, other = prices if is_base else prices[::-1]
    if price is None:
        return None
    known = market_cap(number(pool.market_cap_usd), number(pool.fdv_usd)) if is_base else None
    changes = pool.price_change_percentage if is_base else {}
    return Quote(
        price_usd=price,
        quote_price_usd=other,
        market_cap=known or _all_of_it(price, supply),
        volume_24h=number(pool.volume_usd["h24"]),
        liquidity_usd=number(pool.reserve_in_usd),
        tx_count_24h=trades(pool, "h24"),
        price_change_1h=number(changes.get("h1")),
        price_change_6h=number(changes.get("h6")),
        price_change_24h=number(changes.get("h24")),
    )


def quote_of_token(answer: TokenAnswer, *, paired_token: str, supply: float | None) -> Quote | None:
    """What the provider says of a token over all its pools; trades and price changes are those of the first one.

    `paired_token` is an `address_key`. None where the price makes no sense.
    """
    price = answer.price_usd
    if price is None:
        return None
    in_pools = [(pool, quote_in_pool(pool, token=answer.address, supply=supply)) for pool in answer.top_pools]
    paired = next(
        (quote for pool, quote in in_pools if quote and paired_token in (pool.base_token, pool.quote_token)), None
    )
    first = next((quote for _, quote in in_pools if quote), None) or _bare(price)
    return replace(
        first,
        price_usd=price,
        quote_price_usd=paired.quote_price_usd if paired else None,
        market_cap=answer.market_cap or _all_of_it(price, supply),
        volume_24h=answer.volume_24h,
        liquidity_usd=answer.liquidity_usd,
    )


def trades(pool: Pool, period: str) -> int | None:
    """Buys and sells together; None where either is unknown."""
    buys, sells = pool.transactions[period]["buys"], pool.transactions[period]["sells"]
    return None if buys is None or sells is None else buys + sells


def _all_of_it(price: float, supply: float | None) -> float | None:
    worth = 0.0 if supply is None else price * supply
    return worth if 0 < worth < AMOUNT.highest and price < PRICE.highest else None


def _bare(price: float) -> Quote:
    return Quote(
        price_usd=price,
        quote_price_usd=None,
        market_cap=None,
        volume_24h=None,
        liquidity_usd=None,
        tx_count_24h=None,
        price_change_1h=None,
        price_change_6h=None,
        price_change_24h=None,
    )
