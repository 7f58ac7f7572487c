"""Check of the feeds of events: the events of a range, decoded anew from a node's logs, beside what the feeds return.

Nothing of the indexer is used but the connection to the nodes: logs are decoded by their ABI, and prices are fractions.
Amounts of a join or exit are those of v3's event; v4's has none, and they are computed where the range has the pool's
price before it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from config.http.errors import RetryableError
from tokens.chains.abi import codec
from tokens.chains.abi.codec import Log
from tokens.chains.addresses import checksum_address
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.pool_types import is_v4_pool
from tokens.chains.rpc.responses import require_results
from tokens.feeds.event_answers import describe_events
from tokens.feeds.feed_pairs import FeedPair, read_chain_pairs
from tokens.feeds.pool_amounts import liquidity_amounts
from tokens.feeds.pool_events import UNKNOWN_MAKER, read_pool_events

# Blocks and v3 pools of one request for logs.
_LOG_BLOCKS, _LOG_POOLS = 200, 200
_V3, _V4 = codec.load_abi("uniswap_v3"), codec.load_abi("uniswap_v4")
_EVENTS = {
    event.topic0: (kind, event)
    for kind, event in (
        ("swap", _V4.event("Swap")),
        ("swap", _V3.event("Swap")),
        ("change", _V4.event("ModifyLiquidity")),
        ("mint", _V3.event("Mint")),
        ("burn", _V3.event("Burn")),
        ("start", _V4.event("Initialize")),
        ("start", _V3.event("Initialize")),
    )
}
_OF_V4 = frozenset(_V4.event(name).topic0 for name in ("Swap", "ModifyLiquidity", "Initialize"))
_PRICE = Context(prec=24)
# Relative difference of amounts that are computed from a price of 24 digits.
_TOLERANCE = Fraction(1, 10**15)
_Event = dict[str, Any]


@dataclass(kw_only=True)
class FeedComparison:
    """What a check has found. `differences` are sentences; `unpriced` joins and exits have no amounts to compare."""

    events: int = 0
    unpriced: int = 0
    differences: list[str] = field(default_factory=list)


def compare_feeds(chain: Chain, first: int, last: int) -> FeedComparison:
    """Compare the events of these blocks with the logs of a node. Raises the errors of `read_pool_events`.

    Raises NodeUnavailableError.
    """
    found = FeedComparison()
    served = describe_events(read_pool_events(chain.info, first, last), with_price=True)
    by_place = {_place(event): event for event in served}
    if len(by_place) < len(served):
        found.differences.append("the feed has two events in one place")
    expected = {_place(event): event for event in _recompute(chain, first, last)}
    for place in sorted(expected.keys() | by_place.keys()):
        found.events += 1
        if place not in by_place:
            found.differences.append(f"block {place[0]}, log {place[1]}: the feed lacks it")
        elif place not in expected:
            found.differences.append(f"block {place[0]}, log {place[1]}: the chain does not have it")
        else:
            found.unpriced += "amount0" in by_place[place] and "amount0" not in expected[place]
            differing = list(_differing(by_place[place], expected[place]))
            if differing:
                found.differences.append(f"block {place[0]}, log {place[1]}: {', '.join(differing)}")
    return found


def _place(event: _Event) -> tuple[int, int]:
    return event["block"]["blockNumber"], event["eventIndex"]


def _differing(served: _Event, expected: _Event) -> Iterator[str]:
    """Yield the fields that differ. The reserves follow from other blocks, too, and are not compared."""
    for name, value in expected.items():
        shown = served.get(name)
        if name in ("amount0", "amount1"):
            is_equal = shown is not None and abs(Fraction(shown) - value) <= _TOLERANCE * value + Fraction(1, 10**15)
        elif name == "maker":
            is_equal = shown in (value, UNKNOWN_MAKER)
        elif isinstance(value, Fraction):
            is_equal = shown is not None and Fraction(shown) == value
        else:
            is_equal = shown == value
        if not is_equal:
            yield f"{name} is {shown} in the feed, and {value} on the chain"


def _recompute(chain: Chain, first: int, last: int) -> Iterator[_Event]:
    pairs = {pair.pool.lower(): pair for pair in read_chain_pairs(chain.info)}
    logs = [log for log in _read_logs(chain, pairs, first, last) if _pool_of(log) in pairs]
    blocks = _read_blocks(chain, {int(log["blockNumber"], 16) for log in logs})
    roots: dict[str, int] = {}
    for log in logs:
        pool, (kind, event) = _pool_of(log), _EVENTS[log["topics"][0]]
        arguments, pair = event.decode(log), pairs[pool]
        if kind == "start":
            roots[pool] = arguments["sqrtPriceX96"]
        elif kind == "swap":
            roots[pool] = arguments["sqrtPriceX96"]
            if arguments["amount0"] and arguments["amount1"]:
                yield _head(log, pair, blocks, "swap", arguments) | _swap(pair, arguments, is_v4_pool(pool))
        elif liquidity := _liquidity(kind, arguments):
            name = "join" if liquidity > 0 else "exit"
            yield _head(log, pair, blocks, name, {}) | _amounts(pair, arguments, liquidity, roots.get(pool))


def _read_logs(chain: Chain, pools: Iterable[str], first: int, last: int) -> list[Log]:
    """Return the logs of v4's PoolManager and of these pools of v3 in their sequence."""
    emitters = sorted(pool for pool in pools if not is_v4_pool(pool))
    if manager := chain.info.v4_pool_manager:
        emitters.insert(0, manager.lower())
    logs: list[Log] = []
    for start in range(first, last + 1, _LOG_BLOCKS):
        blocks = {"fromBlock": hex(start), "toBlock": hex(min(start + _LOG_BLOCKS - 1, last))}
        for place in range(0, len(emitters), _LOG_POOLS):
            query = {**blocks, "address": emitters[place : place + _LOG_POOLS], "topics": [sorted(_EVENTS)]}
            logs += chain.rpc.query([("eth_getLogs", (query,))], parse=_first_result)
    return sorted(logs, key=lambda log: (int(log["blockNumber"], 16), int(log["logIndex"], 16)))


def _read_blocks(chain: Chain, numbers: Iterable[int]) -> dict[int, Mapping[str, Any]]:
    """Return number -> block with its transactions."""
    return chain.rpc.query_each(
        sorted(numbers),
        calls=lambda number: [("eth_getBlockByNumber", (hex(number), True))],
        parse=lambda number, results: _first_result(results),
    )


def _first_result(results: Sequence[Any]) -> Any:
    require_results(list(results))
    if results[0] is None:
        raise RetryableError("a block that the node lacks")
    return results[0]


def _pool_of(log: Log) -> str:
    """Return the pool in lower case: the id of a v4 pool, else the emitter."""
    return str(log["topics"][1] if log["topics"][0] in _OF_V4 else log["address"]).lower()


def _head(
    log: Log, pair: FeedPair, blocks: Mapping[int, Mapping[str, Any]], kind: str, arguments: Mapping[str, Any]
) -> _Event:
    number = int(log["blockNumber"], 16)
    block, index = blocks[number], int(log["transactionIndex"], 16)
    transaction = block["transactions"][index]
    is_conversion = arguments.get("sender") == pair.locker
    return {
        "block": {"blockNumber": number, "blockTimestamp": int(block["timestamp"], 16)},
        "eventType": kind,
        "txnId": transaction["hash"],
        "txnIndex": index,
        "eventIndex": int(log["logIndex"], 16),
        "maker": pair.locker if is_conversion else checksum_address(transaction["from"]),
        "pairId": pair.pool,
    }


def _swap(pair: FeedPair, arguments: Mapping[str, Any], is_v4: bool) -> _Event:
    # v4's amounts are those of the swapper, v3's those of the pool.
    sign = -1 if is_v4 else 1
    amounts = (sign * arguments["amount0"], sign * arguments["amount1"])
    token, quote = amounts if pair.is_currency0 else amounts[::-1]
    square = Fraction(arguments["sqrtPriceX96"], 2**96) ** 2
    ratio = square if pair.is_currency0 else 1 / square
    price = ratio * Fraction(10) ** (pair.decimals - pair.quote_decimals)
    token_name, quote_name = ("asset0In", "asset1Out") if token > 0 else ("asset0Out", "asset1In")
    return {
        token_name: Fraction(abs(token), 10**pair.decimals),
        quote_name: Fraction(abs(quote), 10**pair.quote_decimals),
        "priceNative": Fraction(_PRICE.divide(Decimal(price.numerator), Decimal(price.denominator))),
    }


def _liquidity(kind: str, arguments: Mapping[str, Any]) -> int:
    if kind == "change":
        return int(arguments["liquidityDelta"])
    return int(arguments["amount"]) if kind == "mint" else -int(arguments["amount"])


def _amounts(pair: FeedPair, arguments: Mapping[str, Any], liquidity: int, root: int | None) -> _Event:
    """Return the amounts of v3's event, or of v4's at the pool's price; nothing where the range has no price."""
    if "amount0" in arguments:
        amounts = (arguments["amount0"], arguments["amount1"])
    elif root is not None:
        amounts = liquidity_amounts(liquidity, root, arguments["tickLower"], arguments["tickUpper"])
    else:
        return {}
    token, quote = amounts if pair.is_currency0 else amounts[::-1]
    return {
        "amount0": Fraction(token, 10**pair.decimals),
        "amount1": Fraction(quote, 10**pair.quote_decimals),
    }
