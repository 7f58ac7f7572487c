"""Comparison of feed events with the chain's events: position, transaction, maker, amounts, price and reserves.

A v3 join or exit logs its amounts. A v4 log has none: they are computed if the range has the pool's price before the
log.
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

# Allowed relative difference for amounts that are computed from a price with 24 digits.
_TOLERANCE = Fraction(1, 10**15)
# More digits than an amount has.
_EXACT = Context(prec=40)
ChainEvent = dict[str, Any]


class _Sender(str):
    """A transaction's sender, which the feed may not have."""


class _Amount(NamedTuple):
    """A join or exit amount, and its tolerance: relative, and in whole units."""

    value: Fraction
    tolerance: Fraction

    def is_near(self, shown: str | None) -> bool:
        """Return whether the feed's text is this amount."""
        return shown is not None and abs(Fraction(shown) - self.value) <= self.tolerance * self.value + self.tolerance


@dataclass(kw_only=True)
class EventComparison:
    """Event counts: compared, without a maker, joins and exits without amounts, and without reserves."""

    events: int = 0
    without_maker: int = 0
    unpriced: int = 0
    unreserved: int = 0


class EventReplay:
    """The pools' events on the chain, from logs in sequence.

    Without `makers`, the feed may have an event without its transaction's sender.
    """

    def __init__(self, pairs: Mapping[str, FeedPair], reserves: ChainReserves, *, makers: bool) -> None:
        self._pairs, self._reserves = pairs, reserves
        self._sender = str if makers else _Sender
        # Pool -> its price's square root, as soon as the range has a price.
        self._roots: dict[str, int] = {}

    def replay(self, log: PoolLog, trade: ChainTrade | None, block: Mapping[str, Any]) -> ChainEvent | None:
        """Return the next log's event in the feed's fields, with amounts as fractions and reserves as bounds."""
        self._reserves.add(log)
        if log.kind in ("start", "swap"):
            self._roots[log.pool] = log.arguments["sqrtPriceX96"]
            return trade and self._trade_event(trade, block)
        return self._change_event(log, block) if log.liquidity else None

    def _trade_event(self, trade: ChainTrade, block: Mapping[str, Any]) -> ChainEvent:
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

    def _change_event(self, log: PoolLog, block: Mapping[str, Any]) -> ChainEvent:
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

    def _head(self, log: PoolLog, pair: FeedPair, block: Mapping[str, Any], kind: str) -> ChainEvent:
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


def compare_events(
    served: Sequence[Mapping[str, Any]], expected: Sequence[ChainEvent], tally: EventComparison
) -> Iterator[str]:
    """Yield a sentence for each event that is missing, invented or different, and count the events."""
    in_feed, on_chain = ({_position(event): event for event in events} for events in (served, expected))
    if len(in_feed) < len(served):
        yield "the feed has two events in one place"
    for position in sorted(on_chain.keys() | in_feed.keys()):
        tally.events += 1
        where = f"block {position[0]}, log {position[1]}"
        if position not in in_feed:
            yield f"{where}: the feed lacks it"
        elif position not in on_chain:
            yield f"{where}: the chain does not have it"
        else:
            tally.without_maker += in_feed[position]["maker"] == UNKNOWN_MAKER
            tally.unpriced += "amount0" in in_feed[position] and "amount0" not in on_chain[position]
            tally.unreserved += on_chain[position]["reserves"] is None
            if differing := ", ".join(_differing(in_feed[position], on_chain[position])):
                yield f"{where}: {differing}"


def _position(event: Mapping[str, Any]) -> tuple[int, int]:
    return event["block"]["blockNumber"], event["eventIndex"]


def _differing(served: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
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
