"""Rules for airdrop entries; an airdrop may have 100,000."""

import re
from typing import Any

from config.parsing import json_rules
from config.parsing.json_rules import (
    FieldRule,
    InvalidFieldsError,
    Problem,
    described,
    integer_schema,
    list_schema,
    nested_problems,
    object_of,
    refined,
    truncate_problems,
)
from tokens.chains.addresses import ZERO_ADDRESS
from tokens.chains.launching.launch_config import MAX_EXTENSION_BPS, TOKEN_SUPPLY, WEI_PER_BPS
from tokens.chains.types import WEI_PER_TOKEN
from tokens.deploying.rules import scalars

MAX_ENTRIES = 100_000
# 0.25 %, the minimum of the SDK.
MIN_BPS = 25
_ACCOUNT = re.compile("0[xX][0-9a-fA-F]{40}")
# No amount has more digits than the supply, 10^29 wei.
_MAX_DIGITS = len(str(TOKEN_SUPPLY))
_WEI = re.compile(f"[0-9]{{1,{_MAX_DIGITS}}}")
_SUPPLY_IN_TOKENS = TOKEN_SUPPLY // WEI_PER_TOKEN

# The SDK's notation: 100,000 whole amounts fit into a body, the same number in wei does not.
_IN_TOKENS = json_rules.whole_number(
    least=1, most=_SUPPLY_IN_TOKENS, unit="whole tokens (a JSON number; wei are digits in a text)"
)
_IN_WEI = json_rules.whole_number(
    least=1, most=TOKEN_SUPPLY, unit="wei (digits in a text; whole tokens are a JSON number)"
)

Entries = tuple[tuple[str, int], ...]


@described(
    {
        "oneOf": [
            {
                "type": "string",
                "maxLength": _MAX_DIGITS,
                "pattern": f"^0*([1-9][0-9]{{0,{_MAX_DIGITS - 2}}}|10{{{_MAX_DIGITS - 1}}})$",
            },
            integer_schema(least=1, most=_SUPPLY_IN_TOKENS),
        ],
        "description": "Wei as a text of digits, or whole tokens as a JSON number, at most the supply; all entries in "
        "the same unit.",
    }
)
def entry_amount(value: Any) -> int:
    """Parse wei as a text of digits, or whole tokens as a JSON number; return wei."""
    if isinstance(value, str):
        return int(_IN_WEI(int(value) if _WEI.fullmatch(value) else value))
    return int(_IN_TOKENS(value)) * WEI_PER_TOKEN


_ENTRY = object_of(
    {"account": FieldRule(rule=scalars.address), "amount": FieldRule(rule=entry_amount)},
    name="AirdropEntryShape",
    description="Amount that one account may claim.",
)


@described(list_schema(_ENTRY.schema, least=1, most=MAX_ENTRIES) | {"description": "Each account once."})
def saved_entry_list(value: Any) -> Entries:
    """Parse the entries to (lower-case account, wei) pairs in their order; accounts are unique.

    The tree's storage adds the EIP-55 form: it costs a hash per account, and dry runs need none.
    """
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_ENTRIES:
        raise ValueError(f"must be a list of 1 to {MAX_ENTRIES} entries")
    parsed: dict[str, int] = {}
    problems: list[Problem] = []
    for index, entry in enumerate(value):
        read = _read_plain(entry)
        if read is None:
            try:
                fields = _ENTRY(entry)
            except ValueError as error:
                problems += nested_problems(f"[{index}]", error)
                continue
            read = fields["account"].lower(), fields["amount"]
        account, wei = read
        if account in parsed:
            problems.append((f"[{index}].account", "is in the list twice"))
        parsed[account] = wei
    if not problems:
        problems = _find_other_notation(value)
    if problems:
        raise InvalidFieldsError(truncate_problems(problems))
    return tuple(parsed.items())


@refined(saved_entry_list)
def entry_list(parsed: Entries) -> Entries:
    """Check that a launch's airdrop entries sum to 0.25 to 90 percent of the supply."""
    _check_total(sum(wei for _, wei in parsed))
    return parsed


def _read_plain(entry: Any) -> tuple[str, int] | None:
    """Parse a valid entry; return None for one that needs the full rules and their error texts, at 4x the cost."""
    if type(entry) is not dict or len(entry) != 2:
        return None
    account, wei = entry.get("account"), entry.get("amount")
    if type(account) is not str or not _ACCOUNT.fullmatch(account):
        return None
    if type(wei) is str and _WEI.fullmatch(wei):
        wei = int(wei)
    elif type(wei) is int or type(wei) is float and wei.is_integer():
        wei = int(wei) * WEI_PER_TOKEN
    else:
        return None
    account = account.lower()
    return (account, wei) if 0 < wei <= TOKEN_SUPPLY and account != ZERO_ADDRESS else None


def _find_other_notation(entries: list[dict[str, Any]]) -> list[Problem]:
    """Return a problem for the first amount whose unit differs from the first entry's: mixed units are a mistake."""
    in_wei = isinstance(entries[0]["amount"], str)
    for index, entry in enumerate(entries):
        if isinstance(entry["amount"], str) is not in_wei:
            return [
                (f"[{index}].amount", "must be in the unit of the other entries: all in wei, or all in whole tokens")
            ]
    return []


def _check_total(wei: int) -> None:
    least, most = MIN_BPS * WEI_PER_BPS, MAX_EXTENSION_BPS * WEI_PER_BPS
    if not least <= wei <= most:
        raise ValueError(
            f"must have amounts of 0.25 to 90 percent of the supply together, which is {least} to {most} wei:"
            f" these sum to {wei} wei"
        )
