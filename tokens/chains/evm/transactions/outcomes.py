"""What became of transactions that were sent: their receipts, of which a malformed one is no answer."""

from collections.abc import Iterator, Sequence
from typing import Any

from tokens.chains.rpc.client import Call, RpcClient
from tokens.chains.rpc.quantities import Malformed, read_hash, read_number, read_object
from tokens.chains.rpc.responses import refuse_failures
from tokens.chains.transaction_types import Outcome
from tokens.chains.types import NodeUnavailable


def read_outcomes(rpc: RpcClient, tx_hashes: Sequence[str]) -> dict[str, Outcome]:
    """As `Chain.read_outcomes`."""
    found: dict[str, Outcome] = {}
    for part in _parts(rpc, tx_hashes):
        found |= _read_part(rpc, part)
    return found


def _read_part(rpc: RpcClient, tx_hashes: Sequence[str]) -> dict[str, Outcome]:
    def read(receipts: list[Any]) -> dict[str, Outcome]:
        refuse_failures(receipts)
        told = zip(tx_hashes, receipts, strict=True)
        return {tx_hash: _outcome(tx_hash, receipt) for tx_hash, receipt in told if receipt is not None}

    return rpc.ask(_calls(tx_hashes), read=read)


def find_outcomes(rpc: RpcClient, tx_hashes: Sequence[str]) -> dict[str, Outcome]:
    """As `Chain.find_outcomes`."""
    found: dict[str, Outcome] = {}
    for part in _parts(rpc, tx_hashes):
        answers = [receipts for receipts in rpc.ask_every(_calls(part)) if receipts is not None]
        if not answers:
            raise NodeUnavailable(f"chain {rpc.chain_id} is out of reach (no node answered)")
        for receipts in answers:
            # Of two nodes that tell of different blocks, the setting's first counts.
            found = dict(_whole(part, receipts)) | found
    return found


def _whole(tx_hashes: Sequence[str], receipts: Sequence[Any]) -> Iterator[tuple[str, Outcome]]:
    for tx_hash, receipt in zip(tx_hashes, receipts, strict=True):
        try:
            yield tx_hash, _outcome(tx_hash, receipt)
        except Malformed:
            # It has none, or no whole one; others are asked as well.
            continue


def _outcome(tx_hash: str, receipt: object) -> Outcome:
    told = read_object(receipt, of="a receipt")
    if read_hash(told.get("transactionHash")) != tx_hash:
        raise Malformed("a receipt of another transaction")
    return Outcome(
        tx_hash=tx_hash,
        succeeded=read_number(told.get("status"), below=2) == 1,
        block_number=read_number(told.get("blockNumber")),
        block_hash=read_hash(told.get("blockHash")),
        gas_used=read_number(told.get("gasUsed")),
        gas_price=read_number(told.get("effectiveGasPrice")),
    )


def _calls(tx_hashes: Sequence[str]) -> list[Call]:
    return [("eth_getTransactionReceipt", (tx_hash,)) for tx_hash in tx_hashes]


def _parts(rpc: RpcClient, tx_hashes: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(tx_hashes), rpc.batch_size):
        yield tx_hashes[start : start + rpc.batch_size]
