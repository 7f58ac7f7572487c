"""Serializers of the token record, and of the parameters of token endpoints."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, inline_serializer
from rest_framework import serializers

from config.api.fields import WeiField, WholeNumberField
from tokens.catalogue import record_schema
from tokens.installation.chain_fields import AddressField, PoolAddressField

MAX_POOLS = 100


class NullableText(serializers.CharField):
    """Text, null if unknown."""

    def __init__(self, **options: Any) -> None:
        super().__init__(read_only=True, allow_null=True, **options)


class NullableNumber(serializers.FloatField):
    """Number, null if unknown."""

    def __init__(self, **options: Any) -> None:
        super().__init__(read_only=True, allow_null=True, **options)


class TagsSerializer(serializers.Serializer[Any]):
    """Tags of a token, set by operators and by the registry."""

    champagne = serializers.BooleanField()
    verified = serializers.BooleanField(help_text="Set by an operator, or on-chain by the original admin.")
    knownInterfaceDeployer = serializers.BooleanField()
    blocked = serializers.BooleanField()


@extend_schema_field(record_schema.METADATA)
class MetadataField(serializers.JSONField):
    """JSON that is stored in the form of the response, as are the four below."""


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
    """The user who requested the launch, from the social protocol."""

    fid = serializers.IntegerField()
    username = NullableText()
    displayName = NullableText()
    display_name = NullableText(help_text="Same as displayName.")
    pfpUrl = NullableText()
    pfp_url = NullableText(help_text="Same as pfpUrl.")
    bio = NullableText()
    verifiedAddresses = serializers.ListField(child=serializers.CharField())


class RelatedMarketSerializer(serializers.Serializer[Any]):
    """Last market snapshot; amounts in USD, changes in percentage points."""

    marketCap = NullableNumber()
    priceUsd = NullableNumber()
    price = NullableNumber(help_text="Same as priceUsd.")
    volume24h = NullableNumber()
    liquidityUsd = NullableNumber()
    txCount24h = serializers.IntegerField(allow_null=True)
    priceChangePercent1h = NullableNumber()
    priceChangePercent6h = NullableNumber()
    priceChangePercent24h = NullableNumber()
    marketDataUpdatedAt = serializers.DateTimeField()


class RelatedSerializer(serializers.Serializer[Any]):
    """Related data that was requested."""

    user = RelatedUserSerializer(required=False, allow_null=True)
    market = RelatedMarketSerializer(required=False, allow_null=True)


class TokenRecordSerializer(serializers.Serializer[Any]):
    """Token record of all endpoints; every key is always present, null if unknown."""

    # Describes the output of `tokens.catalogue.records`.

    id = serializers.IntegerField()
    created_at = serializers.DateTimeField(help_text="Creation time of the row.")
    last_indexed = serializers.DateTimeField(help_text="Time of the last read of the launch from the chain.")
    deployed_at = serializers.DateTimeField(help_text="Block time of the launch.")
    tx_hash = serializers.CharField(help_text="On Solana the signature of the launch.")
    contract_address = serializers.CharField(help_text="EIP-55 checksum address; on Solana the mint.")
    chain_id = serializers.IntegerField()
    type = serializers.CharField(help_text="Label of the generation, such as clanker_v4.")
    name = serializers.CharField()
    symbol = serializers.CharField()
    description = NullableText()
    img_url = NullableText()
    supply = WeiField(
        allow_null=True, help_text="Total supply at launch, in wei; on Solana of the mint, in its smallest unit."
    )
    admin = NullableText()
    msg_sender = NullableText(help_text="Sender of the launch call.")
    requestor_fid = serializers.IntegerField(allow_null=True)
    requestor_address = NullableText()
    cast_hash = NullableText()
    pool_address = NullableText(
        help_text="20 bytes up to generation v3.1, the 32-byte pool id for v4, base58 on Solana."
    )
    pair = NullableText(help_text="Symbol of the paired token.")
    factory_address = serializers.CharField()
    locker_address = NullableText()
    position_id = NullableText(help_text="LP NFT id up to v3.1.")
    presale_id = NullableText()
    metadata = MetadataField()
    deploy_config = DeployConfigField()
    social_context = SocialContextField()
    socialLinks = SocialLinkSerializer(many=True, help_text="Social media URLs of the metadata.")
    pool_config = PoolConfigField()
    starting_market_cap = NullableNumber(help_text="In whole units of the paired token.")
    tags = TagsSerializer()
    warnings = serializers.ListField(
        child=serializers.CharField(),
        help_text="Warnings about the launch, or about a possible copy of another token.",
    )
    extensions = ExtensionsField(help_text="Null for each extension that the launch does not have.")
    priceUsd = NullableNumber(help_text="Null unless market data was requested.")
    related = RelatedSerializer()


class DeployerSerializer(serializers.Serializer[Any]):
    """The deployer of a token; unknown parts are null."""

    fid = serializers.IntegerField(allow_null=True)
    username = NullableText()
    displayName = NullableText()
    pfpUrl = NullableText()
    address = NullableText()
    tokensDeployed = serializers.IntegerField()


class TokenDetailSerializer(TokenRecordSerializer):
    """The token record with its deployer and links."""

    farcasterVerifiedEthAddress = NullableText(help_text="The deployer's first verified EVM address.")
    deployer = DeployerSerializer()
    twitterUrl = NullableText()
    websiteUrl = NullableText()
    farcasterUrl = NullableText()
    telegramUrl = NullableText()


class PoolQuery(serializers.Serializer[Any]):
    """Query parameters of a lookup by pool."""

    poolAddress = PoolAddressField()


class PoolsBody(serializers.Serializer[Any]):
    """Body of a lookup by pools."""

    default_error_messages = {"invalid": "must be a JSON object"}

    poolAddresses = serializers.ListField(
        child=PoolAddressField(),
        max_length=MAX_POOLS,
        error_messages={"not_a_list": "must be a list", "max_length": f"must have at most {MAX_POOLS} entries"},
    )


class TokenQuery(serializers.Serializer[Any]):
    """Query parameters of a lookup by token address, on one chain or on all."""

    address = AddressField(allow_mint=True)
    chainId = WholeNumberField(min_value=1, max_value=2**63 - 1, required=False)


class BlockedAnswer(serializers.Serializer[Any]):
    """Whether operators have removed a token from the public lists."""

    address = AddressField(allow_mint=True)
    blocked = serializers.BooleanField(help_text="Also false for unknown tokens.")


# Response bodies, used only for the OpenAPI description.
TOKEN_ANSWER = inline_serializer("TokenOrNothing", {"data": TokenRecordSerializer(required=False)})
TOKEN_DETAIL_ANSWER = inline_serializer("TokenDetailAnswer", {"data": TokenDetailSerializer()})
TOKENS_BY_POOL_ANSWER = inline_serializer(
    "TokensByPool", {"data": serializers.DictField(child=TokenRecordSerializer())}
)


class PaginationSerializer(serializers.Serializer[Any]):
    """Cursor and size of a list."""

    cursor = serializers.CharField(allow_null=True, help_text="Null on the last page.")
    total = serializers.IntegerField(help_text="Rows in the whole list.")
    totalPages = serializers.IntegerField(help_text="Pages in the whole list, of ten rows each.")


# Response bodies, used only for the OpenAPI description.
TOKEN_LIST_ANSWER = inline_serializer(
    "TokenList",
    {
        "data": TokenRecordSerializer(many=True),
        "total": serializers.IntegerField(help_text="Rows that match all filters."),
        "cursor": serializers.CharField(allow_null=True, help_text="Null on the last page."),
        "tokensDeployed": serializers.IntegerField(
            help_text="Rows that match the filters fid, fids, msgSender and chainId only."
        ),
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
