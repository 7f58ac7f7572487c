"""The airdrops of deployments: their trees and entries into the database, and the proofs that claims need out of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import Q

from config.postgresql.bulk_load import copy_into, copy_text
from tokens.chains.launching.merkle import NODE_BYTES, MerkleTree, proof_positions
from tokens.models import AirdropEntry, AirdropTree, Deployment

# A deployment's token exists: in a block, or listed and not taken back by a reorg that its deployment has not seen yet.
_LAUNCHED = Q(tree__deployment__status=Deployment.Status.MINED) | Q(
    tree__deployment__status=Deployment.Status.INDEXED, tree__deployment__token__unindexed=False
)

# Nodes in the order in which their positions are asked for.
_NODES = """
    SELECT substring(tree.nodes FROM wanted.position * %(size)s + 1 FOR %(size)s)
    FROM tokens_airdroptree tree, unnest(%(positions)s::integer[]) WITH ORDINALITY AS wanted (position, place)
    WHERE tree.id = %(tree_id)s
    ORDER BY wanted.place
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class AirdropProof:
    """What `claim` of the airdrop contract takes: an EIP-55 address, wei, and the hashes, 0x-prefixed, leaf to root."""

    account: str
    amount: int
    proof: tuple[str, ...]


def store_tree(deployment: Deployment, *, tree: MerkleTree, entries: Sequence[tuple[str, int]]) -> AirdropTree:
    """Keep the tree of a deployment, with the (EIP-55 account, wei) entries that it was built of, in their order.

    To be called in the database transaction that stores the deployment. One row an entry goes in by COPY: 100,000 are
    a matter of a second. Two entries of one account are refused by the database: IntegrityError.
    """
    stored = AirdropTree.objects.create(
        deployment=deployment, root=tree.root, amount=sum(amount for _, amount in entries), nodes=tree.nodes
    )
    rows = (
        {"tree_id": str(stored.pk), "account": account, "amount": str(amount), "position": str(position)}
        for (account, amount), position in zip(entries, tree.positions, strict=True)
    )
    with connection.cursor() as cursor:
        copy_into(cursor, AirdropEntry._meta.db_table, copy_text(rows))
    return stored


def proofs(token_address: str, *, claimer: str) -> list[AirdropProof]:
    """What an account can claim of a token that was launched from here; both addresses EIP-55.

    Empty where the token is not ours or not on its chain, and where the account has no part in it. Two queries, of
    which the second reads the few nodes that prove it: a tree has megabytes.
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
