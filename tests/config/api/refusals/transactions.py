"""Refusals of the endpoints for unsigned transactions."""

from config.processes.concurrency_limits import LARGE_BODY_BYTES
from tests.config.api.refusals.partner_writes import DEPLOY
from tests.config.api.refusals.refusal_rows import (
    EVM_ADDRESS,
    MINT,
    OBJECT,
    Refusal,
    Rows,
    broken,
    number,
    of_evm,
    whole,
    wrong,
)
from tests.rows.changed_bodies import ABSENT
from tokens.deploying.launch_request import UNSIGNED_LAUNCH_KEYS
from tokens.transactions.action_fields import SENDER
from tokens.transactions.actions import ACTIONS
from tokens.transactions.views import operation_id

_ELSEWHERE = of_evm("on Solana there is no contract of these launchpads")[0]
_DIGITS = "must be a whole number as a text of digits, from {} to 2^256 - 1"
_HASH = "must be a hash, 0x followed by 64 hex digits"
_UNSUPPORTED = "Unsupported chain"
_LIST = "must be a list of 1 to 10 entries"
_NO_HASHES = ("0x12", "ab" * 32, "0x" + "g" * 64, 5, [])
_NO_AMOUNTS = ("-1", "1.5", "0x5", "", "9" * 79, 5, 1.5, [])


def _addresses(name: str) -> Rows:
    others = {
        _ELSEWHERE: MINT,
        "must not be the zero address": "0x" + "00" * 20,
        "must have the capitals of EIP-55, or letters of one case": "0x" + "aB" * 20,
    }
    rows = [row for rule, value in others.items() for row in wrong(name, rule, value)]
    return (*wrong(name, EVM_ADDRESS, "0x12", "x", "", 5, []), *rows)


# Field -> rows for its values.
_FIELDS: dict[str, Rows] = {
    "account": _addresses("account"),
    "amount": wrong("amount", _DIGITS.format(1), *_NO_AMOUNTS),
    "auditUrls": wrong("auditUrls", "must be a list of at most 50 entries", "x", {}),
    "buyer": _addresses("buyer"),
    "chainId": (
        *wrong("chainId", f"{number(1, 2**63 - 1)}, in EIP-155's ids", 0, "x", 1.5),
        *(Refusal({"chainId": each}, _UNSUPPORTED, {"chainId": _UNSUPPORTED}) for each in (5, 101)),
    ),
    "currency": wrong("currency", "must be native or paired", "ETH", 5),
    "currencies": (*wrong("currencies", _LIST, [], "x", {}), *broken("currencies[0]", EVM_ADDRESS, currencies=["x"])),
    "deadlineSeconds": wrong("deadlineSeconds", f"{number(10, 86_400)}, in seconds", 9, 86_401, "60"),
    "description": wrong("description", "must have at most 5000 characters", "x" * 5_001),
    "enabled": wrong("enabled", "must be true, false, 1 or 0", "x", 5),
    "exact": wrong("exact", "must be in or out", "input", 5),
    "feeOwner": _addresses("feeOwner"),
    "from": _addresses("from"),
    "image": wrong(
        "image", "must be a URL that begins with http:// or https:// or ipfs://", "x", "javascript:alert(1)"
    ),
    "merkleRoot": wrong("merkleRoot", _HASH, *_NO_HASHES),
    "newAdmin": _addresses("newAdmin"),
    "newRecipient": _addresses("newRecipient"),
    "presaleId": wrong("presaleId", f"{number(1, 2**53 - 1)}, in the presale contract's ids", 0, "1", 1.5),
    "recipient": _addresses("recipient"),
    "rewardIndex": wrong("rewardIndex", f"{number(0, 6)}, in the order of the fee recipients", -1, 7, "0"),
    "rewardsToken": wrong("rewardsToken", "must be Both or Paired or Clanker", "both", 5),
    "salt": wrong("salt", _HASH, *_NO_HASHES),
    "side": wrong("side", "must be buy or sell", "BUY", 5),
    "slippageBps": wrong("slippageBps", f"{number(0, 5_000)}, in bps", -1, 5_001, "1", 0.5),
    "socialMediaUrls": wrong("socialMediaUrls", "must be a list of at most 50 entries", "x", {}),
    "tokenAddress": _addresses("tokenAddress"),
    "tokenAddresses": broken("tokenAddresses[0]", EVM_ADDRESS, tokenAddresses=["x"]),
}
# What differs by the action.
_OWN: dict[tuple[str, str], Rows] = {
    ("claim-airdrop", "proof"): (
        *broken("proof[0]", _HASH, proof=["x"]),
        *wrong("proof", "must be a list of at most 64 entries", "0x"),
    ),
    ("presale-buy", "proof"): wrong("proof", "must be bytes in hex after 0x, at most 2176", "x", "0x1", 5, []),
    ("swap", "amount"): wrong(
        "amount",
        "must be a whole number as a text of digits, from 1 to 10^38 - 1",
        *_NO_AMOUNTS,
        str(10**38),
    ),
    ("update-allowlist-buyer", "amount"): wrong("amount", _DIGITS.format(0), *_NO_AMOUNTS),
}
# Deployments also have `dryRun`, and larger bodies.
_LAUNCH: Rows = tuple(
    row
    for row in DEPLOY
    if not {"dryRun", ""} & {*row.changes, *row.details}
    and row.status == 400
    and "dryRun" not in row.error
    and len(str(row.changes)) < LARGE_BODY_BYTES
)


def _rows(name: str, fields: dict[str, object]) -> Rows:
    required = (row for each in ("from", "chainId") for row in wrong(each, "is required", ABSENT, None))
    rows = [row for field in fields for row in _OWN.get((name, field)) or _FIELDS[field]]
    unknown = f"is not known; known are {', '.join(fields)}"
    return (*whole(OBJECT, None, [], "x", 5), *required, *rows, *wrong("more", unknown, 1))


REFUSALS = {
    operation_id(action): _rows(name, {**SENDER, **action.fields})
    for name, action in ACTIONS.items()
    if action.fields is not UNSIGNED_LAUNCH_KEYS
} | {
    "prepareLaunch": (
        *whole(OBJECT, [], "x", 5),
        *wrong("from", "is required", ABSENT, None),
        *_FIELDS["from"],
        *wrong("dryRun", f"is not known; known are {', '.join(UNSIGNED_LAUNCH_KEYS)}", True, False),
        *_LAUNCH,
    )
}
