"""The trending pools."""

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.api.errors import BadRequest, UpstreamFailed, UpstreamUnavailable
from config.api.response_headers import shared_for
from config.api.views import QueryView
from config.redis.single_flight import Failed
from tokens.catalogue import viewed_tokens
from tokens.chains.registry.chains import ChainInfo
from tokens.installation.installed_chains import default_market_chain, registry
from tokens.market import trending
from tokens.market.provider_rate_limit import NotNow
from tokens.market.serializers import TRENDING_ANSWER, TrendingQuery

_DOWN = "The market data provider gives no answer that can be used"
_NO_TURN = "The market data provider can't be asked for another page yet"


class TrendingView(QueryView):
    """What the market-data provider sees trending on a chain."""

    query_serializer = TrendingQuery
    cache_control = shared_for(trending.FRESH_SECONDS)
    own_headers = {"Warning": "110 where an older answer stands in for the provider's."}

    @extend_schema(operation_id="listTrending", responses={200: TRENDING_ANSWER, 502: None, 503: None})
    def get(self, request: Request) -> Response:
        """List the trending pools of a chain, with the tokens that are ours.

        While the provider is down, the last answer of 24 hours stands in, with the header `Warning: 110`; without one
        it is 502. Where the limit of our calls to the provider lets nobody ask for this page now, the last answer
        stands in, too; without one, and where market data is turned off, it is 503.
        """
        chain = self._chain()
        if not settings.MARKET_DATA:
            raise UpstreamUnavailable("Market data is turned off", wait=trending.KEPT_SECONDS)
        try:
            page = trending.read_trending(chain, order=self.query["order"], page=self.query["page"])
        except Failed as error:
            raise UpstreamFailed(_DOWN, wait=error.retry_after) from error
        except NotNow as error:
            if error.paused:
                raise UpstreamFailed(_DOWN, wait=error.retry_after) from error
            raise UpstreamUnavailable(_NO_TURN, wait=error.retry_after) from error
        viewed_tokens.note_viewed(page.token_ids)
        response = Response({"trending": page.pools, "tokens": page.records})
        if page.is_stale:
            response["Warning"] = '110 - "Response is Stale"'
            response["Cache-Control"] = shared_for(trending.PAUSE_SECONDS)
        return response

    def _chain(self) -> ChainInfo:
        if "chainId" not in self.query:
            return default_market_chain()
        chain = registry().chains.get(self.query["chainId"])
        if chain is None:
            raise BadRequest("chainId must be a chain of this service", field="chainId")
        if chain.market_network is None:
            raise BadRequest("chainId must be a chain that the market data provider knows", field="chainId")
        return chain
