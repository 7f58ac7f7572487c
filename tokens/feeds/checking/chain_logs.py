"""Pool logs from a node, decoded by their ABI, and the trades among them.

From the indexer, only the connection to the nodes and the list of pairs are used.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import partial
from math import isqrt
from typing import Any, NamedTuple

from config.http.errors import RetryableError
from tokens.chains.abi import codec
from tokens.chains.abi.codec import Log
from tokens.chains.abi.paths import Path, part_at
from tokens.chains.errors import LogDecodingError, RequestTooLargeError
from tokens.chains.evm.eth_calls import ViewCall, call_views
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.pool_types import is_v4_pool
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.registry.launchpads import CurveTrade
from tokens.chains.rpc.quantities import parse_quantity
from tokens.chains.rpc.responses import CallFailure, RejectionKind, require_results
from tokens.feeds.feed_pairs import FeedPair

# Pools in one request.
_LOG_POOLS = 200
_V2, _V3, _V4 = (codec.load_abi(f"uniswap_{version}") for version in ("v2", "v3", "v4"))
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
        ("reserves", _V2.event("Sync")),
        ("swap", _V2.event("Swap")),
        ("deposit", _V2.event("Mint")),
        ("withdrawal", _V2.event("Burn")),
    )
}
_OF_V2 = frozenset(_V2.event(name).topic0 for name in ("Sync", "Swap", "Mint", "Burn"))
# A curve trade with smaller amounts has no average price.
_LEAST_AVERAGED = 10_000
# A v2 pair's fee in parts per million: a constant in the contract, which no log has.
_PAIR_FEE = 3_000
_SHIFT = 192
_OF_V4 = frozenset(_V4.event(name).topic0 for name in ("Swap", "ModifyLiquidity", "Initialize"))
_V4_LIQUIDITY = [_V4.event("ModifyLiquidity").topic0]
_V3_LIQUIDITY = [_V3.event("Mint").topic0, _V3.event("Burn").topic0]
_PRICE = Context(prec=24)
# Emitters and topics in one log request.
_Filter = tuple[list[str], list[list[str]]]


class PoolLog(NamedTuple):
    """A decoded pool log; `kind` is swap, change (v4), mint, burn (v3), deposit, withdrawal (v2) or start.

    Swaps in v2 pairs and declared curves have `amount0`, `amount1` and `sqrtPriceX96`, signed as in v3.
    """

    # Lower case.
    pool: str
    kind: str
    block: int
    log_index: int
    tx_index: int
    arguments: Mapping[str, Any]

    @property
    def liquidity(self) -> int:
        """Return the liquidity change, 0 if there is none."""
        if self.kind == "change":
            return int(self.arguments["liquidityDelta"])
        # v2 pairs have no tick ranges: only the sign counts.
        signs = {"mint": 1, "burn": -1, "deposit": 1, "withdrawal": -1}
        name = "amount0" if self.kind in ("deposit", "withdrawal") else "amount"
        return signs.get(self.kind, 0) * int(self.arguments.get(name, 0))


class ChainTrade(NamedTuple):
    """A swap in a pair's pool that exchanged both currencies; amounts in smallest units, positive."""

    log: PoolLog
    pair: FeedPair
    # Unix seconds.
    timestamp: int
    is_buy: bool
    is_conversion: bool
    token: int
    quote: int
    # Whole quote tokens for a whole token after the swap, as far as liquidity reaches, to 24 digits.
    price: Fraction

    @property
    def paid(self) -> int:
        """Return the quote token amount that the pool received, negative if it paid."""
        return self.quote if self.is_buy else -self.quote


def read_pool_logs(chain: Chain, pools: Mapping[str, str], first: int, last: int) -> list[PoolLog]:
    """Return the pools' logs in sequence. Raises NodeUnavailableError.

    `pools` has lower-case pool -> its token's generation, which is empty for reference pools.
    """
    emitters = [pool for pool in pools if not is_v4_pool(pool)]
    if manager := chain.info.v4_pool_manager:
        emitters.append(manager.lower())
    trades = _curve_trades(chain.info)
    topics = _EVENTS.keys() | {topic0 for _, topic0 in trades}
    emitters += {emitter for emitter, _ in trades if emitter}
    filters = [(batch, [sorted(topics)]) for batch in _batches(emitters)]
    return _decode(_query_logs(chain, first, last, filters), pools, chain.info)


def read_liquidity_logs(chain: Chain, pools: Collection[str], first: int, last: int) -> list[PoolLog]:
    """Return only these pools' liquidity changes, in sequence. Raises NodeUnavailableError."""
    manager = chain.info.v4_pool_manager
    v4_batches = _batches(pool for pool in pools if is_v4_pool(pool) and manager)
    v3_batches = _batches(pool for pool in pools if not is_v4_pool(pool))
    filters = [([str(manager).lower()], [_V4_LIQUIDITY, batch]) for batch in v4_batches]
    filters += [(batch, [_V3_LIQUIDITY]) for batch in v3_batches]
    return _decode(_query_logs(chain, first, last, filters), dict.fromkeys(pools, ""), chain.info)


def read_blocks(chain: Chain, numbers: Iterable[int]) -> dict[int, Mapping[str, Any]]:
    """Return number -> block with its transactions. Raises NodeUnavailableError."""
    return chain.rpc.query_each(
        sorted(numbers),
        calls=lambda number: [("eth_getBlockByNumber", (hex(number), True))],
        parse=lambda number, results: _first_result(results),
    )


def read_receipt(chain: Chain, tx_hashes: Iterable[str]) -> dict[str, list[Log]]:
    """Return transaction hash -> its receipt's logs. Raises NodeUnavailableError."""
    return chain.rpc.query_each(
        list(dict.fromkeys(tx_hashes)),
        calls=lambda tx_hash: [("eth_getTransactionReceipt", (tx_hash,))],
        parse=lambda tx_hash, results: list(_first_result(results)["logs"]),
    )


def read_pool_fees(chain: Chain, pools: Sequence[str]) -> dict[str, int | None]:
    """Return v3 pool -> its fee in parts per million; None if its call fails. Raises NodeUnavailableError."""
    results = call_views(chain.rpc, [ViewCall(contract=pool, function=_V3.function("fee")) for pool in pools])
    return {pool: int(result["fee"]) if result else None for pool, result in zip(pools, results, strict=True)}


def trade_of(log: PoolLog, pair: FeedPair, timestamp: int, *, root: int) -> ChainTrade | None:
    """Return a swap's trade, not marked as a conversion; `root` is the square root of the price that counts after it.

    None for a swap that did not exchange both currencies, and for a curve trade without a price.
    """
    if not root:
        return None
    # v4 logs the swapper's amounts, v3 the pool's.
    sign = -1 if is_v4_pool(log.pool) else 1
    amounts = (sign * log.arguments["amount0"], sign * log.arguments["amount1"])
    token, quote = amounts if pair.is_currency0 else amounts[::-1]
    if token * quote >= 0:
        return None
    price = price_at(root, decimals=pair.decimals, quote_decimals=pair.quote_decimals, is_currency0=pair.is_currency0)
    return ChainTrade(
        log=log,
        pair=pair,
        timestamp=timestamp,
        is_buy=token < 0,
        is_conversion=False,
        token=abs(token),
        quote=abs(quote),
        price=Fraction(_PRICE.divide(Decimal(price.numerator), Decimal(price.denominator))),
    )


def price_at(root: int, *, decimals: int, quote_decimals: int, is_currency0: bool) -> Fraction:
    """Return a pool's exact price from the price's square root: the other currency per token, both in whole units."""
    square = Fraction(root, 2**96) ** 2
    return (square if is_currency0 else 1 / square) * Fraction(10) ** (decimals - quote_decimals)


def _batches(pools: Iterable[str]) -> list[list[str]]:
    """Split pools into one list per request."""
    ordered = sorted(pools)
    return [ordered[start : start + _LOG_POOLS] for start in range(0, len(ordered), _LOG_POOLS)]


def _query_logs(chain: Chain, first: int, last: int, filters: Iterable[_Filter]) -> Iterator[Log]:
    """Yield the blocks' logs that match one of the filters, in ranges as long as nodes accept."""
    for emitters, topics in filters:
        start = first
        while start <= last:
            blocks = min(chain.ranges.blocks, last - start + 1)
            end = start + blocks - 1
            query = {"fromBlock": hex(start), "toBlock": hex(end), "address": emitters, "topics": topics}
            calls = [("eth_getLogs", (query,)), ("eth_blockNumber", ())]
            try:
                logs = chain.rpc.query(calls, parse=partial(_parse_logs, first=start, last=end))
            except RequestTooLargeError:
                if blocks == 1:
                    raise
                chain.ranges.shrink(blocks)
                continue
            if isinstance(logs, CallFailure):
                chain.ranges.shrink(blocks, suggested=logs.blocks)
                continue
            chain.ranges.record_range(blocks, logs=len(logs))
            yield from logs
            start = end + 1


def _parse_logs(results: list[Any], *, first: int, last: int) -> list[Log] | CallFailure:
    """Return the logs, or the range's rejection. Raises RetryableError for a node that lacks the range's end."""
    failure = results[0]
    if isinstance(failure, CallFailure) and failure.kind is RejectionKind.RANGE and last > first:
        return failure
    require_results(results)
    if parse_quantity(results[1]) < last:
        raise RetryableError("it is behind the range")
    logs: list[Log] = results[0]
    return logs


def _decode(logs: Iterable[Log], pools: Mapping[str, str], chain: ChainInfo) -> list[PoolLog]:
    pool_logs = list[PoolLog]()
    trades = _curve_trades(chain)
    # v2 pair -> its reserves, which it emits right before each other log.
    reserves: dict[str, Mapping[str, Any]] = {}
    for log in sorted(logs, key=_position):
        topic0, emitter = log["topics"][0], str(log["address"]).lower()
        if declared := (*trades.get((emitter, topic0), ()), *trades.get(("", topic0), ())):
            pool_logs += _curve_logs(log, emitter, declared, pools)
            continue
        # A v4 pool's id, else the emitter.
        pool = str(log["topics"][1] if topic0 in _OF_V4 else emitter).lower()
        if pool not in pools or topic0 not in _EVENTS:
            continue
        kind, event = _EVENTS[topic0]
        arguments = event.decode(log)
        if kind == "reserves":
            reserves[pool] = arguments
            continue
        if topic0 in _OF_V2:
            arguments = _pair_arguments(arguments, reserves[pool])
        pool_logs.append(PoolLog(pool, kind, *_position(log), _number(log, "transactionIndex"), arguments))
    return pool_logs


def _curve_trades(chain: ChainInfo) -> dict[tuple[str, str], list[CurveTrade]]:
    """Return lower-case emitter and topic0 -> declared trades; the emitter is empty if it is the curve itself."""
    trades = defaultdict[tuple[str, str], list[CurveTrade]](list)
    for launchpad in chain.declared.values():
        for trade in launchpad.trades:
            for emitter in launchpad.launch_contracts(chain.chain_id) if trade.token else ("",):
                trades[emitter, trade.event.topic0].append(trade)
    return trades


def _pair_arguments(arguments: Mapping[str, Any], reserves: Mapping[str, Any]) -> dict[str, Any]:
    """Return a v2 pair log's arguments; a swap also has v3's names."""
    first, second = reserves["reserve0"], reserves["reserve1"]
    swapped = {
        f"amount{side}": arguments[f"amount{side}In"] - arguments[f"amount{side}Out"]
        for side in (0, 1)
        if f"amount{side}In" in arguments
    }
    root = isqrt((second << _SHIFT) // first) if first else 0
    return {**arguments, **swapped, **reserves, "sqrtPriceX96": root, "fee": _PAIR_FEE}


def _curve_logs(log: Log, emitter: str, trades: Sequence[CurveTrade], pools: Mapping[str, str]) -> Iterator[PoolLog]:
    """Yield the swap if it is in one of the pools, as the token's launchpad declares it. Raises RetryableError."""
    errors = []
    for trade in trades:
        try:
            pool_log = _curve_log(log, emitter, trade)
        except LogDecodingError as error:
            errors.append(error)
            continue
        if pools.get(pool_log.pool) == trade.launchpad:
            yield pool_log
    if len(errors) == len(trades):
        raise RetryableError(str(errors[0]))


def _curve_log(log: Log, emitter: str, trade: CurveTrade) -> PoolLog:
    """Decode a curve's trade: the launched token is currency 0. Raises LogDecodingError."""
    values = trade.event.decode(log)

    def amount(path: Path | None) -> int:
        return int(part_at(values, path)) if path else 0

    sign = -1 if trade.is_buy and not part_at(values, trade.is_buy) else 1
    token = sign * (amount(trade.token_in) - amount(trade.token_out))
    quote = sign * (amount(trade.quote_in) - amount(trade.quote_out))
    price = (abs(quote), abs(token)) if min(abs(quote), abs(token)) >= _LEAST_AVERAGED else (0, 0)
    if trade.price:
        price = (amount(trade.price.quote), amount(trade.price.token) or 10**trade.price.decimals)
    arguments = {
        "amount0": token,
        "amount1": quote,
        "sqrtPriceX96": isqrt((price[0] << _SHIFT) // price[1]) if price[1] else 0,
        "sender": emitter,
        "fee": None,
    }
    if trade.trader:
        arguments["trader"] = part_at(values, trade.trader)
    pool = str(part_at(values, trade.token)).lower() if trade.token else emitter
    return PoolLog(pool, "swap", *_position(log), _number(log, "transactionIndex"), arguments)


def _position(log: Log) -> tuple[int, int]:
    return _number(log, "blockNumber"), _number(log, "logIndex")


def _number(log: Log, name: str) -> int:
    return int(log[name], 16)


def _first_result(results: Sequence[Any]) -> Any:
    require_results(list(results))
    if results[0] is None:
        raise RetryableError("a block or receipt that the node lacks")
    return results[0]
