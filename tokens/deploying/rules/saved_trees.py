"""Rules for clients' Merkle trees: root, and dump by OpenZeppelin's StandardMerkleTree.

https://github.com/OpenZeppelin/merkle-tree: `dump()` has the format, the leaf encoding, all hashes and the values. The
tree is built from the values again. Only the dump's root hash is read; it must equal the built tree's root.
"""

import re
from typing import Any, NamedTuple

from config.parsing.json_rules import (
    Component,
    InvalidFieldsError,
    Schema,
    described,
    list_schema,
    nested_problems,
    truncate_problems,
)
from tokens.deploying.rules.airdrop_entries import MAX_ENTRIES, Entries, saved_entry_list

_FORMAT, _LEAF = "standard-v1", ["address", "uint256"]
_PAIR_RULE = "must be a list of an account and its wei, as a text of digits"
_ROOT = re.compile("0[xX][0-9a-fA-F]{64}")
# Other keys in a dump are ignored, and so are its hashes besides the root.
_DUMP: Schema = {
    "description": "The `dump()` of OpenZeppelin's StandardMerkleTree. Only its values are read: the hashes are "
    "computed again.",
    "type": "object",
    "properties": {
        "format": {"type": "string", "enum": [_FORMAT]},
        "leafEncoding": {"type": "array", "items": {"type": "string"}, "description": "address and uint256."},
        "tree": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "description": "The first one is the root, and verified.",
        },
        "values": {
            **list_schema({"type": "object", "additionalProperties": {}}, least=1, most=MAX_ENTRIES),
            "description": "Objects with `value`, a list of an account and its wei in a text.",
        },
    },
    "required": ["format", "leafEncoding", "tree", "values"],
}


class DumpedTree(NamedTuple):
    """A dump's entries, and the root that it states."""

    entries: Entries
    root: str


@described({"type": "string", "pattern": f"^{_ROOT.pattern}$", "description": "Verified: the root of the entries."})
def merkle_root(value: Any) -> str:
    """Parse a root; the result is lower-case."""
    if not isinstance(value, str) or not _ROOT.fullmatch(value):
        raise ValueError("must be a hash, 0x followed by 64 hex digits")
    return value.lower()


@described(Component("TreeShape", _DUMP))
def dumped_tree(value: Any) -> DumpedTree:
    """Parse a dump, whose amounts are wei, to entries as `saved_entry_list` returns, and its root."""
    if not isinstance(value, dict):
        raise ValueError("must be a JSON object, the dump of a StandardMerkleTree")
    if value.get("format") != _FORMAT or value.get("leafEncoding") != _LEAF:
        raise ValueError(f"must have the format {_FORMAT} and the leafEncoding address, uint256")
    hashes, values = value.get("tree"), value.get("values")
    try:
        root = merkle_root(hashes[0] if isinstance(hashes, list) and hashes else None)
    except ValueError as error:
        raise InvalidFieldsError([("tree[0]", str(error))]) from error
    if not isinstance(values, list) or not 1 <= len(values) <= MAX_ENTRIES:
        raise InvalidFieldsError([("values", f"must be a list of 1 to {MAX_ENTRIES} entries")])
    pairs: list[Any] = [each.get("value") if isinstance(each, dict) else None for each in values]
    problems = [(f"values[{index}].value", _PAIR_RULE) for index, pair in enumerate(pairs) if not _is_pair(pair)]
    if problems:
        raise InvalidFieldsError(truncate_problems(problems))
    try:
        entries = saved_entry_list([{"account": account, "amount": amount} for account, amount in pairs])
    except ValueError as error:
        raise InvalidFieldsError(nested_problems("values", error)) from error
    return DumpedTree(entries, root)


def _is_pair(value: Any) -> bool:
    # A number would count as whole tokens.
    return isinstance(value, list) and len(value) == 2 and isinstance(value[1], str)
