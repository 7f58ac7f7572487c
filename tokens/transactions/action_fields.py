"""Field rules for the actions' bodies. Amounts are wei as digits in a text."""

import re
from typing import Any

from config.parsing.json_rules import FieldRule, Rule, choice, described, flag, list_of, whole_number
from tokens.deploying.launch_request import chain_id_rule
from tokens.deploying.rules import scalars, supply_shares

MAX_TOKENS = 10
_MAX_UINT = 2**256 - 1
_MOST_DIGITS = len(str(_MAX_UINT))
_DIGITS = re.compile(f"[0-9]{{1,{_MOST_DIGITS}}}")
_HASH = re.compile("0[xX][0-9a-fA-F]{64}")
# A proof has one hash per tree level.
_MAX_LEVELS = 64
_MAX_PROOF_BYTES = 32 * (_MAX_LEVELS + 4)
_BYTES = re.compile(f"0[xX](?:[0-9a-fA-F]{{2}}){{0,{_MAX_PROOF_BYTES}}}")

_any_address = scalars.evm_address("contract of these launchpads")


@described(_any_address.schema)
def address(value: Any) -> str:
    """Parse an EVM address to EIP-55. Letters of both cases have to be EIP-55's: a wrong recipient is final."""
    parsed: str = _any_address.parse(value)
    if value[2:] not in (value[2:].lower(), value[2:].upper(), parsed[2:]):
        raise ValueError("must have the capitals of EIP-55, or letters of one case")
    return parsed


def wei(*, least: int, digits: int | None = None) -> Rule:
    """Return the rule for an amount, with at most so many digits: JSON numbers would lose some in most clients."""
    most, text = (10**digits - 1, f"10^{digits} - 1") if digits else (_MAX_UINT, "2^256 - 1")
    pattern = "^0*[1-9][0-9]*$" if least else "^[0-9]+$"

    @described({"type": "string", "pattern": pattern, "maxLength": digits or _MOST_DIGITS})
    def rule(value: Any) -> int:
        amount = int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else -1
        if not least <= amount <= most or len(value) > (digits or _MOST_DIGITS):
            raise ValueError(f"must be a whole number as a text of digits, from {least} to {text}")
        return amount

    return rule


@described({"type": "string", "pattern": f"^{_HASH.pattern}$"})
def bytes32(value: Any) -> str:
    """Parse a hash; the result is lower-case."""
    if not isinstance(value, str) or not _HASH.fullmatch(value):
        raise ValueError("must be a hash, 0x followed by 64 hex digits")
    return value.lower()


@described({"type": "string", "pattern": "^0[xX]([0-9a-fA-F]{2})*$", "maxLength": 2 + 2 * _MAX_PROOF_BYTES})
def proof_bytes(value: Any) -> str:
    """Parse an encoded proof; the result is lower-case."""
    if not isinstance(value, str) or not _BYTES.fullmatch(value):
        raise ValueError(f"must be bytes in hex after 0x, at most {_MAX_PROOF_BYTES}")
    return value.lower()


SENDER = {
    "from": FieldRule(
        rule=address,
        attribute="sender",
        description="The wallet that will sign. It needs only the coins that the calls send, none for gas.",
    ),
    "chainId": FieldRule(rule=chain_id_rule, attribute="chain_id", description="Chain id."),
}
TOKEN_ADDRESS = {"tokenAddress": FieldRule(rule=address, attribute="token", description="A launched token.")}
CURRENCIES = FieldRule(
    rule=list_of(address, least=1, most=MAX_TOKENS), description="Fee currencies: launched and paired tokens."
)
PRESALE_ID = {"presaleId": FieldRule(rule=whole_number(least=1, most=2**53 - 1, unit="the presale contract's ids"))}
NEW_ADMIN = {"newAdmin": FieldRule(rule=address)}
MERKLE_ROOT = {"merkleRoot": FieldRule(rule=bytes32)}
RECIPIENT = {"recipient": FieldRule(rule=address, default=None, description="Account that is paid. Default: `from`.")}
REWARD_INDEX = {
    "rewardIndex": FieldRule(
        rule=whole_number(least=0, most=supply_shares.MAX_REWARDS - 1, unit="the order of the fee recipients")
    )
}
REWARDS_TOKEN = {"rewardsToken": FieldRule(rule=choice("Both", "Paired", "Clanker"))}
ENABLED = {"enabled": FieldRule(rule=flag)}
