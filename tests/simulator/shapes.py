"""JSON-RPC objects for blocks, transactions, receipts and logs."""

from functools import lru_cache
from typing import Any

from tests.nodes.log_encoding import LogEntry
from tests.nodes.log_encoding import log_json as encode_log
from tests.simulator.chain import Block
from tests.simulator.transactions import Transaction
from tokens.chains.evm.logs.receipt_roots import receipts_root

Json = dict[str, Any]

_EMPTY_HASH = "0x" + "00" * 32
_ZERO = "0x" + "00" * 20
_GAS_LIMIT = hex(400_000_000)


def block_json(block: Block, *, full: bool) -> Json:
    """Return a block, with its transactions or their hashes."""
    transactions: list[Any] = [entry.hash for entry in block.transactions]
    if full:
        transactions = [transaction_json(block, place) for place in range(len(block.transactions))]
    return header_json(block) | {"transactions": transactions, "uncles": [], "size": hex(1_000), "withdrawals": []}


def header_json(block: Block) -> Json:
    """Return a block's header, in the newHeads schema."""
    return {
        "number": hex(block.number),
        "hash": block.hash,
        "parentHash": block.parent_hash,
        "timestamp": hex(block.time),
        "logsBloom": f"0x{block.logs_bloom:0512x}",
        "nonce": "0x0000000000000000",
        "sha3Uncles": _EMPTY_HASH,
        "transactionsRoot": _EMPTY_HASH,
        "stateRoot": _EMPTY_HASH,
        "receiptsRoot": block.receipts_root or _root(block),
        "mixHash": _EMPTY_HASH,
        "miner": _ZERO,
        "difficulty": "0x0",
        "totalDifficulty": "0x0",
        "extraData": "0x",
        "gasLimit": _GAS_LIMIT,
        "gasUsed": hex(5_000_000 * len(block.transactions)),
        "baseFeePerGas": "0x1",
    }


@lru_cache(maxsize=50_000)
def _root(block: Block) -> str:
    """Return the block's receipt root, whose computation a test compares with a real node's."""
    return receipts_root(
        [receipt_json(block, place, bloom=0, with_times=False) for place in range(len(block.transactions))]
    )


def transaction_json(block: Block, place: int) -> Json:
    """Return a mined transaction by its index in the block."""
    entry = block.transactions[place]
    return {
        "hash": entry.hash,
        "blockHash": block.hash,
        "blockNumber": hex(block.number),
        "transactionIndex": hex(place),
        "from": entry.sender.lower(),
        "to": entry.to.lower(),
        "value": hex(entry.value),
        "input": entry.calldata() if entry.calldata else "0x",
        "type": "0x2",
        "nonce": "0x0",
        "gas": hex(16_000_000),
        "gasPrice": "0x1",
        "maxFeePerGas": "0x1",
        "maxPriorityFeePerGas": "0x1",
        "chainId": hex(8453),
        "accessList": [],
        "v": "0x0",
        "yParity": "0x0",
        "r": "0x1",
        "s": "0x1",
    }


def receipt_json(block: Block, place: int, *, bloom: int, with_times: bool) -> Json:
    """Return a transaction's receipt by its index in the block; `bloom` is its own logs' filter."""
    entry = block.transactions[place]
    return {
        "transactionHash": entry.hash,
        "transactionIndex": hex(place),
        "blockHash": block.hash,
        "blockNumber": hex(block.number),
        "from": entry.sender.lower(),
        "to": entry.to.lower(),
        "contractAddress": None,
        "status": hex(int(entry.succeeded)),
        "type": "0x2",
        "gasUsed": hex(5_000_000),
        "cumulativeGasUsed": hex(5_000_000 * (place + 1)),
        "effectiveGasPrice": "0x1",
        "logsBloom": f"0x{bloom:0512x}",
        "logs": [log_json(*found, with_times=with_times) for found in block.logs if found[1] is entry],
    }


def log_json(block: Block, entry: Transaction, place: int, log: LogEntry, index: int, *, with_times: bool) -> Json:
    """Return a log; newer nodes add its block's time."""
    found = encode_log(log) | {
        "blockNumber": hex(block.number),
        "blockHash": block.hash,
        "transactionHash": entry.hash,
        "transactionIndex": hex(place),
        "logIndex": hex(index),
        "removed": False,
    }
    return found | {"blockTimestamp": hex(block.time)} if with_times else found
