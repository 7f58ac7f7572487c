"""The body that orders a launch, as it is described; `tokens.deploying.launch_request` has the rules and reads it.

Durations are days, fees and shares percent, as the interface has always had them; what is otherwise says so.
"""

from typing import Any

from drf_spectacular.utils import extend_schema_field, inline_serializer
from rest_framework import serializers

from config.api.fields import AddressField, WeiField
from tokens.installation.chain_fields import EvmAddressField
from tokens.models.deployment import Deployment

REQUEST_KEY_PATTERN = "^[!-~]{32}$"

_PAGE = {
    "type": "object",
    "required": ["platform", "url"],
    "properties": {"platform": {"type": "string"}, "url": {"type": "string"}},
}


@extend_schema_field({"oneOf": [{"type": "string"}, _PAGE]})
class SocialPageField(serializers.JSONField):
    """A page of the project: its URL, or an object that names the platform, too."""


class TokenShape(serializers.Serializer[Any]):
    """What the token is called, and whose it is."""

    name = serializers.CharField()
    symbol = serializers.CharField()
    tokenAdmin = AddressField(help_text="Who may change the token's image and metadata.")
    image = serializers.CharField(required=False, help_text="An http, https or ipfs URL.")
    description = serializers.CharField(required=False)
    socialMediaUrls = serializers.ListField(
        child=SocialPageField(), required=False, help_text="http or https URLs, or objects that name the platform, too."
    )
    auditUrls = serializers.ListField(child=serializers.URLField(), required=False)
    requestKey = serializers.RegexField(
        REQUEST_KEY_PATTERN, help_text="32 visible ASCII characters, of your choice: one order is taken under each."
    )


class RewardShape(serializers.Serializer[Any]):
    """A share of the liquidity's fees."""

    admin = AddressField(help_text="Who may change the recipient.")
    recipient = AddressField()
    allocation = serializers.FloatField(help_text="Percent; those of all rewards sum to exactly 100.")
    rewardsToken = serializers.ChoiceField(choices=["Both", "Clanker", "Paired"], default="Both")


class PoolShape(serializers.Serializer[Any]):
    """Where the token trades."""

    type = serializers.ChoiceField(choices=["standard", "project"], default="standard")
    pairedToken = serializers.CharField(default="WETH", help_text="An address, or WETH.")
    initialMarketCap = serializers.FloatField(default=10, help_text="In whole units of the paired token, above 0.")


class FeesShape(serializers.Serializer[Any]):
    """Fees of the pool, in percent. Static ones have the first two, dynamic ones all others."""

    type = serializers.ChoiceField(choices=["static", "dynamic"], default="static")
    clankerFee = serializers.FloatField(min_value=0, max_value=5, required=False, help_text="Default 1.")
    pairedFee = serializers.FloatField(min_value=0, max_value=5, required=False, help_text="Default 1.")
    baseFee = serializers.FloatField(min_value=0.25, max_value=5, required=False)
    maxLpFee = serializers.FloatField(min_value=0.25, max_value=5, required=False, help_text="Also as maxFee.")
    referenceTickFilterPeriod = serializers.IntegerField(required=False, help_text="Seconds.")
    resetPeriod = serializers.IntegerField(required=False, help_text="Seconds.")
    resetTickFilter = serializers.IntegerField(required=False, help_text="Ticks.")
    feeControlNumerator = serializers.IntegerField(required=False)
    decayFilterBps = serializers.IntegerField(required=False, help_text="Bps.")


class VaultShape(serializers.Serializer[Any]):
    """A part of the supply that is locked."""

    percentage = serializers.FloatField(min_value=0, max_value=90)
    lockupDuration = serializers.FloatField(min_value=7, help_text="Days.")
    vestingDuration = serializers.FloatField(default=0, help_text="Days, after the lockup.")
    recipient = AddressField(required=False, help_text="Default: the token's admin.")


@extend_schema_field({"oneOf": [{"type": "string", "pattern": "^[0-9]+$"}, {"type": "integer", "minimum": 1}]})
class DroppedAmountField(serializers.JSONField):
    """Either notation of an amount."""


class AirdropEntryShape(serializers.Serializer[Any]):
    """What one account may claim."""

    account = AddressField()
    amount = DroppedAmountField(
        help_text="Wei as a text of digits, or whole tokens as a JSON number; all entries in the same way."
    )


class AirdropShape(serializers.Serializer[Any]):
    """A part of the supply, 0.25 to 90 percent in all, that accounts may claim."""

    entries = AirdropEntryShape(many=True, help_text="At most 100,000, each account once.")
    lockupDuration = serializers.FloatField(min_value=1, help_text="Days.")
    vestingDuration = serializers.FloatField(default=0, help_text="Days, after the lockup.")


class PresaleShape(serializers.Serializer[Any]):
    """A sale before the launch, where the chain has a contract for it that our wallet may use."""

    minEthGoal = serializers.FloatField(help_text="ETH.")
    maxEthGoal = serializers.FloatField(help_text="ETH.")
    presaleDuration = serializers.IntegerField(min_value=60, help_text="Seconds.")
    recipient = AddressField(required=False, help_text="Default: the token's admin.")
    lockupDuration = serializers.FloatField(min_value=7, default=7, help_text="Days.")
    vestingDuration = serializers.FloatField(default=0, help_text="Days, after the lockup.")
    presaleSupplyBps = serializers.IntegerField(min_value=1, max_value=9000, default=5000, help_text="Bps.")
    allowlist = serializers.ListField(child=AddressField(), required=False, help_text="Who may buy; default: anybody.")


class DevBuyShape(serializers.Serializer[Any]):
    """A purchase within the launch, which we pay for."""

    ethAmount = serializers.FloatField(help_text="ETH, above 0.")
    recipient = AddressField(required=False, help_text="Default: the token's admin.")


class ContextShape(serializers.Serializer[Any]):
    """Where the wish for the token was told."""

    interface = serializers.CharField(required=False)
    platform = serializers.CharField(required=False)
    messageId = serializers.CharField(required=False)
    id = serializers.CharField(required=False)


# Not a class: a serializer has another `context` of its own.
DEPLOY_BODY = inline_serializer(
    "DeployBody",
    {
        "token": TokenShape(),
        "rewards": RewardShape(many=True, required=False, help_text="1 to 7; default: all to the token's admin."),
        "pool": PoolShape(required=False),
        "fees": FeesShape(required=False),
        "vault": VaultShape(required=False, help_text="With airdrop and presale at most 90 percent of the supply."),
        "airdrop": AirdropShape(required=False),
        "presale": PresaleShape(required=False),
        "devBuy": DevBuyShape(required=False),
        "context": ContextShape(required=False),
        "chainId": serializers.IntegerField(required=False, help_text="Default: the registry's first chain."),
        "dryRun": serializers.BooleanField(
            default=False, help_text="Check and simulate, and answer with the whole configuration; nothing is sent."
        ),
    },
)


# Parameters and answer of GET /api/airdrops/claim.
_AIRDROP = "airdrop"


class AirdropClaimQuery(serializers.Serializer[Any]):
    """Whose part in which token's airdrop."""

    tokenAddress = EvmAddressField(lacking=_AIRDROP, help_text="The token that is given away; no mint of Solana.")
    claimerAddress = EvmAddressField(lacking=_AIRDROP, help_text="Who was given a part of it.")


class AirdropEntrySerializer(serializers.Serializer[Any]):
    """What an account was given."""

    account = serializers.CharField()
    amount = WeiField(help_text="All that it may claim over time, what it has claimed before included.")


class AirdropProofSerializer(serializers.Serializer[Any]):
    """What `claim` of the airdrop contract takes, besides the token."""

    proof = serializers.ListField(
        child=serializers.CharField(),
        help_text="Hashes of 32 bytes, from the leaf up; none where the account has all of the airdrop.",
    )
    entry = AirdropEntrySerializer(source="*")


class AirdropClaimAnswer(serializers.Serializer[Any]):
    """None where the token was not launched through this service, or the account has no part in its airdrop."""

    proofs = AirdropProofSerializer(many=True)


# The answers about orders, as they are described.
class DeployAnswer(serializers.Serializer[Any]):
    """A stored order, or with `dryRun` the order as it would be stored: then with its configuration and gas."""

    success = serializers.BooleanField()
    message = serializers.CharField()
    dryRun = serializers.BooleanField(required=False, help_text="Of dry runs alone: true. Nothing was stored or sent.")
    expectedAddress = AddressField(
        allow_null=True,
        help_text="Where the token will be, which CREATE2 settles. Null for a presale, whose launch comes later.",
    )
    requestKey = serializers.CharField()
    chainId = serializers.IntegerField()
    status = serializers.ChoiceField(
        choices=[Deployment.Status.ENQUEUED.value],
        required=False,
        help_text="As it was when the order was stored, also in later answers for its key. Not in dry runs.",
    )
    statusUrl = serializers.URLField(required=False, help_text="Where its status is asked for. Not in dry runs.")
    gas = serializers.IntegerField(
        required=False, help_text="Of dry runs alone: the gas limit of the transaction, a fifth above the estimate."
    )
    config = serializers.DictField(
        required=False, help_text="Of dry runs alone: the configuration with all defaults filled in."
    )


class DeployStatusAnswer(serializers.Serializer[Any]):
    """How far an order is."""

    requestKey = serializers.CharField()
    status = serializers.ChoiceField(
        choices=Deployment.Status.choices,
        help_text="enqueued, submitted to the chain, mined in a block, indexed here; or failed, for good unless an "
        "operator has it tried again. A reorganisation of the chain takes it back to submitted. A presale stays mined "
        "until the launch that ends it is indexed.",
    )
    txHash = serializers.CharField(
        allow_null=True,
        help_text="The transaction that carried it out, or the newest that is to; it may be replaced by one with a "
        "higher fee.",
    )
    address = AddressField(allow_null=True, help_text="The token, once it is in a block.")
    error = serializers.CharField(allow_null=True, help_text="What went wrong last.")
    attempts = serializers.IntegerField(help_text="How many times it was tried with a nonce of its own.")
    updatedAt = serializers.DateTimeField()
