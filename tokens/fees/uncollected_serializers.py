"""Parameters and answer of GET /api/get-uncollected-fees/{address}."""

from typing import Any

from rest_framework import serializers

from config.api.fields import AddressField, WeiField, WholeNumberField


class UncollectedFeesQuery(serializers.Serializer[Any]):
    """Whose fees, and on which chain the token is."""

    recipient = AddressField(
        required=False,
        allow_mint=True,
        help_text="For this address alone, on Solana in base58; also for one that no longer is a recipient.",
    )
    chainId = WholeNumberField(
        min_value=1,
        max_value=2**63 - 1,
        required=False,
        help_text="Where several chains hold the address and none is named, the registry's order decides.",
    )


class CurrencyFeesSerializer(serializers.Serializer[Any]):
    """What waits in one of the pool's two currencies."""

    currency = AddressField(
        allow_mint=True, source="currency.address", help_text="The ERC-20 that is paid; on Solana the mint."
    )
    symbol = serializers.CharField(source="currency.symbol", allow_null=True)
    decimals = serializers.IntegerField(source="currency.decimals")
    harvested = WeiField(
        help_text="Has left the pool and waits in the fee locker for its owner's claim. The fee locker keeps one "
        "balance per owner and currency: that of the paired currency comes from all of the owner's tokens. Always 0 "
        "for v0 to v3.1, whose lockers pay at once, and on Solana, where a claim empties the pool itself."
    )
    pending = WeiField(
        allow_null=True,
        help_text="Is still in the pool: what a collection in the next block would pay, rounded as the locker rounds; "
        "on Solana what is booked in the pool of the bonding curve. A curve that has graduated keeps what was not "
        "claimed before, and what its next pool earns is not counted. Null where that depends on a swap that no node "
        "simulates, or where the locker does not tell the recipient.",
    )


class RecipientFeesSerializer(serializers.Serializer[Any]):
    """What waits for one recipient."""

    recipient = AddressField(
        allow_mint=True, allow_null=True, help_text="Null for a part of which the locker does not tell whose it is."
    )
    fees = CurrencyFeesSerializer(many=True)


class UncollectedFeesAnswer(serializers.Serializer[Any]):
    """Amounts in the smallest unit, all as of one block, which is a slot on Solana."""

    tokenAddress = AddressField(allow_mint=True, source="token.contract_address")
    chainId = serializers.IntegerField(source="token.chain_id")
    blockNumber = serializers.IntegerField(source="found.block_number", help_text="The amounts are as of its end.")
    fees = CurrencyFeesSerializer(
        many=True,
        source="found.fees",
        help_text="Of all recipients together, or of the one that was asked for; in the pool's order of currencies, "
        "which on Solana is the token and what it is paired with.",
    )
    recipients = RecipientFeesSerializer(
        many=True,
        source="found.recipients",
        help_text="Whom a collection now would pay, for v0 to v3.1 with the launchpad's team; on Solana the pool's "
        "creator and the fee claimer of its config, once where they are one; or the one that was asked for.",
    )
    conversion = serializers.ChoiceField(
        choices=["none", "simulated", "unknown"],
        source="found.conversion",
        help_text="Recipients of v4 may have their fees swapped into one currency by the collection. none: nothing "
        "that is pending would be swapped. simulated: a node has simulated the collection. unknown: no node could, "
        "and what the swaps would pay is null.",
    )
