"""Decoder of Uniswap pool, Uniswap pair and declared bonding curve logs to swaps and liquidity changes.

v4's PoolManager emits the logs for all its pools, with the pool's id as topic 1; a v3 pool emits its own logs. A
historical sync decodes millions of logs, so this module slices their words without the layouts of `AbiEvent`.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from tokens.chains.abi import codec
from tokens.chains.abi.codec import Log
from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.logs.curve_trades import read_curve_trade
from tokens.chains.evm.logs.log_places import (
    LogPlace,
    address_in,
    checksum_text,
    place_of,
    sender_of,
    undecodable_log,
)
from tokens.chains.evm.logs.pair_logs import PAIR_TOPICS, PairReader
from tokens.chains.pool_types import LOG_INDEX_LIMIT, LiquidityChange, Swap, UndecodableLog, position_of
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.registry.entry_rules import MAX_TICK
from tokens.chains.registry.launchpads import CurveTrade
from tokens.chains.rpc.quantities import MalformedResponseError

logger = logging.getLogger(__name__)

_V3, _V4 = codec.load_abi("uniswap_v3"), codec.load_abi("uniswap_v4")
_V4_SWAP = _V4.event("Swap").topic0
_V3_SWAP = _V3.event("Swap").topic0
_V4_CHANGED = _V4.event("ModifyLiquidity").topic0
_V3_MINTED = _V3.event("Mint").topic0
_V3_BURNED = _V3.event("Burn").topic0

_SWAPS = frozenset({_V4_SWAP, _V3_SWAP})
V4_POOL_TOPICS = frozenset({_V4_SWAP, _V4_CHANGED})
V3_POOL_TOPICS = frozenset({_V3_SWAP, _V3_MINTED, _V3_BURNED})
POOL_TOPICS = V4_POOL_TOPICS | V3_POOL_TOPICS


_WORD = 32
_WORD_DIGITS = 64
# Exclusive limits of Solidity types.
_UINT24, _INT128, _UINT160, _INT256, _UINT256 = 1 << 24, 1 << 127, 1 << 160, 1 << 255, 1 << 256
# Length of `data` with 0x: six words, and five.
_V4_SWAP_DIGITS, _V3_SWAP_DIGITS = 2 + 6 * 64, 2 + 5 * 64


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolLogs:
    """Decoded pool logs of a block range, each list in chain order."""

    swaps: list[Swap] = field(default_factory=list)
    liquidity_changes: list[LiquidityChange] = field(default_factory=list)
    # From trusted contracts, and from any contract that may be a token's own curve.
    undecodable: list[UndecodableLog] = field(default_factory=list)

    def add(self, record: Swap | LiquidityChange | None) -> None:
        """Add a log's record, if it has one; a liquidity change of 0 only collects fees and is dropped."""
        if isinstance(record, Swap):
            self.swaps.append(record)
        elif record is not None and record.liquidity:
            self.liquidity_changes.append(record)

    def add_trades(self, log: Log, trades: Sequence[CurveTrade], log_place: LogPlace) -> None:
        """Add a curve trade once per launchpad declaration: the curve's token decides which one is stored.

        A malformed log matches no declaration. The node is not at fault: each node would return the same log.
        """
        errors = []
        for trade in trades:
            try:
                self.swaps.append(read_curve_trade(log, trade, log_place))
            except LogDecodingError as error:
                launchpad = trade.launchpad if trade.token else None
                errors.append(undecodable_log(log, launchpad=launchpad, reason=str(error)))
        if len(errors) == len(trades):
            self.undecodable.append(errors[0])

    def filtered(self, is_wanted: Callable[[str], bool]) -> "PoolLogs":
        """Return the logs of the wanted pools."""
        return PoolLogs(
            swaps=[swap for swap in self.swaps if is_wanted(swap.pool)],
            liquidity_changes=[change for change in self.liquidity_changes if is_wanted(change.pool)],
            undecodable=[log for log in self.undecodable if log.launchpad is not None or is_wanted(log.emitter)],
        )

    def sorted(self) -> "PoolLogs":
        """Return the same logs in chain order."""
        return PoolLogs(
            swaps=sorted(self.swaps, key=position_of),
            liquidity_changes=sorted(self.liquidity_changes, key=position_of),
            undecodable=self.undecodable,
        )

    def with_times(self, times: Mapping[int, int]) -> "PoolLogs":
        """Return the same logs with block times from `times`, Unix seconds by block number."""
        if not times:
            return self
        return replace(
            self,
            swaps=[swap._replace(block_time=times.get(swap.block_number, swap.block_time)) for swap in self.swaps],
            liquidity_changes=[
                change._replace(block_time=times.get(change.block_number, change.block_time))
                for change in self.liquidity_changes
            ],
        )


def join_pool_logs(ranges: Iterable[PoolLogs]) -> PoolLogs:
    """Join the pool logs from consecutive block ranges."""
    joined = PoolLogs()
    for logs in ranges:
        joined.swaps.extend(logs.swaps)
        joined.liquidity_changes.extend(logs.liquidity_changes)
        joined.undecodable.extend(logs.undecodable)
    return joined


@cache
def pool_topics(chain: ChainInfo) -> frozenset[str]:
    """Return the topic0 values of pool, pair and declared curve events."""
    pairs = PAIR_TOPICS if "v2" in chain.pool_kinds else frozenset[str]()
    return POOL_TOPICS | pairs | {topic0 for _, topic0 in chain.curve_trades}


def decode_pool_logs(
    logs: Iterable[Log], *, chain: ChainInfo, times: Mapping[str, int], senders: Mapping[str, object], any_v3: bool
) -> PoolLogs:
    """Decode logs with `pool_topics`, which are validated and in chain order.

    `times` are Unix seconds by block hash; a block without one gets 0. `senders` are senders by transaction hash, as
    the node returned them. With `any_v3`, any contract may have emitted v3 and curve logs, and malformed ones are
    dropped: such a contract is no pool. `undecodable` has malformed trades with declared curves. A liquidity change of
    0, which collects fees, is dropped. A log with an index of LOG_INDEX_LIMIT or more is dropped with a logged error.
    Raises MalformedResponseError.
    """
    decoded, curves, pairs = PoolLogs(), chain.curve_trades, PairReader()
    for log in logs:
        topic0 = log["topics"][0]
        index = int(log["logIndex"], 16)
        if index >= LOG_INDEX_LIMIT:
            # Its position would equal another log's position. A retry would return the same log.
            logger.error(
                "chain %s: log %s of block %s is left out: positions have no room for its index",
                chain.chain_id,
                index,
                int(log["blockNumber"], 16),
            )
            continue
        try:
            if topic0 in _SWAPS:
                decoded.swaps.append(_read_swap(log, index, times=times, senders=senders))
            elif topic0 in POOL_TOPICS:
                decoded.add(_read_change(log, index, times=times, senders=senders))
            elif topic0 in PAIR_TOPICS:
                decoded.add(pairs.read(log, place_of(log, index, times=times, senders=senders)))
            elif trades := (*curves.get((log["address"].lower(), topic0), ()), *curves.get(("", topic0), ())):
                decoded.add_trades(log, trades, place_of(log, index, times=times, senders=senders))
        except MalformedResponseError:
            if not any_v3 or topic0 in V4_POOL_TOPICS:
                raise
    return decoded


def _read_swap(log: Log, index: int, *, times: Mapping[str, int], senders: Mapping[str, object]) -> Swap:
    """Decode a swap.

    v4: event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96,
    uint128 liquidity, int24 tick, uint24 fee), with amounts as the swapper sees them: negative ones were paid in.
    v3: event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1,
    uint160 sqrtPriceX96, uint128 liquidity, int24 tick), with amounts as the pool sees them.
    """
    topics, data, tx_hash = log["topics"], log["data"], log["transactionHash"]
    is_v4 = topics[0] == _V4_SWAP
    if len(topics) != 3 or len(data) != (_V4_SWAP_DIGITS if is_v4 else _V3_SWAP_DIGITS):
        raise MalformedResponseError("a swap that does not match its event")
    amount0, amount1, sqrt_price = int(data[2:66], 16), int(data[66:130], 16), int(data[130:194], 16)
    if amount0 >= _INT256:
        amount0 -= _UINT256
    if amount1 >= _INT256:
        amount1 -= _UINT256
    if sqrt_price >= _UINT160:
        raise MalformedResponseError("a price out of range")
    if is_v4 and int(data[-_WORD_DIGITS:], 16) >= _UINT24:
        raise MalformedResponseError("a fee out of range")
    if is_v4:
        if not (-_INT128 <= amount0 < _INT128 and -_INT128 <= amount1 < _INT128):
            raise MalformedResponseError("an amount out of range")
        amount0, amount1 = -amount0, -amount1
    return Swap(
        topics[1] if is_v4 else checksum_text(log["address"]),
        int(log["blockNumber"], 16),
        times.get(log["blockHash"], 0),
        tx_hash,
        index,
        amount0,
        amount1,
        sqrt_price,
        address_in(topics[2 if is_v4 else 1]),
        sender_of(tx_hash, senders),
        int(log["transactionIndex"], 16),
        int(data[-_WORD_DIGITS:], 16) if is_v4 else None,
    )


def _read_change(log: Log, index: int, *, times: Mapping[str, int], senders: Mapping[str, object]) -> LiquidityChange:
    """Decode a liquidity change.

    v4: event ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper,
    int256 liquidityDelta, bytes32 salt).
    v3: event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper,
    uint128 amount, uint256 amount0, uint256 amount1), and event Burn(address indexed owner,
    int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1).
    """
    topics, raw = log["topics"], bytes.fromhex(log["data"][2:])
    if topics[0] == _V4_CHANGED:
        _require_shape(topics, raw, topics=3, words=4)
        pool, ticks, liquidity = topics[1], (raw[:32], raw[32:64]), int.from_bytes(raw[64:96], signed=True)
        amount0, amount1 = None, None
    else:
        is_mint = topics[0] == _V3_MINTED
        _require_shape(topics, raw, topics=4, words=4 if is_mint else 3)
        pool, ticks = checksum_text(log["address"]), (bytes.fromhex(topics[2][2:]), bytes.fromhex(topics[3][2:]))
        liquidity = int.from_bytes(raw[32:64]) if is_mint else -int.from_bytes(raw[:32])
        amount0, amount1 = int.from_bytes(raw[-64:-32]), int.from_bytes(raw[-32:])
    lower, upper = (int.from_bytes(tick, signed=True) for tick in ticks)
    if not (-MAX_TICK <= lower < upper <= MAX_TICK and abs(liquidity) < 1 << 128):
        raise MalformedResponseError("liquidity out of range")
    return LiquidityChange(
        pool,
        int(log["blockNumber"], 16),
        times.get(log["blockHash"], 0),
        log["transactionHash"],
        index,
        lower,
        upper,
        liquidity,
        sender_of(log["transactionHash"], senders),
        int(log["transactionIndex"], 16),
        amount0,
        amount1,
    )


def _require_shape(topic_list: Sequence[str], raw: bytes, *, topics: int, words: int) -> None:
    if len(topic_list) != topics or len(raw) != words * _WORD:
        raise MalformedResponseError("a log of a pool that does not match its event")
