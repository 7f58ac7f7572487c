"""Parameters and answers of the endpoints about a token's liquidity and fees."""

from typing import Any

from rest_framework import serializers

from config.api.fields import ADDRESS_SHAPE, AddressField, PoolAddressField, WeiField, WholeNumberField
from tokens.chains.base58 import is_account
from tokens.installation.chain_fields import EvmAddressField, EvmChainField, mint_rule

FEES_PATH = "/api/get-uncollected-fees"

# What tokens of Solana lack: their pools keep the fees themselves.
LP_POSITION, _LOCKER = "LP position that a locker holds", "locker that pays fees"
_V4_RULE = f"must be a pool of generation v0 to v3.1; for a v4 pool id use {FEES_PATH}/{{address}}"
_POOL_ID_LENGTH = 66
NO_NFT_RULE = f"must be a token of generation v0 to v3.1; for a v4 token use {FEES_PATH}/{{address}}"


class _OlderPoolField(PoolAddressField):
    """A pool address, described without the pools that are refused with rules of their own."""

    shape = ADDRESS_SHAPE


class RewardsQuery(serializers.Serializer[Any]):
    """A pool of generation v0 to v3.1."""

    poolAddress = _OlderPoolField(help_text="20 bytes; a v4 pool id and a pool of Solana are refused.")

    def validate_poolAddress(self, pool: str) -> str:
        """Fees of v4 have another home: they are collected with every swap, and wait in a fee locker."""
        if len(pool) == _POOL_ID_LENGTH:
            raise serializers.ValidationError(_V4_RULE)
        if is_account(pool):
            raise serializers.ValidationError(mint_rule(_LOCKER))
        return pool


class LpInfoQuery(serializers.Serializer[Any]):
    """The chain of a token; without it the first of the registry that holds the address."""

    chainId = EvmChainField(lacking=LP_POSITION, required=False)


class LpInfoAnswer(serializers.Serializer[Any]):
    """What a launch locked as liquidity. What can't be told is null."""

    poolAddress = serializers.CharField(
        source="pool", allow_null=True, help_text="20 bytes up to generation v3.1, the 32-byte pool id for v4."
    )
    lockerAddress = serializers.CharField(source="locker", allow_null=True)
    lpNftId = serializers.CharField(
        source="nft_id",
        allow_null=True,
        help_text="Of v4, whose locker holds up to seven with consecutive ids, the first.",
    )
    amountDepositedIntoLP = WeiField(
        source="deposited",
        allow_null=True,
        help_text="Wei: the supply without what vault, airdrop and presale got.",
    )
    totalSupply = WeiField(source="supply", allow_null=True, help_text="Wei.")
    percentLocked = serializers.CharField(
        source="percent_locked", allow_null=True, help_text="Percent of the supply, such as 100 or 67.5, rounded down."
    )
    token_name = serializers.CharField(source="name")
    token_symbol = serializers.CharField(source="symbol")


class ClaimInfoQuery(LpInfoQuery):
    """A token of generation v0 to v3.1, on one chain or on whichever holds it."""

    address = EvmAddressField(lacking=_LOCKER, help_text="A v4 token and a mint of Solana are refused.")
    chainId = EvmChainField(lacking=_LOCKER, required=False)


class ClaimInfoAnswer(serializers.Serializer[Any]):
    """Where to claim a token's fees."""

    lockerAddress = serializers.CharField(allow_null=True)
    lpNftId = serializers.CharField(allow_null=True)
    contract_address = serializers.CharField()
    type = serializers.CharField(help_text="Label of the generation, such as clanker_v2.")


class RewardsAnswer(serializers.Serializer[Any]):
    """An estimate at market prices."""

    userRewards = serializers.FloatField(help_text="USD, without the part of the launchpad's team.")


# Parameters and answer of GET /api/get-claimed-fees.
# Far more claims than anybody makes.
MAX_OFFSET = 1_000_000


class ClaimedFeesQuery(serializers.Serializer[Any]):
    """Chain and page."""

    chainId = WholeNumberField(
        min_value=1,
        max_value=2**63 - 1,
        required=False,
        help_text="Default: the registry's first chain, 8453; for a mint Solana.",
    )
    limit = WholeNumberField(min_value=1, max_value=100, default=50)
    offset = WholeNumberField(min_value=0, max_value=MAX_OFFSET, default=0)


class ClaimsPage(serializers.Serializer[Any]):
    """Where the page is among all claims."""

    limit = serializers.IntegerField()
    offset = serializers.IntegerField()
    hasMore = serializers.BooleanField(help_text="Whether there are claims after this page.")


class ClaimedFeesAnswer(serializers.Serializer[Any]):
    """What was paid to a recipient in one currency."""

    tokenAddress = serializers.CharField()
    feeRecipient = serializers.CharField()
    chainId = serializers.IntegerField()
    totalClaimed = WeiField(help_text="Over all claims, in the currency's smallest unit.")
    claimCount = serializers.IntegerField()
    txHashes = serializers.ListField(
        child=serializers.CharField(), help_text="Of the claims of this page, newest first, one for each."
    )
    pagination = ClaimsPage()


# Parameters and answer of GET /api/get-uncollected-fees/{address}.
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
