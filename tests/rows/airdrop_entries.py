"""Airdrop entries, deterministic, and the trees by OpenZeppelin's own package for such lists."""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from config.environment.variables import BASE_DIR
from tokens.chains.addresses import checksum_bytes
from tokens.chains.launching.merkle import NODE_BYTES, build_tree

Entry = tuple[str, int]


@dataclass(frozen=True)
class PeerTree:
    """A tree by the npm package `@openzeppelin/merkle-tree`: root and a proof for each entry, as hex, and its time."""

    root: str
    # None are made unless requested.
    proofs: list[list[str]] | None
    seconds: float


def sample_entries(count: int) -> list[Entry]:
    """Return EIP-55 accounts and amounts up to 96 bits."""
    digests = (hashlib.sha256(str(index).encode()).digest() for index in range(count))
    return [(checksum_bytes(digest[:20]), int.from_bytes(digest[20:])) for digest in digests]


def tree_dump(entries: Sequence[Entry]) -> dict[str, Any]:
    """Return the npm package's `dump()` for these entries' tree, with hashes in hex."""
    tree = build_tree(entries)
    nodes = [tree.nodes[start : start + NODE_BYTES] for start in range(0, len(tree.nodes), NODE_BYTES)]
    return {
        "format": "standard-v1",
        "leafEncoding": ["address", "uint256"],
        "tree": [f"0x{node.hex()}" for node in nodes],
        "values": [
            {"value": [account, str(amount)], "treeIndex": position}
            for (account, amount), position in zip(entries, tree.positions, strict=True)
        ],
    }


def build_by_peer(lists: Sequence[Sequence[Entry]], *, roots_only: bool = False) -> list[PeerTree]:
    """Build each list's tree, by the package."""
    program = shutil.which("node")
    assert program, "OpenZeppelin's package needs node"
    text = json.dumps([[(account, str(amount)) for account, amount in entries] for entries in lists])
    command = [program, "merkle_trees.mjs", *(["--roots"] if roots_only else [])]
    done = subprocess.run(
        command,
        cwd=BASE_DIR / "development" / "devchain",
        input=text,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    answers = map(json.loads, done.stdout.splitlines())
    return [PeerTree(answer["root"], answer.get("proofs"), answer["seconds"]) for answer in answers]
