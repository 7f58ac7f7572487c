"""Transactions of interest, and what happened in pools, in runs of blocks, from the receipts of untrusted nodes."""

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

# Receipts per request, in bits of the blocks' bloom filters: five full blocks, which may have megabytes each, or more
# blocks with few logs.
_BITS_OF_RECEIPTS = 5 * BITS


# The watched logs of blocks, and what the headers show of each block's receipts.
_Proofs = dict[int, ReceiptProof]
_ProvenLogs = tuple[ValidLogs, _Proofs]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceiptReader:
    """Reader of one chain's receipts."""

    chain: ChainInfo
    rpc: RpcClient
    pools: PoolSelection | None = None

    def read_receipts(self, headers: Sequence[BlockHeader]) -> RangeFacts:
        """Implement `Chain.read_receipts`, for at least one block."""
        proofs: _Proofs = {}
        facts = join_facts(headers[0].number, headers[-1].number, self._read_parts(headers, proofs))
        return replace(
            facts,
            unproven=frozenset(number for number, proof in proofs.items() if not proof.is_proven),
            odd_filters=frozenset(number for number, proof in proofs.items() if not proof.makes_filter),
        )

    def _read_parts(self, headers: Sequence[BlockHeader], proofs: _Proofs) -> Iterator[LogFacts]:
        """Yield what is in the blocks, and add what their headers show of the receipts to `proofs`."""
        pools = self.pools
        for part in self._split_by_receipts(headers):
            logs, of_part = self._query_receipts(part)
            proofs |= of_part
            facts = read_facts(self.rpc, self.chain, logs)
            # Which pools the blocks launch is known only now: until here the logs of all pools were kept.
            pools = facts.added_to(pools)
            yield facts if pools is None else replace(facts, pools=facts.pools.filtered(pools.includes))

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

    def _query_receipts(self, headers: Sequence[BlockHeader]) -> _ProvenLogs:
        """Return the watched logs of blocks, by a node whose receipts make their bloom filters or roots.

        Where no node's do, the receipts of all transactions of a block count without a proof.
        """

        def parse(results: list[Any]) -> _ProvenLogs:
            require_results(results)
            logs: list[ValidLogs] = []
            proofs: _Proofs = {}
            if read_header(results[0], number=last.number).hash != last.hash:
                raise RetryableError("it has another block there")
            for header, receipts in zip(headers, results[1:], strict=True):
                told, bloom = parse_receipt_logs(receipts)
                proof = prove_receipts(header, receipts, bloom=bloom, is_whole=False)
                if not proof.is_proven and not proof.makes_filter:
                    raise RetryableError(f"receipts that don't make the bloom filter of block {header.number}")
                proofs[header.number] = proof
                logs.append(self._watched(told, header, transactions=parse_receipt_senders(receipts)))
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
        """Return the watched logs of a block from the receipts of its transactions one by one, and their proof."""

        def read_hashes(results: list[Any]) -> list[str]:
            require_results(results)
            return list(parse_block_transactions(results[0], header, full=False))

        def parse(results: list[Any]) -> tuple[int, ValidLogs, list[Any]]:
            require_results(results)
            told, bloom = parse_receipt_logs(results)
            transactions = dict.fromkeys(hashes) | parse_receipt_senders(results)
            return bloom, self._watched(told, header, transactions=transactions), results

        hashes = self.rpc.query([("eth_getBlockByHash", (header.hash, False))], parse=read_hashes)
        bloom = 0
        watched: list[ValidLogs] = []
        receipts: list[Any] = []
        for start in range(0, len(hashes), self.rpc.batch_size):
            calls: list[Call] = [
                ("eth_getTransactionReceipt", (tx_hash,)) for tx_hash in hashes[start : start + self.rpc.batch_size]
            ]
            # Nodes that pruned them are healthy.
            of_part, of_interest, read = self.rpc.query(calls, parse=parse, policy=ONE_ROUND)
            bloom |= of_part
            watched.append(of_interest)
            receipts += read
        return join_logs(watched), prove_receipts(header, receipts, bloom=bloom, is_whole=True)

    def _watched(self, logs: Sequence[Log], header: BlockHeader, *, transactions: Mapping[str, object]) -> ValidLogs:
        """Return those of a block's logs that the filters match, validated. Raises RetryableError."""
        selections = () if self.pools is None else (self.pools, EVERY_POOL)
        pools = tuple(log_filter for selected in selections for log_filter in pool_filters(self.chain, selected))
        watched = filter_watched(logs, (*log_filters(self.chain), *pools))
        found = validate_logs([(None, watched)], first=header.number, last=header.number)
        validate_block_hashes(found, {header.number: header.hash})
        validate_transaction_indexes(found, list(transactions))
        return split_logs(
            found,
            chain=self.chain,
            pools=pools,
            times={header.hash: header.time},
            senders=transactions if pools else {},
        )
