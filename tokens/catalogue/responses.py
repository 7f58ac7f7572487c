"""Responses of the token endpoints."""

from typing import Annotated, Any, NotRequired, TypedDict

from accounts.profiles.responses import RelatedUser
from config.parsing.json_rules import Component
from config.parsing.response_types import Timestamp, properties_schema
from tokens.catalogue.record_fields import RECORD_FIELDS
from tokens.catalogue.token_trust import Trust
from tokens.chains.addresses import AddressOrMint
from tokens.indexing.metadata import SocialLink

Cursor = Annotated[str | None, "Null on the last page."]
ListTotal = Annotated[int, "Rows that match all filters."]


class Tags(TypedDict):
    """Tags of a token, set by operators and by the registry."""

    champagne: bool
    verified: Annotated[bool, "Set by an operator, or on-chain by the original admin."]
    knownInterfaceDeployer: bool
    blocked: bool


class RelatedMarket(TypedDict):
    """Last market snapshot; amounts in USD, changes in percentage points."""

    marketCap: Annotated[float | None, "Null while no source has a price, or the pool holds too little for it."]
    priceUsd: float | None
    price: Annotated[float | None, "Same as priceUsd."]
    volume24h: Annotated[float | None, "Of the pool's amounts, without protocol fees."]
    liquidityUsd: float | None
    txCount24h: int | None
    priceChangePercent1h: float | None
    priceChangePercent6h: float | None
    priceChangePercent24h: float | None
    marketDataUpdatedAt: Timestamp


class Related(TypedDict):
    """Related data that was requested."""

    user: NotRequired[RelatedUser | None]
    market: NotRequired[RelatedMarket | None]


class CombinedFields(TypedDict):
    """Keys of the token record that no single column has."""

    launchpad: Annotated[str, "Name of the token's launchpad, as the filter `launchpad` has it."]
    launchpadTitle: Annotated[str, "The launchpad's title for display."]
    socialLinks: Annotated[list[SocialLink], "Social media URLs of the metadata."]
    tags: Tags
    warnings: Annotated[
        list[str],
        "Warnings about the launch, about a possible copy of another token (POSSIBLE_COPY), and about a price that the"
        " pool could not pay for a part of the supply (UNSUPPORTED_PRICE).",
    ]
    trust: Trust
    priceUsd: Annotated[float | None, "Null unless market data was requested."]
    related: Related


class Deployer(TypedDict):
    """The deployer of a token; unknown parts are null."""

    fid: int | None
    username: str | None
    displayName: str | None
    pfpUrl: str | None
    address: str | None
    tokensDeployed: int


class DetailFields(TypedDict):
    """Keys of the token detail besides the token record."""

    farcasterVerifiedEthAddress: Annotated[str | None, "The deployer's first verified EVM address."]
    deployer: Deployer
    twitterUrl: str | None
    websiteUrl: str | None
    farcasterUrl: str | None
    telegramUrl: str | None


class BlockedAnswer(TypedDict):
    """Whether operators have removed a token from the public lists."""

    address: AddressOrMint
    blocked: Annotated[bool, "Also false for unknown tokens."]


TOKEN_RECORD = Component(
    "TokenRecord",
    {
        **properties_schema(CombinedFields, properties={field.name: field.schema for field in RECORD_FIELDS}),
        "description": "Token record of all endpoints; every key is always present, null if unknown or not of the"
        " token's launchpad.",
    },
)
TOKEN_DETAIL = Component(
    "TokenDetail",
    {
        **properties_schema(DetailFields, properties=TOKEN_RECORD.schema["properties"]),
        "description": "The token record with its deployer and links.",
    },
)
TokenRecord = Annotated[dict[str, Any], TOKEN_RECORD]
TokenDetail = Annotated[dict[str, Any], TOKEN_DETAIL]


class TokenOrNothing(TypedDict):
    data: NotRequired[TokenRecord]


class TokenRecordAnswer(TypedDict):
    data: TokenRecord


class TokenDetailAnswer(TypedDict):
    data: TokenDetail


class TokensByPool(TypedDict):
    data: dict[str, TokenRecord]


class TokenPageJson(TypedDict):
    data: list[TokenRecord]
    total: ListTotal
    cursor: Cursor


class TokenList(TokenPageJson):
    tokensDeployed: Annotated[int, "Rows that match the filters fid, fids, msgSender and chainId only."]


class Pagination(TypedDict):
    """Cursor and size of a list."""

    cursor: Cursor
    total: Annotated[int, "Rows in the whole list."]
    totalPages: Annotated[int, "Pages in the whole list, of ten rows each."]


class TokensByFid(TypedDict):
    data: list[TokenRecord]
    pagination: Pagination
