"""Receipts root of a block, recomputed from its receipts, and receipt proof by the header's filter or root. Pure.

Ethereum's yellow paper, section 4.3.1 and appendices B to D: a Merkle Patricia trie with RLP index -> encoded receipt,
with EIP-2718's types, and the two further fields that OP stack deposits have since Canyon:
https://specs.optimism.io/protocol/deposits.html#deposit-receipt
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TypeAlias

from sha3 import keccak_256

from tokens.chains.evm.logs.blooms import BITS, bloom_mask, is_too_full
from tokens.chains.rpc.quantities import (
    parse_data,
    parse_hash,
    parse_list,
    parse_log_address,
    parse_object,
    parse_quantity,
)
from tokens.chains.types import BlockHeader

# Bytes, or a list of such items.
_Item: TypeAlias = "bytes | Sequence[_Item]"
# A key's nibbles, and the value.
_Entry = tuple[tuple[int, ...], bytes]

# Receipts root of a block without receipts: the root of an empty trie.
NO_RECEIPTS_ROOT = f"0x{keccak_256(bytes([0x80])).hexdigest()}"

_DEPOSIT = 0x7E
# EIP-2718: exclusive limit for the transaction types whose receipts have a type prefix.
_LARGEST_TYPE = 0x80
_SHORT, _LONG = 0x80, 55
_LIST_OFFSET = 0x40


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceiptProof:
    """Receipt checks against a header: whether they make its bloom filter, and whether they are proven complete."""

    makes_filter: bool
    is_proven: bool


def prove_receipts(header: BlockHeader, receipts: Sequence[object], *, bloom: int, is_whole: bool) -> ReceiptProof:
    """Check receipts against their block's header; `bloom` is the filter that the receipts make.

    A filter that is too full or empty would also fit without some logs, so that only the root decides. Some chains have
    other bits in their filters, or constant roots. `is_whole` means that the receipts were compared with the block's
    transactions: an empty receipt list makes an empty block's root, which may be a chain's constant root, too. Raises
    MalformedResponseError.
    """
    makes_filter = bloom == header.logs_bloom
    if makes_filter and bloom and not is_too_full(bloom):
        return ReceiptProof(makes_filter=True, is_proven=are_in_place(receipts))
    is_comparable = bool(receipts) or is_whole or makes_filter
    is_proven = is_comparable and are_in_place(receipts) and receipts_root(receipts) == header.receipts_root
    return ReceiptProof(makes_filter=makes_filter, is_proven=is_proven)


def are_in_place(receipts: Sequence[object]) -> bool:
    """Return whether transaction indexes and log indexes count a block's receipts and logs from 0.

    No proof covers the indexes: a node may return correct logs with wrong indexes.
    """
    log_index = 0
    for tx_index, receipt in enumerate(receipts):
        fields = parse_object(receipt, of="a receipt")
        if fields.get("transactionIndex") != hex(tx_index):
            return False
        for log in parse_list(fields.get("logs"), of="logs"):
            if parse_object(log, of="a log").get("logIndex") != hex(log_index):
                return False
            log_index += 1
    return True


def receipts_root(receipts: Sequence[object]) -> str:
    """Return the receipts root from all of a block's receipts in their order, as 0x-prefixed hex.

    Raises MalformedResponseError for a receipt that lacks a field of its encoding.
    """
    entries = [(_nibbles(_rlp(_integer(index))), _encode_receipt(receipt)) for index, receipt in enumerate(receipts)]
    return f"0x{keccak_256(_rlp(_trie(entries, 0))).hexdigest()}" if entries else NO_RECEIPTS_ROOT


def _encode_receipt(value: object) -> bytes:
    receipt = parse_object(value, of="a receipt")
    logs = [parse_object(log, of="a log") for log in parse_list(receipt.get("logs"), of="logs")]
    kind = parse_quantity(receipt.get("type", "0x0"), below=_LARGEST_TYPE)
    fields: list[_Item] = [
        _outcome(receipt),
        _integer(parse_quantity(receipt.get("cumulativeGasUsed"))),
        reduce(or_, map(_log_bloom, logs), 0).to_bytes(BITS // 8),
        [_log_item(log) for log in logs],
    ]
    if kind == _DEPOSIT and receipt.get("depositReceiptVersion") is not None:
        fields += [_integer(parse_quantity(receipt.get(name))) for name in ("depositNonce", "depositReceiptVersion")]
    return (bytes([kind]) if kind else b"") + _rlp(fields)


def _outcome(receipt: Mapping[str, object]) -> bytes:
    """Return the status, or the state root that receipts had before Byzantium."""
    if receipt.get("status") is None:
        return bytes.fromhex(parse_hash(receipt.get("root"))[2:])
    return _integer(parse_quantity(receipt["status"], below=2))


def _log_item(log: Mapping[str, object]) -> _Item:
    topics = [bytes.fromhex(parse_hash(topic)[2:]) for topic in parse_list(log.get("topics"), of="topics")]
    return [_bytes(parse_log_address(log.get("address"))), topics, _bytes(parse_data(log.get("data")))]


def _log_bloom(log: Mapping[str, object]) -> int:
    topics = map(parse_hash, parse_list(log.get("topics"), of="topics"))
    return reduce(or_, map(bloom_mask, topics), bloom_mask(parse_log_address(log.get("address")).lower()))


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text[2:])


def _integer(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8)


def _nibbles(key: bytes) -> tuple[int, ...]:
    return tuple(half for byte in key for half in (byte >> 4, byte & 15))


def _rlp(item: _Item) -> bytes:
    if isinstance(item, bytes):
        return item if len(item) == 1 and item[0] < _SHORT else _with_length(item, _SHORT)
    return _with_length(b"".join(map(_rlp, item)), _SHORT + _LIST_OFFSET)


def _with_length(payload: bytes, offset: int) -> bytes:
    if len(payload) <= _LONG:
        return bytes([offset + len(payload)]) + payload
    length = _integer(len(payload))
    return bytes([offset + _LONG + len(length)]) + length + payload


def _trie(entries: Sequence[_Entry], depth: int) -> _Item:
    """Return the trie node for entries whose keys are equal up to `depth`. No index key is another key's prefix."""
    first, value = entries[0]
    if len(entries) == 1:
        return [_path(first[depth:], is_leaf=True), value]
    shared = depth
    while all(key[shared] == first[shared] for key, _ in entries):
        shared += 1
    if shared > depth:
        return [_path(first[depth:shared], is_leaf=False), _reference(_trie(entries, shared))]
    children: list[list[_Entry]] = [[] for _ in range(16)]
    for entry in entries:
        children[entry[0][depth]].append(entry)
    return [*(_reference(_trie(child, depth + 1)) if child else b"" for child in children), b""]


def _reference(node: _Item) -> _Item:
    """Return a node's reference in its parent: the node itself if it is shorter than its hash."""
    encoded = _rlp(node)
    return node if len(encoded) < keccak_256().digest_size else keccak_256(encoded).digest()


def _path(nibbles: tuple[int, ...], *, is_leaf: bool) -> bytes:
    """Return nibbles with their hex prefix: the node's kind, and whether the number of nibbles is odd."""
    odd = len(nibbles) % 2
    prefixed = (2 * is_leaf + odd, *(() if odd else (0,)), *nibbles)
    return bytes(high << 4 | low for high, low in zip(prefixed[::2], prefixed[1::2], strict=True))
