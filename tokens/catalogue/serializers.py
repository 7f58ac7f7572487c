"""Serializers of the token record, and of the parameters of token endpoints."""

from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from config.api.fields import BoundedListField, ChainIdField, SchemaField
from tokens.catalogue.record_fields import RECORD_FIELDS
from tokens.catalogue.token_trust import TRUST_REASONS, WARNING_CODES
from tokens.installation.chain_fields import AddressField, PoolAddressField

MAX_POOLS = 100
# A body of so many pools: an entry has at most 69 bytes with its quotes and comma, and the rest is for blanks.
MAX_POOLS_BYTES = 160 * MAX_POOLS


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


class TrustSerializer(serializers.Serializer[Any]):
    """Trust in the launch of a token."""

    verified = serializers.BooleanField(
        help_text="An operator verified the token, or its sender is a known deployer; false for a blocked token."
    )
    reasons = serializers.ListField(
        child=serializers.ChoiceField((*TRUST_REASONS, *WARNING_CODES)),
        help_text=f"Facts for and against it. {'. '.join(f'{code}: {text}' for code, text in TRUST_REASONS.items())}."
        " Further codes are those of warnings.",
    )


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

    marketCap = NullableNumber(help_text="Null while no source has a price, or the pool holds too little for it.")
    priceUsd = NullableNumber()
    price = NullableNumber(help_text="Same as priceUsd.")
    volume24h = NullableNumber(help_text="Of the pool's amounts, without protocol fees.")
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
    """Token record of all endpoints; every key is always present, null if unknown or not of the token's launchpad."""

    launchpad = serializers.CharField(help_text="Name of the token's launchpad, as the filter `launchpad` has it.")
    launchpadTitle = serializers.CharField(help_text="The launchpad's title for display.")
    socialLinks = SocialLinkSerializer(many=True, help_text="Social media URLs of the metadata.")
    tags = TagsSerializer()
    warnings = serializers.ListField(
        child=serializers.CharField(),
        help_text="Warnings about the launch, about a possible copy of another token (POSSIBLE_COPY), and about a price"
        " that the pool could not pay for a part of the supply (UNSUPPORTED_PRICE).",
    )
    trust = TrustSerializer()
    priceUsd = NullableNumber(help_text="Null unless market data was requested.")
    related = RelatedSerializer()

    def get_fields(self) -> dict[str, Any]:
        """Return the fields of RECORD_FIELDS, and those above, which `tokens.catalogue.records` makes of several."""
        values = {field.name: SchemaField(field.kind.shape, help_text=field.help_text) for field in RECORD_FIELDS}
        return values | super().get_fields()


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

    poolAddresses = BoundedListField(
        child=PoolAddressField(),
        max_length=MAX_POOLS,
        error_messages={"not_a_list": "must be a list", "max_length": f"must have at most {MAX_POOLS} entries"},
    )


class TokenQuery(serializers.Serializer[Any]):
    """Query parameters of a lookup by token address, on one chain or on all."""

    address = AddressField(allow_mint=True)
    chainId = ChainIdField(required=False)


class BlockedAnswer(serializers.Serializer[Any]):
    """Whether operators have removed a token from the public lists."""

    address = AddressField(allow_mint=True)
    blocked = serializers.BooleanField(help_text="Also false for unknown tokens.")


# Response bodies, used only for the OpenAPI description.
TOKEN_ANSWER = inline_serializer("TokenOrNothing", {"data": TokenRecordSerializer(required=False)})
TOKEN_RECORD_ANSWER = inline_serializer("TokenRecordAnswer", {"data": TokenRecordSerializer()})
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
