"""Allow-lists that partners post for presales which they start themselves, such as by a user's wallet.

A posted allow-list is a saved tree: it serves a presale once the allow-list contract has its root for the presale.
"""

import re
from collections.abc import Mapping
from typing import Any

from accounts.models import PartnerKey
from config.parsing.json_rules import FieldRule, InvalidFieldsError, list_of, object_of, parse_object
from tokens.chains.launching.merkle import build_tree
from tokens.deploying.rules import scalars
from tokens.deploying.rules.airdrop_entries import Entries
from tokens.deploying.rules.saved_trees import merkle_root
from tokens.deploying.rules.supply_shares import MAX_ALLOWED
from tokens.deploying.saved_airdrops import root_problems, save_tree
from tokens.models import SavedTree, TreeKind

# The limit of a presale's own goals.
MAX_ALLOWED_WEI = scalars.MAX_COINS * scalars.WEI_PER_COIN
_WEI = re.compile(f"[0-9]{{1,{len(str(MAX_ALLOWED_WEI))}}}")


def _allowed_amount(value: Any) -> int:
    """Parse wei as a text of digits: a JSON number would lose digits in most clients."""
    wei = int(value) if isinstance(value, str) and _WEI.fullmatch(value) else 0
    if not 1 <= wei <= MAX_ALLOWED_WEI:
        raise ValueError(f"must be wei as a text of digits, from 1 to {MAX_ALLOWED_WEI}")
    return wei


_ENTRIES = list_of(
    object_of(
        {
            "address": FieldRule(rule=scalars.address),
            "allowedAmountWei": FieldRule(rule=_allowed_amount, attribute="wei"),
        }
    ),
    least=1,
    most=MAX_ALLOWED,
)


def _allowed_entries(value: Any) -> Entries:
    """Parse the entries to (EIP-55 address, wei) pairs; a buyer with two entries could only use one of them."""
    entries = tuple((entry["address"], entry["wei"]) for entry in _ENTRIES(value))
    if len(dict(entries)) < len(entries):
        raise ValueError("must have each address once")
    return entries


_BODY: Mapping[str, FieldRule] = {
    "entries": FieldRule(rule=_allowed_entries),
    "merkleRoot": FieldRule(rule=merkle_root, default=None, attribute="root"),
}


def save_allowlist(body: Any, *, partner: PartnerKey) -> SavedTree:
    """Parse a JSON body, and store the tree of its entries for the partner; saved entries are returned.

    Raises InvalidFieldsError with all broken rules, also if `merkleRoot` is not that of the entries, and
    SavedEntriesQuotaError.
    """
    parsed, problems = parse_object(body, _BODY)
    if problems:
        raise InvalidFieldsError(problems)
    entries: Entries = parsed["entries"]
    tree = build_tree(entries)
    problems = root_problems(parsed["root"], root=tree.root)
    if problems:
        raise InvalidFieldsError(problems)
    return save_tree(tree, entries, kind=TreeKind.ALLOWLIST, partner=partner)
