"""Comparison of pairs with their launch blocks and receipts, and of pair fees with the fees in swap logs."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.abi.codec import Log
from tokens.chains.abi.paths import part_at
from tokens.chains.addresses import address_key, checksum_address
from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.registry.chains import ChainInfo
from tokens.feeds.checking.chain_logs import PoolLog, read_blocks, read_receipt
from tokens.feeds.checking.valued_trades import ValuedTrade
from tokens.feeds.feed_pairs import FeedPair

# A module against snipers may charge traders more in the first seconds after the launch.
_SNIPER_SECONDS = 120
# Factory version -> event argument with the factory's caller. In v1 to v3, `deployer` is a user.
_CALLERS = {"v0": "deployer", "v1": None, "v3": None, "v3_1": "msgSender", "v4": "msgSender"}
_CREATED = {
    event.topic0: (event, caller)
    for event, caller in ((codec.load_abi(name).event("TokenCreated"), caller) for name, caller in _CALLERS.items())
}

_V4_CHANGED = codec.load_abi("uniswap_v4").event("ModifyLiquidity")
_MINTED = tuple(codec.load_abi(name).event("Mint") for name in ("uniswap_v2", "uniswap_v3"))


class PairCheck:
    """Pairs, each compared once: its launch with the launch block, and its fee with the first fee in a swap."""

    def __init__(self, chain: Chain, pairs: Iterable[FeedPair]) -> None:
        self._chain = chain
        self._launched: dict[int, list[FeedPair]] = defaultdict(list)
        for pair in pairs:
            self._launched[pair.block_number].append(pair)
        self._charged: set[int] = set()

    def compare_launches(self, first: int, last: int) -> Iterator[str]:
        """Yield a sentence for each launch fact in these blocks that differs. Raises NodeUnavailableError."""
        pairs = [pair for number in range(first, last + 1) for pair in self._launched.get(number, ())]
        blocks = read_blocks(self._chain, {pair.block_number for pair in pairs})
        mined = {(number, entry["hash"]): entry for number in blocks for entry in blocks[number]["transactions"]}
        launches = [(pair, mined.get((pair.block_number, pair.tx_hash))) for pair in pairs]
        receipts = read_receipt(self._chain, [pair.tx_hash for pair, launch in launches if launch])
        for pair, launch in launches:
            where = f"block {pair.block_number}, pair {pair.pool}"
            receipt = receipts.get(pair.tx_hash, ())
            if pair.since is not None:
                if not _has_deposit(receipt, pair):
                    yield f"{where}: createdAtTxnId is {pair.tx_hash} in the feed, and adds no liquidity to it"
                continue
            is_declared = launch and pair.factory in _declared_factories(self._chain.info, pair.token, receipt)
            # A declared launch has no caller to compare.
            if not is_declared and (difference := _launch_difference(pair, launch, receipt)):
                yield f"{where}: {difference}"
            if pair.created_at != (mined_at := _time(blocks[pair.block_number])):
                yield f"{where}: createdAtBlockTimestamp is {pair.created_at} in the feed, and {mined_at} on the chain"

    def compare_start(self, log: PoolLog, pair: FeedPair) -> Iterator[str]:
        """Yield a sentence if a v4 pool's start log has the token on another side than the pair."""
        if log.kind == "start" and "currency0" in log.arguments:
            is_currency0 = log.arguments["currency0"] == pair.token
            if pair.is_currency0 != is_currency0:
                sides = f"{int(not pair.is_currency0)} in the feed, and {int(not is_currency0)} on the chain"
                yield f"block {log.block}, pair {pair.pool}: its token is currency {sides}"

    def compare_fee(self, valued: ValuedTrade) -> Iterator[str]:
        """Yield a sentence if the pair's fee in the feed differs from its swap's fee, in parts per million."""
        trade, pair = valued.trade, valued.trade.pair
        is_sniped = trade.timestamp < pair.created_at + _SNIPER_SECONDS
        if None in (pair.fee, valued.fee) or is_sniped or trade.is_conversion or pair.token_id in self._charged:
            return
        self._charged.add(pair.token_id)
        if pair.fee != valued.fee:
            where = f"block {trade.log.block}, pair {pair.pool}"
            yield f"{where}: its fee is {pair.fee} in the feed, and {valued.fee} on the chain"


def _launch_difference(pair: FeedPair, launch: Mapping[str, Any] | None, receipt: Sequence[Log]) -> str | None:
    """Return how a pair's transaction, factory or creator differs from `launch`, which is None if the block lacks it.

    A factory's caller is the sender if the transaction calls the factory, else the account that its event names.
    """
    callers = _factory_callers(pair.token, receipt) if launch else {}
    if not launch or not callers:
        return f"createdAtTxnId is {pair.tx_hash} in the feed, and does not launch {pair.token}"
    if pair.factory not in callers:
        return f"factoryAddress is {pair.factory} in the feed, and {', '.join(callers)} on the chain"
    is_direct = address_key(launch["to"] or "") == address_key(pair.factory)
    caller = checksum_address(launch["from"]) if is_direct else callers[pair.factory]
    if caller in (None, pair.creator):
        return None
    return f"creator is {pair.creator} in the feed, and {caller} on the chain"


def _factory_callers(token: str, receipt: Sequence[Log]) -> dict[str, str | None]:
    """Return factory -> its caller for each factory that reports the launch; None if its event names no caller."""
    callers = {}
    for log in receipt:
        if not log["topics"] or log["topics"][0] not in _CREATED:
            continue
        event, caller = _CREATED[log["topics"][0]]
        try:
            created = event.decode(log)
        except LogDecodingError:
            # Any contract can emit the topic; a factory's event is whole.
            continue
        if created["tokenAddress"] == token:
            callers[checksum_address(log["address"])] = caller and created[caller]
    return callers


def _declared_factories(chain: ChainInfo, token: str, receipt: Sequence[Log]) -> set[str]:
    """Return declared launchpads' contracts whose launch events in the receipt have the token."""
    declared = {
        (address.lower(), launch.event.topic0): launch
        for launchpad in chain.declared.values()
        for launch in launchpad.launches
        for address in launch.contracts.get(chain.chain_id, ())
    }
    launches = [
        (log, declared.get((address_key(log["address"]), log["topics"][0]))) for log in receipt if log["topics"]
    ]
    return {
        checksum_address(log["address"])
        for log, launch in launches
        if launch and part_at(launch.event.decode(log), launch.token) == token
    }


def _has_deposit(receipt: Sequence[Log], pair: FeedPair) -> bool:
    """Return whether a transaction's receipt adds liquidity to the pair's pool."""
    return any(
        log["topics"][:1] == [event.topic0]
        and (log["topics"][1] if event is _V4_CHANGED else address_key(log["address"])) == address_key(pair.pool)
        and (event is not _V4_CHANGED or event.decode(log)["liquidityDelta"] > 0)
        for log in receipt
        for event in (*_MINTED, _V4_CHANGED)
    )


def _time(block: Mapping[str, Any]) -> int:
    return int(block["timestamp"], 16)
