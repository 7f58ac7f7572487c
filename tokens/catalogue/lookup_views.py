"""One token, or several, by an address."""

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import PartnerAccess
from config.api.response_headers import NEVER_STORED, private_for, shared_for
from config.api.views import LimitedView, QueryView
from tokens.catalogue.details import add_details
from tokens.catalogue.records import read_records
from tokens.catalogue.serializers import (
    TOKEN_ANSWER,
    TOKEN_DETAIL_ANSWER,
    TOKENS_BY_POOL_ANSWER,
    BlockedAnswer,
    PoolQuery,
    PoolsBody,
    TokenQuery,
)
from tokens.catalogue.viewed_tokens import note_viewed
from tokens.chains.addresses import address_key
from tokens.installation.installed_chains import registry
from tokens.models import Token


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
