"""Comparison of the feeds' events with those of the chain: place, transaction, maker, amounts, price and reserves.

Amounts of a join or exit are those of v3's event; v4's has none, and they are computed where the range has the pool's
price before it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from tokens.chains.addresses import checksum_address
from tokens.feeds.checking.chain_logs import ChainTrade, PoolLog
from tokens.feeds.checking.chain_reserves import ChainReserves, ReserveBounds
from tokens.feeds.feed_pairs import FeedPair
from tokens.feeds.pool_amounts import liquidity_amounts
from tokens.feeds.pool_events import UNKNOWN_MAKER

# Relative difference of amounts that are computed from a price of 24 digits.
_TOLERANCE = Fraction(1, 10**15)
# More digits than an amount has.
_EXACT = Context(prec=40)
FeedEvent = dict[str, Any]


class _Sender(str):
    """The sender of a transaction, which the feed may not have."""


class _Amount(NamedTuple):
    """An amount of a join or exit, and how much a computed one may differ, relatively and in whole units."""

    value: Fraction
    tolerance: Fraction

    def is_near(self, shown: str | None) -> bool:
        """Return whether the feed's text is this amount."""
        return shown is not None and abs(Fraction(shown) - self.value) <= self.tolerance * self.value + self.tolerance


@dataclass(kw_only=True)
class EventComparison:
    """Counts of events: compared ones, those without a maker, joins and exits without amounts, and without reserves."""

    events: int = 0
    without_maker: int = 0
    unpriced: int = 0
    unreserved: int = 0


class EventReplay:
    """The events of pools as the chain has them, from their logs in sequence.

    Unless with `makers`, the feed may have an event without the sender of its transaction.
    """

    def __init__(self, pairs: Mapping[str, FeedPair], reserves: ChainReserves, *, makers: bool) -> None:
        self._pairs, self._reserves = pairs, reserves
        self._sender = str if makers else _Sender
        # Square roots of prices, of pools with a price in the range.
        self._roots: dict[str, int] = {}

    def replay(self, log: PoolLog, trade: ChainTrade | None, block: Mapping[str, Any]) -> FeedEvent | None:
        """Return the event of the next log in the feed's fields, with amounts as fractions and reserves as bounds."""
        self._reserves.add(log)
        if log.kind in ("start", "swap"):
            self._roots[log.pool] = log.arguments["sqrtPriceX96"]
            return trade and self._of_trade(trade, block)
        return self._of_change(log, block) if log.liquidity else None

    def _of_trade(self, trade: ChainTrade, block: Mapping[str, Any]) -> FeedEvent:
        pair = trade.pair
        token_name, quote_name = ("asset0Out", "asset1In") if trade.is_buy else ("asset0In", "asset1Out")
        event = self._head(trade.log, pair, block, "swap")
        if trade.is_conversion:
            event["maker"] = pair.locker
        return event | {
            token_name: Fraction(trade.token, 10**pair.decimals),
            quote_name: Fraction(trade.quote, 10**pair.quote_decimals),
            "priceNative": trade.price,
            "reserves": self._reserves.at(pair, self._roots[trade.log.pool]),
        }

    def _of_change(self, log: PoolLog, block: Mapping[str, Any]) -> FeedEvent:
        pair, root = self._pairs[log.pool], self._roots.get(log.pool)
        event = self._head(log, pair, block, "join" if log.liquidity > 0 else "exit")
        arguments = log.arguments
        event["reserves"] = None if root is None else self._reserves.at(pair, root)
        if "amount0" in arguments:
            amounts, tolerance = (arguments["amount0"], arguments["amount1"]), Fraction(0)
        elif root is not None:
            amounts = liquidity_amounts(log.liquidity, root, arguments["tickLower"], arguments["tickUpper"])
            tolerance = _TOLERANCE
        else:
            return event
        token, quote = amounts if pair.is_currency0 else amounts[::-1]
        return event | {
            "amount0": _Amount(Fraction(token, 10**pair.decimals), tolerance),
            "amount1": _Amount(Fraction(quote, 10**pair.quote_decimals), tolerance),
        }

    def _head(self, log: PoolLog, pair: FeedPair, block: Mapping[str, Any], kind: str) -> FeedEvent:
        transaction = block["transactions"][log.tx_index]
        return {
            "block": {"blockNumber": log.block, "blockTimestamp": int(block["timestamp"], 16)},
            "eventType": kind,
            "txnId": transaction["hash"],
            "txnIndex": log.tx_index,
            "eventIndex": log.log_index,
            # A curve's event may name its trader.
            "maker": log.arguments.get("trader") or self._sender(checksum_address(transaction["from"])),
            "pairId": pair.pool,
        }


def compare_events(served: Sequence[FeedEvent], expected: Sequence[FeedEvent], found: EventComparison) -> Iterator[str]:
    """Yield a sentence for each event that is missing, invented or different, and count the events."""
    in_feed, on_chain = ({_place(event): event for event in events} for events in (served, expected))
    if len(in_feed) < len(served):
        yield "the feed has two events in one place"
    for place in sorted(on_chain.keys() | in_feed.keys()):
        found.events += 1
        where = f"block {place[0]}, log {place[1]}"
        if place not in in_feed:
            yield f"{where}: the feed lacks it"
        elif place not in on_chain:
            yield f"{where}: the chain does not have it"
        else:
            found.without_maker += in_feed[place]["maker"] == UNKNOWN_MAKER
            found.unpriced += "amount0" in in_feed[place] and "amount0" not in on_chain[place]
            found.unreserved += on_chain[place]["reserves"] is None
            if differing := ", ".join(_differing(in_feed[place], on_chain[place])):
                yield f"{where}: {differing}"


def _place(event: FeedEvent) -> tuple[int, int]:
    return event["block"]["blockNumber"], event["eventIndex"]


def _differing(served: FeedEvent, expected: FeedEvent) -> Iterator[str]:
    """Yield the fields that differ, with both values."""
    for name, value in expected.items():
        shown = served.get(name)
        if name == "reserves":
            is_equal = value is None or value.include(shown)
        elif isinstance(value, _Amount):
            is_equal = value.is_near(shown)
        elif isinstance(value, _Sender):
            is_equal = shown in (value, UNKNOWN_MAKER)
        elif isinstance(value, Fraction):
            is_equal = shown is not None and Fraction(shown) == value
        else:
            is_equal = shown == value
        if not is_equal:
            yield f"{name} is {shown} in the feed, and {_text(value)} on the chain"


def _text(value: Any) -> str:
    if isinstance(value, ReserveBounds):
        return str(value)
    if isinstance(value, _Amount):
        value = value.value
    if not isinstance(value, Fraction):
        return str(value)
    return format(_EXACT.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(), "f")
