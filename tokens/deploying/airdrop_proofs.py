"""Merkle trees and entries of airdrops in the database, and the proofs for claims."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import Q

from config.postgresql.bulk_load import copy_into, format_copy_rows
from tokens.chains.addresses import checksum_address
from tokens.chains.launching.merkle import NODE_BYTES, MerkleTree, proof_positions
from tokens.models import AirdropEntry, AirdropTree, Deployment, DeploymentStatus

# The token is in a block: mined, or indexed and not unwound by a reorg that its deployment has not recorded yet.
_LAUNCHED = Q(tree__deployment__status=DeploymentStatus.MINED) | Q(
    tree__deployment__status=DeploymentStatus.INDEXED, tree__deployment__token__unindexed=False
)

# Nodes in the order of the requested positions.
_NODES = """
    SELECT substring(tree.nodes FROM wanted.position * %(size)s + 1 FOR %(size)s)
    FROM tokens_airdroptree tree, unnest(%(positions)s::integer[]) WITH ORDINALITY AS wanted (position, place)
    WHERE tree.id = %(tree_id)s
    ORDER BY wanted.place
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class AirdropProof:
    """Arguments of the airdrop contract's `claim`: EIP-55 address, wei, and 0x-prefixed hashes from leaf to root."""

    account: str
    amount: int
    proof: tuple[str, ...]


def store_tree(deployment: Deployment, *, tree: MerkleTree, entries: Sequence[tuple[str, int]]) -> AirdropTree:
    """Store the Merkle tree of a deployment, with the (account, wei) entries it was built from, in order.

    Accounts are hex in any case, and stored as EIP-55.

    Call it in the database transaction that stores the deployment. Entries are written by COPY: 100,000 rows take about
    a second. Raises IntegrityError if an account has two entries.
    """
    stored = AirdropTree.objects.create(
        deployment=deployment, root=tree.root, amount=sum(amount for _, amount in entries), nodes=tree.nodes
    )
    rows = (
        {"tree_id": str(stored.pk), "account": checksum_address(account), "amount": str(wei), "position": str(position)}
        for (account, wei), position in zip(entries, tree.positions, strict=True)
    )
    with connection.cursor() as cursor:
        copy_into(cursor, AirdropEntry._meta.db_table, format_copy_rows(rows))
    return stored


def find_proofs(token_address: str, *, claimer: str) -> list[AirdropProof]:
    """Return what an account can claim of a token launched by this service; both addresses are EIP-55.

    Empty if this service did not launch the token, if it is not on its chain, or if the account has no entry. Two
    queries; the second reads only the proof's nodes, because a tree has megabytes.
    """
    found = AirdropEntry.objects.filter(_LAUNCHED, tree__deployment__expected_address=token_address, account=claimer)
    entries = found.order_by("tree_id").values_list("tree_id", "account", "amount", "position")
    return [
        AirdropProof(account=account, amount=int(amount), proof=_read_nodes(tree_id, proof_positions(position)))
        for tree_id, account, amount, position in entries
    ]


def _read_nodes(tree_id: int, positions: tuple[int, ...]) -> tuple[str, ...]:
    with connection.cursor() as cursor:
        cursor.execute(_NODES, {"size": NODE_BYTES, "positions": list(positions), "tree_id": tree_id})
        return tuple("0x" + bytes(node).hex() for (node,) in cursor.fetchall())
