"""USD prices for quote tokens from swaps in the chain's own pools."""

from collections.abc import Mapping
from fractions import Fraction

from tokens.chains.addresses import address_key
from tokens.chains.evm.evm_chain import Chain
from tokens.feeds.checking.chain_logs import ChainTrade, PoolLog, price_at, read_pool_logs
from tokens.feeds.feed_pairs import FeedPair

# Blocks before the checked range that are searched for a reference pool's last swap, and blocks per step.
_SEARCHED, _STEP = 5_000, 200
# At most this many quote token prices are multiplied.
_MAX_STEPS = 4


class UncertainRateError(Exception):
    """Raised for a quote token whose last price is older than the logs that were read."""


class ChainRates:
    """Each quote token's newest price while logs are replayed."""

    def __init__(self, chain: Chain, pairs: Mapping[str, FeedPair]) -> None:
        self._stable = chain.info.stable_tokens
        native = address_key(chain.info.wrapped_native or "")
        self._native = {address_key(quote): native for quote in chain.info.native_quotes}
        # A currency's first pool sets its price.
        currencies = {address_key(pool.currency): pool for pool in reversed(chain.info.reference_pools)}
        self.references = {pool.pool: pool for pool in currencies.values()}
        self._launched = {address_key(pair.token): pair for pair in pairs.values()}
        self._prices: dict[str, Fraction] = {}

    def load(self, chain: Chain, *, before: int) -> None:
        """Search the reference pools' last swaps before a block, in at most 25 steps. Raises NodeUnavailableError.

        A pool without a swap in 5,000 blocks has no price until its next one.
        """
        missing = set(self.references)
        for end in range(before - 1, max(before - 1 - _SEARCHED, -1), -_STEP):
            if not missing:
                return
            logs = read_pool_logs(chain, dict.fromkeys(missing, ""), max(end - _STEP + 1, 0), end)
            for log in logs:
                self.add(log, None)
            missing -= {log.pool for log in logs if log.kind == "swap"}

    def add(self, log: PoolLog, trade: ChainTrade | None) -> None:
        """Add the price after a swap in a reference pool, or the launched token's price after its trade."""
        reference = self.references.get(log.pool)
        if log.kind == "swap" and reference is not None:
            self._prices[address_key(reference.currency)] = price_at(
                log.arguments["sqrtPriceX96"],
                decimals=reference.currency_decimals,
                quote_decimals=reference.stable_decimals,
                is_currency0=reference.is_currency0,
            )
        elif trade is not None:
            self._prices[address_key(trade.pair.token)] = trade.price

    def usd(self, quote: str) -> Fraction | None:
        """Return the USD for a quote token's whole unit now; None if no pool prices it.

        Raises UncertainRateError.
        """
        usd, key = Fraction(1), self._native.get(address_key(quote), address_key(quote))
        priced = {address_key(pool.currency) for pool in self.references.values()}
        for _ in range(_MAX_STEPS):
            if key in self._stable:
                return usd
            if key not in priced and key not in self._launched:
                return None
            if key not in self._prices:
                raise UncertainRateError
            usd *= self._prices[key]
            if key in priced:
                return usd
            key = address_key(self._launched[key].quote)
        return None
