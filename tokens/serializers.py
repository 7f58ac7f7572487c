"""The token record, and the parameters of the token endpoints."""

import re
from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema_field, inline_serializer
from rest_framework import serializers

from config.api.errors import BadRequest
from config.api.fields import (
    AddressField,
    PoolAddressField,
    TimestampField,
    WeiField,
    WholeNumberField,
    parse_transaction_hash,
)
from tokens import record_shapes
from tokens.installed_chains import generation_label, registry
from tokens.metadata import find_link, social_links
from tokens.models import Token

MAX_POOLS = 100


class KnownText(serializers.CharField):
    """Text whose empty string means unknown and goes out as null."""

    def __init__(self, **options: Any) -> None:
        super().__init__(read_only=True, allow_null=True, **options)

    def to_representation(self, value: str) -> str | None:  # type: ignore[override]
        return value or None


class TagsSerializer(serializers.Serializer[Token]):
    """What operators and the registry say about a token."""

    champagne = serializers.BooleanField()
    verified = serializers.BooleanField()
    knownInterfaceDeployer = serializers.BooleanField(source="known_interface_deployer")
    blocked = serializers.BooleanField()


@extend_schema_field(record_shapes.METADATA)
class MetadataField(serializers.JSONField):
    """Stored as it goes out, as are the four below."""


@extend_schema_field(record_shapes.DEPLOY_CONFIG)
class DeployConfigField(serializers.JSONField):
    pass


@extend_schema_field(record_shapes.SOCIAL_CONTEXT)
class SocialContextField(serializers.JSONField):
    pass


@extend_schema_field(record_shapes.POOL_CONFIG)
class PoolConfigField(serializers.JSONField):
    pass


@extend_schema_field(record_shapes.EXTENSIONS)
class ExtensionsField(serializers.JSONField):
    pass


class SocialLinkSerializer(serializers.Serializer[dict[str, str]]):
    """One of the token's links."""

    name = serializers.CharField()
    link = serializers.CharField()


class TokenRecordSerializer(serializers.Serializer[Token]):
    """A token as every endpoint shows it; every key is always there, null where unknown."""

    # Tokens must come from `Token.objects.with_copies()`: `warnings` reads what it annotates.

    id = serializers.IntegerField()
    created_at = TimestampField(help_text="When the row was made.")
    last_indexed = TimestampField(help_text="When the launch was last read from the chain.")
    deployed_at = TimestampField(help_text="Block time of the launch.")
    tx_hash = serializers.CharField()
    contract_address = serializers.CharField()
    chain_id = serializers.IntegerField()
    type = serializers.SerializerMethodField(help_text="Label of the generation, such as clanker_v4.")
    name = serializers.CharField()
    symbol = serializers.CharField()
    description = KnownText()
    img_url = KnownText()
    supply = WeiField(allow_null=True, help_text="Total supply at launch, in wei.")
    admin = KnownText()
    msg_sender = KnownText(help_text="Sender of the launch call.")
    requestor_fid = serializers.IntegerField(allow_null=True)
    requestor_address = KnownText()
    cast_hash = KnownText()
    pool_address = KnownText(help_text="20 bytes up to generation v3.1, the 32-byte pool id for v4.")
    pair = KnownText(help_text="Symbol of the paired token.")
    factory_address = serializers.CharField()
    locker_address = KnownText()
    position_id = KnownText(help_text="LP NFT id up to v3.1.")
    presale_id = KnownText()
    metadata = MetadataField()
    deploy_config = DeployConfigField()
    social_context = SocialContextField()
    socialLinks = serializers.SerializerMethodField()
    pool_config = PoolConfigField()
    starting_market_cap = serializers.FloatField(allow_null=True, help_text="In whole units of the paired token.")
    tags = TagsSerializer(source="*")
    warnings = serializers.ListField(
        child=serializers.CharField(), help_text="The launch's own, and whether it looks like a copy of an older token."
    )
    extensions = ExtensionsField(help_text="A missing one is null.")
    priceUsd = serializers.SerializerMethodField(help_text="Null unless market data was asked for.")
    related = serializers.SerializerMethodField()

    def get_type(self, token: Token) -> str:
        """The registry's label."""
        return generation_label(token.generation)

    @extend_schema_field(SocialLinkSerializer(many=True))
    def get_socialLinks(self, token: Token) -> list[dict[str, str]]:
        """The metadata's social media addresses."""
        return social_links(token.metadata)

    def get_priceUsd(self, token: Token) -> float | None:
        """No market data is kept yet."""
        return None

    @extend_schema_field({"type": "object", "additionalProperties": True})
    def get_related(self, token: Token) -> dict[str, Any]:
        """Nothing is related until it is asked for."""
        return {}


class DeployerSerializer(serializers.Serializer[Any]):
    """Who launched a token, as far as it is known."""

    fid = serializers.IntegerField(allow_null=True)
    username = serializers.CharField(allow_null=True)
    displayName = serializers.CharField(allow_null=True)
    pfpUrl = serializers.CharField(allow_null=True)
    address = serializers.CharField(allow_null=True)
    tokensDeployed = serializers.IntegerField()


class TokenDetailSerializer(TokenRecordSerializer):
    """The token record with its deployer and links. Expects `tokens_deployed` in the context."""

    farcasterVerifiedEthAddress = serializers.SerializerMethodField()
    deployer = serializers.SerializerMethodField()
    twitterUrl = serializers.SerializerMethodField()
    websiteUrl = serializers.SerializerMethodField()
    farcasterUrl = serializers.SerializerMethodField()
    telegramUrl = serializers.SerializerMethodField()

    def get_farcasterVerifiedEthAddress(self, token: Token) -> str | None:
        """No social profiles are kept yet."""
        return None

    @extend_schema_field(DeployerSerializer)
    def get_deployer(self, token: Token) -> dict[str, Any]:
        """Identity and number of launches; the profile's parts are null until profiles are kept."""
        return {
            "fid": token.requestor_fid,
            "username": None,
            "displayName": None,
            "pfpUrl": None,
            "address": token.requestor_address or token.msg_sender or None,
            "tokensDeployed": self.context["tokens_deployed"],
        }

    def get_twitterUrl(self, token: Token) -> str | None:
        """The first link to X."""
        return find_link(token.metadata, "x", "twitter")

    def get_websiteUrl(self, token: Token) -> str | None:
        """The first link to a site."""
        return find_link(token.metadata, "website", "web")

    def get_farcasterUrl(self, token: Token) -> str | None:
        """The first link to Farcaster."""
        return find_link(token.metadata, "farcaster", "warpcast")

    def get_telegramUrl(self, token: Token) -> str | None:
        """The first link to Telegram."""
        return find_link(token.metadata, "telegram")


class ListQuery(serializers.Serializer[Any]):
    """Paging of a public list."""

    limit = WholeNumberField(min_value=0, max_value=20, default=10)
    sort = serializers.ChoiceField(
        ["desc", "asc"], default="desc", error_messages={"invalid_choice": "must be desc or asc"}
    )
    cursor = serializers.CharField(required=False, help_text="From the answer before; opaque.")


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


class IndexBody(serializers.Serializer[Any]):
    """A transaction. The spellings `tx_hash` and `chain_id` are taken, too."""

    txHash = serializers.CharField(help_text="0x followed by 64 hex digits.")
    chainId = serializers.IntegerField(required=False, help_text="Default: the registry's first chain.")

    @classmethod
    def read(cls, data: Any) -> dict[str, Any]:
        """{"chain_id": int, "tx_hash": str} from a request's body. Raises BadRequest with the contract's texts."""
        if not isinstance(data, dict):
            raise BadRequest("The body must be a JSON object")
        tx_hash = data.get("txHash", data.get("tx_hash"))
        chain_id = data.get("chainId", data.get("chain_id", registry().default_chain.chain_id))
        try:
            tx_hash = parse_transaction_hash(tx_hash if isinstance(tx_hash, str) else "")
        except ValueError as error:
            raise BadRequest("Invalid transaction hash format", field="txHash") from error
        if isinstance(chain_id, str) and re.fullmatch(r"[0-9]{1,19}", chain_id):
            chain_id = int(chain_id)
        if type(chain_id) is not int:
            raise BadRequest("Unsupported chain", field="chainId")
        return {"chain_id": chain_id, "tx_hash": tx_hash}


class IndexAnswer(serializers.Serializer[Any]):
    """What a transaction launched."""

    success = serializers.BooleanField()
    address = serializers.CharField(help_text="The first launch's token.")
    addresses = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="All of them, where the transaction launched several."
    )
    url = serializers.URLField()


def token_records(tokens: Sequence[Token]) -> Any:
    """The records of several tokens, in their order."""
    return TokenRecordSerializer(tokens, many=True).data  # type: ignore[arg-type]


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
TOKEN_ANSWER = inline_serializer("TokenOrNothing", {"data": TokenRecordSerializer(required=False)})
TOKEN_DETAIL_ANSWER = inline_serializer("TokenDetailAnswer", {"data": TokenDetailSerializer()})
TOKENS_BY_POOL_ANSWER = inline_serializer(
    "TokensByPool", {"data": serializers.DictField(child=TokenRecordSerializer())}
)
