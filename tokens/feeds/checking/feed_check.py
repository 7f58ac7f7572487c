"""Feed check against a node's logs, in runs of blocks: pairs, events, reserves, chart bars and daily sums.

The chain's events, bars and sums are computed from logs, decoded by their ABI, and prices are fractions. Stored rows
provide only the list of pairs with their launch blocks; otherwise they are only compared.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tokens.chains.errors import NodeUnavailableError
from tokens.chains.evm.evm_chain import Chain
from tokens.feeds.checking.bar_check import BarCheck
from tokens.feeds.checking.chain_logs import PoolLog, read_blocks, read_pool_logs
from tokens.feeds.checking.chain_rates import ChainRates
from tokens.feeds.checking.chain_reserves import ChainReserves
from tokens.feeds.checking.day_check import DayCheck
from tokens.feeds.checking.event_check import EventComparison, EventReplay, compare_events
from tokens.feeds.checking.pair_check import PairCheck
from tokens.feeds.checking.trade_receipts import compare_paid, read_receipts
from tokens.feeds.checking.valued_trades import TradeValues
from tokens.feeds.event_answers import describe_priced_events
from tokens.feeds.feed_pairs import read_chain_pairs
from tokens.feeds.pool_events import MOST_BLOCKS, TooManyEventsError, read_pool_events
from tokens.feeds.responses import ScreenerEvent
from tokens.models.candle import DAY

# Blocks before a run that are read for its pools' liquidity.
DEFAULT_HISTORY = 500_000


@dataclass(kw_only=True)
class FeedComparison(EventComparison):
    """Result of a check. `differences` are sentences; the other fields are counts."""

    bars: int = 0
    days: int = 0
    # Transactions whose transfers do not prove what their trades paid.
    unpaid: int = 0
    # Bars and sums in USD whose rates are older than the logs that were read.
    without_usd: int = 0
    differences: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Return the counts."""
        return (
            f"{self.events} events compared, {self.without_maker} without a maker, "
            f"{self.unpriced} without their amounts and {self.unreserved} without reserves, "
            f"{self.unpaid} payments without proof, "
            f"{self.bars} bars and {self.days} days compared, "
            f"{self.without_usd} without USD, {len(self.differences)} differ"
        )


class FeedCheck:
    """A check over consecutive runs of blocks, beginning with `first`.

    Bars and days are compared once a run has a block after them; those that begin before `first` are left out. In USD
    they are compared up to `verified`, the last block that was read a second time: rates may change until then.
    With `makers`, an event without its maker differs.
    """

    def __init__(
        self, chain: Chain, first: int, *, verified: int, history: int = DEFAULT_HISTORY, makers: bool = False
    ) -> None:
        """Read pairs, and the rates and time before the first block. Raises NodeUnavailableError."""
        self._chain, self.next = chain, first
        self._pairs = {pair.pool.lower(): pair for pair in read_chain_pairs(chain.info)}
        self._reserves = ChainReserves(chain, history=history)
        self._replay = EventReplay(self._pairs, self._reserves, makers=makers)
        self._pair_check = PairCheck(chain, self._pairs.values())
        rates = ChainRates(chain, self._pairs)
        rates.load(chain, before=first)
        self._values = TradeValues(chain, self._pairs, rates, self._reserves)
        self._pools = dict.fromkeys(rates.references, "") | {key: pair.generation for key, pair in self._pairs.items()}
        # No chain has a trade before its first block: bars and sums of that day are complete.
        after = _read_time(chain, first - 1) if first else _read_time(chain, 0) // DAY * DAY - 1
        self._bars = BarCheck(chain.info, self._pairs, after=after, verified=verified)
        self._days = DayCheck(chain, after=after, verified=verified)
        self.comparison = FeedComparison()

    def compare(self, last: int) -> None:
        """Compare the blocks from `next` to `last`, or to an earlier one if they have too many events for one response.

        Afterwards, `next` is the first block that was not compared. Raises UnplacedEventError, NodeUnavailableError,
        and TooManyEventsError if a single block has too many.
        """
        first, served = self.next, None
        last = min(last, first + MOST_BLOCKS - 1)
        while served is None:
            try:
                served = describe_priced_events(read_pool_events(self._chain.info, first, last))
            except TooManyEventsError:
                if first == last:
                    raise
                last = (first + last) // 2
        logs = read_pool_logs(self._chain, self._pools, first, last)
        pair_logs = [log for log in logs if log.pool in self._pairs]
        blocks = read_blocks(self._chain, {log.block for log in pair_logs})
        self._reserves.load([self._pairs[pool] for pool in {log.pool for log in pair_logs}], before=first)
        self._compare(served, logs, blocks)
        until = _read_time(self._chain, last)
        comparison = self.comparison
        comparison.differences += self._pair_check.compare_launches(first, last)
        comparison.differences += self._bars.compare(until)
        comparison.differences += self._days.compare(until, newest=last)
        comparison.bars, comparison.days = self._bars.bars, self._days.days
        comparison.without_usd = self._bars.uncertain + self._days.uncertain
        self.next = last + 1

    def _compare(
        self, served: list[ScreenerEvent], logs: list[PoolLog], blocks: Mapping[int, Mapping[str, Any]]
    ) -> None:
        expected, trades = [], []
        receipts = read_receipts(self._chain, [log for log in logs if log.pool in self._pairs], blocks)
        for log, valued in self._values.read(logs, blocks, receipts):
            if log.pool in self._pairs:
                event = self._replay.replay(log, valued and valued.trade, blocks[log.block])
                expected += [event] if event else []
                self.comparison.differences += self._pair_check.compare_start(log, self._pairs[log.pool])
                self._bars.start(log)
            if valued is not None:
                trades.append(valued.trade)
                self.comparison.differences += self._pair_check.compare_fee(valued)
                self._bars.add(valued)
                self._days.add(valued)
        self.comparison.differences += compare_events(served, expected, self.comparison)
        for payment in compare_paid(self._chain, trades, receipts, self._pairs):
            self.comparison.unpaid += not payment.is_proven
            self.comparison.differences += [payment.difference] if payment.difference else []


def _read_time(chain: Chain, number: int) -> int:
    headers = chain.read_headers([number])
    if number not in headers:
        raise NodeUnavailableError(f"no node has block {number}")
    return headers[number].time
