"""A token's liquidity and fees."""

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from config.api.caching import shared_for
from config.api.errors import UpstreamUnavailable
from config.api.views import QueryView
from tokens import liquidity
from tokens.installed_chains import UnsupportedChain
from tokens.liquidity_serializers import FEES_PATH, RewardsAnswer, RewardsQuery
from tokens.models import Token

# Seconds within which the provider is likely to have been asked about a token that somebody looks at.
_NEXT_PRICES = 30


class RewardsEstimateView(QueryView):
    """What the reward recipients of a token share, up to generation v3.1."""

    query_serializer = RewardsQuery
    # Each answer costs a node two requests.
    cache_control = shared_for(15)
    successor = FEES_PATH

    @extend_schema(
        operation_id="estimateRewardsByPoolAddress", responses={200: RewardsAnswer, 404: None, 502: None, 503: None}
    )
    def get(self, request: Request) -> Response:
        """Estimate in USD what a pool's uncollected fees would bring to the reward recipients together.

        Deprecated: /api/get-uncollected-fees/{address} tells the amounts, per currency, of every generation.
        """
        tokens = Token.objects.in_pools([self.query["poolAddress"]]).exclude(position_id="")
        token = tokens.select_related("market").order_by("id").first()
        if token is None:
            raise NotFound("Token not found")
        try:
            rewards = liquidity.estimate_user_rewards(token)
        except liquidity.PriceUnknown as error:
            raise UpstreamUnavailable("Market data is not available yet", wait=_NEXT_PRICES) from error
        except UnsupportedChain as error:
            raise UpstreamUnavailable("The chain is not available") from error
        return Response({"userRewards": rewards})
