"""The Merkle tree of an airdrop, as claims prove their entry by it. Pure.

It is OpenZeppelin's StandardMerkleTree of ["address", "uint256"], byte for byte: a leaf is the double keccak-256 of the
ABI-encoded pair, leaves are sorted by their hash, and two siblings are hashed in the order of their bytes.
Source: https://github.com/OpenZeppelin/merkle-tree, and `claim` of the airdrop contract.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from Crypto.Hash import keccak

NODE_BYTES = 32

_WORD_BYTES = 32
_ADDRESS_PADDING = bytes(_WORD_BYTES - 20)


@dataclass(frozen=True, kw_only=True, slots=True)
class MerkleTree:
    """A whole tree: `root` is 0x-prefixed hex, `positions` tells for each entry, as they came, where its leaf is.

    `nodes` are the tree's hashes as one heap, 32 bytes each: first the root, and those below position p at 2p + 1 and
    2p + 2. Of n entries there are 2n - 1 nodes.
    """

    root: str
    nodes: bytes
    positions: tuple[int, ...]


def build_tree(entries: Sequence[tuple[str, int]]) -> MerkleTree:
    """The tree of (hex address in any case, amount in wei) pairs; their order does not matter to the root.

    Raises ValueError where there are none, OverflowError on an amount that is no uint256. Duplicates get a leaf each:
    to refuse them is the caller's.
    """
    if not entries:
        raise ValueError("a Merkle tree needs an entry")
    leaves = [_leaf(account, amount) for account, amount in entries]
    ascending = sorted(range(len(leaves)), key=leaves.__getitem__)
    last = 2 * len(leaves) - 2
    positions = [0] * len(leaves)
    for rank, index in enumerate(ascending):
        positions[index] = last - rank
    nodes = [b""] * (len(leaves) - 1) + [leaves[index] for index in reversed(ascending)]
    for position in range(len(leaves) - 2, -1, -1):
        left, right = nodes[2 * position + 1], nodes[2 * position + 2]
        nodes[position] = _keccak(left + right if left < right else right + left)
    return MerkleTree(root="0x" + nodes[0].hex(), nodes=b"".join(nodes), positions=tuple(positions))


def proof_positions(position: int) -> tuple[int, ...]:
    """Where the nodes are that prove the leaf at this position, in the order that `claim` takes them: from the leaf up.

    The root has none: the only entry of a tree is proved by nothing.
    """
    siblings = []
    while position > 0:
        # Those on the left have odd positions.
        siblings.append(position + 1 if position % 2 else position - 1)
        position = (position - 1) // 2
    return tuple(siblings)


def _leaf(account: str, amount: int) -> bytes:
    # abi.encode(address, uint256): each in a word, the address at its end.
    return _keccak(_keccak(_ADDRESS_PADDING + bytes.fromhex(account[2:]) + amount.to_bytes(_WORD_BYTES, "big")))


def _keccak(data: bytes) -> bytes:
    # Without what eth-utils checks around each call: a large tree has some hundred thousand of them.
    return keccak.new(data=data, digest_bits=256).digest()
