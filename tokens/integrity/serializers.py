"""Parameters and response of the endpoint for facts about a launch."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, inline_serializer
from rest_framework import serializers

from config.api.fields import WeiField
from tokens.catalogue.serializers import NullableNumber, NullableText
from tokens.integrity.bundle_detection import BUNDLE_KINDS
from tokens.integrity.dev_accounts import DEV_ROLES
from tokens.integrity.unknown_facts import UNKNOWN_REASONS

WINDOWS = ("10", "30", "60", "300", "600")


class IntegrityQuery(serializers.Serializer[Any]):
    """Length of the time after the launch."""

    seconds = serializers.ChoiceField(
        WINDOWS,
        default="60",
        error_messages={"invalid_choice": f"must be one of {', '.join(WINDOWS)}"},
        help_text="Seconds after the block time of the launch that `firstSeconds`, `bundles` and `atLaunch` are of.",
    )


@extend_schema_field({"type": "string", "pattern": "^-?[0-9]+$"})
class SignedAmountField(serializers.CharField):
    """Amount in the token's smallest unit that may be negative."""


@extend_schema_field({"type": ["string", "null"], "pattern": "^[0-9]+$"})
class NullableAmountField(serializers.CharField):
    """Amount in the token's smallest unit, null if unknown."""


_PERCENT = "Percent of the supply; null if the supply is unknown."
_NET = "Bought and received less sold, in the token's smallest unit. Negative if more was sold: transfers brought it."


class LogPlaceSerializer(serializers.Serializer[Any]):
    """Place of a log."""

    txHash = serializers.CharField(help_text="On Solana the signature.")
    block = serializers.IntegerField(help_text="On Solana the slot.")
    logIndex = serializers.IntegerField(help_text="Index of the log in its block.")


class LaunchPlaceSerializer(LogPlaceSerializer):
    """Place and block time of the launch."""

    logIndex = serializers.IntegerField(help_text="On Solana the index of the instruction in its transaction.")
    at = serializers.DateTimeField()


class LaunchTradeSerializer(LogPlaceSerializer):
    """A trade of the token."""

    account = NullableText(
        help_text="Sender of the transaction, or recipient of the launch's own purchase. Null if only the log was read."
    )
    isDev = serializers.BooleanField(help_text="Whether it is one of the dev accounts.")
    side = serializers.ChoiceField(["buy", "sell"])
    amount = WeiField(help_text="What the pool paid or received, in the token's smallest unit.")
    percent = NullableNumber(help_text=_PERCENT)
    at = serializers.DateTimeField(help_text="Block time.")


class HoldingSerializer(serializers.Serializer[Any]):
    """What an account has bought and sold, with its first trades."""

    bought = WeiField()
    sold = WeiField()
    received = NullableAmountField(
        help_text="Fees and airdrop that were claimed for a dev account; 0 for others, and at launch. Null for a "
        "launchpad whose claims are not read."
    )
    amount = SignedAmountField(help_text=_NET)
    percent = NullableNumber(help_text=_PERCENT)
    trades = serializers.IntegerField(help_text="Number of its trades.")
    transactions = LaunchTradeSerializer(many=True, help_text="The first 5 of its trades.")


_BALANCE = "On the chain as of `balancesBlock`; null if unknown, as always on Solana."


class LaunchHolderSerializer(HoldingSerializer):
    """An account with a large net purchase."""

    account = serializers.CharField()
    isDev = serializers.BooleanField(help_text="Whether it is one of the dev accounts.")
    balance = NullableAmountField(help_text=_BALANCE)


class DevAccountSerializer(serializers.Serializer[Any]):
    """An account behind the launch."""

    account = serializers.CharField()
    roles = serializers.ListField(child=serializers.ChoiceField(DEV_ROLES))
    atLaunch = HoldingSerializer()
    now = HoldingSerializer()
    balance = NullableAmountField(help_text=_BALANCE)


class LaunchShareSerializer(serializers.Serializer[Any]):
    """An amount with its share of the supply."""

    amount = SignedAmountField(help_text=_NET)
    percent = NullableNumber(help_text=_PERCENT)


class PurchasesSerializer(serializers.Serializer[Any]):
    """Purchases with their sum."""

    buyers = serializers.IntegerField(help_text="Different accounts; purchases of unknown ones count for none.")
    count = serializers.IntegerField(help_text="Purchases.")
    amount = WeiField(help_text="Sum, in the token's smallest unit.")
    percent = NullableNumber(help_text=_PERCENT)
    purchases = LaunchTradeSerializer(many=True, help_text="The first 25, of a bundle the first 10.")


class BundleSerializer(PurchasesSerializer):
    """Purchases of one transaction, or of transactions that are next to one another in a block."""

    kinds = serializers.ListField(child=serializers.ChoiceField(BUNDLE_KINDS))
    block = serializers.IntegerField(help_text="On Solana the slot.")


class VaultClaimedSerializer(serializers.Serializer[Any]):
    """What left the launch's vault."""

    amount = WeiField(help_text="In the token's smallest unit.")
    percent = NullableNumber(help_text=_PERCENT)
    transactions = LogPlaceSerializer(many=True, help_text="The newest 5.")


class UnknownFactSerializer(serializers.Serializer[Any]):
    """A fact that the report can't contain."""

    fact = serializers.ChoiceField(list(UNKNOWN_REASONS))
    reason = serializers.CharField()


def _answer(name: str, **fields: serializers.Field[Any, Any, Any, Any]) -> serializers.Serializer[Any]:
    return inline_serializer(name, dict(fields))


INTEGRITY_ANSWER = inline_serializer(
    "Integrity",
    {
        "chainId": serializers.IntegerField(),
        "address": serializers.CharField(),
        "supply": NullableAmountField(help_text="In the token's smallest unit."),
        "launch": LaunchPlaceSerializer(),
        "seconds": serializers.IntegerField(help_text="Seconds after the launch that count as launch."),
        "trades": _answer(
            "IntegrityTrades",
            counted=serializers.IntegerField(help_text="Trades that the report counts, without conversions of fees."),
            isComplete=serializers.BooleanField(help_text="False if the token has more than the first 5,000 trades."),
            lastBlock=serializers.IntegerField(allow_null=True, help_text="Block of the last one; null without any."),
            lastAt=serializers.DateTimeField(allow_null=True),
        ),
        "dev": _answer(
            "IntegrityDev",
            accounts=DevAccountSerializer(many=True),
            atLaunch=LaunchShareSerializer(help_text="Sum of the accounts."),
            now=LaunchShareSerializer(help_text="Sum of the accounts after all counted trades."),
            vaultClaimed=VaultClaimedSerializer(
                allow_null=True, help_text="Null for a launchpad whose claims are not read."
            ),
        ),
        "firstBlock": PurchasesSerializer(help_text="Purchases in the block of the launch."),
        "firstSeconds": PurchasesSerializer(help_text="Purchases of `seconds` after the launch, its block included."),
        "bundles": _answer(
            "IntegrityBundles",
            count=serializers.IntegerField(help_text="Bundles."),
            purchases=serializers.IntegerField(help_text="Purchases in them."),
            amount=WeiField(help_text="Sum of the purchases, in the token's smallest unit."),
            percent=NullableNumber(help_text=_PERCENT),
            list=BundleSerializer(many=True, help_text="The first 10."),
        ),
        "holders": _answer(
            "IntegrityHolders",
            atLaunch=LaunchHolderSerializer(many=True, help_text="The ten largest after `seconds`."),
            now=LaunchHolderSerializer(many=True, help_text="The ten largest after all counted trades."),
        ),
        "soldWithoutPurchase": _answer(
            "IntegrityUnboughtSales",
            accounts=serializers.IntegerField(help_text="Accounts that sold more than they bought or claimed."),
            amount=WeiField(help_text="How much more: at least this was transferred to them."),
            percent=NullableNumber(help_text=_PERCENT),
        ),
        "balancesBlock": serializers.IntegerField(allow_null=True, help_text="Null if no balance is known."),
        "unknown": UnknownFactSerializer(many=True),
    },
)
