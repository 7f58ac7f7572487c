"""Airdrop Merkle tree: OpenZeppelin's StandardMerkleTree with leaves ['address', 'uint256'].

A second implementation, with which tests compare the service's.
"""

from collections.abc import Sequence

from eth_abi.abi import encode
from eth_utils.crypto import keccak

# Address and amount in wei.
Entry = tuple[str, int]


def merkle_root(entries: Sequence[Entry]) -> bytes:
    """Return the root, 32 bytes; zeros without entries (a launch may leave the root open)."""
    return _tree(entries)[0] if entries else bytes(32)


def merkle_proof(entries: Sequence[Entry], entry: Entry) -> list[bytes]:
    """Return the hashes from the entry to the root. Raises ValueError for an unknown entry."""
    tree = _tree(entries)
    # Leaves fill the tree's second half.
    position = tree.index(_leaf(entry), len(entries) - 1)
    proof = []
    while position > 0:
        sibling = position + 1 if position % 2 else position - 1
        proof.append(tree[sibling])
        position = (position - 1) // 2
    return proof


def _leaf(entry: Entry) -> bytes:
    return keccak(keccak(encode(["address", "uint256"], entry)))


def _tree(entries: Sequence[Entry]) -> list[bytes]:
    """Return the tree as a heap, root first: node i has children 2i+1 and 2i+2. Leaves are sorted descending."""
    count = len(entries)
    tree = [b""] * (count - 1) + sorted((_leaf(entry) for entry in entries), reverse=True)
    for position in range(count - 2, -1, -1):
        tree[position] = keccak(b"".join(sorted(tree[2 * position + 1 : 2 * position + 3])))
    return tree
