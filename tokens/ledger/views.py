"""Creator endpoints."""

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from config.api.rendering import json_response
from config.api.replica_reads import from_replica
from config.api.views import QueryView
from config.cursors import CursorError
from config.web.response_headers import public_cache_control
from tokens.ledger.creator_facts import parse_creator
from tokens.ledger.creator_ledger import LedgerRequest, parse_ledger_cursor, read_ledger
from tokens.ledger.creator_search import parse_name_cursor, search_creators
from tokens.ledger.responses import CreatorAnswer, CreatorSearchAnswer
from tokens.ledger.serializers import CREATOR_SHAPE, CreatorQuery, CreatorSearchQuery

_RULE = "must be an address, or a FID: a whole number from 1 without leading zeros"
_IN_PATH = OpenApiParameter(
    "creator",
    CREATOR_SHAPE,
    OpenApiParameter.PATH,
    description="Address of a wallet, which sent or requested launches, or FID of the user that requested them.",
)


class CreatorView(QueryView):
    """Creator ledger."""

    query_serializer = CreatorQuery
    # With waiting fees, a response costs up to 20 node requests. All callers share them.
    cache_control = public_cache_control(15)

    @extend_schema(operation_id="getCreator", parameters=[_IN_PATH], responses={200: CreatorAnswer})
    @from_replica
    def get(self, request: Request, creator: str) -> HttpResponse:
        """Return a creator's launches with their outcomes, and the fees that their recipients receive.

        A wallet's ledger also has tokens by other creators that pay fees to it. Unknown values are null with a reason.
        A creator without launches has an empty ledger.
        """
        try:
            parsed_creator = parse_creator(creator)
        except ValueError as error:
            raise ValidationError({"creator": [_RULE]}) from error
        ledger_request = LedgerRequest(
            limit=self.query["limit"],
            days=self.query["days"],
            includes_waiting=self.query["includeWaiting"],
            launch_cursor=self._cursor("cursor"),
            recipient_cursor=self._cursor("recipientCursor"),
        )
        ledger = read_ledger(parsed_creator, ledger_request, timezone.now())
        return json_response(CreatorAnswer(data=ledger), headers={})

    def _cursor(self, name: str) -> Any:
        """Return a cursor's position. Raises ValidationError (400)."""
        try:
            return parse_ledger_cursor(self.query.get(name))
        except CursorError as error:
            raise ValidationError({name: [str(error)]}) from error


class CreatorSearchView(QueryView):
    """Creator search."""

    query_serializer = CreatorSearchQuery
    cache_control = public_cache_control(15)

    @extend_schema(operation_id="searchCreator", responses={200: CreatorSearchAnswer})
    @from_replica
    def get(self, request: Request) -> HttpResponse:
        """Search creators by name, address or FID; return those with listed launches, by name."""
        try:
            after_fid = parse_name_cursor(self.query.get("cursor"))
            page = search_creators(self.query["q"], limit=self.query["limit"], after_fid=after_fid)
        except CursorError as error:
            raise ValidationError({"cursor": [str(error)]}) from error
        return json_response(page, headers={})
