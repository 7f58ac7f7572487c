"""Endpoints for TradingView's UDF."""

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request

from config.api.errors import SearchTimedOutError
from config.api.rendering import json_response
from config.api.replica_reads import from_replica
from config.web.response_headers import NO_STORE, public_cache_control
from tokens.catalogue.list_plan import SearchTimeoutError, fetch_list
from tokens.catalogue.listing import ListSort, PageRequest
from tokens.catalogue.selections import Selection
from tokens.feeds import responses
from tokens.feeds import serializers as formats
from tokens.feeds.charts import chart_symbols
from tokens.feeds.views import FeedView, described_feed


class ChartView(FeedView):
    """Base class for TradingView's UDF. Errors also have `s` and `errmsg`: its library reads no status."""

    feed = "udf"

    def extend_error(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return an error body with the format's keys."""
        return body | {"s": "error", "errmsg": body["error"]}

    def symbol(self) -> chart_symbols.ChartSymbol:
        """Return the token that `symbol` names. Raises ValidationError, and NotFound."""
        try:
            symbol = chart_symbols.find_symbol(self.query["symbol"])
        except ValueError as error:
            raise ValidationError({"symbol": [str(error)]}) from error
        if symbol is None:
            raise NotFound("unknown_symbol")
        return symbol


class ChartConfigView(ChartView):
    """Datafeed configuration."""

    @described_feed("udfConfig", responses.ChartConfig, with_chain=False)
    def get(self, request: Request) -> HttpResponse:
        """Return the datafeed's configuration: resolutions, and chains as exchanges."""
        return json_response(chart_symbols.describe_config(), headers={})


class ChartTimeView(ChartView):
    """Server time."""

    cache_control = NO_STORE

    @described_feed("udfTime", int, with_chain=False)
    def get(self, request: Request) -> HttpResponse:
        """Return the Unix seconds of the server."""
        return json_response(int(timezone.now().timestamp()), headers={})


class ChartSymbolView(ChartView):
    """Chart symbol."""

    query_serializer = formats.SymbolQuery

    @described_feed("udfSymbol", responses.ChartSymbolJson, with_chain=False)
    @from_replica
    def get(self, request: Request) -> HttpResponse:
        """Return a token as a symbol, in USD or in its paired token."""
        return json_response(chart_symbols.describe_symbol(self.symbol()), headers={})


class ChartSearchView(ChartView):
    """Search for symbols."""

    query_serializer = formats.SymbolSearchQuery
    cache_control = public_cache_control(2)

    @described_feed("udfSearch", list[responses.ChartMatch], with_chain=False)
    @from_replica
    def get(self, request: Request) -> HttpResponse:
        """Search tokens by name, symbol, address or pool; without a text, list the newest."""
        selection = Selection(q=self.query.get("query", ""), chain_id=self.query.get("exchange"))
        limit: int = self.query["limit"]
        try:
            page, _ = fetch_list(selection, ListSort(), PageRequest(limit))
        except SearchTimeoutError as error:
            raise SearchTimedOutError from error
        return json_response(chart_symbols.describe_matches(page.records, limit=limit), headers={})


class ChartHistoryView(ChartView):
    """A symbol's bars."""

    query_serializer = formats.HistoryQuery
    cache_control = public_cache_control(2)

    @described_feed("udfHistory", responses.ChartBars, with_chain=False)
    @from_replica
    def get(self, request: Request) -> HttpResponse:
        """Return bars of a symbol, oldest first. The newest ones may change with a reorg."""
        query = self.query
        bars = chart_symbols.read_bars(
            self.symbol(),
            query["resolution"],
            start=query.get("from", 0),
            end=query["to"],
            count=query.get("countback"),
        )
        return json_response(bars, headers={})
