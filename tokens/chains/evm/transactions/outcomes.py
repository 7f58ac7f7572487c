"""Outcomes of sent transactions from their receipts; a malformed receipt counts as no response."""

from collections.abc import Iterator, Sequence
from typing import Any

from tokens.chains.errors import NodeUnavailableError
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.quantities import (
    GAS_LIMIT,
    GAS_PRICE_LIMIT,
    MalformedResponseError,
    parse_block_number,
    parse_hash,
    parse_object,
    parse_quantity,
)
from tokens.chains.rpc.responses import Call
from tokens.chains.transaction_types import TransactionOutcome


def read_outcomes(rpc: RpcClient, tx_hashes: Sequence[str]) -> dict[str, TransactionOutcome]:
    """Implement `Chain.read_outcomes`."""

    def parse(tx_hash: str, receipts: list[Any]) -> TransactionOutcome | None:
        return None if receipts[0] is None else _outcome(tx_hash, receipts[0])

    return rpc.query_each(tx_hashes, calls=lambda tx_hash: [_receipt_call(tx_hash)], parse=parse)


def find_outcomes(rpc: RpcClient, tx_hashes: Sequence[str]) -> dict[str, TransactionOutcome]:
    """Implement `Chain.find_outcomes`."""
    outcome_by_hash: dict[str, TransactionOutcome] = {}
    for start in range(0, len(tx_hashes), rpc.batch_size):
        batch = tx_hashes[start : start + rpc.batch_size]
        answers = rpc.call_all([_receipt_call(tx_hash) for tx_hash in batch])
        results = [receipts for receipts in answers if receipts is not None]
        if not results:
            raise NodeUnavailableError(f"chain {rpc.chain_id} is out of reach (no node answered)")
        for receipts in results:
            # Where two nodes report different blocks, the node that the setting lists first counts.
            outcome_by_hash = dict(_valid_outcomes(batch, receipts)) | outcome_by_hash
    return outcome_by_hash


def _valid_outcomes(tx_hashes: Sequence[str], receipts: Sequence[Any]) -> Iterator[tuple[str, TransactionOutcome]]:
    for tx_hash, receipt in zip(tx_hashes, receipts, strict=True):
        try:
            yield tx_hash, _outcome(tx_hash, receipt)
        except MalformedResponseError:
            # No receipt, or a malformed one; other nodes are queried as well.
            continue


def _outcome(tx_hash: str, receipt: object) -> TransactionOutcome:
    fields = parse_object(receipt, of="a receipt")
    if parse_hash(fields.get("transactionHash")) != tx_hash:
        raise MalformedResponseError("a receipt of another transaction")
    return TransactionOutcome(
        tx_hash=tx_hash,
        succeeded=parse_quantity(fields.get("status"), below=2) == 1,
        block_number=parse_block_number(fields.get("blockNumber")),
        block_hash=parse_hash(fields.get("blockHash")),
        gas_used=parse_quantity(fields.get("gasUsed"), below=GAS_LIMIT),
        gas_price=parse_quantity(fields.get("effectiveGasPrice"), below=GAS_PRICE_LIMIT),
    )


def _receipt_call(tx_hash: str) -> Call:
    return ("eth_getTransactionReceipt", (tx_hash,))
