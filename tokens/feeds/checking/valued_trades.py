"""The chain's trades with their fee and their value in USD."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from tokens.chains.abi.codec import Log
from tokens.chains.evm.evm_chain import Chain
from tokens.feeds.checking.chain_logs import ChainTrade, PoolLog, read_pool_fees, trade_of
from tokens.feeds.checking.chain_rates import ChainRates, UncertainRateError
from tokens.feeds.checking.chain_reserves import ChainReserves
from tokens.feeds.checking.internal_swaps import InternalSwaps
from tokens.feeds.checking.trade_receipts import add_parts, mark_conversion
from tokens.feeds.feed_pairs import FeedPair


class ValuedTrade(NamedTuple):
    """A trade with its fee in parts per million, and the USD for its quote token's whole unit.

    The rate is None if no pool has it; it is uncertain if its last price is older than the logs that were read.
    """

    trade: ChainTrade
    fee: int | None
    rate: Fraction | None
    is_uncertain: bool

    @property
    def usd(self) -> Fraction | None:
        """Return the USD value of the quote token amount, not rounded."""
        if self.rate is None:
            return None
        return self.rate * Fraction(self.trade.quote, 10**self.trade.pair.quote_decimals)


class TradeValues:
    """Prices, fees and rates for trades, while logs are replayed in sequence."""

    def __init__(self, chain: Chain, pairs: Mapping[str, FeedPair], rates: ChainRates, reserves: ChainReserves) -> None:
        self._chain, self._pairs, self._rates, self._reserves = chain, pairs, rates, reserves
        self._internal = InternalSwaps(chain)
        # v3 pool -> fee: a v3 swap log has none.
        self._fees: dict[str, int | None] = {}

    def read(
        self,
        logs: Sequence[PoolLog],
        blocks: Mapping[int, Mapping[str, Any]],
        receipts: Mapping[tuple[int, int], Sequence[Log]],
    ) -> Iterator[tuple[PoolLog, ValuedTrade | None]]:
        """Yield each log with its trade; `receipts` has block and transaction index -> logs, for v4 trades.

        The caller adds the log to the reserves. Raises NodeUnavailableError.
        """
        v3_pools = {log.pool for log in logs if log.kind == "swap" and "fee" not in log.arguments} & self._pairs.keys()
        self._fees |= read_pool_fees(self._chain, sorted(v3_pools - self._fees.keys()))
        self._internal.load(self._pairs, {log.pool for log in logs if log.kind == "swap"})
        for log in add_parts(logs, receipts, chain=self._chain.info, pairs=self._pairs):
            pair = self._pairs.get(log.pool) if log.kind == "swap" else None
            trade = None if pair is None else self._trade(log, pair, int(blocks[log.block]["timestamp"], 16))
            self._rates.add(log, trade)
            if trade is not None:
                trade = self._internal.mark(mark_conversion(trade, receipts.get((log.block, log.tx_index), ())))
            yield log, trade and self._valued(trade)

    def _trade(self, log: PoolLog, pair: FeedPair, timestamp: int) -> ChainTrade | None:
        return trade_of(log, pair, timestamp, root=self._reserves.reach(pair, log.arguments["sqrtPriceX96"]))

    def _valued(self, trade: ChainTrade) -> ValuedTrade:
        log = trade.log
        fee = log.arguments["fee"] if "fee" in log.arguments else self._fees[log.pool]
        try:
            return ValuedTrade(trade, fee, self._rates.usd(trade.pair.quote), is_uncertain=False)
        except UncertainRateError:
            return ValuedTrade(trade, fee, None, is_uncertain=True)
