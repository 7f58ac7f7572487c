"""Trees that partners save without a deployment, such as airdrops for tokens that they launch themselves.

A saved tree names no token and no presale. It serves a token or a presale once its contract has the root on the chain:
other entries can't have the same root.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet, Sum

from accounts.models import PartnerKey
from config.http.errors import PermanentError
from config.parsing.json_rules import (
    Component,
    FieldRule,
    InvalidFieldsError,
    Problem,
    flag,
    object_schema,
    parse_object,
    whole_number,
)
from tokens.chains.launching.merkle import MerkleTree, build_tree
from tokens.deploying.airdrop_proofs import store_saved_tree
from tokens.deploying.rules import scalars
from tokens.deploying.rules.airdrop_entries import Entries, saved_entry_list
from tokens.deploying.rules.saved_trees import dumped_tree, merkle_root
from tokens.deploying.token_airdrops import ROOT_ON_CHAIN
from tokens.models import SavedTree, Token, TreeKind

# Per key, in all its saved trees.
MAX_SAVED_ENTRIES = 1_000_000
_LONGEST_DELAY = 86_400

_ENTRIES = {"entries": FieldRule(rule=saved_entry_list)}
_TREE = {"tree": FieldRule(rule=dumped_tree)}
# Nothing waits here for the token's index request.
_IGNORED = "Ignored: older clients send it."
_OPTIONS = {
    "merkleRoot": FieldRule(rule=merkle_root, default=None, attribute="root"),
    "tokenAddress": FieldRule(
        rule=scalars.address,
        default=None,
        attribute="token_address",
        description="Verified if the token is indexed: its airdrop has this root.",
    ),
    "enqueue": FieldRule(rule=flag, default=None, description=_IGNORED),
    "delaySeconds": FieldRule(
        rule=whole_number(least=0, most=_LONGEST_DELAY, unit="seconds"), default=None, description=_IGNORED
    ),
}
_KEYS: Mapping[str, FieldRule] = {
    **{name: replace(key, default=None) for name, key in (_ENTRIES | _TREE).items()},
    **_OPTIONS,
}
AIRDROP_BODY = Component(
    "AirdropBody",
    {
        "oneOf": [
            Component(
                "AirdropEntriesBody",
                object_schema(_ENTRIES | _OPTIONS, description="Entries of an airdrop to save."),
            ),
            Component(
                "AirdropTreeBody",
                object_schema(_TREE | _OPTIONS, description="Dump of an airdrop's tree, as older clients send it."),
            ),
        ]
    },
)


class SavedEntriesQuotaError(PermanentError):
    """A key's saved entries limit is reached. The text is for the partner."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AirdropRequest:
    """A request body for saving an airdrop; both roots and the token are checked if they are given."""

    entries: Entries
    root: str | None = None
    # Root that a dump states.
    dumped_root: str | None = None
    token_address: str | None = None


def parse_airdrop_request(body: Any) -> AirdropRequest:
    """Parse a JSON body: entries, or a tree's dump. Raises InvalidFieldsError with all broken rules."""
    parsed, problems = parse_object(body, _KEYS)
    entries: Any = parsed.get("entries")
    tree: Any = parsed.get("tree")
    if not problems and (entries is None) == (tree is None):
        problems.append(("entries", "must be given, or else tree, and not both"))
    if problems:
        raise InvalidFieldsError(problems)
    return AirdropRequest(
        entries=entries or tree.entries,
        root=parsed["root"],
        dumped_root=tree and tree.root,
        token_address=parsed["token_address"],
    )


def save_airdrop(request: AirdropRequest, *, partner: PartnerKey) -> SavedTree:
    """Build the entries' tree and store it for the partner; if the partner has saved the entries, return that tree.

    Raises InvalidFieldsError if a given root or the token's airdrop has another root, SavedEntriesQuotaError.
    """
    tree = build_tree(request.entries)
    problems = _contradictions(request, root=tree.root)
    if problems:
        raise InvalidFieldsError(problems)
    return save_tree(tree, request.entries, kind=TreeKind.AIRDROP, partner=partner)


def save_tree(tree: MerkleTree, entries: Entries, *, kind: TreeKind, partner: PartnerKey) -> SavedTree:
    """Store the entries' tree for the partner; if a tree of any kind has the same root, return it.

    Raises SavedEntriesQuotaError.
    """
    own = SavedTree.objects.defer("nodes").filter(partner_key=partner, root=tree.root)
    saved_tree = own.first()
    if saved_tree is not None:
        return saved_tree
    _check_quota(partner, more=len(entries))
    try:
        return store_saved_tree(partner, kind=kind, tree=tree, entries=entries)
    except IntegrityError:
        # A concurrent request has saved the same entries.
        return own.get()


def fetch_saved_page(
    partner: PartnerKey, *, kind: TreeKind, before: int | None, limit: int
) -> tuple[list[SavedTree], int | None]:
    """Fetch a partner's saved trees, newest first, and the next page's `before`; None on the last page.

    One query, which leaves out the nodes.
    """
    own = SavedTree.objects.defer("nodes").filter(partner_key=partner, kind=kind)
    trees = list((own if before is None else own.filter(pk__lt=before)).order_by("-pk")[: limit + 1])
    return trees[:limit], trees[limit - 1].pk if len(trees) > limit else None


def delete_saved_tree(tree_id: int, *, partner: PartnerKey, kind: TreeKind) -> bool:
    """Delete a partner's saved tree with its entries; return whether there was one."""
    return delete_trees(SavedTree.objects.filter(pk=tree_id, partner_key=partner, kind=kind)) > 0


def delete_trees(trees: QuerySet[SavedTree]) -> int:
    """Delete saved trees with their entries, without reading their nodes; return how many rows were deleted."""
    with transaction.atomic():
        deleted, _ = trees.only("pk").delete()
    return deleted


def root_problems(requested_root: str | None, *, root: str, field: str = "merkleRoot") -> list[Problem]:
    """Return the problem of a request's root, if it is given and differs from the entries' root."""
    if requested_root is None or requested_root == root:
        return []
    return [(field, f"must be the root of the entries, which is {root}")]


def _contradictions(request: AirdropRequest, *, root: str) -> list[Problem]:
    problems = root_problems(request.root, root=root)
    problems += root_problems(request.dumped_root, root=root, field="tree.tree[0]")
    if problems or request.token_address is None:
        return problems
    tokens = Token.objects.at_address(request.token_address, chain_id=None)
    roots = set(tokens.values_list(ROOT_ON_CHAIN, flat=True))
    # A token that is not indexed yet is looked up by its root later.
    if roots and root not in roots:
        return [("tokenAddress", f"must be a token whose airdrop has the root of the entries, which is {root}")]
    return []


def _check_quota(partner: PartnerKey, *, more: int) -> None:
    """Raise SavedEntriesQuotaError above the limit; concurrent requests may exceed it by an airdrop each."""
    saved = SavedTree.objects.filter(partner_key=partner).aggregate(sum=Sum("entry_count"))["sum"] or 0
    if saved + more > MAX_SAVED_ENTRIES:
        raise SavedEntriesQuotaError(
            f"A key may have {MAX_SAVED_ENTRIES} saved entries, and has {saved}: delete some of them first"
        )
