"""Allow-lists that partners post for presales that they start themselves, such as by a user's wallet.

A posted allow-list is a saved tree: it serves a presale once the allow-list contract has its root for the presale.
"""

import re
from typing import Any

from accounts.models import PartnerKey
from config.parsing.json_rules import FieldRule, InvalidFieldsError, described, list_of, object_of, refined
from tokens.chains.launching.merkle import build_tree
from tokens.deploying.rules import scalars
from tokens.deploying.rules.airdrop_entries import Entries
from tokens.deploying.rules.saved_trees import merkle_root
from tokens.deploying.rules.supply_shares import MAX_ALLOWED
from tokens.deploying.saved_airdrops import root_problems, save_tree
from tokens.models import SavedTree, TreeKind

# The limit for a presale's own goals.
MAX_ALLOWED_WEI = scalars.MAX_COINS * scalars.WEI_PER_COIN
_WEI = re.compile(f"[0-9]{{1,{len(str(MAX_ALLOWED_WEI))}}}")


@described({"type": "string", "pattern": f"^{_WEI.pattern}$"})
def _allowed_amount(value: Any) -> int:
    """Parse wei as a text of digits: a JSON number would lose digits in most clients."""
    wei = int(value) if isinstance(value, str) and _WEI.fullmatch(value) else 0
    if not 1 <= wei <= MAX_ALLOWED_WEI:
        raise ValueError(f"must be wei as a text of digits, from 1 to {MAX_ALLOWED_WEI}")
    return wei


_BUYER = object_of(
    {
        "address": FieldRule(rule=scalars.address),
        "allowedAmountWei": FieldRule(
            rule=_allowed_amount,
            attribute="wei",
            description="Wei as a text of digits, 1 to 10^30: the most that the buyer may pay.",
        ),
    },
    name="PostedBuyer",
    description="A buyer of an allow-list that is posted.",
)


@refined(list_of(_BUYER, least=1, most=MAX_ALLOWED))
def _allowed_entries(buyers: Any) -> Entries:
    """Return the entries as (EIP-55 address, wei) pairs; a buyer with two entries could only use one of them."""
    entries = tuple((buyer["address"], buyer["wei"]) for buyer in buyers)
    if len(dict(entries)) < len(entries):
        raise ValueError("must have each address once")
    return entries


ALLOWLIST_BODY = object_of(
    {
        "entries": FieldRule(rule=_allowed_entries, description="Each address once."),
        "merkleRoot": FieldRule(rule=merkle_root, default=None, attribute="root"),
    },
    name="AllowlistBody",
)


def save_allowlist(body: Any, *, partner: PartnerKey) -> SavedTree:
    """Parse a JSON body, and store its entries' tree for the partner; if it is saved already, return that tree.

    Raises InvalidFieldsError with all broken rules, also if `merkleRoot` differs from the entries' root, and
    SavedEntriesQuotaError.
    """
    parsed = ALLOWLIST_BODY.parse(body)
    entries: Entries = parsed["entries"]
    tree = build_tree(entries)
    problems = root_problems(parsed["root"], root=tree.root)
    if problems:
        raise InvalidFieldsError(problems)
    return save_tree(tree, entries, kind=TreeKind.ALLOWLIST, partner=partner)
