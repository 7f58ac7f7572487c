"""Benchmark for an airdrop with 100,000 entries: building its tree, and serving proofs to claimers.

    python -m benchmarks.airdrop_proofs [--entries 100000] [--proofs 5000]

The tree by `tokens.chains.launching.merkle` against OpenZeppelin's own npm package on the same entries, whose root it
must equal. Then `GET /api/airdrops/claim` for accounts drawn at random, by the production server's command line without
the public response cache, one at a time; each proof is hashed up to the root.

Exits with code 1 where the tree takes longer than the package's, or where the 99th percentile is over 20 ms.
"""

import json
import os
import random
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from urllib.parse import urlencode

import django
from django.apps import apps
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from benchmarks.harness import Limits, parse_quantities, print_table
from benchmarks.http_load import fetch, open_connection, percentile
from benchmarks.lists import dataset
from benchmarks.processes import web_server
from tests.rows.airdrop_entries import Entry, build_by_peer, sample_entries
from tokens.chains.launching.merkle import MerkleTree, build_tree

_DATABASE = "airdrop_proofs"
# Any token's address: the service only needs to know that it was launched.
_LAUNCHED = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
_PERCENTS = (("p50", 50), ("p99", 99), ("slowest", 100))
_WARM_UP = 500


def main() -> int:
    """Print all times; return 1 where one is beyond its limit."""
    options = parse_quantities(__doc__, entries=100_000, proofs=5_000)
    dataset.start_server()
    os.environ["DATABASE_URL"] = dataset.database_url(_DATABASE)
    dataset.make_migrated(_DATABASE)
    django.setup()

    entries = sample_entries(options.entries)
    started = time.perf_counter()
    tree = build_tree(entries)
    built = time.perf_counter()
    _store(tree, entries)
    stored = time.perf_counter()
    (peer,) = build_by_peer([entries], roots_only=True)
    if peer.root != tree.root:
        raise RuntimeError(f"the package's root is {peer.root}, ours {tree.root}")
    times = _fetch_proofs(tree, random.Random(5).choices(entries, k=options.proofs))

    rows = [
        ("tree, ours", f"{(built - started) * 1000:,.0f}"),
        ("tree, `@openzeppelin/merkle-tree`", f"{peer.seconds * 1000:,.0f}"),
        ("tree and entries into PostgreSQL", f"{(stored - built) * 1000:,.0f}"),
        *((f"proof through HTTP, {name}", f"{percentile(times, percent) * 1000:.1f}") for name, percent in _PERCENTS),
    ]
    print_table((f"{options.entries:,} entries", "ms"), rows)
    limits = Limits()
    limits.at_most("time of the tree, the package's = 1", (built - started) / peer.seconds, 1)
    limits.at_most("proof, 99th percentile", percentile(times, 99) * 1000, 20, "ms")
    return 0 if limits.are_kept else 1


def _store(tree: MerkleTree, entries: Sequence[Entry]) -> None:
    """Store a mined deployment with its airdrop."""
    deployment = apps.get_model("tokens", "Deployment").objects.create(
        request_key="benchmark", chain_id=8453, config={}, value=0, gas=0, expected_address=_LAUNCHED, status="mined"
    )
    # It imports models, which need Django to be set up.
    import_module("tokens.deploying.airdrop_proofs").store_tree(deployment, tree=tree, entries=entries)


def _fetch_proofs(tree: MerkleTree, entries: Sequence[Entry]) -> list[float]:
    """Return all request times, sorted.

    Raises RuntimeError where a proof does not lead to the root.
    """
    times = []
    with web_server(dataset.environment(_DATABASE), EDGE_CACHE_SECONDS="0") as port:
        client = open_connection(port)
        # A process's first requests import and compile, and load the database's pages into memory.
        first = entries[:_WARM_UP]
        for account, amount in (*first, *entries):
            path = "/api/airdrops/claim?" + urlencode({"tokenAddress": _LAUNCHED, "claimerAddress": account})
            spent, answer = fetch(path, client)
            if answer[9:12] != b"200" or _proved_root(answer, account, amount) != tree.root:
                raise RuntimeError(f"{account}: {answer[:300]!r}")
            times.append(spent)
    return sorted(times[len(first) :])


def _proved_root(answer: bytes, account: str, amount: int) -> str:
    """Return the hash that a response's proof leads to, from this entry's leaf."""
    (found,) = json.loads(answer.partition(b"\r\n\r\n")[2])["proofs"]
    node = keccak(keccak(encode(["address", "uint256"], [account, amount])))
    for text in found["proof"]:
        node = keccak(b"".join(sorted((node, bytes.fromhex(text[2:])))))
    return f"0x{node.hex()}"


if __name__ == "__main__":
    sys.exit(main())
