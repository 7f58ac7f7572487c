"""Lists of tokens."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import PartnerAccess
from config.api.rendering import json_response
from config.api.response_headers import NEVER_STORED, PRIVATE_NEVER_STORED, private_for, shared_for
from config.api.views import LimitedView, QueryView
from tokens import tasks
from tokens.catalogue import listing, search_pages
from tokens.catalogue.filters import (
    AdminFilter,
    DeployedByAddressFilter,
    DeployedByFidFilter,
    SearchFilter,
    TokenFilter,
)
from tokens.catalogue.listing import Order, Page, Window
from tokens.catalogue.records import Extras, add_details, read_records
from tokens.catalogue.selections import Selection
from tokens.catalogue.serializers import (
    TOKEN_ANSWER,
    TOKEN_DETAIL_ANSWER,
    TOKEN_LIST_ANSWER,
    TOKEN_PAGE_ANSWER,
    TOKENS_BY_FID_ANSWER,
    TOKENS_BY_POOL_ANSWER,
    AdminListQuery,
    BlockedAnswer,
    ListQuery,
    PageQuery,
    PartnerListQuery,
    PoolQuery,
    PoolsBody,
    TokenQuery,
)
from tokens.catalogue.totals import Total, total_of
from tokens.catalogue.viewed_tokens import note_viewed
from tokens.chains.addresses import address_key
from tokens.installation.installed_chains import registry
from tokens.models import Token
from tokens.models.sorts import DEPLOYED_AT, SORTS

_APPROXIMATE = "X-Total-Approximate"


class TokenPageView(QueryView):
    """A list of which every answer is one page; `page_size` holds where no limit can be asked for."""

    query_serializer = PageQuery
    cache_control = shared_for(2)
    own_headers = {_APPROXIMATE: "1 where a total is an estimate; absent where it is exact."}
    page_size = 10

    selection: Selection

    def extras(self) -> Extras:
        """What comes with each token: what is asked for, where it can be."""
        return Extras(
            market=self.query.get("includeMarket", False),
            user=self.query.get("includeUser", False),
        )

    def read_page(self) -> tuple[Page, Total]:
        """The page that is asked for, and how many tokens the whole list has."""
        self.selection = Selection.of(self.filterset_class, self.filters)
        order = Order(SORTS[self.query.get("sortBy", DEPLOYED_AT.name)], self.query.get("sort", "desc") == "desc")
        cursor = order.read_cursor(self.query.get("cursor"))
        window = Window(self.query.get("limit", self.page_size), self.query.get("offset", 0), cursor)
        if self.selection.q:
            page, total = search_pages.find(self.selection, order, window, self.extras())
        else:
            page, total = listing.walk(self.selection, order, window, self.extras()), total_of(self.selection)
        if total.wants_count:
            tasks.enqueue_count(self.selection)
        return page, total

    def body(self, page: Page, total: Total) -> dict[str, Any]:
        """The body around a page."""
        return {"data": page.records, "total": total.number, "cursor": page.cursor}

    def answer(self, page: Page, total: Total, **more: Any) -> HttpResponse:
        """The page in its body, and what else belongs there."""
        if self.extras().market:
            note_viewed(record["id"] for record in page.records)
        headers = {} if total.is_exact else {_APPROXIMATE: "1"}
        return json_response(self.body(page, total) | more, headers=headers)


class TokenListView(TokenPageView):
    """Newest tokens first, or by another sort; blocked tokens are in no list."""

    query_serializer = ListQuery
    filterset_class = TokenFilter

    @extend_schema(operation_id="listTokens", responses={200: TOKEN_LIST_ANSWER, 503: None})
    def get(self, request: Request) -> HttpResponse:
        """Search and list tokens."""
        page, total = self.read_page()
        identities = self.selection.identities()
        if identities == self.selection:
            return self.answer(page, total, tokensDeployed=total.number)
        deployed = total_of(identities)
        if deployed.wants_count:
            tasks.enqueue_count(identities)
        return self.answer(page, total, tokensDeployed=deployed.number)


class PartnerTokenListView(PartnerAccess, TokenListView):
    """The same for partners, with longer pages."""

    query_serializer = PartnerListQuery
    cache_control = PRIVATE_NEVER_STORED

    @extend_schema(operation_id="listTokensAuthenticated", responses={200: TOKEN_PAGE_ANSWER, 503: None})
    def get(self, request: Request) -> HttpResponse:
        """Search and list tokens, up to 200 a page."""
        return self.answer(*self.read_page())


class TokenSearchView(TokenPageView):
    """The older search: five tokens a page, with their markets."""

    filterset_class = SearchFilter
    successor = "/api/tokens"
    page_size = 5

    def extras(self) -> Extras:
        """The market, always."""
        return Extras(market=True)

    @extend_schema(operation_id="searchTokens", deprecated=True, responses={200: TOKEN_PAGE_ANSWER, 503: None})
    def get(self, request: Request) -> HttpResponse:
        """Search tokens; `GET /api/tokens` has taken its place."""
        return self.answer(*self.read_page())


class DeployedByFidView(TokenPageView):
    """The tokens that one user asked for, newest first."""

    filterset_class = DeployedByFidFilter

    @extend_schema(operation_id="fetchDeployedByFid", responses={200: TOKEN_PAGE_ANSWER})
    def get(self, request: Request) -> HttpResponse:
        """List the tokens that a FID asked for."""
        return self.answer(*self.read_page())


class DeployedByAddressView(TokenPageView):
    """The tokens that a wallet sent or asked for, newest first."""

    filterset_class = DeployedByAddressFilter

    @extend_schema(operation_id="fetchDeployedByAddress", responses={200: TOKEN_PAGE_ANSWER})
    def get(self, request: Request) -> HttpResponse:
        """List the tokens that a wallet sent or asked for."""
        return self.answer(*self.read_page())


class PartnerTokensByFidView(PartnerAccess, TokenPageView):
    """The tokens that one user asked for, newest first, for partners: the same list in another body."""

    filterset_class = DeployedByFidFilter
    cache_control = private_for(5)

    def body(self, page: Page, total: Total) -> dict[str, Any]:
        """The page, and what is known of all pages beside it."""
        pages = -(-total.number // self.page_size)
        return {
            "data": page.records,
            "pagination": {"cursor": page.cursor, "total": total.number, "totalPages": pages},
        }

    @extend_schema(operation_id="getTokensByFid", responses={200: TOKENS_BY_FID_ANSWER})
    def get(self, request: Request) -> HttpResponse:
        """List the tokens that a FID asked for, ten a page."""
        return self.answer(*self.read_page())


class TokensByAdminView(PartnerAccess, TokenPageView):
    """The tokens that a wallet administers now, newest first, for partners."""

    query_serializer = AdminListQuery
    filterset_class = AdminFilter
    cache_control = PRIVATE_NEVER_STORED

    @extend_schema(operation_id="fetchTokensByAdmin", responses={200: TOKEN_PAGE_ANSWER})
    def get(self, request: Request) -> HttpResponse:
        """List the tokens of a token admin, up to 200 a page."""
        return self.answer(*self.read_page())


# One token, or several, by an address.
class TokenByPoolView(QueryView):
    """The token of a pool."""

    query_serializer = PoolQuery
    cache_control = shared_for(2)

    @extend_schema(operation_id="fetchByPoolAddress", responses={200: TOKEN_ANSWER})
    def get(self, request: Request) -> Response:
        """Look a token up by its pool; a miss is an empty object."""
        found = read_records(Token.objects.in_pools([self.query["poolAddress"]]).order_by("id")[:1])
        note_viewed(record["id"] for record in found)
        return Response({"data": found[0]} if found else {})


class TokensByPoolsView(LimitedView):
    """The tokens of up to 100 pools."""

    @extend_schema(operation_id="fetchByPoolAddresses", request=PoolsBody, responses={200: TOKENS_BY_POOL_ANSWER})
    def post(self, request: Request) -> Response:
        """Look tokens up by their pools; misses are absent. Keys are in lower case, but for Solana's base58."""
        body = PoolsBody(data=request.data)
        body.is_valid(raise_exception=True)
        records = read_records(Token.objects.in_pools(body.validated_data["poolAddresses"]).order_by("-id"))
        found = {address_key(record["pool_address"]): record for record in records}
        return Response({"data": found}, headers={"Cache-Control": NEVER_STORED})


class TokenByAddressView(PartnerAccess, QueryView):
    """Everything about one token, for partners."""

    query_serializer = TokenQuery
    cache_control = private_for(120)

    @extend_schema(operation_id="getTokenByAddress", responses={200: TOKEN_DETAIL_ANSWER, 404: None})
    def get(self, request: Request) -> Response:
        """Look a token up by its address; where several chains hold it, the registry's order decides."""
        tokens = Token.objects.at_address(self.query["address"], chain_id=self.query.get("chainId"))
        found = read_records(tokens.in_chain_order(list(registry().chains))[:1])
        if not found:
            raise NotFound("Token not found")
        note_viewed([found[0]["id"]])
        return Response({"data": add_details(found[0])})


class TokenBlockedView(PartnerAccess, QueryView):
    """Whether a token is blocked, for partners who show tokens of their own lists."""

    query_serializer = TokenQuery
    cache_control = private_for(60)

    @extend_schema(operation_id="isTokenBlocked", responses={200: BlockedAnswer})
    def get(self, request: Request) -> Response:
        """Tell whether a token is blocked, on one chain or on any; unknown tokens are not."""
        address = self.query["address"]
        blocked = Token.objects.blocked_at(address, chain_id=self.query.get("chainId")).exists()
        return Response({"address": address, "blocked": blocked})
