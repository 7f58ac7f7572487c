"""Endpoints for trending pools and market caps."""

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from config.api.errors import BadRequestError, UpstreamFailedError, UpstreamUnavailableError
from config.api.replica_reads import from_replica
from config.api.views import QueryView
from config.http.errors import PermanentError, RetryableError
from config.processes.concurrency_limits import BusyError
from config.web.client_ip import client_address
from config.web.response_headers import public_cache_control
from tokens.chains.registry.chains import ChainInfo
from tokens.installation.installed_registry import DefaultFor, default_chain, has_market_source, registry
from tokens.market import trending
from tokens.market.market_caps import MarketCap, MarketCaps, find_market_cap, find_market_caps
from tokens.market.provider_rate_limit import NoCallSlotError
from tokens.market.responses import Trending
from tokens.market.serializers import MarketCapQuery, MarketCapsQuery, TrendingQuery

_DOWN = "The market data provider returns no valid response"
_BUSY = "Too many concurrent requests for trending pools"
# The source has responded by then, or its timeout has passed.
_BUSY_SECONDS = 5
# As in token lists, which have the same prices.
_PRICE_SECONDS = 2
_NO_SLOT = "The rate limit of the market data provider allows no further page yet"


class TrendingView(QueryView):
    """Trending pools of a chain, by its own trades or from the market-data provider."""

    query_serializer = TrendingQuery
    cache_control = public_cache_control(trending.FRESH_SECONDS)
    extra_headers = {"Warning": "110 if the response is a stale cached one."}

    @extend_schema(operation_id="listTrending", responses={200: Trending, 502: None, 503: None})
    def get(self, request: Request) -> Response:
        """List the trending pools of a chain, with the records of indexed tokens.

        The pools are those of this service, by their trades. On chains with data of an outside provider they are the
        provider's: while it is down, the last response is served for up to 24 hours, with the header `Warning: 110`;
        without one the status is 502. It is served as well while the rate limit of the provider allows no call for this
        page; without one the status is 503.
        """
        chain = self._chain()
        try:
            page = trending.fetch_trending_page(
                chain,
                sort=self.query["order"],
                page=self.query["page"],
                limit=self.query.get("limit"),
                caller=client_address(request._request),
            )
        except NoCallSlotError as error:
            if error.circuit_open:
                raise UpstreamFailedError(_DOWN, wait=error.retry_after) from error
            raise UpstreamUnavailableError(_NO_SLOT, wait=error.retry_after) from error
        except BusyError as error:
            raise UpstreamUnavailableError(_BUSY, wait=_BUSY_SECONDS) from error
        except (RetryableError, PermanentError) as error:
            raise UpstreamFailedError(_DOWN, wait=trending.RETRY_SECONDS) from error
        response = Response(Trending(trending=list(page.pools), tokens=page.pools))
        if page.is_stale:
            response["Warning"] = '110 - "Response is Stale"'
            response["Cache-Control"] = public_cache_control(trending.RETRY_SECONDS)
        return response

    def _chain(self) -> ChainInfo:
        if "chainId" not in self.query:
            return default_chain(DefaultFor.MARKET_DATA)
        chain = registry().chains[self.query["chainId"]]
        if not has_market_source(chain.chain_id):
            raise BadRequestError("chainId must be a chain that the market data provider covers", field="chainId")
        return chain


class MarketCapView(QueryView):
    """Market cap of one token."""

    query_serializer = MarketCapQuery
    cache_control = public_cache_control(_PRICE_SECONDS)

    @extend_schema(operation_id="getMarketCap", responses={200: MarketCap, 404: None})
    @from_replica
    def get(self, request: Request) -> Response:
        """Return a token's market cap with the time of its price; null while no source has a price.

        If several chains have the token, the first one in the registry wins. 404 if it is unknown, or in another pool
        than `poolAddress`.
        """
        market_cap = find_market_cap(
            self.query["tokenAddress"], chain_id=self.query.get("chainId"), pool=self.query.get("poolAddress")
        )
        if market_cap is None:
            raise NotFound("Token not found")
        return Response(market_cap)


class MarketCapsView(QueryView):
    """Market caps of several tokens."""

    query_serializer = MarketCapsQuery
    cache_control = public_cache_control(_PRICE_SECONDS)

    @extend_schema(operation_id="listMarketCaps", responses={200: MarketCaps})
    @from_replica
    def get(self, request: Request) -> Response:
        """Return the market caps of up to 100 tokens, in the sequence of the request.

        Unknown tokens are absent. Without `chainId`, an address has an entry for each chain with such a token.
        """
        market_caps = find_market_caps(self.query["addresses"], chain_id=self.query.get("chainId"))
        return Response(MarketCaps(data=market_caps))
