"""Comparison of own prices with the provider's: differences raise an alarm, and no price is changed."""

import logging
from dataclasses import asdict, dataclass

import orjson
from django.conf import settings
from django.db.models import F
from redis.exceptions import RedisError

from config.http.errors import PermanentError, RetryableError
from config.redis.connection import PREFIX, redis_client
from tokens.chains.registry.chains import ChainInfo
from tokens.installation.installed_registry import registry
from tokens.installation.market_sources import has_own_trades
from tokens.market import provider_rate_limit
from tokens.market.price_refresh import SLOT_TIMEOUT_SECONDS, fetch_quotes
from tokens.models import Token

logger = logging.getLogger(__name__)

DIFFERENCES_KEY = f"{PREFIX}market:price-differences"
COMPARISONS_KEY = f"{PREFIX}market:price-comparisons"
DAY_SECONDS = 86_400


@dataclass(frozen=True, kw_only=True)
class PriceDifference:
    """A token's own price and the provider's, in USD."""

    chain_id: int
    token_id: int
    symbol: str
    own_usd: float
    provider_usd: float

    @property
    def percent(self) -> float:
        """Return the difference, in percent relative to the provider's price."""
        return abs(self.own_usd / self.provider_usd - 1) * 100


def compared_chains() -> list[ChainInfo]:
    """Return followed chains with own trades that the provider covers; none if comparison is off."""
    if not settings.MARKET_COMPARE_PERCENT:
        return []
    chains = (chain for chain_id, chain in registry().chains.items() if chain_id in settings.RPC_URLS)
    return [chain for chain in chains if has_own_trades(chain.chain_id) and chain.market_network]


def compare_prices() -> int:
    """Compare the traded tokens with one chain's largest market caps; return how many differ.

    Each run takes the next chain, with one provider call.
    """
    chains = compared_chains()
    if not chains:
        return 0
    try:
        chain = chains[redis_client().incr(COMPARISONS_KEY) % len(chains)]
        active = Token.objects.on_chain().filter(chain_id=chain.chain_id, rolling_sums__seconds=DAY_SECONDS)
        priced = active.filter(market__price_usd__gt=0).exclude(pool_address="").select_related("market")
        largest = priced.order_by(F("market__market_cap").desc(nulls_last=True), "-pk")
        tokens = list(largest[: settings.MARKET_ADDRESSES_PER_CALL])
        if not tokens:
            return 0
        with provider_rate_limit.call_slot(timeout=SLOT_TIMEOUT_SECONDS):
            quotes = fetch_quotes(tokens)
        differing = [
            difference
            for token in tokens
            if token.pk in quotes
            and (difference := _difference(token, quotes[token.pk].price_usd)).percent > settings.MARKET_COMPARE_PERCENT
        ]
        _store_differences(chain.chain_id, differing)
    except (RetryableError, PermanentError, RedisError) as error:
        logger.warning("prices were not compared with the provider's: %s", error)
        return 0
    return len(differing)


def read_differences() -> list[PriceDifference]:
    """Return the differences from each chain's last comparison. Raises RedisError."""
    chains = compared_chains()
    if not chains:
        return []
    stored = redis_client().mget([f"{DIFFERENCES_KEY}:{chain.chain_id}" for chain in chains])
    return [PriceDifference(**entry) for entries in stored if entries for entry in orjson.loads(entries)]


def _difference(token: Token, provider_usd: float) -> PriceDifference:
    own_usd = token.market.price_usd or 0.0
    return PriceDifference(
        chain_id=token.chain_id,
        token_id=token.pk,
        symbol=token.symbol,
        own_usd=own_usd,
        provider_usd=provider_usd,
    )


def _store_differences(chain_id: int, differing: list[PriceDifference]) -> None:
    """Store a chain's differences, and log each token that began or ceased to differ."""
    before = {each.token_id: each for each in read_differences() if each.chain_id == chain_id}
    for each in differing:
        if each.token_id not in before:
            logger.warning(
                "the price of token %s on chain %s differs by %.1f %%: own %g USD, the provider's %g USD",
                each.token_id, chain_id, each.percent, each.own_usd, each.provider_usd,
            )  # fmt: skip
    for token_id in before.keys() - {each.token_id for each in differing}:
        logger.info("the price of token %s on chain %s no longer differs from the provider's", token_id, chain_id)
    # After a day without a comparison the alarm ends.
    redis_client().set(
        f"{DIFFERENCES_KEY}:{chain_id}", orjson.dumps([asdict(each) for each in differing]), ex=DAY_SECONDS
    )
