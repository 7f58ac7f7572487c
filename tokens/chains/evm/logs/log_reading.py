"""Reader for launches, token events and pool activity in block ranges, from untrusted nodes' logs."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from config.http.errors import RetryableError
from tokens.chains.errors import InconsistentResponseError, NodeUnavailableError, RequestTooLargeError
from tokens.chains.evm.headers import block_call, read_header, require_on_chain
from tokens.chains.evm.logs.log_facts import LogFacts, ValidLogs, join_facts, join_logs, read_facts, split_logs
from tokens.chains.evm.logs.log_filters import (
    LogFilter,
    join_filters,
    log_filters,
    pool_filters,
    requested_pool_filters,
)
from tokens.chains.evm.logs.log_validation import (
    parse_block_transactions,
    validate_block_hashes,
    validate_log_times,
    validate_logs,
    validate_transaction_indexes,
)
from tokens.chains.evm.logs.pool_logs import join_pool_logs
from tokens.chains.pool_types import PoolSelection, select_pools
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.block_ranges import RangeSize
from tokens.chains.rpc.client import ONE_ROUND, RpcClient
from tokens.chains.rpc.quantities import parse_block_number
from tokens.chains.rpc.responses import Call, CallFailure, RejectionKind, require_results
from tokens.chains.types import BlockHeader, RangeFacts

# From this many consecutive blocks on, blocks are queried as a number range: few calls instead of some per block.
RANGE_QUERY_MIN_BLOCKS = 20
# Maximum consecutive times that a range is shortened after all nodes timed out, or for the pools that it launches.
_SHORTER_AT_MOST = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class _Filters:
    """Filters of one log request; `pools` are the exact pool filters, and `requested` may match more pools."""

    requested: tuple[LogFilter, ...]
    pools: tuple[LogFilter, ...]


# Returns the logs in one block range that match the filters, or a node's rejection if the range is too long.
_Query = Callable[[_Filters], ValidLogs | CallFailure]


@dataclass(frozen=True, kw_only=True, slots=True)
class LogReader:
    """Reader for one chain's logs, with swaps and liquidity changes in the selected pools."""

    chain: ChainInfo
    rpc: RpcClient
    ranges: RangeSize
    pools: PoolSelection | None = None

    def read_range(
        self, first: int, last: int, *, addresses: Collection[str] | None = None, without: Collection[int] = ()
    ) -> RangeFacts:
        """Implement `Chain.read_range`."""

        def read(rpc: RpcClient) -> RangeFacts:
            ranges = replace(self, rpc=rpc)._read_ranges(first, last, addresses=addresses, without=without)
            return join_facts(first, last, ranges)

        return self.rpc.read_consistently(read, after=(InconsistentResponseError,))

    def read_blocks(self, headers: Sequence[BlockHeader]) -> RangeFacts:
        """Implement `Chain.read_blocks`, for at least one block."""
        return self.rpc.read_consistently(
            lambda rpc: replace(self, rpc=rpc)._read_blocks(headers), after=(InconsistentResponseError,)
        )

    def _read_blocks(self, headers: Sequence[BlockHeader]) -> RangeFacts:
        first, last = headers[0].number, headers[-1].number
        if len(headers) > RANGE_QUERY_MIN_BLOCKS and last - first + 1 == len(headers):
            blocks = {header.number: header for header in headers}
            try:
                return join_facts(first, last, self._read_ranges(first, last, headers=blocks))
            except NodeUnavailableError:
                require_on_chain(self.rpc, headers)
                raise
        return join_facts(first, last, self._read_batches(headers))

    def _filters(self, pools: PoolSelection | None, addresses: Collection[str] | None = None) -> _Filters:
        exact = () if pools is None else pool_filters(self.chain, pools)
        return _Filters(requested=(*log_filters(self.chain, addresses), *join_filters(exact)), pools=exact)

    def _read_ranges(
        self,
        first: int,
        last: int,
        *,
        addresses: Collection[str] | None = None,
        headers: Mapping[int, BlockHeader] | None = None,
        without: Collection[int] = (),
    ) -> Iterator[LogFacts]:
        """Yield the facts in consecutive blocks, one range at a time, as long as nodes accept."""
        shortened, pools = 0, self.pools
        while first <= last:
            end = min(last, first + self.ranges.blocks - 1)
            blocks = end - first + 1
            query = partial(self._query_range, first=first, last=end, headers=headers, without=without)
            try:
                result = query(self._filters(pools, addresses))
                if isinstance(result, CallFailure):
                    self.ranges.shrink(blocks, suggested=result.blocks)
                    continue
                facts = self._read_facts(result, query=query, pools=pools)
            except RequestTooLargeError:
                if blocks == 1 or shortened == _SHORTER_AT_MOST:
                    raise
                shortened += 1
                self.ranges.shrink(blocks)
                continue
            self.ranges.record_range(blocks, logs=result.count)
            yield facts
            pools = facts.added_to(pools)
            first, shortened = end + 1, 0

    def _query_range(
        self,
        filters: _Filters,
        *,
        first: int,
        last: int,
        headers: Mapping[int, BlockHeader] | None,
        without: Collection[int],
    ) -> ValidLogs | CallFailure:
        """Return the logs in a range, or a node's rejection if the range is too long.

        In the same request the node proves that it has the range: by its newest block, or by the last block in
        `headers`. A lagging node returns no logs for blocks that it lacks.
        """
        proof: Call = ("eth_blockNumber", ()) if headers is None else block_call(last)
        block_range = {"fromBlock": hex(first), "toBlock": hex(last)}

        def parse(results: list[Any]) -> ValidLogs | CallFailure:
            for result in results:
                if isinstance(result, CallFailure) and result.kind is RejectionKind.RANGE and last > first:
                    return result
            require_results(results)
            if headers is None:
                if parse_block_number(results[0]) < last:
                    raise RetryableError("it is behind the range")
            elif read_header(results[0], number=last).hash != headers[last].hash:
                raise RetryableError("it has another block there")
            logs = validate_logs(list(zip(filters.requested, results[1:], strict=True)), first=first, last=last)
            if headers is not None:
                validate_block_hashes(logs, {number: header.hash for number, header in headers.items()})
            times = None if headers is None else {header.hash: header.time for header in headers.values()}
            return split_logs(logs, chain=self.chain, pools=filters.pools, without=without, times=times)

        return self.rpc.query([proof, *_log_calls(filters, block_range)], parse=parse)

    def _read_batches(self, headers: Sequence[BlockHeader]) -> Iterator[LogFacts]:
        """Yield the facts in the blocks, as many blocks at a time as one request has calls for."""
        pools = self.pools
        at_once = max(1, self.rpc.batch_size // (1 + len(self._filters(pools).requested)))
        for start in range(0, len(headers), at_once):
            query = partial(self._query_blocks, headers=headers[start : start + at_once])
            facts = self._read_facts(query(self._filters(pools)), query=query, pools=pools)
            yield facts
            pools = facts.added_to(pools)

    def _query_blocks(self, filters: _Filters, *, headers: Sequence[BlockHeader]) -> ValidLogs:
        """Return block logs by hash, with transaction senders where pools are read.

        The request includes the block itself, because an empty log list does not prove that the node has the block.
        A node whose logs contradict the headers' times is skipped; if all nodes do, the headers' times count.
        """
        full = bool(filters.pools)
        calls: list[Call] = []
        for header in headers:
            calls.append(("eth_getBlockByHash", (header.hash, full)))
            calls += _log_calls(filters, {"blockHash": header.hash})
        width = 1 + len(filters.requested)

        def parse(results: list[Any], *, same_times: bool) -> ValidLogs:
            require_results(results)
            blocks = []
            for header, start in zip(headers, range(0, len(calls), width), strict=True):
                block, *log_lists = results[start : start + width]
                answers = list(zip(filters.requested, log_lists, strict=True))
                logs = validate_logs(answers, first=header.number, last=header.number)
                transactions = parse_block_transactions(block, header, full=full)
                validate_block_hashes(logs, {header.number: header.hash})
                validate_transaction_indexes(logs, list(transactions))
                times, senders = {header.hash: header.time}, transactions if full else {}
                if same_times:
                    validate_log_times(logs, times)
                blocks.append(split_logs(logs, chain=self.chain, pools=filters.pools, times=times, senders=senders))
            return join_logs(blocks)

        try:
            return self.rpc.query(calls, parse=partial(parse, same_times=True), policy=ONE_ROUND)
        except NodeUnavailableError:
            # No node has an orphaned block; further attempts would delay the follower's switch to the new one.
            require_on_chain(self.rpc, headers)
        return self.rpc.query(calls, parse=partial(parse, same_times=False))

    def _read_facts(self, logs: ValidLogs, *, query: _Query, pools: PoolSelection | None) -> LogFacts:
        """Return the logs' facts, and the facts of pools that the blocks launch and the selection lacks."""
        facts = read_facts(self.rpc, self.chain, logs)
        if pools is None:
            return facts
        unselected = select_pools(pool for pool in facts.launched_pools() if not pools.includes(pool))
        # A contract that is the curve of all its tokens was read already.
        queried = pool_filters(self.chain, pools)
        filters = tuple(each for each in pool_filters(self.chain, unselected) if each not in queried)
        if not filters:
            return facts
        pool_logs = query(_Filters(requested=requested_pool_filters(self.chain, filters), pools=filters))
        if isinstance(pool_logs, CallFailure):
            # Only logs of the launched pools can be so many.
            raise RequestTooLargeError(f"chain {self.chain.chain_id}: logs of launched pools are refused")
        if any(logs.hashes.get(number, block_hash) != block_hash for number, block_hash in pool_logs.hashes.items()):
            raise InconsistentResponseError(f"chain {self.chain.chain_id}: a block was dropped during the read")
        pool_facts = read_facts(self.rpc, self.chain, pool_logs)
        return replace(facts, pools=join_pool_logs([facts.pools, pool_facts.pools]).sorted())


def _log_calls(filters: _Filters, blocks: Mapping[str, str]) -> list[Call]:
    return [("eth_getLogs", (log_filter.query(**blocks),)) for log_filter in filters.requested]
