"""Transactions of interest in runs of blocks, from logs or receipts of untrusted nodes."""

import logging
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from config.http.errors import RetryableError
from tokens.chains.abi.codec import Log
from tokens.chains.errors import LaunchNotFoundError, LogDecodingError, NodeUnavailableError, RequestTooLargeError
from tokens.chains.evm.generations.launch_completion import complete_launches
from tokens.chains.evm.generations.transaction_decoding import LAYOUTS
from tokens.chains.evm.headers import block_call, read_header, read_times, require_on_chain
from tokens.chains.evm.logs.blooms import BITS
from tokens.chains.evm.logs.log_decoding import decode_logs, own_topics
from tokens.chains.evm.logs.log_filters import LogFilter, log_filters
from tokens.chains.evm.logs.log_validation import (
    filter_watched,
    parse_receipt_hashes,
    parse_receipt_logs,
    reported_times,
    validate_block_hashes,
    validate_logs,
    validate_transaction_indexes,
)
from tokens.chains.evm.transactions.transaction_receipts import read_transaction, read_transactions
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.block_ranges import RangeSize
from tokens.chains.rpc.client import ONE_ROUND, QueryPolicy, RpcClient
from tokens.chains.rpc.quantities import parse_hash, parse_list, parse_object, parse_quantity
from tokens.chains.rpc.responses import Call, CallFailure, RejectionKind, require_results
from tokens.chains.types import BlockHeader, RangeFacts, TransactionFacts

logger = logging.getLogger(__name__)

# From this many blocks on, a run of blocks is queried by its numbers: two calls instead of three per block.
RANGE_QUERY_MIN_BLOCKS = 20
# Maximum consecutive times that a range is shortened after a timeout of all nodes.
_SHORTER_AT_MOST = 4
# Receipts per request, in bits of the blocks' bloom filters: five full blocks, which may have megabytes each, or more
# blocks with few logs.
_BITS_OF_RECEIPTS = 5 * BITS


@dataclass(frozen=True, kw_only=True, slots=True)
class LogReader:
    """Reader of one chain's logs."""

    chain: ChainInfo
    rpc: RpcClient
    ranges: RangeSize

    def read_range(
        self, first: int, last: int, *, addresses: Collection[str] | None = None, without: Collection[int] = ()
    ) -> RangeFacts:
        """Implement `Chain.read_range`."""
        transactions = self._read_pieces(first, last, filters=log_filters(self.chain, addresses), without=without)
        return RangeFacts(first=first, last=last, transactions=tuple(transactions))

    def read_blocks(self, headers: Sequence[BlockHeader]) -> RangeFacts:
        """Implement `Chain.read_blocks`, for at least one block."""
        first, last = headers[0].number, headers[-1].number
        transactions: list[TransactionFacts] = []
        if len(headers) > RANGE_QUERY_MIN_BLOCKS and last - first + 1 == len(headers):
            hashes = {header.number: header.hash for header in headers}
            try:
                transactions = self._read_pieces(first, last, filters=log_filters(self.chain), hashes=hashes)
            except NodeUnavailableError:
                require_on_chain(self.rpc, headers)
                raise
        else:
            at_once = max(1, self.rpc.batch_size // 3)
            for start in range(0, len(headers), at_once):
                transactions += self._decode(self._query_blocks(headers[start : start + at_once]))
        return RangeFacts(first=first, last=last, transactions=tuple(transactions))

    def read_receipts(self, headers: Sequence[BlockHeader]) -> RangeFacts:
        """Implement `Chain.read_receipts`, for at least one block."""
        transactions: list[TransactionFacts] = []
        for part in self._split_by_receipts(headers):
            transactions += self._decode(self._query_receipts(part))
        return RangeFacts(first=headers[0].number, last=headers[-1].number, transactions=tuple(transactions))

    def _read_pieces(
        self,
        first: int,
        last: int,
        *,
        filters: Sequence[LogFilter],
        hashes: Mapping[int, str] | None = None,
        without: Collection[int] = (),
    ) -> list[TransactionFacts]:
        """Return the transactions of a run of blocks, in ranges as long as nodes accept."""
        transactions: list[TransactionFacts] = []
        shortened = 0
        while first <= last:
            end = min(last, first + self.ranges.blocks - 1)
            blocks = end - first + 1
            try:
                result = self._query_range(first, end, filters=filters, hashes=hashes)
            except RequestTooLargeError:
                if blocks == 1 or shortened == _SHORTER_AT_MOST:
                    raise
                shortened += 1
                self.ranges.shrink(blocks)
                continue
            if isinstance(result, CallFailure):
                self.ranges.shrink(blocks, suggested=result.blocks)
                continue
            self.ranges.record_range(blocks, logs=len(result))
            transactions += self._decode([log for log in result if int(log["blockNumber"], 16) not in without])
            first, shortened = end + 1, 0
        return transactions

    def _query_range(
        self, first: int, last: int, *, filters: Sequence[LogFilter], hashes: Mapping[int, str] | None
    ) -> list[Log] | CallFailure:
        """Return the logs of a range, or a node's rejection of its length.

        In the same request the node proves that it has the range: by its newest block, or, where the blocks' `hashes`
        are given, by the last of them. A lagging node returns no logs for blocks that it lacks.
        """
        proof: Call = ("eth_blockNumber", ()) if hashes is None else block_call(last)
        where = {"fromBlock": hex(first), "toBlock": hex(last)}

        def parse(results: list[Any]) -> list[Log] | CallFailure:
            for result in results:
                if isinstance(result, CallFailure) and result.kind is RejectionKind.RANGE and last > first:
                    return result
            require_results(results)
            if hashes is None:
                if parse_quantity(results[0]) < last:
                    raise RetryableError("it is behind the range")
            elif read_header(results[0], number=last).hash != hashes[last]:
                raise RetryableError("it has another block there")
            logs = validate_logs(list(zip(filters, results[1:], strict=True)), first=first, last=last)
            if hashes is not None:
                validate_block_hashes(logs, hashes)
            return logs

        return self.rpc.query([proof, *_log_calls(filters, where)], parse=parse)

    def _query_blocks(self, headers: Sequence[BlockHeader]) -> list[Log]:
        """Return the logs of blocks by hash.

        The block itself proves that the node has it, as an empty list of logs does not.
        """
        filters = log_filters(self.chain)
        calls: list[Call] = []
        for header in headers:
            calls.append(("eth_getBlockByHash", (header.hash, False)))
            calls += _log_calls(filters, {"blockHash": header.hash})

        def parse(results: list[Any]) -> list[Log]:
            require_results(results)
            logs: list[Log] = []
            for header, at in zip(headers, range(0, len(calls), 1 + len(filters)), strict=True):
                block, *told = results[at : at + 1 + len(filters)]
                found = validate_logs(list(zip(filters, told, strict=True)), first=header.number, last=header.number)
                _check_of_block(found, header, block=block)
                logs += found
            return logs

        try:
            return self.rpc.query(calls, parse=parse, policy=ONE_ROUND)
        except NodeUnavailableError:
            # No node has an orphaned block; further attempts would delay the follower's switch to the new one.
            require_on_chain(self.rpc, headers)
        return self.rpc.query(calls, parse=parse)

    def _split_by_receipts(self, headers: Sequence[BlockHeader]) -> Iterator[list[BlockHeader]]:
        """Yield the blocks in parts whose receipts fit into one request, by their number and size."""
        part: list[BlockHeader] = []
        bits = 0
        for header in headers:
            own = header.logs_bloom.bit_count()
            # Besides the call for the last block.
            if part and (bits + own > _BITS_OF_RECEIPTS or len(part) + 1 >= self.rpc.batch_size):
                yield part
                part, bits = [], 0
            part.append(header)
            bits += own
        yield part

    def _query_receipts(self, headers: Sequence[BlockHeader]) -> list[Log]:
        """Return the watched logs of blocks, whose receipts must reproduce their bloom filters."""

        def parse(results: list[Any]) -> list[Log]:
            require_results(results)
            logs: list[Log] = []
            if read_header(results[0], number=last.number).hash != last.hash:
                raise RetryableError("it has another block there")
            for header, receipts in zip(headers, results[1:], strict=True):
                told, bloom = parse_receipt_logs(receipts)
                if bloom != header.logs_bloom:
                    raise RetryableError(f"receipts that don't make the bloom filter of block {header.number}")
                logs += self._watched(told, header, tx_hashes=parse_receipt_hashes(receipts))
            return logs

        # A node with the last block has all blocks before it. Without this, a block without receipts would look the
        # same on every fork.
        last = headers[-1]
        receipts_calls: list[Call] = [("eth_getBlockReceipts", (hex(header.number),)) for header in headers]
        calls = [block_call(last.number), *receipts_calls]
        try:
            return self.rpc.query(calls, parse=parse, policy=QueryPolicy(rare_method="eth_getBlockReceipts"))
        except NodeUnavailableError:
            require_on_chain(self.rpc, headers)
        return [log for header in headers for log in self._query_single_receipts(header)]

    def _query_single_receipts(self, header: BlockHeader) -> list[Log]:
        """Return the watched logs of a block from the receipts of its transactions one by one."""

        def read_hashes(results: list[Any]) -> list[str]:
            require_results(results)
            _check_of_block([], header, block=results[0])
            told = parse_list(parse_object(results[0], of="a block").get("transactions"), of="transactions")
            return [parse_hash(entry) for entry in told]

        def parse(results: list[Any]) -> tuple[int, list[Log]]:
            require_results(results)
            told, bloom = parse_receipt_logs(results)
            return bloom, self._watched(told, header, tx_hashes=hashes)

        hashes = self.rpc.query([("eth_getBlockByHash", (header.hash, False))], parse=read_hashes)
        bloom = 0
        watched: list[Log] = []
        for start in range(0, len(hashes), self.rpc.batch_size):
            calls: list[Call] = [
                ("eth_getTransactionReceipt", (tx_hash,)) for tx_hash in hashes[start : start + self.rpc.batch_size]
            ]
            of_part, of_interest = self.rpc.query(calls, parse=parse)
            bloom |= of_part
            watched += of_interest
        if bloom != header.logs_bloom:
            raise NodeUnavailableError(
                f"chain {self.chain.chain_id}: receipts that don't make the bloom filter of block {header.number}"
            )
        return watched

    def _watched(self, logs: Sequence[Log], header: BlockHeader, *, tx_hashes: Sequence[object]) -> list[Log]:
        """Return those of a block's logs that the filters match, validated. Raises RetryableError."""
        watched = filter_watched(logs, log_filters(self.chain))
        found = validate_logs([(None, watched)], first=header.number, last=header.number)
        validate_block_hashes(found, {header.number: header.hash})
        validate_transaction_indexes(found, tx_hashes)
        return found

    def _decode(self, logs: Sequence[Log]) -> list[TransactionFacts]:
        """Decode validated logs to transactions in chain order; incomplete ones are read in full."""
        times = reported_times(logs)
        unreported = {int(log["blockNumber"], 16): log["blockHash"] for log in logs if log["blockHash"] not in times}
        decoded = decode_logs(self.chain, logs, times=times | read_times(self.rpc, unreported))
        for lost in decoded.undecodable:
            # The rest continues: a retry of this transaction would fail the same way.
            logger.error("chain %s: transaction %s is left out: %s", self.chain.chain_id, lost.tx_hash, lost.reason)
        found = {facts.tx_hash: facts for facts in complete_launches(self.rpc, decoded.transactions)}
        if decoded.incomplete:
            found |= self._read_incomplete(decoded.incomplete, logs)
        order = dict.fromkeys(log["transactionHash"] for log in logs)
        return [found[tx_hash] for tx_hash in order if tx_hash in found]

    def _read_incomplete(self, tx_hashes: Sequence[str], logs: Sequence[Log]) -> dict[str, TransactionFacts]:
        """Read transactions in full, by hash, and verify that they hold all of their logs.

        Undecodable ones are skipped. Raises NodeUnavailableError.
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
            except LogDecodingError as error:
                logger.error("chain %s: transaction %s is left out: %s", self.chain.chain_id, tx_hash, error)
            except LaunchNotFoundError as error:
                raise NodeUnavailableError(f"chain {self.chain.chain_id}: a response without the logs") from error
        return found

    def _require_whole(self, facts: TransactionFacts, logs: Sequence[Log]) -> None:
        """Raise NodeUnavailableError if a transaction read in full lacks an event or launch that the logs contain."""
        told = {event.log_index for event in facts.event_logs} | {launch.log_index for launch in facts.launches}
        own = own_topics()
        for log in logs:
            generation = self.chain.factory_generation(log["address"].lower())
            is_launch = generation and log["topics"][0] == LAYOUTS[generation.event][0].topic0
            if (is_launch or log["topics"][0] in own) and int(log["logIndex"], 16) not in told:
                raise NodeUnavailableError(f"chain {self.chain.chain_id}: a response without all of its logs")
        if facts.block_hash != logs[0]["blockHash"]:
            raise NodeUnavailableError(f"chain {self.chain.chain_id}: a transaction changed its block during the read")


def _log_calls(filters: Sequence[LogFilter], where: Mapping[str, str]) -> list[Call]:
    return [("eth_getLogs", (log_filter.query(**where),)) for log_filter in filters]


def _check_of_block(logs: Sequence[Log], header: BlockHeader, *, block: object) -> None:
    """Raise RetryableError if the block is not the header's, or a log is not of its transactions."""
    if read_header(block, number=header.number).hash != header.hash:
        raise RetryableError("another block than the requested one")
    validate_block_hashes(logs, {header.number: header.hash})
    told = parse_list(parse_object(block, of="a block").get("transactions"), of="transactions")
    validate_transaction_indexes(logs, told)
