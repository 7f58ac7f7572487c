"""JSON texts for the generated chain's logs, blocks, transactions and receipts, and their bloom filters."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from benchmarks.backfill.backfill_chain import Action, LogShape, block_hash, block_time, bloom_bits, wallet, word
from tokens.chains.abi import codec

_TRANSFER = codec.load_abi("token").event("Transfer").topic0

# Besides ours every block has so many transfers in other tokens.
FOREIGN = 6
_TRANSFERS, _TRANSFER_TOKENS, _TRANSFER_WALLETS = 5_000, 200, 2_000
_FACTORY = "0xe85a59c628f7d27878aceb4bf3b35733630083a9"
_NO_HASH = "0x" + "00" * 32

_LOG = (
    '{{"address":"{address}","topics":[{topics}],"data":"0x{data}","blockHash":"%(block_hash)s",'
    '"blockNumber":"%(block)s","transactionHash":"%(tx_hash)s","transactionIndex":"%(index)s","logIndex":"%(log)s",'
    '"removed":false'
)
_HEADER = (
    '{{"hash":"{hash}","parentHash":"{parent}","number":"{number:#x}","timestamp":"{time:#x}",'
    '"logsBloom":"0x{bloom:0512x}","transactionsRoot":"{hash}","stateRoot":"{hash}","receiptsRoot":"{hash}",'
    '"sha3Uncles":"0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347",'
    '"miner":"0x4200000000000000000000000000000000000011","difficulty":"0x0","totalDifficulty":"0x0","extraData":"0x",'
    '"size":"0x4e20","gasLimit":"0xb71b000","gasUsed":"0x1c9c380","baseFeePerGas":"0x4c4b40",'
    '"nonce":"0x0000000000000000","mixHash":"{hash}","uncles":[],"transactions":[{transactions}]}}'
)
_RECEIPT = (
    '{{"blockHash":"{block_hash}","blockNumber":"{block:#x}","transactionHash":"{hash}","transactionIndex":"{index:#x}",'
    '"type":"0x2","status":"0x1","from":"{sender}","to":"{to}","contractAddress":null,"cumulativeGasUsed":"0x41ca3d",'
    '"gasUsed":"0x41ca3d","effectiveGasPrice":"0x4c4b41","logsBloom":"0x{bloom:0512x}","logs":[{logs}]}}'
)


@dataclass(frozen=True, slots=True)
class LogText:
    """A log's text without its end, and the values that filters compare."""

    address: str
    topic0: str
    text: bytes


def render_logs(action: Action) -> Iterator[LogText]:
    """Return a transaction's logs, in order."""
    values = {
        **action.values,
        "block_hash": block_hash(action.block),
        "block": hex(action.block),
        "tx_hash": action.tx_hash,
        "index": hex(action.index),
    }
    for place, shape in enumerate(action.shapes):
        values["log"] = hex(action.first_log + place)
        yield LogText(shape.address % values, shape.topics[0], (_log_text(shape) % values).encode())


def log_end(block: int, *, stamped: bool) -> bytes:
    """Return a block log's end: with the block's timestamp, as newer nodes send it, or without."""
    return b',"blockTimestamp":"%#x"}' % block_time(block) if stamped else b"}"


def render_block(number: int, transactions: Iterable[str], *, time: int, bloom: int) -> bytes:
    """Return a block with its transactions' texts, or their hashes; `time` is in Unix seconds."""
    return _HEADER.format(
        hash=block_hash(number),
        parent=block_hash(number - 1) if number else _NO_HASH,
        number=number,
        time=time,
        bloom=bloom,
        transactions=",".join(transactions),
    ).encode()


def render_receipt(action: Action, logs: Iterable[LogText], *, stamped: bool) -> bytes:
    """Render a transaction's receipt, with its logs."""
    end = log_end(action.block, stamped=stamped)
    texts = b",".join(log.text + end for log in logs).decode()
    return _RECEIPT.format(**_facts(action), bloom=bloom_of(action), logs=texts).encode()


def bloom_of(action: Action) -> int:
    """Return the bloom filter for a transaction's logs."""
    bits, others = _fixed_bits(tuple(action.shapes))
    for text in others:
        bits |= bloom_bits(text % action.values)
    return bits


def foreign(number: int, *, index: int, first_log: int) -> list[Action]:
    """Return a block's transfers in other tokens, which come after ours."""
    return [
        Action(block=number, index=index + place, first_log=first_log + place, shapes=(_transfer(drawn),), values={})
        for place, drawn in enumerate(_drawn(number))
    ]


def foreign_bloom(number: int) -> int:
    """Return the bloom filter for a block's transfers in other tokens."""
    bits = 0
    for drawn in _drawn(number):
        bits |= _transfer_bits(drawn)
    return bits


def _drawn(number: int) -> list[int]:
    """Return which transfers are in a block.

    Any numbers do that are deterministic and differ between blocks.
    """
    return [(number * 7_919 + place * 104_729) % _TRANSFERS for place in range(FOREIGN)]


@cache
def _transfer(drawn: int) -> LogShape:
    sender, recipient = wallet(drawn % _TRANSFER_WALLETS), wallet(drawn // 3 % _TRANSFER_WALLETS)
    return LogShape(
        address=f"0xf0{drawn % _TRANSFER_TOKENS:038x}",
        topics=(_TRANSFER, f"0x{sender:0>64}", f"0x{recipient:0>64}"),
        data=word(drawn),
    )


@cache
def _transfer_bits(drawn: int) -> int:
    return _fixed_bits((_transfer(drawn),))[0]


@cache
def _log_text(shape: LogShape) -> str:
    topics = ",".join(f'"{topic}"' for topic in shape.topics)
    return _LOG.format(address=shape.address, topics=topics, data=shape.data)


@cache
def _fixed_bits(shapes: tuple[LogShape, ...]) -> tuple[int, tuple[str, ...]]:
    """Return the bits that all transactions with these shapes share, and the texts with placeholders."""
    texts = {text for shape in shapes for text in (shape.address, *shape.topics)}
    bits = 0
    for text in texts:
        bits |= 0 if "%" in text else bloom_bits(text)
    return bits, tuple(text for text in texts if "%" in text)


def _facts(action: Action) -> dict[str, Any]:
    first = action.shapes[0]
    sender = action.values.get("admin") or first.topics[1][26:]
    to = _FACTORY if action.launch else first.address % action.values
    return {
        "block_hash": block_hash(action.block),
        "block": action.block,
        "hash": action.tx_hash,
        "index": action.index,
        "sender": f"0x{sender}",
        "to": to,
    }
