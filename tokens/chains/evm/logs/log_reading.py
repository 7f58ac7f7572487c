"""What runs of blocks hold for us, from their logs or their receipts, read from nodes of which none is trusted."""

import logging
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from config.http.json_client import Retryable
from tokens.chains.abi.codec import Log
from tokens.chains.evm.generations.launch_completion import complete
from tokens.chains.evm.generations.transaction_decoding import LAYOUTS
from tokens.chains.evm.headers import block_call, read_header, read_times, require_on_chain
from tokens.chains.evm.logs.blooms import bloom_of
from tokens.chains.evm.logs.log_decoding import decode_logs, own_topics
from tokens.chains.evm.logs.log_filters import LogFilter, log_filters
from tokens.chains.evm.logs.log_validation import check_hashes, check_logs, check_places, take_watched, told_times
from tokens.chains.evm.transactions.transaction_receipts import read_transaction, read_transactions
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.block_ranges import RangeSize
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.quantities import read_hash, read_list, read_number, read_object
from tokens.chains.rpc.responses import Call, CallFailed, Refusal, refuse_failures
from tokens.chains.types import (
    AskedTooMuch,
    BlockHeader,
    LaunchNotFound,
    LogUndecodable,
    NodeUnavailable,
    Reading,
    TransactionFacts,
)

logger = logging.getLogger(__name__)

# From so many blocks on, a window is asked for by its numbers: two calls instead of three a block.
LONG_WINDOW = 20
# How often in a row a range is made shorter because no node gave an answer in time.
_SHORTER_AT_MOST = 4
# Receipts of so many blocks are asked for at once; those of a full block may have megabytes.
_BLOCKS_OF_RECEIPTS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class LogReader:
    """How one chain's logs are read."""

    chain: ChainInfo
    rpc: RpcClient
    ranges: RangeSize

    def read_range(self, first: int, last: int, *, addresses: Collection[str] | None = None) -> Reading:
        """As `Chain.read_range`. Raises NodeUnavailable."""
        transactions = self._read_pieces(first, last, filters=log_filters(self.chain, addresses))
        return Reading(first=first, last=last, transactions=tuple(transactions))

    def read_blocks(self, headers: Sequence[BlockHeader]) -> Reading:
        """As `Chain.read_blocks`; at least one block. Raises NodeUnavailable, BlockGone."""
        first, last = headers[0].number, headers[-1].number
        transactions: list[TransactionFacts] = []
        if len(headers) > LONG_WINDOW and last - first + 1 == len(headers):
            hashes = {header.number: header.hash for header in headers}
            try:
                transactions = self._read_pieces(first, last, filters=log_filters(self.chain), hashes=hashes)
            except NodeUnavailable:
                require_on_chain(self.rpc, headers)
                raise
        else:
            at_once = max(1, self.rpc.batch_size // 3)
            for start in range(0, len(headers), at_once):
                transactions += self._decode(self._ask_blocks(headers[start : start + at_once]))
        return Reading(first=first, last=last, transactions=tuple(transactions))

    def read_receipts(self, headers: Sequence[BlockHeader]) -> Reading:
        """As `Chain.read_receipts`; at least one block. Raises NodeUnavailable, BlockGone."""
        filters = log_filters(self.chain)
        transactions: list[TransactionFacts] = []
        for start in range(0, len(headers), _BLOCKS_OF_RECEIPTS):
            logs = self._ask_receipts(headers[start : start + _BLOCKS_OF_RECEIPTS])
            transactions += self._decode(take_watched(logs, filters))
        return Reading(first=headers[0].number, last=headers[-1].number, transactions=tuple(transactions))

    def _read_pieces(
        self, first: int, last: int, *, filters: Sequence[LogFilter], hashes: Mapping[int, str] | None = None
    ) -> list[TransactionFacts]:
        """Transactions of a run of blocks, in ranges as long as nodes take them."""
        transactions: list[TransactionFacts] = []
        shortened = 0
        while first <= last:
            end = min(last, first + self.ranges.blocks - 1)
            blocks = end - first + 1
            try:
                answer = self._ask_range(first, end, filters=filters, hashes=hashes)
            except AskedTooMuch:
                if blocks == 1 or shortened == _SHORTER_AT_MOST:
                    raise
                shortened += 1
                self.ranges.shrink(blocks)
                continue
            if isinstance(answer, CallFailed):
                self.ranges.shrink(blocks, suggested=answer.blocks)
                continue
            self.ranges.note_taken(blocks, logs=len(answer))
            transactions += self._decode(answer)
            first, shortened = end + 1, 0
        return transactions

    def _ask_range(
        self, first: int, last: int, *, filters: Sequence[LogFilter], hashes: Mapping[int, str] | None
    ) -> list[Log] | CallFailed:
        """The logs of a range, or the refusal of a node to which it is too long.

        In the same request the node proves that it has the range: by its newest block, or, where the blocks are known
        by their `hashes`, by the last of them. A node that lags tells of no logs where it has no blocks.
        """
        proof: Call = ("eth_blockNumber", ()) if hashes is None else block_call(last)
        where = {"fromBlock": hex(first), "toBlock": hex(last)}

        def read(answers: list[Any]) -> list[Log] | CallFailed:
            for answer in answers:
                if isinstance(answer, CallFailed) and answer.kind is Refusal.RANGE and last > first:
                    return answer
            refuse_failures(answers)
            if hashes is None:
                if read_number(answers[0]) < last:
                    raise Retryable("it is behind the range")
            elif read_header(answers[0], number=last).hash != hashes[last]:
                raise Retryable("it has another block there")
            logs = check_logs(list(zip(filters, answers[1:], strict=True)), first=first, last=last)
            if hashes is not None:
                check_hashes(logs, hashes)
            return logs

        return self.rpc.ask([proof, *_log_calls(filters, where)], read=read)

    def _ask_blocks(self, headers: Sequence[BlockHeader]) -> list[Log]:
        """The logs of blocks by their hashes; the block itself proves that the node knows it, as [] does not."""
        filters = log_filters(self.chain)
        calls: list[Call] = []
        for header in headers:
            calls.append(("eth_getBlockByHash", (header.hash, False)))
            calls += _log_calls(filters, {"blockHash": header.hash})

        def read(answers: list[Any]) -> list[Log]:
            refuse_failures(answers)
            logs: list[Log] = []
            for header, at in zip(headers, range(0, len(calls), 1 + len(filters)), strict=True):
                block, *told = answers[at : at + 1 + len(filters)]
                found = check_logs(list(zip(filters, told, strict=True)), first=header.number, last=header.number)
                _check_of_block(found, header, block=block)
                logs += found
            return logs

        try:
            return self.rpc.ask_once(calls, read=read)
        except NodeUnavailable:
            # Nobody knows a block that was dropped; asking for it again would keep the follower from the new one.
            require_on_chain(self.rpc, headers)
        return self.rpc.ask(calls, read=read)

    def _ask_receipts(self, headers: Sequence[BlockHeader]) -> list[Log]:
        def read(answers: list[Any]) -> list[Log]:
            refuse_failures(answers)
            logs: list[Log] = []
            for header, block, receipts in zip(headers, answers[::2], answers[1::2], strict=True):
                found = _read_receipts(receipts, header)
                _check_of_block(found, header, block=block)
                if bloom_of(found) != header.logs_bloom:
                    raise Retryable(f"receipts that don't make the bloom filter of block {header.number}")
                logs += found
            return logs

        calls: list[Call] = []
        for header in headers:
            # The block goes along because a block without receipts looks the same on every fork.
            calls += [block_call(header.number), ("eth_getBlockReceipts", (hex(header.number),))]
        try:
            return self.rpc.ask_where_offered("eth_getBlockReceipts", calls, read=read)
        except NodeUnavailable:
            require_on_chain(self.rpc, headers)
        return [log for header in headers for log in self._ask_each_receipt(header)]

    def _ask_each_receipt(self, header: BlockHeader) -> list[Log]:
        """The logs of a block from the receipts of its transactions one by one."""

        def read_block(answers: list[Any]) -> tuple[dict[str, Any], list[str]]:
            refuse_failures(answers)
            _check_of_block([], header, block=answers[0])
            block = read_object(answers[0], of="a block")
            return block, [read_hash(entry) for entry in read_list(block.get("transactions"), of="transactions")]

        def read(answers: list[Any]) -> list[Log]:
            refuse_failures(answers)
            found = _read_receipts(answers, header)
            _check_of_block(found, header, block=block)
            return found

        block, hashes = self.rpc.ask([("eth_getBlockByHash", (header.hash, False))], read=read_block)
        logs: list[Log] = []
        for start in range(0, len(hashes), self.rpc.batch_size):
            part = hashes[start : start + self.rpc.batch_size]
            logs += self.rpc.ask([("eth_getTransactionReceipt", (tx_hash,)) for tx_hash in part], read=read)
        if bloom_of(logs) != header.logs_bloom:
            raise NodeUnavailable(
                f"chain {self.chain.chain_id}: receipts that don't make the bloom filter of block {header.number}"
            )
        return logs

    def _decode(self, logs: Sequence[Log]) -> list[TransactionFacts]:
        """What checked logs tell of their transactions, in the chain's order; what they leave open is read in full."""
        times = told_times(logs)
        untold = {int(log["blockNumber"], 16): log["blockHash"] for log in logs if log["blockHash"] not in times}
        decoded = decode_logs(self.chain, logs, times=times | read_times(self.rpc, untold))
        for lost in decoded.undecodable:
            # The rest goes on, and must not wait for what says the same each time that it is read.
            logger.error("chain %s: transaction %s is left out: %s", self.chain.chain_id, lost.tx_hash, lost.reason)
        found = {facts.tx_hash: facts for facts in complete(self.rpc, decoded.transactions)}
        if decoded.incomplete:
            found |= self._read_incomplete(decoded.incomplete, logs)
        order = dict.fromkeys(log["transactionHash"] for log in logs)
        return [found[tx_hash] for tx_hash in order if tx_hash in found]

    def _read_incomplete(self, tx_hashes: Sequence[str], logs: Sequence[Log]) -> dict[str, TransactionFacts]:
        """Transactions read in full, by hash, which must hold all that their logs told.

        Left out are those that can't be decoded. Raises NodeUnavailable.
        """
        found = {facts.tx_hash: facts for facts in read_transactions(self.rpc, self.chain, tx_hashes)}
        told = defaultdict[str, list[Log]](list)
        for log in logs:
            told[log["transactionHash"]].append(log)
        for tx_hash in tx_hashes:
            if tx_hash in found:
                self._require_whole(found[tx_hash], told[tx_hash])
                continue
            try:
                found[tx_hash] = read_transaction(self.rpc, self.chain, tx_hash)
            except LogUndecodable as error:
                logger.error("chain %s: transaction %s is left out: %s", self.chain.chain_id, tx_hash, error)
            except LaunchNotFound as error:
                raise NodeUnavailable(f"chain {self.chain.chain_id}: half an answer, without the logs") from error
        return found

    def _require_whole(self, facts: TransactionFacts, logs: Sequence[Log]) -> None:
        """Raises NodeUnavailable where a transaction, read in full, lacks an event or a launch that its logs told."""
        told = {event.log_index for event in facts.event_logs} | {launch.log_index for launch in facts.launches}
        own = own_topics()
        for log in logs:
            generation = self.chain.factory_generation(log["address"].lower())
            is_launch = generation and log["topics"][0] == LAYOUTS[generation.event][0].topic0
            if (is_launch or log["topics"][0] in own) and int(log["logIndex"], 16) not in told:
                raise NodeUnavailable(f"chain {self.chain.chain_id}: half an answer, without all of its logs")
        if facts.block_hash != logs[0]["blockHash"]:
            raise NodeUnavailable(f"chain {self.chain.chain_id}: a transaction moved while it was read")


def _log_calls(filters: Sequence[LogFilter], where: Mapping[str, str]) -> list[Call]:
    return [("eth_getLogs", (asked.query(**where),)) for asked in filters]


def _check_of_block(logs: Sequence[Log], header: BlockHeader, *, block: object) -> None:
    """Raises Retryable where the block is not that of the header, or the logs are not all of its transactions."""
    if read_header(block, number=header.number).hash != header.hash:
        raise Retryable("another block than the one asked for")
    check_hashes(logs, {header.number: header.hash})
    check_places(logs, read_object(block, of="a block"))


def _read_receipts(receipts: object, header: BlockHeader) -> list[Log]:
    """All logs of receipts of a block. Raises Retryable where one is malformed."""
    told = [read_object(receipt, of="a receipt") for receipt in read_list(receipts, of="receipts")]
    return check_logs([(None, receipt.get("logs")) for receipt in told], first=header.number, last=header.number)
