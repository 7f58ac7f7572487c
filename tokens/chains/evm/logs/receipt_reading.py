"""Reader for launches, token events and pool activity in blocks, from untrusted nodes' receipts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from config.http.errors import RetryableError
from tokens.chains.abi.codec import Log
from tokens.chains.errors import NodeUnavailableError
from tokens.chains.evm.headers import block_call, read_header, require_on_chain
from tokens.chains.evm.logs.blooms import BITS
from tokens.chains.evm.logs.log_facts import LogFacts, ValidLogs, join_facts, join_logs, read_facts, split_logs
from tokens.chains.evm.logs.log_filters import log_filters, pool_filters
from tokens.chains.evm.logs.log_validation import (
    filter_watched,
    parse_block_transactions,
    parse_receipt_logs,
    parse_receipt_senders,
    validate_block_hashes,
    validate_logs,
    validate_transaction_indexes,
)
from tokens.chains.evm.logs.receipt_roots import ReceiptProof, prove_receipts
from tokens.chains.pool_types import EVERY_POOL, PoolSelection
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import ONE_ROUND, QueryPolicy, RpcClient
from tokens.chains.rpc.responses import Call, require_results
from tokens.chains.types import BlockHeader, RangeFacts

# Receipt limit per request, as bits in the blocks' bloom filters: five full blocks, which may have megabytes each,
# or more blocks with few logs.
_BITS_OF_RECEIPTS = 5 * BITS


# Block number -> receipt proof.
_Proofs = dict[int, ReceiptProof]
# Watched logs from several blocks, with each block's receipt proof.
_ProvenLogs = tuple[ValidLogs, _Proofs]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceiptReader:
    """Reader for one chain's receipts."""

    chain: ChainInfo
    rpc: RpcClient
    pools: PoolSelection | None = None

    def read_receipts(self, headers: Sequence[BlockHeader]) -> RangeFacts:
        """Implement `Chain.read_receipts`, for at least one block."""
        proofs: _Proofs = {}
        facts = join_facts(headers[0].number, headers[-1].number, self._read_batches(headers, proofs))
        return replace(
            facts,
            unproven=frozenset(number for number, proof in proofs.items() if not proof.is_proven),
            odd_filters=frozenset(number for number, proof in proofs.items() if not proof.makes_filter),
        )

    def _read_batches(self, headers: Sequence[BlockHeader], proofs: _Proofs) -> Iterator[LogFacts]:
        """Yield the facts in the blocks, and add each block's receipt proof to `proofs`."""
        pools = self.pools
        for batch in self._split_by_receipts(headers):
            logs, batch_proofs = self._query_receipts(batch)
            proofs |= batch_proofs
            facts = read_facts(self.rpc, self.chain, logs)
            # The logs include every pool, because only the decoded launches show which pools the blocks launch.
            pools = facts.added_to(pools)
            yield facts if pools is None else replace(facts, pools=facts.pools.filtered(pools.includes))

    def _split_by_receipts(self, headers: Sequence[BlockHeader]) -> Iterator[list[BlockHeader]]:
        """Yield block batches whose receipts fit into one request, by number of blocks and by size."""
        batch: list[BlockHeader] = []
        bits = 0
        for header in headers:
            own = header.logs_bloom.bit_count()
            # One more call is for the last block.
            if batch and (bits + own > _BITS_OF_RECEIPTS or len(batch) + 1 >= self.rpc.batch_size):
                yield batch
                batch, bits = [], 0
            batch.append(header)
            bits += own
        yield batch

    def _query_receipts(self, headers: Sequence[BlockHeader]) -> _ProvenLogs:
        """Return the watched logs of blocks from a node whose receipts match the bloom filters or receipt roots.

        Where no node's receipts match, each block's receipts are fetched per transaction, and count without a proof.
        """

        def parse(results: list[Any]) -> _ProvenLogs:
            require_results(results)
            logs: list[ValidLogs] = []
            proofs: _Proofs = {}
            if read_header(results[0], number=last.number).hash != last.hash:
                raise RetryableError("it has another block there")
            for header, receipts in zip(headers, results[1:], strict=True):
                receipt_logs, bloom = parse_receipt_logs(receipts)
                proof = prove_receipts(header, receipts, bloom=bloom, is_whole=False)
                if not proof.is_proven and not proof.makes_filter:
                    raise RetryableError(f"receipts that don't make the bloom filter of block {header.number}")
                proofs[header.number] = proof
                logs.append(self._watched(receipt_logs, header, transactions=parse_receipt_senders(receipts)))
            return join_logs(logs), proofs

        # A node with the last block has all blocks before it. Without this, a block without receipts would look the
        # same on every fork.
        last = headers[-1]
        receipts_calls: list[Call] = [("eth_getBlockReceipts", (hex(header.number),)) for header in headers]
        calls = [block_call(last.number), *receipts_calls]
        try:
            return self.rpc.query(calls, parse=parse, policy=QueryPolicy(rare_method="eth_getBlockReceipts"))
        except NodeUnavailableError:
            require_on_chain(self.rpc, headers)
        singles = [self._query_single_receipts(header) for header in headers]
        proofs = {header.number: proof for header, (_, proof) in zip(headers, singles, strict=True)}
        return join_logs([logs for logs, _ in singles]), proofs

    def _query_single_receipts(self, header: BlockHeader) -> tuple[ValidLogs, ReceiptProof]:
        """Return a block's watched logs from its transactions' receipts, fetched one by one, and the receipt proof."""

        def read_hashes(results: list[Any]) -> list[str]:
            require_results(results)
            return list(parse_block_transactions(results[0], header, full=False))

        def parse(results: list[Any]) -> tuple[int, ValidLogs, list[Any]]:
            require_results(results)
            receipt_logs, bloom = parse_receipt_logs(results)
            transactions = dict.fromkeys(hashes) | parse_receipt_senders(results)
            return bloom, self._watched(receipt_logs, header, transactions=transactions), results

        hashes = self.rpc.query([("eth_getBlockByHash", (header.hash, False))], parse=read_hashes)
        bloom = 0
        watched: list[ValidLogs] = []
        receipts: list[Any] = []
        for start in range(0, len(hashes), self.rpc.batch_size):
            calls: list[Call] = [
                ("eth_getTransactionReceipt", (tx_hash,)) for tx_hash in hashes[start : start + self.rpc.batch_size]
            ]
            # A node that pruned these receipts is healthy.
            batch_bloom, batch_logs, batch_receipts = self.rpc.query(calls, parse=parse, policy=ONE_ROUND)
            bloom |= batch_bloom
            watched.append(batch_logs)
            receipts += batch_receipts
        return join_logs(watched), prove_receipts(header, receipts, bloom=bloom, is_whole=True)

    def _watched(self, logs: Sequence[Log], header: BlockHeader, *, transactions: Mapping[str, object]) -> ValidLogs:
        """Return a block's validated logs that match a filter. Raises RetryableError."""
        selections = () if self.pools is None else (self.pools, EVERY_POOL)
        pools = tuple(log_filter for selection in selections for log_filter in pool_filters(self.chain, selection))
        matching = filter_watched(logs, (*log_filters(self.chain), *pools))
        watched = validate_logs([(None, matching)], first=header.number, last=header.number)
        validate_block_hashes(watched, {header.number: header.hash})
        validate_transaction_indexes(watched, list(transactions))
        return split_logs(
            watched,
            chain=self.chain,
            pools=pools,
            times={header.hash: header.time},
            senders=transactions if pools else {},
        )
