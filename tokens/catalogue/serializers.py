"""The token record, and the parameters of the token endpoints."""

import re
from typing import Any

from drf_spectacular.utils import extend_schema_field, inline_serializer
from rest_framework import serializers

from config.api.errors import BadRequest
from config.api.fields import (
    AddressField,
    FlagField,
    PoolAddressField,
    TransactionHashField,
    WeiField,
    WholeNumberField,
)
from tokens.catalogue import record_schema
from tokens.installation.address_formats import parse_hash_on
from tokens.installation.installed_chains import registry
from tokens.models.sorts import DEPLOYED_AT, SORTS

MAX_POOLS = 100


class KnownText(serializers.CharField):
    """Text that is null where it is unknown."""

    def __init__(self, **options: Any) -> None:
        super().__init__(read_only=True, allow_null=True, **options)


class Number(serializers.FloatField):
    """A number that is null where it is unknown."""

    def __init__(self, **options: Any) -> None:
        super().__init__(read_only=True, allow_null=True, **options)


class TagsSerializer(serializers.Serializer[Any]):
    """What operators and the registry say about a token."""

    champagne = serializers.BooleanField()
    verified = serializers.BooleanField(help_text="By an operator, or by the original admin on the chain.")
    knownInterfaceDeployer = serializers.BooleanField()
    blocked = serializers.BooleanField()


@extend_schema_field(record_schema.METADATA)
class MetadataField(serializers.JSONField):
    """Stored as it goes out, as are the four below."""


@extend_schema_field(record_schema.DEPLOY_CONFIG)
class DeployConfigField(serializers.JSONField):
    pass


@extend_schema_field(record_schema.SOCIAL_CONTEXT)
class SocialContextField(serializers.JSONField):
    pass


@extend_schema_field(record_schema.POOL_CONFIG)
class PoolConfigField(serializers.JSONField):
    pass


@extend_schema_field(record_schema.EXTENSIONS)
class ExtensionsField(serializers.JSONField):
    pass


class SocialLinkSerializer(serializers.Serializer[Any]):
    """One of the token's links."""

    name = serializers.CharField()
    link = serializers.CharField()


class RelatedUserSerializer(serializers.Serializer[Any]):
    """Whoever asked for the launch, as the social protocol knows them."""

    fid = serializers.IntegerField()
    username = KnownText()
    displayName = KnownText()
    display_name = KnownText(help_text="The same.")
    pfpUrl = KnownText()
    pfp_url = KnownText(help_text="The same.")
    bio = KnownText()
    verifiedAddresses = serializers.ListField(child=serializers.CharField())


class RelatedMarketSerializer(serializers.Serializer[Any]):
    """The last snapshot of the market; amounts in USD, changes in percent points."""

    marketCap = Number()
    priceUsd = Number()
    price = Number(help_text="The same.")
    volume24h = Number()
    liquidityUsd = Number()
    txCount24h = serializers.IntegerField(allow_null=True)
    priceChangePercent1h = Number()
    priceChangePercent6h = Number()
    priceChangePercent24h = Number()
    marketDataUpdatedAt = serializers.DateTimeField()


class RelatedSerializer(serializers.Serializer[Any]):
    """What was asked for beside the token."""

    user = RelatedUserSerializer(required=False, allow_null=True)
    market = RelatedMarketSerializer(required=False, allow_null=True)


class TokenRecordSerializer(serializers.Serializer[Any]):
    """A token as every endpoint shows it; every key is always there, null where unknown."""

    # It describes what `tokens.catalogue.records` writes.

    id = serializers.IntegerField()
    created_at = serializers.DateTimeField(help_text="When the row was made.")
    last_indexed = serializers.DateTimeField(help_text="When the launch was last read from the chain.")
    deployed_at = serializers.DateTimeField(help_text="Block time of the launch.")
    tx_hash = serializers.CharField(help_text="On Solana the launch's signature.")
    contract_address = serializers.CharField(help_text="With its checksum; on Solana the mint.")
    chain_id = serializers.IntegerField()
    type = serializers.CharField(help_text="Label of the generation, such as clanker_v4.")
    name = serializers.CharField()
    symbol = serializers.CharField()
    description = KnownText()
    img_url = KnownText()
    supply = WeiField(
        allow_null=True, help_text="Total supply at launch, in wei; on Solana of the mint, in its smallest unit."
    )
    admin = KnownText()
    msg_sender = KnownText(help_text="Sender of the launch call.")
    requestor_fid = serializers.IntegerField(allow_null=True)
    requestor_address = KnownText()
    cast_hash = KnownText()
    pool_address = KnownText(help_text="20 bytes up to generation v3.1, the 32-byte pool id for v4, base58 on Solana.")
    pair = KnownText(help_text="Symbol of the paired token.")
    factory_address = serializers.CharField()
    locker_address = KnownText()
    position_id = KnownText(help_text="LP NFT id up to v3.1.")
    presale_id = KnownText()
    metadata = MetadataField()
    deploy_config = DeployConfigField()
    social_context = SocialContextField()
    socialLinks = SocialLinkSerializer(many=True, help_text="The metadata's social media addresses.")
    pool_config = PoolConfigField()
    starting_market_cap = Number(help_text="In whole units of the paired token.")
    tags = TagsSerializer()
    warnings = serializers.ListField(
        child=serializers.CharField(), help_text="The launch's own, and whether it looks like a copy of an older token."
    )
    extensions = ExtensionsField(help_text="A missing one is null.")
    priceUsd = Number(help_text="Null unless market data was asked for.")
    related = RelatedSerializer()


class DeployerSerializer(serializers.Serializer[Any]):
    """Who launched a token, as far as it is known."""

    fid = serializers.IntegerField(allow_null=True)
    username = KnownText()
    displayName = KnownText()
    pfpUrl = KnownText()
    address = KnownText()
    tokensDeployed = serializers.IntegerField()


class TokenDetailSerializer(TokenRecordSerializer):
    """The token record with its deployer and links."""

    farcasterVerifiedEthAddress = KnownText(help_text="The deployer's first verified EVM address.")
    deployer = DeployerSerializer()
    twitterUrl = KnownText()
    websiteUrl = KnownText()
    farcasterUrl = KnownText()
    telegramUrl = KnownText()


class PoolQuery(serializers.Serializer[Any]):
    """One pool."""

    poolAddress = PoolAddressField()


class PoolsBody(serializers.Serializer[Any]):
    """Several pools."""

    default_error_messages = {"invalid": "must be a JSON object"}

    poolAddresses = serializers.ListField(
        child=PoolAddressField(),
        max_length=MAX_POOLS,
        error_messages={"not_a_list": "must be a list", "max_length": f"must have at most {MAX_POOLS} entries"},
    )


class TokenQuery(serializers.Serializer[Any]):
    """One token, on one chain or on whichever holds it."""

    address = AddressField(allow_mint=True)
    chainId = WholeNumberField(min_value=1, max_value=2**63 - 1, required=False)


class BlockedAnswer(serializers.Serializer[Any]):
    """Whether operators have taken a token off the public lists."""

    address = AddressField(allow_mint=True)
    blocked = serializers.BooleanField(help_text="False for unknown tokens, too.")


class IndexBody(serializers.Serializer[Any]):
    """A transaction. The spellings `tx_hash` and `chain_id` are taken, too."""

    txHash = TransactionHashField(
        allow_signature=True, help_text="0x followed by 64 hex digits; on Solana a base58 signature of 64 bytes."
    )
    chainId = serializers.IntegerField(
        required=False, help_text="Default: the registry's first chain; for a signature it has to be Solana's."
    )

    @classmethod
    def read(cls, data: Any) -> dict[str, Any]:
        """{"chain_id": int, "tx_hash": str} from a request's body. Raises BadRequest with the contract's texts."""
        if not isinstance(data, dict):
            raise BadRequest("The body must be a JSON object")
        tx_hash = data.get("txHash", data.get("tx_hash"))
        chain_id = data.get("chainId", data.get("chain_id", registry().default_chain.chain_id))
        if isinstance(chain_id, str) and re.fullmatch(r"[0-9]{1,19}", chain_id):
            chain_id = int(chain_id)
        try:
            tx_hash = parse_hash_on(chain_id, tx_hash if isinstance(tx_hash, str) else "")
        except ValueError as error:
            raise BadRequest("Invalid transaction hash format", field="txHash") from error
        if type(chain_id) is not int:
            raise BadRequest("Unsupported chain", field="chainId")
        return {"chain_id": chain_id, "tx_hash": tx_hash}


class IndexAnswer(serializers.Serializer[Any]):
    """What a transaction launched; where it launched nothing, the known tokens to which it did something."""

    success = serializers.BooleanField()
    address = serializers.CharField(
        allow_null=True,
        help_text="The first token. Null where the transaction only paid out fees in a currency, such as WETH, which "
        "belong to no one token.",
    )
    addresses = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="All of them, where there are several."
    )
    url = serializers.URLField(allow_null=True, help_text="Of the first token's page.")


# The bodies around the records, for the description alone.
TOKEN_ANSWER = inline_serializer("TokenOrNothing", {"data": TokenRecordSerializer(required=False)})
TOKEN_DETAIL_ANSWER = inline_serializer("TokenDetailAnswer", {"data": TokenDetailSerializer()})
TOKENS_BY_POOL_ANSWER = inline_serializer(
    "TokensByPool", {"data": serializers.DictField(child=TokenRecordSerializer())}
)


# Parameters and bodies of the token lists.
MAX_OFFSET = 10_000


class PageQuery(serializers.Serializer[Any]):
    """Where a page begins."""

    cursor = serializers.CharField(required=False, help_text="From the answer before; opaque.")


class ListQuery(PageQuery):
    """Order and paging of a public list, and what comes with each token."""

    sortBy = serializers.ChoiceField(
        list(SORTS),
        default=DEPLOYED_AT.name,
        error_messages={"invalid_choice": f"must be one of {', '.join(SORTS)}"},
        help_text="Tokens without the value come last in both directions.",
    )
    sort = serializers.ChoiceField(
        ["desc", "asc"], default="desc", error_messages={"invalid_choice": "must be desc or asc"}
    )
    limit = WholeNumberField(min_value=0, max_value=20, default=10, help_text="With 0 the counts alone.")
    offset = WholeNumberField(
        min_value=0,
        max_value=MAX_OFFSET,
        default=0,
        help_text="Tokens to leave out, after the cursor where there is one.",
    )
    includeUser = FlagField(default=False, help_text="With related.user, whoever asked for the launch.")
    includeMarket = FlagField(default=False, help_text="With related.market and priceUsd.")


class PartnerListQuery(ListQuery):
    """The same for partners, whose pages may be longer."""

    limit = WholeNumberField(min_value=0, max_value=200, default=10, help_text="With 0 the counts alone.")


class AdminListQuery(PageQuery):
    """Paging of a list that partners ask for by a token's admin, and what comes with each token."""

    limit = WholeNumberField(min_value=1, max_value=200, default=10)
    includeUser = FlagField(default=False, help_text="With related.user, whoever asked for the launch.")
    includeMarket = FlagField(default=False, help_text="With related.market and priceUsd.")


class PaginationSerializer(serializers.Serializer[Any]):
    """Where a list goes on, and how long it is."""

    cursor = serializers.CharField(allow_null=True, help_text="Null on the last page.")
    total = serializers.IntegerField(help_text="Rows in the whole list.")
    totalPages = serializers.IntegerField(help_text="Pages in the whole list, of ten rows each.")


# The bodies around the records, for the description alone.
TOKEN_LIST_ANSWER = inline_serializer(
    "TokenList",
    {
        "data": TokenRecordSerializer(many=True),
        "total": serializers.IntegerField(help_text="Rows that match all filters."),
        "cursor": serializers.CharField(allow_null=True, help_text="Null on the last page."),
        "tokensDeployed": serializers.IntegerField(help_text="Tokens under fid, fids, msgSender and chainId alone."),
    },
)
TOKEN_PAGE_ANSWER = inline_serializer(
    "TokenPage",
    {
        "data": TokenRecordSerializer(many=True),
        "total": serializers.IntegerField(help_text="Rows that match all filters."),
        "cursor": serializers.CharField(allow_null=True, help_text="Null on the last page."),
    },
)
TOKENS_BY_FID_ANSWER = inline_serializer(
    "TokensByFid", {"data": TokenRecordSerializer(many=True), "pagination": PaginationSerializer()}
)
