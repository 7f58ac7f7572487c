"""Serializers for presales and their allow-lists: query parameters and responses."""

from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from config.api.fields import WeiField, WholeNumberField
from tokens.deploying.sales.presale_search import SEARCHED, STATES
from tokens.installation.chain_fields import AddressField, EvmAddressField, EvmChainField

_PRESALE = "presale"
# The contract's ids are 256-bit numbers from 1 on; no chain comes near this.
_LAST_ID = 2**53 - 1


class PresalesQuery(serializers.Serializer[Any]):
    """Query parameters for a presale list."""

    chainId = EvmChainField(lacking=_PRESALE, help_text="A chain with a presale contract.")
    sort = serializers.ChoiceField(
        ["desc", "asc"], default="desc", error_messages={"invalid_choice": "must be desc or asc"}
    )
    limit = WholeNumberField(min_value=1, max_value=100, default=20)
    offset = WholeNumberField(min_value=0, max_value=1_000_000, default=0)
    state = serializers.ChoiceField(
        STATES,
        required=False,
        error_messages={"invalid_choice": f"must be {', '.join(STATES[:-1])} or {STATES[-1]}"},
        help_text=f"Filters cover the newest {SEARCHED:,} presales of the contract, as of up to a minute ago.",
    )
    owner = EvmAddressField(lacking=_PRESALE, required=False, help_text="Filter: owner of the sale.")
    tokenAdmin = EvmAddressField(lacking=_PRESALE, required=False, help_text="Filter: admin of the token.")


class AllowlistQuery(serializers.Serializer[Any]):
    """Query parameters for a presale's allow-list."""

    chainId = EvmChainField(lacking=_PRESALE, help_text="Chain id.")
    presaleId = WholeNumberField(min_value=1, max_value=_LAST_ID)


class AllowlistProofQuery(AllowlistQuery):
    """Query parameters for a buyer's proof."""

    buyerAddress = EvmAddressField(lacking=_PRESALE)


class ShownPresaleSerializer(serializers.Serializer[Any]):
    """A presale as of up to 15 seconds ago; amounts in wei of the native coin, durations in seconds."""

    presaleId = serializers.IntegerField(source="sale.sale.presale_id")
    chainId = serializers.IntegerField(source="chain_id")
    contract = AddressField()
    status = serializers.IntegerField(source="sale.sale.status", help_text="The contract's own number, 1 to 5.")
    state = serializers.ChoiceField(
        STATES, help_text="By the status and the time: the contract records the end of a sale only on its next call."
    )
    name = serializers.CharField(source="sale.name")
    symbol = serializers.CharField(source="sale.symbol")
    image = serializers.CharField(source="sale.image")
    tokenAdmin = AddressField(source="sale.admin")
    owner = AddressField(source="sale.owner")
    allowlist = AddressField(
        source="sale.allowlist", allow_null=True, help_text="Contract; null if all accounts may buy."
    )
    minEthGoal = WeiField(source="sale.sale.min_goal")
    maxEthGoal = WeiField(source="sale.max_goal")
    ethRaised = WeiField(source="sale.sale.raised")
    endTime = serializers.IntegerField(source="sale.sale.ends_at", help_text="Unix seconds.")
    launchUntil = serializers.IntegerField(
        source="sale.sale.launches_until", allow_null=True, help_text="Unix seconds; null if the contract reports none."
    )
    lockupDuration = serializers.IntegerField(source="sale.lockup")
    vestingDuration = serializers.IntegerField(source="sale.vesting")
    tokenAddress = AddressField(source="sale.token", allow_null=True, help_text="The launched token.")


PRESALES_ANSWER = inline_serializer(
    "Presales",
    {
        "presales": ShownPresaleSerializer(many=True),
        "totalCount": serializers.IntegerField(
            help_text="Presales of the contract, or those that match the filters; up to a minute old."
        ),
        "oldestSearched": serializers.IntegerField(
            allow_null=True,
            help_text="Oldest presaleId that the filters cover; older presales are not read. Null without filters.",
        ),
    },
)


class AllowedBuyerSerializer(serializers.Serializer[Any]):
    """A buyer of a presale."""

    address = AddressField()
    allowedAmountWei = WeiField(help_text="The most that the buyer may pay.")


class SavedAllowlistSerializer(serializers.Serializer[Any]):
    """An allow-list that a partner has posted."""

    id = serializers.IntegerField()
    merkleRoot = serializers.CharField(
        source="root", help_text="Its 32 bytes are the `allowlistInitializationData` of `startPresale`."
    )
    entries = serializers.IntegerField(source="entry_count", help_text="Number of entries.")
    createdAt = serializers.DateTimeField(source="created_at")


class SavedAllowlistAnswer(SavedAllowlistSerializer):
    """The posted allow-list."""

    success = serializers.BooleanField(default=True)


SAVED_ALLOWLISTS_ANSWER = inline_serializer(
    "SavedAllowlists",
    {
        "data": SavedAllowlistSerializer(many=True),
        "cursor": serializers.IntegerField(allow_null=True, help_text="`before` of the next page; null on the last."),
    },
)
DELETED_ALLOWLIST_ANSWER = inline_serializer("DeletedAllowlist", {"success": serializers.BooleanField()})
ALLOWLIST_ANSWER = inline_serializer(
    "PresaleAllowlist",
    {
        "presaleId": serializers.IntegerField(),
        "chainId": serializers.IntegerField(),
        "merkleRoot": serializers.CharField(allow_null=True, help_text="Null if all accounts may buy."),
        "allocations": AllowedBuyerSerializer(many=True, help_text="At most 10,000; empty if all accounts may buy."),
    },
)


class AllowlistProofAnswer(serializers.Serializer[Any]):
    """Whether an account may buy, and the proof that the contract requires."""

    isAllowed = serializers.BooleanField(source="is_allowed")
    proof = serializers.ListField(
        child=serializers.CharField(), help_text="Hashes of 32 bytes, from the leaf up; empty if none is required."
    )
    encodedProof = serializers.CharField(
        source="encoded",
        allow_null=True,
        help_text="Argument `proof` of `buyIntoPresaleWithProof`: amount and hashes as ABI-encoded bytes. Null if none"
        " is required.",
    )
    allowedAmountWei = WeiField(source="most", help_text="The most that the account may pay.")
