"""Logs of pools as a node returns them, decoded by their ABI, and the trades among them.

Nothing of the indexer is used but the connection to the nodes, and the list of pairs.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from config.http.errors import RetryableError
from tokens.chains.abi import codec
from tokens.chains.abi.codec import Log
from tokens.chains.errors import RequestTooLargeError
from tokens.chains.evm.eth_calls import ViewCall, call_views
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.pool_types import is_v4_pool
from tokens.chains.rpc.quantities import parse_quantity
from tokens.chains.rpc.responses import CallFailure, RejectionKind, require_results
from tokens.feeds.feed_pairs import FeedPair

# Pools of one request.
_LOG_POOLS = 200
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
_V4_LIQUIDITY = [_V4.event("ModifyLiquidity").topic0]
_V3_LIQUIDITY = [_V3.event("Mint").topic0, _V3.event("Burn").topic0]
_PRICE = Context(prec=24)
# Emitters and topics of one request for logs.
_Filter = tuple[list[str], list[list[str]]]


class PoolLog(NamedTuple):
    """A decoded log of a pool; `kind` is swap, change (of v4), mint, burn (of v3) or start."""

    # Lower case.
    pool: str
    kind: str
    block: int
    log_index: int
    tx_index: int
    arguments: Mapping[str, Any]

    @property
    def liquidity(self) -> int:
        """Return the change of liquidity, 0 where there is none."""
        if self.kind == "change":
            return int(self.arguments["liquidityDelta"])
        return {"mint": 1, "burn": -1}.get(self.kind, 0) * int(self.arguments.get("amount", 0))


class ChainTrade(NamedTuple):
    """A swap in the pool of a pair that exchanged both currencies; amounts in smallest units, positive."""

    log: PoolLog
    pair: FeedPair
    # Unix seconds.
    at: int
    is_buy: bool
    is_conversion: bool
    token: int
    quote: int
    # Whole units of the quote token for a whole token after the swap, as far as liquidity reaches, to 24 digits.
    price: Fraction

    @property
    def paid(self) -> int:
        """Return what the pool got of the quote token, negative for what it paid."""
        return self.quote if self.is_buy else -self.quote


def read_pool_logs(chain: Chain, pools: Collection[str], first: int, last: int) -> list[PoolLog]:
    """Return the logs of these pools, in lower case, in their sequence. Raises NodeUnavailableError."""
    emitters = [pool for pool in pools if not is_v4_pool(pool)]
    if manager := chain.info.v4_pool_manager:
        emitters.append(manager.lower())
    filters = [(part, [sorted(_EVENTS)]) for part in _parts(emitters)]
    return _decode(_query_logs(chain, first, last, filters), pools)


def read_liquidity_logs(chain: Chain, pools: Collection[str], first: int, last: int) -> list[PoolLog]:
    """Return only the changes of these pools' liquidity, in their sequence. Raises NodeUnavailableError."""
    manager = chain.info.v4_pool_manager
    of_v4 = _parts(pool for pool in pools if is_v4_pool(pool) and manager)
    of_v3 = _parts(pool for pool in pools if not is_v4_pool(pool))
    filters = [([str(manager).lower()], [_V4_LIQUIDITY, part]) for part in of_v4]
    filters += [(part, [_V3_LIQUIDITY]) for part in of_v3]
    return _decode(_query_logs(chain, first, last, filters), pools)


def read_blocks(chain: Chain, numbers: Iterable[int]) -> dict[int, Mapping[str, Any]]:
    """Return number -> block with its transactions. Raises NodeUnavailableError."""
    return chain.rpc.query_each(
        sorted(numbers),
        calls=lambda number: [("eth_getBlockByNumber", (hex(number), True))],
        parse=lambda number, results: _first_result(results),
    )


def read_receipt(chain: Chain, tx_hashes: Iterable[str]) -> dict[str, list[Log]]:
    """Return transaction hash -> logs of its receipt. Raises NodeUnavailableError."""
    return chain.rpc.query_each(
        list(dict.fromkeys(tx_hashes)),
        calls=lambda tx_hash: [("eth_getTransactionReceipt", (tx_hash,))],
        parse=lambda tx_hash, results: list(_first_result(results)["logs"]),
    )


def read_pool_fees(chain: Chain, pools: Sequence[str]) -> dict[str, int | None]:
    """Return v3 pool -> its fee in parts per million; None where it does not answer. Raises NodeUnavailableError."""
    results = call_views(chain.rpc, [ViewCall(contract=pool, function=_V3.function("fee")) for pool in pools])
    return {pool: int(result["fee"]) if result else None for pool, result in zip(pools, results, strict=True)}


def trade_of(log: PoolLog, pair: FeedPair, at: int, *, root: int) -> ChainTrade | None:
    """Return the trade of a swap, as no conversion, which leaves this square root of a price that counts.

    None for one that did not exchange both currencies.
    """
    # v4's amounts are those of the swapper, v3's those of the pool.
    sign = -1 if is_v4_pool(log.pool) else 1
    amounts = (sign * log.arguments["amount0"], sign * log.arguments["amount1"])
    token, quote = amounts if pair.is_currency0 else amounts[::-1]
    if token * quote >= 0:
        return None
    price = price_at(root, decimals=pair.decimals, quote_decimals=pair.quote_decimals, is_currency0=pair.is_currency0)
    return ChainTrade(
        log=log,
        pair=pair,
        at=at,
        is_buy=token < 0,
        is_conversion=False,
        token=abs(token),
        quote=abs(quote),
        price=Fraction(_PRICE.divide(Decimal(price.numerator), Decimal(price.denominator))),
    )


def price_at(root: int, *, decimals: int, quote_decimals: int, is_currency0: bool) -> Fraction:
    """Return the exact price at the square root of a pool's, in whole units of the other currency for a whole one."""
    square = Fraction(root, 2**96) ** 2
    return (square if is_currency0 else 1 / square) * Fraction(10) ** (decimals - quote_decimals)


def _parts(pools: Iterable[str]) -> list[list[str]]:
    """Return the pools in parts of one request."""
    ordered = sorted(pools)
    return [ordered[place : place + _LOG_POOLS] for place in range(0, len(ordered), _LOG_POOLS)]


def _query_logs(chain: Chain, first: int, last: int, filters: Iterable[_Filter]) -> Iterator[Log]:
    """Yield the logs of blocks that match one of the filters, in ranges as long as nodes accept."""
    for emitters, topics in filters:
        start = first
        while start <= last:
            blocks = min(chain.ranges.blocks, last - start + 1)
            end = start + blocks - 1
            query = {"fromBlock": hex(start), "toBlock": hex(end), "address": emitters, "topics": topics}
            calls = [("eth_getLogs", (query,)), ("eth_blockNumber", ())]
            try:
                found = chain.rpc.query(calls, parse=partial(_parse_logs, first=start, last=end))
            except RequestTooLargeError:
                if blocks == 1:
                    raise
                chain.ranges.shrink(blocks)
                continue
            if isinstance(found, CallFailure):
                chain.ranges.shrink(blocks, suggested=found.blocks)
                continue
            chain.ranges.record_range(blocks, logs=len(found))
            yield from found
            start = end + 1


def _parse_logs(results: list[Any], *, first: int, last: int) -> list[Log] | CallFailure:
    """Return the logs, or a node's rejection of the range. Raises RetryableError for a node that lacks its end."""
    found = results[0]
    if isinstance(found, CallFailure) and found.kind is RejectionKind.RANGE and last > first:
        return found
    require_results(results)
    if parse_quantity(results[1]) < last:
        raise RetryableError("it is behind the range")
    logs: list[Log] = found
    return logs


def _decode(logs: Iterable[Log], pools: Collection[str]) -> list[PoolLog]:
    found = []
    for log in logs:
        topic0 = log["topics"][0]
        # The id of a v4 pool, else the emitter.
        pool = str(log["topics"][1] if topic0 in _OF_V4 else log["address"]).lower()
        if pool in pools:
            kind, event = _EVENTS[topic0]
            block, index, tx_index = (int(log[name], 16) for name in ("blockNumber", "logIndex", "transactionIndex"))
            found.append(PoolLog(pool, kind, block, index, tx_index, event.decode(log)))
    return sorted(found, key=lambda log: (log.block, log.log_index))


def _first_result(results: Sequence[Any]) -> Any:
    require_results(list(results))
    if results[0] is None:
        raise RetryableError("a block or receipt that the node lacks")
    return results[0]
