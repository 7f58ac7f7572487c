"""Parameters and bodies of the token lists."""

from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from config.api.fields import FlagField, WholeNumberField
from tokens.catalogue.serializers import TokenRecordSerializer
from tokens.models.sorts import DEPLOYED_AT, SORTS

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
