"""Stored Merkle trees and entries for airdrops and allow-lists, and their proofs."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection, transaction
from psycopg.sql import SQL, Identifier

from accounts.models import PartnerKey
from config.postgresql.bulk_load import copy_into, format_copy_rows
from tokens.chains.addresses import checksum_address
from tokens.chains.launching.merkle import NODE_BYTES, MerkleTree, proof_positions
from tokens.deploying.token_airdrops import find_claimable
from tokens.models import AirdropEntry, AirdropTree, Deployment, SavedTree, SavedTreeEntry, TreeKind

# Nodes, in the requested positions' order.
_NODES = SQL("""
    SELECT substring(tree.nodes FROM wanted.position * %(size)s + 1 FOR %(size)s)
    FROM {table} tree, unnest(%(positions)s::integer[]) WITH ORDINALITY AS wanted (position, place)
    WHERE tree.id = %(tree_id)s
    ORDER BY wanted.place
""")


@dataclass(frozen=True, kw_only=True, slots=True)
class AirdropProof:
    """Arguments of the airdrop contract's `claim`: EIP-55 address, wei, and 0x-prefixed hashes from leaf to root."""

    account: str
    amount: int
    proof: tuple[str, ...]


def store_tree(deployment: Deployment, *, tree: MerkleTree, entries: Sequence[tuple[str, int]]) -> AirdropTree:
    """Store a deployment's Merkle tree, with the (account, wei) entries it was built from, in order.

    Accounts are hex in any case, and stored as EIP-55.

    Call it in the database transaction that stores the deployment. Raises IntegrityError if an account has two entries.
    """
    stored = AirdropTree.objects.create(
        deployment=deployment, root=tree.root, amount=sum(amount for _, amount in entries), nodes=tree.nodes
    )
    _copy_entries(AirdropEntry._meta.db_table, stored.pk, tree=tree, entries=entries)
    return stored


def store_saved_tree(
    partner: PartnerKey, *, kind: TreeKind, tree: MerkleTree, entries: Sequence[tuple[str, int]]
) -> SavedTree:
    """Store the Merkle tree for a partner's entries, as `store_tree`, in one database transaction.

    Raises IntegrityError also if the partner has saved this root.
    """
    with transaction.atomic():
        stored = SavedTree.objects.create(
            partner_key=partner,
            kind=kind,
            root=tree.root,
            amount=sum(amount for _, amount in entries),
            entry_count=len(entries),
            nodes=tree.nodes,
        )
        _copy_entries(SavedTreeEntry._meta.db_table, stored.pk, tree=tree, entries=entries)
    return stored


def _copy_entries(table: str, tree_id: int, *, tree: MerkleTree, entries: Sequence[tuple[str, int]]) -> None:
    """Write a tree's entries by COPY: 100,000 rows take about a second."""
    rows = (
        {"tree_id": str(tree_id), "account": checksum_address(account), "amount": str(wei), "position": str(position)}
        for (account, wei), position in zip(entries, tree.positions, strict=True)
    )
    with connection.cursor() as cursor:
        copy_into(cursor, table, format_copy_rows(rows))


def find_proofs(token_address: str, *, claimer: str) -> list[AirdropProof]:
    """Return the proofs for an account's claims on a token's airdrops; both addresses are EIP-55.

    Empty if `find_airdrops` has no airdrop, or the account no entry. Two queries, and one more for each further
    airdrop; it reads only the proof's nodes, because a tree has megabytes.
    """
    return [
        AirdropProof(
            account=entry.account,
            amount=entry.amount,
            proof=read_proof(SavedTree if entry.is_saved else AirdropTree, entry.tree_id, position=entry.position),
        )
        for entry in find_claimable(token_address, account=claimer)
    ]


def read_proof(model: type[AirdropTree | SavedTree], tree_id: int, *, position: int) -> tuple[str, ...]:
    """Return the 0x-prefixed hashes that prove the leaf at this position in a stored tree, from leaf to root.

    One query.
    """
    positions = list(proof_positions(position))
    with connection.cursor() as cursor:
        cursor.execute(
            _NODES.format(table=Identifier(model._meta.db_table)),
            {"size": NODE_BYTES, "positions": positions, "tree_id": tree_id},
        )
        return tuple("0x" + bytes(node).hex() for (node,) in cursor.fetchall())
