"""Comparison of pairs with the blocks and receipts of their launches, and of their fees with those of their swaps."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tokens.chains.abi.codec import Log
from tokens.chains.evm.evm_chain import Chain
from tokens.feeds.checking.chain_logs import read_blocks, read_receipt
from tokens.feeds.checking.valued_trades import ValuedTrade
from tokens.feeds.feed_pairs import FeedPair

# A module against snipers may charge traders more in the first seconds after the launch.
_SNIPER_SECONDS = 120


class PairCheck:
    """Pairs, of which each is compared once: its launch with its block, and its fee with the first one of a swap."""

    def __init__(self, chain: Chain, pairs: Iterable[FeedPair]) -> None:
        self._chain = chain
        self._launched: dict[int, list[FeedPair]] = defaultdict(list)
        for pair in pairs:
            self._launched[pair.block_number].append(pair)
        self._charged: set[int] = set()

    def compare_launches(self, first: int, last: int) -> Iterator[str]:
        """Yield a sentence for each fact of a launch in these blocks that differs. Raises NodeUnavailableError."""
        pairs = [pair for number in range(first, last + 1) for pair in self._launched.get(number, ())]
        blocks = read_blocks(self._chain, {pair.block_number for pair in pairs})
        hashes = {number: {entry["hash"] for entry in block["transactions"]} for number, block in blocks.items()}
        mined = [pair.tx_hash for pair in pairs if pair.tx_hash in hashes[pair.block_number]]
        receipts = read_receipt(self._chain, mined)
        for pair in pairs:
            where = f"block {pair.block_number}, pair {pair.pool}"
            if not _is_named(pair.token, receipts.get(pair.tx_hash, ())):
                yield f"{where}: createdAtTxnId is {pair.tx_hash} in the feed, and does not launch {pair.token}"
            if pair.created_at != (mined_at := _time(blocks[pair.block_number])):
                yield f"{where}: createdAtBlockTimestamp is {pair.created_at} in the feed, and {mined_at} on the chain"

    def compare_fee(self, valued: ValuedTrade) -> Iterator[str]:
        """Yield a sentence if the feed has another fee of the pair than its swap, in parts per million."""
        trade, pair = valued.trade, valued.trade.pair
        is_sniped = trade.at < pair.created_at + _SNIPER_SECONDS
        if None in (pair.fee, valued.fee) or is_sniped or trade.is_conversion or pair.token_id in self._charged:
            return
        self._charged.add(pair.token_id)
        if pair.fee != valued.fee:
            where = f"block {trade.log.block}, pair {pair.pool}"
            yield f"{where}: its fee is {pair.fee} in the feed, and {valued.fee} on the chain"


def _is_named(token: str, logs: Sequence[Log]) -> bool:
    """Return whether a log is of the token, or has its address among its values."""
    digits = token[2:].lower()
    return any(digits in text for log in logs for text in (log["address"].lower(), *log["topics"], log["data"]))


def _time(block: Mapping[str, Any]) -> int:
    return int(block["timestamp"], 16)
