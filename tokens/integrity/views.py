"""Endpoint for facts about a token's launch."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from config.api.rendering import json_response
from config.api.replica_reads import from_replica
from config.api.views import QueryView
from config.web.response_headers import public_cache_control
from tokens.installation.chain_fields import TOKEN_IN_PATH, parse_path_token
from tokens.integrity.report_fetching import FRESH_SECONDS, fetch_report, with_balances
from tokens.integrity.responses import Integrity
from tokens.integrity.serializers import IntegrityQuery
from tokens.models import Token


class TokenIntegrityView(QueryView):
    """Facts about a token's launch."""

    query_serializer = IntegrityQuery
    cache_control = public_cache_control(FRESH_SECONDS)

    @extend_schema(operation_id="getTokenIntegrity", parameters=TOKEN_IN_PATH, responses={200: Integrity, 404: None})
    @from_replica
    def get(self, request: Request, chainId: str, address: str) -> HttpResponse:
        """Return facts about a token's launch: first buyers, bundles of purchases, largest holders and dev accounts.

        They are no verdict. They follow from the first 5,000 trades of the token's pool and from stored claims;
        `unknown` names what these can't show. A report is up to 15 seconds old.
        """
        chain_id, stored = parse_path_token(chainId, address)
        token = Token.objects.at_address(stored, chain_id=chain_id).select_related("launch").first()
        if token is None:
            raise NotFound("Token not found")
        report = fetch_report(token, seconds=int(self.query["seconds"]))
        return json_response(with_balances(token, report), headers={})
