"""The body that orders a launch, as it is described; `tokens.deploying.launch_request` has the rules and reads it.

Durations are days, fees and shares percent, as the interface has always had them; what is otherwise says so.
"""

from typing import Any

from drf_spectacular.utils import extend_schema_field, inline_serializer
from rest_framework import serializers

from config.api.fields import AddressField

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
