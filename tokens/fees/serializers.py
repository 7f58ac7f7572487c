"""Parameters and responses of the endpoints for liquidity and fees."""

from typing import Any

from rest_framework import serializers

from config.api.fields import ChainIdField, WeiField, WholeNumberField
from tokens.chains.addresses import ADDRESS_SHAPE, is_solana_address
from tokens.installation.address_formats import evm_address_rule
from tokens.installation.chain_fields import AddressField, EvmAddressField, EvmChainField, PoolAddressField

FEES_PATH = "/api/get-uncollected-fees"

# Missing on Solana, where pools hold the fees themselves; used in error texts.
LP_POSITION, _LOCKER = "LP position that a locker holds", "locker that pays fees"
_V4_RULE = f"must be a pool of generation v0 to v3.1; for a v4 pool id use {FEES_PATH}/{{address}}"
_POOL_ID_LENGTH = 66
NO_FEES_RULE = "must be a token of a launchpad whose uncollected fees are read; those of {launchpad} are not"
NO_NFT_RULE = f"must be a token of generation v0 to v3.1; for a v4 token use {FEES_PATH}/{{address}}"


class _OlderPoolField(PoolAddressField):
    """Pool address field; its description omits the pool kinds that are rejected by rules of their own."""

    shape = ADDRESS_SHAPE


class RewardsQuery(serializers.Serializer[Any]):
    """A pool of generation v0 to v3.1."""

    poolAddress = _OlderPoolField(help_text="20 bytes; v4 pool ids and pools of Solana are rejected.")

    def validate_poolAddress(self, pool: str) -> str:
        """Reject v4 pools (every swap collects their fees into a fee locker) and pools of Solana."""
        if len(pool) == _POOL_ID_LENGTH:
            raise serializers.ValidationError(_V4_RULE)
        if is_solana_address(pool):
            raise serializers.ValidationError(evm_address_rule(_LOCKER))
        return pool


class LpInfoQuery(serializers.Serializer[Any]):
    """The chain of a token; the default is the first chain of the registry that has the address."""

    chainId = EvmChainField(lacking=LP_POSITION, required=False)


class LpInfoAnswer(serializers.Serializer[Any]):
    """Liquidity locked by a launch. Unknown values are null."""

    poolAddress = serializers.CharField(
        source="pool", allow_null=True, help_text="20 bytes up to generation v3.1, the 32-byte pool id for v4."
    )
    lockerAddress = serializers.CharField(source="locker", allow_null=True)
    lpNftId = serializers.CharField(
        source="nft_id",
        allow_null=True,
        help_text="For v4, whose locker holds up to seven with consecutive ids, the first.",
    )
    amountDepositedIntoLP = WeiField(
        source="deposited",
        allow_null=True,
        help_text="Wei: the supply without the amounts for vault, airdrop and presale.",
    )
    totalSupply = WeiField(source="supply", allow_null=True, help_text="Wei.")
    percentLocked = serializers.CharField(
        source="percent_locked", allow_null=True, help_text="Percent of the supply, such as 100 or 67.5, rounded down."
    )
    token_name = serializers.CharField(source="name")
    token_symbol = serializers.CharField(source="symbol")


class ClaimInfoQuery(LpInfoQuery):
    """A token of generation v0 to v3.1, on the given chain or on any."""

    address = EvmAddressField(lacking=_LOCKER, help_text="v4 tokens and mints of Solana are rejected.")
    chainId = EvmChainField(lacking=_LOCKER, required=False)


class ClaimInfoAnswer(serializers.Serializer[Any]):
    """Contract and NFT for claiming a token's fees."""

    lockerAddress = serializers.CharField(allow_null=True)
    lpNftId = serializers.CharField(allow_null=True)
    contract_address = serializers.CharField()
    type = serializers.CharField(help_text="Label of the generation, such as clanker_v2.")


class RewardsAnswer(serializers.Serializer[Any]):
    """Estimate at market prices."""

    userRewards = serializers.FloatField(help_text="USD, without the part of the launchpad's team.")


# Far above the number of claims of any recipient.
MAX_OFFSET = 1_000_000


class ClaimedFeesQuery(serializers.Serializer[Any]):
    """Chain and page."""

    chainId = ChainIdField(
        required=False,
        help_text="Default: the registry's first EVM chain with a node, such as 8453; for a mint Solana.",
    )
    limit = WholeNumberField(min_value=1, max_value=100, default=50)
    offset = WholeNumberField(min_value=0, max_value=MAX_OFFSET, default=0)


class ClaimsPage(serializers.Serializer[Any]):
    """Position of the page among all claims."""

    limit = serializers.IntegerField()
    offset = serializers.IntegerField()
    hasMore = serializers.BooleanField(help_text="Whether there are claims after this page.")


class ClaimedFeesAnswer(serializers.Serializer[Any]):
    """Fees paid to a recipient in one currency."""

    tokenAddress = serializers.CharField()
    feeRecipient = serializers.CharField()
    chainId = serializers.IntegerField()
    totalClaimed = WeiField(help_text="Over all claims, in the currency's smallest unit.")
    claimCount = serializers.IntegerField()
    txHashes = serializers.ListField(
        child=serializers.CharField(), help_text="One per claim of this page, newest first."
    )
    pagination = ClaimsPage()


class UncollectedFeesQuery(serializers.Serializer[Any]):
    """Recipient, and the token's chain."""

    recipient = AddressField(
        required=False,
        allow_mint=True,
        help_text="Only the fees of this address, on Solana in base58; former recipients are allowed.",
    )
    chainId = ChainIdField(
        required=False,
        help_text="Default: the first chain of the registry that has the address.",
    )


class CurrencyFeesSerializer(serializers.Serializer[Any]):
    """Uncollected fees in one of the pool's two currencies."""

    currency = AddressField(
        allow_mint=True, source="currency.address", help_text="The ERC-20 that is paid; on Solana the mint."
    )
    symbol = serializers.CharField(source="currency.symbol", allow_null=True)
    decimals = serializers.IntegerField(source="currency.decimals")
    harvested = WeiField(
        help_text="Collected from the pool into the fee locker, and claimable by its owner. The fee locker has one "
        "balance per owner and currency: that of the paired currency comes from all of the owner's tokens. Always 0 "
        "for v0 to v3.1, whose lockers pay at once, and on Solana, where a claim empties the pool itself."
    )
    pending = WeiField(
        allow_null=True,
        help_text="Still in the pool: the payout of a collection in the next block, with the locker's rounding; 0 "
        "before `collectableFrom`, and where the collection would revert; on "
        "Solana the fees booked in the bonding curve's pool. A graduated curve keeps its unclaimed fees; those of the "
        "next pool are not counted. Null if the amount depends on a swap that no node simulates, or if the locker "
        "does not reveal the recipient.",
    )


class RecipientFeesSerializer(serializers.Serializer[Any]):
    """Uncollected fees of one recipient."""

    recipient = AddressField(
        allow_mint=True, allow_null=True, help_text="Null for a share whose recipient the locker does not reveal."
    )
    fees = CurrencyFeesSerializer(many=True)


class UncollectedFeesAnswer(serializers.Serializer[Any]):
    """Amounts in the smallest unit, all as of one block (on Solana: slot)."""

    tokenAddress = AddressField(allow_mint=True, source="token.contract_address")
    chainId = serializers.IntegerField(source="token.chain_id")
    blockNumber = serializers.IntegerField(
        source="found.block_number", help_text="The amounts are as of the end of this block."
    )
    fees = CurrencyFeesSerializer(
        many=True,
        source="found.fees",
        help_text="Total of all recipients, or of the requested one, in the pool's sequence of currencies; on Solana "
        "the token, then its paired token.",
    )
    recipients = RecipientFeesSerializer(
        many=True,
        source="found.recipients",
        help_text="Recipients of a collection now, for v0 to v3.1 including the launchpad's team; on Solana the pool's "
        "creator and the fee claimer of its config, listed once if they are equal; or the requested recipient.",
    )
    conversion = serializers.ChoiceField(
        choices=["none", "simulated", "unknown"],
        source="found.conversion",
        help_text="For recipients of v4 the collection may swap fees into one currency. none: no pending fees would "
        "be swapped. simulated: a node has simulated the collection. unknown: no node could simulate it, and the "
        "proceeds of the swaps are null.",
    )
    collectableFrom = serializers.DateTimeField(
        source="found.collectable_from",
        allow_null=True,
        help_text="In the first minutes of a v4 pool its MEV module may block swaps, and the locker collects nothing: "
        "pending fees are 0 until this time at the latest. Null if a collection pays now.",
    )
