"""Feed endpoints, each 404 unless FEEDS names its format."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from config.api.errors import UpstreamUnavailableError
from config.api.fields import IdField
from config.api.rendering import json_response
from config.api.replica_reads import from_replica
from config.api.views import QueryView
from config.http.errors import PermanentError, RateLimitedError, RetryableError
from config.web.client_ip import client_address
from config.web.response_headers import public_cache_control
from tokens.chains.registry.chains import ChainInfo
from tokens.feeds import daily_sums, event_answers, responses
from tokens.feeds import serializers as formats
from tokens.feeds.feed_pairs import FeedAsset, FeedPair, find_asset, find_pair
from tokens.feeds.pool_events import (
    MOST_EVENTS,
    PoolEvent,
    TooManyEventsError,
    UnplacedEventError,
    read_pool_events,
)
from tokens.feeds.served_blocks import (
    NotServedError,
    ServedBlocks,
    find_block_at,
    find_feed_chain,
    read_block_time,
    read_served_blocks,
)
from tokens.feeds.token_holders import FRESH_SECONDS, fetch_holders
from tokens.installation.chain_fields import MAX_CHAIN_ID
from tokens.installation.installed_launchpads import find_factory, launchpad_badge

_CHAIN_IN_PATH = [
    OpenApiParameter(
        "chainId",
        {"type": "integer", "format": "int64", "minimum": 1, "maximum": MAX_CHAIN_ID},
        OpenApiParameter.PATH,
        description="An EVM chain with market data from its own trades.",
    )
]
_NO_EXPLORER = "The explorer of this chain is not available"
_OFF = "This feed is off: the operator enables it by FEEDS"


def described_feed(operation_id: str, answer: Any, *, with_chain: bool = True) -> Callable[[Any], Any]:
    """Return the decorator that describes a feed endpoint in OpenAPI."""
    parameters = _CHAIN_IN_PATH if with_chain else []
    return extend_schema(operation_id=operation_id, parameters=parameters, responses={200: answer, 404: None})


class FeedView(QueryView):
    """Base class for feed endpoints. `feed` is the format's name in FEEDS."""

    feed: str
    cache_control = public_cache_control(60)

    def check_permissions(self, request: Request) -> None:
        """Raise NotFound while the feed is off, before the parameters are read."""
        super().check_permissions(request)
        if self.feed not in settings.FEEDS:
            raise NotFound(_OFF)


class ChainFeedView(FeedView):
    """Base class for endpoints that cover one chain."""

    def chain(self, text: str) -> ChainInfo:
        """Return the chain in the path. Raises ValidationError."""
        try:
            return find_feed_chain(IdField().to_internal_value(text))
        except NotServedError as error:
            raise ValidationError({"chainId": [str(error)]}) from error
        except ValidationError as error:
            raise ValidationError({"chainId": error.detail}) from error

    def served(self, chain: ChainInfo) -> ServedBlocks:
        """Return the blocks that are served. Raises NotFound."""
        try:
            return read_served_blocks(chain)
        except NotServedError as error:
            raise NotFound(str(error)) from error

    def asset(self, chain: ChainInfo) -> FeedAsset:
        """Return the asset that `id` names. Raises NotFound."""
        if (asset := find_asset(chain, self.query["id"])) is None:
            raise NotFound("Asset not found")
        return asset

    def pair(self, chain: ChainInfo) -> FeedPair:
        """Return the pair that `id` names. Raises NotFound."""
        if (pair := find_pair(chain, self.query["id"])) is None:
            raise NotFound("Pair not found")
        return pair

    def events(self, chain: ChainInfo) -> list[PoolEvent]:
        """Return the range's events. Raises ValidationError for blocks that are not served, and NotFound."""
        served, first, last = self.served(chain), self.query["fromBlock"], self.query["toBlock"]
        if first < served.first:
            rule = f"must be at least {served.first}, the first block that is indexed with trades"
            raise ValidationError({"fromBlock": [rule]})
        if last > served.last:
            raise ValidationError({"toBlock": [f"must be at most {served.last}, the newest block that is served"]})
        try:
            return read_pool_events(chain, first, last)
        except TooManyEventsError as error:
            rule = f"must be closer to fromBlock: the range has more than {MOST_EVENTS} events"
            raise ValidationError({"toBlock": [rule]}) from error
        except UnplacedEventError as error:
            rule = f"must be greater than {error.block}, which was indexed without transaction indexes"
            raise ValidationError({"fromBlock": [rule]}) from error

    def latest_block(self, chain: ChainInfo) -> responses.FeedBlockAnswer:
        """Return the response body with the newest served block. Raises NotFound."""
        return _describe_block(chain, self.served(chain).last)


class ScreenerView(ChainFeedView):
    """Base class for DEX Screener's adapter."""

    feed = "dexscreener"


class ScreenerLatestBlockView(ScreenerView):
    """Newest block that is served."""

    cache_control = public_cache_control(1)

    @described_feed("screenerLatestBlock", responses.FeedBlockAnswer)
    @from_replica
    def get(self, request: Request, chainId: str) -> HttpResponse:
        """Return the newest block whose events are served: it is final, and indexed completely."""
        return json_response(self.latest_block(self.chain(chainId)), headers={})


class ScreenerAssetView(ScreenerView):
    """Asset by its address."""

    query_serializer = formats.AssetQuery

    @described_feed("screenerAsset", responses.FeedAssetAnswer)
    @from_replica
    def get(self, request: Request, chainId: str) -> HttpResponse:
        """Return a launched token, or a quote token."""
        asset = self.asset(self.chain(chainId))
        return json_response(responses.FeedAssetAnswer(asset=event_answers.describe_asset(asset)), headers={})


class ScreenerPairView(ScreenerView):
    """Pair by its pool."""

    query_serializer = formats.PairQuery

    @described_feed("screenerPair", responses.ScreenerPairAnswer)
    @from_replica
    def get(self, request: Request, chainId: str) -> HttpResponse:
        """Return the pair in a pool. Asset 0 is the launched token, so that no pair ever changes."""
        pair = self.pair(self.chain(chainId))
        described = event_answers.describe_screener_pair(pair, dex_key=settings.FEED_DEX_KEY)
        return json_response(responses.ScreenerPairAnswer(pair=described), headers={})


class ScreenerEventsView(ScreenerView):
    """Events in a block range."""

    query_serializer = formats.BlockRangeQuery

    @described_feed("screenerEvents", responses.ScreenerEventsAnswer)
    @from_replica
    def get(self, request: Request, chainId: str) -> HttpResponse:
        """List the swaps, joins and exits in a range of blocks, in the chain's sequence."""
        events = event_answers.describe_priced_events(self.events(self.chain(chainId)))
        return json_response(responses.ScreenerEventsAnswer(events=events), headers={})


class ToolsView(ChainFeedView):
    """Base class for DEXTools' adapter. Errors also have a code, a message and issues."""

    feed = "dextools"

    def extend_error(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return an error body with the format's message and issues."""
        issues = [{"param": detail["field"], "message": detail["message"]} for detail in body.get("details", ())]
        return body | {"message": body["error"], "issues": issues}

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Add the format's code, which is the status."""
        if isinstance(response, Response) and isinstance(response.data, dict) and response.status_code >= 400:
            response.data["code"] = str(response.status_code)
        return super().finalize_response(request, response, *args, **kwargs)


class ToolsLatestBlockView(ToolsView):
    """Newest block that is served."""

    cache_control = public_cache_control(1)

    @described_feed("toolsLatestBlock", responses.FeedBlockAnswer)
    @from_replica
    def get(self, request: Request, chainId: str) -> HttpResponse:
        """Return the newest block whose events are served: it is final, and indexed completely."""
        return json_response(self.latest_block(self.chain(chainId)), headers={})


class ToolsBlockView(ToolsView):
    """Block by its number or time."""

    query_serializer = formats.BlockQuery

    @described_feed("toolsBlock", responses.FeedBlockAnswer)
    @from_replica
    def get(self, request: Request, chainId: str) -> HttpResponse:
        """Return a served block by its number, or the youngest one at or before a time.

        404 until a served block is younger than the time: a block that is not final may still have it.
        """
        chain, number = self.chain(chainId), self.query.get("number")
        served = self.served(chain)
        if number is None:
            try:
                number = find_block_at(chain, self.query["timestamp"], newest=served.last)
            except NotServedError as error:
                raise NotFound(str(error)) from error
        if number > served.last:
            raise NotFound("Block not found")
        return json_response(_describe_block(chain, number), headers={})


class ToolsAssetView(ToolsView):
    """Asset by its address."""

    query_serializer = formats.AssetQuery

    @described_feed("toolsAsset", responses.FeedAssetAnswer)
    @from_replica
    def get(self, request: Request, chainId: str) -> HttpResponse:
        """Return a launched token, or a quote token."""
        asset = self.asset(self.chain(chainId))
        return json_response(responses.FeedAssetAnswer(asset=event_answers.describe_asset(asset)), headers={})


class ToolsHoldersView(ToolsView):
    """An asset's holders, from its chain's explorer."""

    query_serializer = formats.HoldersQuery
    cache_control = public_cache_control(FRESH_SECONDS)

    @extend_schema(
        operation_id="toolsHolders",
        parameters=_CHAIN_IN_PATH,
        responses={200: responses.ToolsHoldersAnswer, 404: None, 503: None},
    )
    @from_replica
    def get(self, request: Request, chainId: str) -> HttpResponse:
        """List the holders of an asset, largest balance first, as the chain's block explorer does.

        The list is empty beyond the last holder. 404 on a chain without an explorer, and for an asset that it does not
        have yet.
        """
        chain, page, page_size = self.chain(chainId), self.query["page"], self.query["pageSize"]
        asset = self.asset(chain)
        if chain.chain_id not in settings.EXPLORER_URLS:
            raise NotFound(f"Holders are not served: the operator enables them by EXPLORER_URL_{chain.chain_id}")
        caller = client_address(request._request)
        try:
            holders = fetch_holders(chain, asset.address, page=page, page_size=page_size, caller=caller)
        except RateLimitedError as error:
            raise UpstreamUnavailableError(_NO_EXPLORER, wait=error.retry_after) from error
        except (RetryableError, PermanentError) as error:
            raise UpstreamUnavailableError(_NO_EXPLORER) from error
        if not holders.total:
            raise NotFound("The explorer has no holders of this asset yet")
        return json_response(event_answers.describe_holders(asset, holders), headers={})


class ToolsExchangeView(ToolsView):
    """Exchange by a factory."""

    query_serializer = formats.ExchangeQuery

    @described_feed("toolsExchange", responses.ToolsExchangeAnswer)
    def get(self, request: Request, chainId: str) -> HttpResponse:
        """Return the exchange for one of this chain's factories."""
        chain, factory = self.chain(chainId), self.query["id"]
        launchpad = find_factory(chain.chain_id, factory)
        if launchpad is None:
            raise NotFound("Exchange not found")
        title = launchpad_badge(launchpad.name) if launchpad.launches else ""
        exchange = responses.ToolsExchange(factoryAddress=factory, name=title or settings.FEED_DEX_NAME)
        return json_response(responses.ToolsExchangeAnswer(exchange=exchange), headers={})


class ToolsPairView(ToolsView):
    """Pair by its pool."""

    query_serializer = formats.PairQuery

    @described_feed("toolsPair", responses.ToolsPairAnswer)
    @from_replica
    def get(self, request: Request, chainId: str) -> HttpResponse:
        """Return the pair in a pool. Asset 0 is the launched token."""
        pair = self.pair(self.chain(chainId))
        return json_response(responses.ToolsPairAnswer(pair=event_answers.describe_tools_pair(pair)), headers={})


class ToolsEventsView(ToolsView):
    """Events in a block range."""

    query_serializer = formats.BlockRangeQuery

    @described_feed("toolsEvents", responses.ToolsEventsAnswer)
    @from_replica
    def get(self, request: Request, chainId: str) -> HttpResponse:
        """List the swaps, joins and exits in a range of blocks, in the chain's sequence."""
        events = event_answers.describe_events(self.events(self.chain(chainId)))
        return json_response(responses.ToolsEventsAnswer(events=events), headers={})


class DayFeedView(ChainFeedView):
    """A day's volume and fees."""

    feed = "daily"
    query_serializer = formats.DayQuery
    cache_control = public_cache_control(3600)

    @described_feed("dailySums", responses.Day)
    @from_replica
    def get(self, request: Request, chainId: str) -> HttpResponse:
        """Return a chain's trade volume and fees on a UTC day, and the day's blocks.

        A day is served once all its blocks are final and were read a second time.
        """
        chain = self.chain(chainId)
        served = self.served(chain)
        try:
            return json_response(daily_sums.read_day(chain, self.query["day"], served), headers={})
        except daily_sums.DayNotServedError as error:
            raise ValidationError({"day": [str(error)]}) from error
        except NotServedError as error:
            raise NotFound(str(error)) from error


def _describe_block(chain: ChainInfo, number: int) -> responses.FeedBlockAnswer:
    return {"block": event_answers.describe_block(number, read_block_time(chain, number))}
