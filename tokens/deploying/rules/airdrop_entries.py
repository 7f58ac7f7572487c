"""The entries of an airdrop, of which there may be a hundred thousand."""

import re
from typing import Any

from config.json_rules import Key, Problem, Refused, below, cut, object_of
from tokens.chains.abi.layouts import address_text
from tokens.chains.launching.launch_config import ALL_BPS, MAX_EXTENSION_BPS, TOKEN_SUPPLY
from tokens.chains.types import WEI_PER_TOKEN
from tokens.deploying.rules import scalars

MAX_ENTRIES = 100_000
# 0.25 %, the least that the SDK takes.
MIN_BPS = 25
_WEI_PER_BPS = TOKEN_SUPPLY // ALL_BPS
# More than the supply has no digits.
_WEI = re.compile(f"[0-9]{{1,{len(str(TOKEN_SUPPLY))}}}")

# The SDK's way of writing an amount: a hundred thousand of them fit into a body, which as many in wei do not.
_IN_TOKENS = scalars.whole(
    least=1, most=TOKEN_SUPPLY // WEI_PER_TOKEN, unit="whole tokens (a JSON number; wei are digits in a text)"
)
_IN_WEI = scalars.whole(least=1, most=TOKEN_SUPPLY, unit="wei (digits in a text; whole tokens are a JSON number)")

Entries = tuple[tuple[str, int], ...]


def bps_of(wei: int) -> int:
    """The share of the supply that holds this many wei: rounded up, since every entry must be paid."""
    return -(-wei // _WEI_PER_BPS)


def amount(value: Any) -> int:
    """Wei as a text of digits, or whole tokens as a JSON number -> wei."""
    if isinstance(value, str) and _WEI.fullmatch(value):
        return int(_IN_WEI(int(value)))
    return int(_IN_TOKENS(value)) * WEI_PER_TOKEN


_ENTRY = object_of({"account": Key(rule=scalars.address), "amount": Key(rule=amount)})


def entries(value: Any) -> Entries:
    """(EIP-55 account, wei) in the order in which they came; each account once, and together within the limits."""
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_ENTRIES:
        raise ValueError(f"must be a list of 1 to {MAX_ENTRIES} entries")
    taken: dict[str, int] = {}
    problems: list[Problem] = []
    for index, entry in enumerate(value):
        read = _read_plain(entry)
        if read is None:
            try:
                found = _ENTRY(entry)
            except ValueError as error:
                problems += below(f"[{index}]", error)
                continue
            read = found["account"], found["amount"]
        account, wei = read
        if account in taken:
            problems.append((f"[{index}].account", "is in the list twice"))
        taken[account] = wei
    if not problems:
        problems = _find_other_notation(value)
    if problems:
        raise Refused(cut(problems))
    _check_total(sum(taken.values()))
    return tuple(taken.items())


def _read_plain(entry: Any) -> tuple[str, int] | None:
    """An entry as nearly all are; None where the rules have to look at it one by one, at thrice the cost."""
    if type(entry) is not dict or len(entry) != 2:
        return None
    account, wei = entry.get("account"), entry.get("amount")
    if type(account) is not str or len(account) != 42 or not account.startswith("0x"):
        return None
    if type(wei) is str and _WEI.fullmatch(wei):
        wei = int(wei)
    elif type(wei) is int:
        wei *= WEI_PER_TOKEN
    else:
        return None
    if not 0 < wei <= TOKEN_SUPPLY:
        return None
    try:
        raw = bytes.fromhex(account[2:])
    except ValueError:
        return None
    return (address_text(raw), wei) if len(raw) == 20 and any(raw) else None


def _find_other_notation(entries: list[dict[str, Any]]) -> list[Problem]:
    """The first entry whose amount is not in the unit of the first one's: nobody means both."""
    in_wei = isinstance(entries[0]["amount"], str)
    for index, entry in enumerate(entries):
        if isinstance(entry["amount"], str) is not in_wei:
            return [
                (f"[{index}].amount", "must be in the unit of the other entries: all in wei, or all in whole tokens")
            ]
    return []


def _check_total(wei: int) -> None:
    least, most = MIN_BPS * _WEI_PER_BPS, MAX_EXTENSION_BPS * _WEI_PER_BPS
    if not least <= wei <= most:
        raise ValueError(
            f"must have amounts of 0.25 to 90 percent of the supply together, which is {least} to {most} wei:"
            f" these sum to {wei} wei"
        )
