"""Token list and token lookup endpoints."""

from django.conf import settings
from django.http import HttpResponse
from django.utils.encoding import iri_to_uri
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import PartnerAccess
from config.api.errors import SearchTimedOutError
from config.api.rendering import json_response
from config.api.replica_reads import from_replica
from config.api.views import LimitedView, QueryView
from config.cursors import CursorError
from config.events.outbox import newest_event_id
from config.events.stream.stream_query import parse_event_id
from config.postgresql.replica import require_primary
from config.web.response_headers import NO_STORE, PRIVATE_NO_STORE, private_cache_control, public_cache_control
from tokens.catalogue import tasks
from tokens.catalogue.list_parameters import (
    EVENT_ID_SCHEMA,
    AdminListQuery,
    DeployedByAddressQuery,
    DeployedByFidQuery,
    ListQuery,
    PageQuery,
    PartnerListQuery,
    RelatedDataQuery,
    SearchQuery,
    StreamParameters,
)
from tokens.catalogue.list_plan import SearchTimeoutError, fetch_list
from tokens.catalogue.list_statements import ListStatements
from tokens.catalogue.listing import ListSort, PageRequest, TokenPage
from tokens.catalogue.records import Extras, add_details, read_records
from tokens.catalogue.responses import (
    BlockedAnswer,
    TokenDetailAnswer,
    TokenList,
    TokenOrNothing,
    TokenPageJson,
    TokenRecordAnswer,
    TokensByFid,
    TokensByPool,
)
from tokens.catalogue.selections import Selection
from tokens.catalogue.serializers import MAX_POOLS_BYTES, PoolQuery, PoolsBody, TokenQuery
from tokens.catalogue.totals import Total, fetch_total
from tokens.chains.addresses import address_key
from tokens.installation.chain_fields import TOKEN_IN_PATH, parse_path_token
from tokens.installation.installed_registry import registry
from tokens.models import Token
from tokens.models.sorts import DEPLOYED_AT, SORTS

_APPROXIMATE = "X-Total-Approximate"
_LAST_EVENT = "X-Last-Event-Id"
_LAST_EVENT_HEADER = {
    "description": "Id from which to listen to `GET /api/tokens/stream`: later changes of the list have larger ids.",
    "schema": {"type": "integer", "format": "int64", "minimum": 0},
}
_STREAM = OpenApiResponse(
    str, "Server-sent events: `id`, `event` with the type, and `data` with the event in JSON. The event `history-lost`"
    " has `oldest` and `newest`: events after the client's id are no longer stored, or it is of another database. Read"
    " the list again, and listen from its X-Last-Event-Id."
)  # fmt: skip


class TokenPageView(QueryView):
    """Base class for endpoints that return a page; `page_size` applies to endpoints without the parameter `limit`."""

    query_serializer = PageQuery
    cache_control = public_cache_control(2)
    extra_headers = {_APPROXIMATE: "1 if a total is an estimate; absent if it is exact."}
    page_size = 10

    selection: Selection

    def extras(self) -> Extras:
        """Return the requested related data."""
        return Extras(
            market=self.query.get("includeMarket", False),
            user=self.query.get("includeUser", False),
        )

    def fetch_page(self) -> tuple[TokenPage, Total]:
        """Fetch the requested page and the list's total. Raises ValidationError (400) for a malformed cursor."""
        self.selection = Selection.of(self.query)
        list_sort = ListSort(
            SORTS[self.query.get("sortBy", DEPLOYED_AT.name)], self.query.get("sort", "desc") == "desc"
        )
        try:
            cursor = list_sort.parse_cursor(self.query.get("cursor"))
        except CursorError as error:
            raise ValidationError({"cursor": [str(error)]}) from error
        page_request = PageRequest(self.query.get("limit", self.page_size), self.query.get("offset", 0), cursor)
        try:
            page, total = fetch_list(self.selection, list_sort, page_request, self.extras())
        except SearchTimeoutError as error:
            raise SearchTimedOutError from error
        # Without filters, the page does not depend on the total.
        total = total or fetch_total(ListStatements.of(self.selection))
        if total.needs_count:
            tasks.enqueue_count(self.selection)
        return page, total

    def body(self, page: TokenPage, total: Total) -> TokenPageJson:
        """Return a page's response body."""
        return {"data": page.records, "total": total.number, "cursor": page.cursor}

    def respond(self) -> HttpResponse:
        """Return the response for the requested page."""
        page, total = self.fetch_page()
        return page_response(self.body(page, total), total)


def page_response(body: TokenPageJson | TokensByFid, total: Total) -> HttpResponse:
    """Return the response for a page, with a header if the total is an estimate."""
    return json_response(body, headers={} if total.is_exact else {_APPROXIMATE: "1"})


class TokenListView(TokenPageView):
    """Public token list, newest first by default, without blocked tokens."""

    query_serializer = ListQuery
    extra_headers = {**TokenPageView.extra_headers, _LAST_EVENT: _LAST_EVENT_HEADER}

    @extend_schema(operation_id="listTokens", responses={200: TokenList, 503: None})
    @from_replica
    def get(self, request: Request) -> HttpResponse:
        """Search and list tokens."""
        # Read before the list, and from the same database: a change is in the list, or its event has a larger id.
        newest = newest_event_id()
        page, total = self.fetch_page()
        deployed = self._fetch_deployed(total)
        body: TokenList = {**self.body(page, total), "tokensDeployed": deployed.number}
        response = page_response(body, total)
        response.headers[_LAST_EVENT] = str(newest)
        return response

    def _fetch_deployed(self, total: Total) -> Total:
        identities = self.selection.identity_filters_only()
        if identities == self.selection:
            return total
        deployed = fetch_total(ListStatements.of(identities))
        if deployed.needs_count:
            tasks.enqueue_count(identities)
        return deployed


class PartnerTokenListView(PartnerAccess, TokenListView):
    """Token list for partners, with longer pages."""

    query_serializer = PartnerListQuery
    extra_headers = TokenPageView.extra_headers
    cache_control = PRIVATE_NO_STORE

    @extend_schema(operation_id="listTokensAuthenticated", responses={200: TokenPageJson, 503: None})
    def get(self, request: Request) -> HttpResponse:
        """Search and list tokens, up to 200 per page."""
        return self.respond()


class TokenSearchView(TokenPageView):
    """Deprecated search: five tokens per page, with their market data."""

    query_serializer = SearchQuery
    successor = "/api/tokens"
    page_size = 5

    def extras(self) -> Extras:
        """Include market data in all responses."""
        return Extras(market=True)

    @extend_schema(operation_id="searchTokens", deprecated=True, responses={200: TokenPageJson, 503: None})
    @from_replica
    def get(self, request: Request) -> HttpResponse:
        """Search tokens. Deprecated in favour of `GET /api/tokens`."""
        return self.respond()


class DeployedByFidView(TokenPageView):
    """Tokens requested by a user, newest first."""

    query_serializer = DeployedByFidQuery

    @extend_schema(operation_id="fetchDeployedByFid", responses={200: TokenPageJson})
    @from_replica
    def get(self, request: Request) -> HttpResponse:
        """List the tokens requested by a FID."""
        return self.respond()


class DeployedByAddressView(TokenPageView):
    """Tokens sent or requested by a wallet, newest first."""

    query_serializer = DeployedByAddressQuery

    @extend_schema(operation_id="fetchDeployedByAddress", responses={200: TokenPageJson})
    @from_replica
    def get(self, request: Request) -> HttpResponse:
        """List the tokens sent or requested by a wallet."""
        return self.respond()


class PartnerTokensByFidView(PartnerAccess, TokenPageView):
    """Tokens requested by a user, newest first, in the body for partners."""

    query_serializer = DeployedByFidQuery
    cache_control = private_cache_control(5)

    @extend_schema(operation_id="getTokensByFid", responses={200: TokensByFid})
    def get(self, request: Request) -> HttpResponse:
        """List the tokens requested by a FID, ten per page."""
        page, total = self.fetch_page()
        pages = -(-total.number // self.page_size)
        body: TokensByFid = {
            "data": page.records,
            "pagination": {"cursor": page.cursor, "total": total.number, "totalPages": pages},
        }
        return page_response(body, total)


class TokensByAdminView(PartnerAccess, TokenPageView):
    """Tokens currently administered by a wallet, newest first, for partners."""

    query_serializer = AdminListQuery
    cache_control = PRIVATE_NO_STORE

    @extend_schema(operation_id="fetchTokensByAdmin", responses={200: TokenPageJson})
    def get(self, request: Request) -> HttpResponse:
        """List the tokens that a token admin administers, up to 200 per page."""
        return self.respond()


class TokenStreamView(QueryView):
    """Public token event stream, which a separate process serves."""

    query_serializer = StreamParameters

    @extend_schema(
        operation_id="streamTokens",
        parameters=[
            OpenApiParameter(
                "Last-Event-ID", EVENT_ID_SCHEMA, OpenApiParameter.HEADER, description="Replaces lastEventId."
            )
        ],
        responses={
            (200, "text/event-stream"): _STREAM,
            307: OpenApiResponse(description="URL of the stream's process."),
        },
    )
    def get(self, request: Request) -> HttpResponse:
        """Stream public token events. The response may be a redirect to the stream process's URL."""
        try:
            parse_event_id(request.headers.get("Last-Event-ID", "0"))
        except ValueError as error:
            raise ValidationError({"Last-Event-ID": [str(error)]}) from error
        query = request.META.get("QUERY_STRING", "")
        location = f"{settings.STREAM_URL}/api/tokens/stream{'?' if query else ''}{query}"
        return HttpResponse(status=307, headers={"Location": iri_to_uri(location)})


class TokenByPoolView(QueryView):
    """Token lookup by pool."""

    query_serializer = PoolQuery
    cache_control = public_cache_control(2)

    @extend_schema(operation_id="fetchByPoolAddress", responses={200: TokenOrNothing})
    @from_replica
    def get(self, request: Request) -> Response:
        """Look up a token by its pool. Returns an empty object if there is none."""
        records = read_records(Token.objects.in_pools([self.query["poolAddress"]]).order_by("id")[:1])
        if not records:
            require_primary()
        body: TokenOrNothing = {"data": records[0]} if records else {}
        return Response(body)


class TokensByPoolsView(LimitedView):
    """Token lookup by up to 100 pools."""

    reads_by_post = True
    max_body_bytes = MAX_POOLS_BYTES

    @extend_schema(operation_id="fetchByPoolAddresses", request=PoolsBody, responses={200: TokensByPool})
    def post(self, request: Request) -> Response:
        """Look up tokens by their pools. Keys are lower-case pool addresses, base58 on Solana; misses are absent."""
        body = PoolsBody(data=request.data)
        body.is_valid(raise_exception=True)
        records = read_records(Token.objects.in_pools(body.validated_data["poolAddresses"]).order_by("-id"))
        answer: TokensByPool = {"data": {address_key(record["pool_address"]): record for record in records}}
        return Response(answer, headers={"Cache-Control": NO_STORE})


class TokenRecordView(QueryView):
    """Token record."""

    query_serializer = RelatedDataQuery
    cache_control = public_cache_control(2)

    @extend_schema(operation_id="getToken", parameters=TOKEN_IN_PATH, responses={200: TokenRecordAnswer, 404: None})
    @from_replica
    def get(self, request: Request, chainId: str, address: str) -> Response:
        """Look up a token by its chain and address."""
        chain_id, token_address = parse_path_token(chainId, address)
        extras = Extras(market=self.query["includeMarket"], user=self.query["includeUser"])
        records = read_records(Token.objects.at_address(token_address, chain_id=chain_id), extras)
        if not records:
            raise NotFound("Token not found")
        body: TokenRecordAnswer = {"data": records[0]}
        return Response(body)


class TokenByAddressView(PartnerAccess, QueryView):
    """Token detail, for partners."""

    query_serializer = TokenQuery
    cache_control = private_cache_control(120)

    @extend_schema(operation_id="getTokenByAddress", responses={200: TokenDetailAnswer, 404: None})
    def get(self, request: Request) -> Response:
        """Look up a token by its address. If several chains have it, the first one in the registry wins."""
        tokens = Token.objects.at_address(self.query["address"], chain_id=self.query.get("chainId"))
        records = read_records(tokens.in_chain_order(list(registry().chains))[:1])
        if not records:
            raise NotFound("Token not found")
        body: TokenDetailAnswer = {"data": add_details(records[0])}
        return Response(body)


class TokenBlockedView(PartnerAccess, QueryView):
    """A token's block status, for partners with their own token lists."""

    query_serializer = TokenQuery
    cache_control = private_cache_control(60)

    @extend_schema(operation_id="isTokenBlocked", responses={200: BlockedAnswer})
    def get(self, request: Request) -> Response:
        """Return whether a token is blocked, on one chain or on any. Unknown tokens are not blocked."""
        address = self.query["address"]
        blocked = Token.objects.blocked_at(address, chain_id=self.query.get("chainId")).exists()
        body: BlockedAnswer = {"address": address, "blocked": blocked}
        return Response(body)
