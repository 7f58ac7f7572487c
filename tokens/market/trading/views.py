"""Endpoints for a token's trades and candles."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request

from config.api.rendering import json_response
from config.api.replica_reads import from_replica
from config.api.views import QueryView
from config.cursors import CursorError
from config.web.response_headers import public_cache_control
from tokens.installation.chain_fields import TOKEN_IN_PATH, parse_path_token
from tokens.market.trading.candle_pages import INTERVALS, NO_END, CandleRange, fetch_candles
from tokens.market.trading.responses import Candles, Trades
from tokens.market.trading.serializers import CandlesQuery, TradesQuery
from tokens.market.trading.trade_pages import TradedToken, fetch_trade_page, find_traded_token, parse_trade_cursor


class TokenTradesView(QueryView):
    """Trades of a token, newest first."""

    query_serializer = TradesQuery
    cache_control = public_cache_control(2)

    @extend_schema(operation_id="listTrades", parameters=TOKEN_IN_PATH, responses={200: Trades, 404: None})
    @from_replica
    def get(self, request: Request, chainId: str, address: str) -> HttpResponse:
        """List the trades of a token, newest first.

        Chains with market data from an outside provider get no new ones.
        """
        token = _find_token_or_404(chainId, address)
        try:
            cursor = parse_trade_cursor(self.query.get("cursor"))
        except CursorError as error:
            raise ValidationError({"cursor": [str(error)]}) from error
        page = fetch_trade_page(token, limit=self.query["limit"], cursor=cursor)
        return json_response(Trades(data=page.trades, cursor=page.cursor), headers={})


class TokenCandlesView(QueryView):
    """Candles of a token, oldest first."""

    query_serializer = CandlesQuery
    cache_control = public_cache_control(2)

    @extend_schema(operation_id="listCandles", parameters=TOKEN_IN_PATH, responses={200: Candles, 404: None})
    @from_replica
    def get(self, request: Request, chainId: str, address: str) -> HttpResponse:
        """List the candles of a token's price in its pool, oldest first.

        For earlier candles, repeat the call with `to` set to the `t` of the first one, in Unix seconds. Chains with
        market data from an outside provider get no new ones.
        """
        token = _find_token_or_404(chainId, address)
        candle_range = CandleRange(
            interval=INTERVALS[self.query["interval"]],
            start=self.query.get("from", 0),
            end=self.query.get("to", NO_END),
            limit=self.query["limit"],
        )
        in_usd = self.query["currency"] == "usd"
        candles = fetch_candles(token.token_id, candle_range, in_usd=in_usd, fill=self.query["fill"])
        return json_response(Candles(data=candles), headers={})


def _find_token_or_404(chain_id: str, address: str) -> TradedToken:
    """Return the token in the path. Raises ValidationError, and NotFound."""
    token = find_traded_token(*parse_path_token(chain_id, address))
    if token is None:
        raise NotFound("Token not found")
    return token
