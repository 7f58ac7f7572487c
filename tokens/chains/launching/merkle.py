"""Airdrop Merkle tree, and the proofs that its claims carry. Pure.

It is OpenZeppelin's StandardMerkleTree with ["address", "uint256"], byte for byte: a leaf is the double keccak-256 of
the ABI-encoded pair, leaves are sorted by hash, and two siblings are hashed in ascending byte order. Source:
https://github.com/OpenZeppelin/merkle-tree, and the airdrop contract's `claim`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sha3 import keccak_256

NODE_BYTES = 32

_WORD_BYTES = 32
_ADDRESS_PADDING = bytes(_WORD_BYTES - 20)


@dataclass(frozen=True, kw_only=True, slots=True)
class MerkleTree:
    """A whole tree: `root` is 0x-prefixed hex, `positions` has the node position of each entry's leaf, in entry order.

    `nodes` are the tree's hashes as one heap, 32 bytes each: first the root; position p has its children at 2p + 1 and
    2p + 2. A tree with n entries has 2n - 1 nodes.
    """

    root: str
    nodes: bytes
    positions: tuple[int, ...]


def build_tree(entries: Sequence[tuple[str, int]]) -> MerkleTree:
    """Build the tree from (hex address in any case, amount in wei) pairs; their order does not affect the root.

    Raises ValueError without entries, OverflowError on an amount that is no uint256. Duplicates get a leaf each: the
    caller rejects them.
    """
    if not entries:
        raise ValueError("a Merkle tree needs an entry")
    # abi.encode(address, uint256): one word each, with the address at the word's end. The encoding is inline, without a
    # function call per hash, because a large tree has some hundred thousand hashes.
    words = (_ADDRESS_PADDING + bytes.fromhex(account[2:]) + wei.to_bytes(_WORD_BYTES) for account, wei in entries)
    leaves = [keccak_256(keccak_256(pair).digest()).digest() for pair in words]
    ascending = sorted(range(len(leaves)), key=leaves.__getitem__)
    last = 2 * len(leaves) - 2
    positions = [0] * len(leaves)
    for rank, index in enumerate(ascending):
        positions[index] = last - rank
    nodes = [b""] * (len(leaves) - 1) + [leaves[index] for index in reversed(ascending)]
    for position in range(len(leaves) - 2, -1, -1):
        left, right = nodes[2 * position + 1], nodes[2 * position + 2]
        nodes[position] = keccak_256(left + right if left < right else right + left).digest()
    return MerkleTree(root="0x" + nodes[0].hex(), nodes=b"".join(nodes), positions=tuple(positions))


def proof_positions(position: int) -> tuple[int, ...]:
    """Return the node positions that prove the leaf at this position, from the leaf up, as `claim` takes them.

    The root has none: the proof of a tree's only entry is empty.
    """
    siblings = []
    while position > 0:
        # Left siblings have odd positions.
        siblings.append(position + 1 if position % 2 else position - 1)
        position = (position - 1) // 2
    return tuple(siblings)
