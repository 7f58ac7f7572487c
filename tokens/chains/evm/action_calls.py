"""Calls for the owners of tokens, fees and allocations: which contract function does what, by launch layout. Pure.

Source: the ABIs in the npm package clanker-sdk 4.2.18 and the public repository v4-contracts. Arguments have the names
of the values that they take; docs/transactions.md lists the functions without an action, with the reasons.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokens.chains.abi.codec import AbiFunction, declared_call
from tokens.chains.evm.unsigned_calls import UnsignedCall, quote

# The role of a launched token, which the registry does not have.
LAUNCHED = "token"
# The layout of contracts that belong to no token.
PRESALES = "presales"
# v3.1's two shares have functions of their own.
_V31_SHARES = ("Creator", "Interface")


@dataclass(frozen=True, kw_only=True, slots=True)
class CallTemplate:
    """A contract function, and the sentence about a call of it; both name values, the sentence in braces.

    `role` is the contract's role in the registry, or LAUNCHED. `payment` names the value that the call sends in wei.
    """

    role: str
    function: AbiFunction
    text: str
    payment: str = ""

    @property
    def needs(self) -> frozenset[str]:
        """The names of the values that the call takes."""
        return frozenset((*self.function.inputs.names, *([self.payment] if self.payment else [])))

    def encode(self, contract: str, values: Mapping[str, Any]) -> UnsignedCall:
        """Return the call of the contract (EIP-55). Addresses, hashes and bytes are hex, numbers ints, flags bools."""
        kinds = dict(zip(self.function.inputs.names, self.function.inputs.types, strict=True))
        words = {name: _word(kind, values[name]) for name, kind in kinds.items()}
        return UnsignedCall(
            to=contract,
            data=self.function.encode_input(*(_encodable(kind, values[name]) for name, kind in kinds.items())),
            value=values[self.payment] if self.payment else 0,
            text=self.text.format(**{**values, **words}),
        )


def _word(kind: str, value: Any) -> Any:
    """Return a value as a sentence has it."""
    if kind == "bool":
        return "on" if value else "off"
    return quote(value) if kind == "string" else value


def _encodable(kind: str, value: Any) -> Any:
    """Return a value as the ABI codec takes it."""
    if kind.endswith("[]"):
        return [_encodable(kind[:-2], item) for item in value]
    if kind == "string":
        return value.encode()
    return bytes.fromhex(value.removeprefix("0x")) if kind.startswith("bytes") else value


def _call(role: str, function: str, text: str, *, payment: str = "") -> CallTemplate:
    return CallTemplate(role=role, function=declared_call(function), text=text, payment=payment)


def _v31_shares(function: str, text: str) -> tuple[CallTemplate, ...]:
    return tuple(
        _call("locker", function.format(share=share), text.format(share=share.lower())) for share in _V31_SHARES
    )


Templates = Mapping[str, Sequence[CallTemplate]]


def _on_tokens(function: str, text: str) -> Templates:
    call = (_call(LAUNCHED, function, text),)
    return {"v3_1": call, "v4": call}


def _on_presales(role: str, function: str, text: str, *, payment: str = "") -> Templates:
    return {PRESALES: (_call(role, function, text, payment=payment),)}


_CLAIM_REWARDS = (
    _call("factory", "claimRewards(address token)", "Collect the pool fees of {token} for their recipients."),
)
_EDIT_VAULT = (
    _call(
        "vault",
        "editAllocationAdmin(address token, address newAdmin)",
        "Hand over the vault's allocation of {token} to {newAdmin}.",
    ),
)

# Action -> layout of the token's launch, or PRESALES -> its function. Of several, `rewardIndex` selects one.
ACTION_CALLS: Mapping[str, Templates] = {
    # The layout v1 also covers v2; v1's own factory has no such function, so that its calls fail in the simulation.
    "collect-rewards": {
        "v1": _CLAIM_REWARDS,
        "v3": _CLAIM_REWARDS,
        "v3_1": _CLAIM_REWARDS,
        "v4": (
            _call(
                "locker",
                "collectRewards(address token)",
                "Collect the pool fees of {token} into the fee locker of their recipients.",
            ),
        ),
    },
    "claim-fees": {
        "v4": (
            _call("fee_locker", "claim(address feeOwner, address currency)", "Pay {feeOwner} its fees in {currency}."),
        )
    },
    "claim-vault": {
        "v3_1": (
            _call(
                "vault",
                "withdraw(address token, uint256 amount, address recipient)",
                "Withdraw {amount} of the smallest units of {token} from the vault to {recipient}.",
            ),
        ),
        "v4": (_call("vault", "claim(address token)", "Pay the unlocked part of {token} in the vault to its admin."),),
    },
    "update-vault-admin": {"v3_1": _EDIT_VAULT, "v4": _EDIT_VAULT},
    "claim-airdrop": {
        "v4": (
            _call(
                "airdrop",
                "claim(address token, address account, uint256 amount, bytes32[] proof)",
                "Pay {account} the unlocked part of its airdrop of {token}.",
            ),
        )
    },
    "update-airdrop-admin": {
        "v4": (
            _call(
                "airdrop",
                "updateAdmin(address token, address newAdmin)",
                "Hand over the airdrop of {token} to {newAdmin}.",
            ),
        )
    },
    "update-airdrop-root": {
        "v4": (
            _call(
                "airdrop",
                "updateMerkleRoot(address token, bytes32 merkleRoot)",
                "Set the Merkle root of the airdrop of {token} to {merkleRoot}.",
            ),
        )
    },
    "reclaim-airdrop": {
        "v4": (
            _call(
                "airdrop",
                "adminClaim(address token, address recipient)",
                "Send the unclaimed rest of the airdrop of {token} to {recipient}, and end its claims.",
            ),
        )
    },
    "update-image": _on_tokens("updateImage(string image)", "Set the image of {token} to {image}."),
    "update-metadata": _on_tokens("updateMetadata(string metadata)", "Replace all metadata of {token}."),
    "update-admin": {
        "v4": (_call(LAUNCHED, "updateAdmin(address newAdmin)", "Hand over the token {token} to {newAdmin}."),)
    },
    "verify": _on_tokens("verify()", "Verify {token} as its first admin."),
    "update-reward-recipient": {
        "v3_1": _v31_shares(
            "update{share}RewardRecipient(uint256 positionId, address newRecipient)",
            "Pay the {share} share of the fees of {{token}} to {{newRecipient}}.",
        ),
        "v4": (
            _call(
                "locker",
                "updateRewardRecipient(address token, uint256 rewardIndex, address newRecipient)",
                "Pay the share {rewardIndex} of the fees of {token} to {newRecipient}.",
            ),
        ),
    },
    "update-reward-admin": {
        "v3_1": _v31_shares(
            "update{share}RewardAdmin(uint256 positionId, address newAdmin)",
            "Hand over the {share} share of the fees of {{token}} to {{newAdmin}}.",
        ),
        "v4": (
            _call(
                "locker",
                "updateRewardAdmin(address token, uint256 rewardIndex, address newAdmin)",
                "Hand over the share {rewardIndex} of the fees of {token} to {newAdmin}.",
            ),
        ),
    },
    "update-fee-preference": {
        "v4": (
            _call(
                "locker",
                "updateFeePreference(address token, uint256 rewardIndex, uint8 preference)",
                "Pay the share {rewardIndex} of the fees of {token} in {rewardsToken}.",
            ),
        )
    },
    "presale-buy": _on_presales(
        "presale",
        "buyIntoPresaleWithProof(uint256 presaleId, bytes proof)",
        "Buy into presale {presaleId} for up to {amount} wei.",
        payment="amount",
    ),
    "presale-claim": _on_presales(
        "presale", "claimTokens(uint256 presaleId)", "Claim the unlocked tokens of presale {presaleId}."
    ),
    "presale-withdraw": _on_presales(
        "presale",
        "withdrawFromPresale(uint256 presaleId, uint256 amount, address recipient)",
        "Withdraw {amount} wei from presale {presaleId} to {recipient}.",
    ),
    "presale-end": _on_presales(
        "presale",
        "endPresale(uint256 presaleId, bytes32 salt)",
        "End presale {presaleId}, and launch its token.",
    ),
    "presale-collect": _on_presales(
        "presale",
        "claimEth(uint256 presaleId, address recipient)",
        "Send what presale {presaleId} raised to {recipient}, less the launchpad's fee.",
    ),
    "update-allowlist-root": _on_presales(
        "presale_allowlist",
        "setMerkleRoot(uint256 presaleId, bytes32 merkleRoot)",
        "Set the Merkle root of the allow-list of presale {presaleId} to {merkleRoot}.",
    ),
    "update-allowlist-buyer": _on_presales(
        "presale_allowlist",
        "setAddressOverride(uint256 presaleId, address buyer, uint256 amount)",
        "Let {buyer} pay up to {amount} wei in presale {presaleId}, without a proof.",
    ),
    "update-allowlist-state": _on_presales(
        "presale_allowlist",
        "setAllowlistEnabled(uint256 presaleId, bool enabled)",
        "Turn the allow-list of presale {presaleId} {enabled}.",
    ),
}
