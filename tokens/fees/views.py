"""A token's liquidity and fees."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import PartnerAccess
from config.api.concurrency_limits import seat
from config.api.errors import UpstreamUnavailable
from config.api.fields import ADDRESS_SHAPE, read_path_address
from config.api.response_headers import PRIVATE_NEVER_STORED, private_for, shared_for
from config.api.views import QueryView
from tokens.fees import liquidity
from tokens.fees.serializers import (
    FEES_PATH,
    LP_POSITION,
    NO_NFT_RULE,
    ClaimInfoAnswer,
    ClaimInfoQuery,
    LpInfoAnswer,
    LpInfoQuery,
    RewardsAnswer,
    RewardsQuery,
)
from tokens.installation.chain_fields import mint_rule
from tokens.installation.installed_chains import UnsupportedChain, generation_label, quote_symbol, registry
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
            with seat():
                rewards = liquidity.estimate_user_rewards(token)
        except liquidity.PriceUnknown as error:
            raise UpstreamUnavailable("Market data is not available yet", wait=_NEXT_PRICES) from error
        except UnsupportedChain as error:
            raise UpstreamUnavailable("The chain is not available") from error
        return Response({"userRewards": rewards})


class LpInfoView(PartnerAccess, QueryView):
    """What a token's launch locked as liquidity, for partners."""

    query_serializer = LpInfoQuery
    cache_control = private_for(120)

    @extend_schema(
        operation_id="getLpInfo",
        parameters=[
            OpenApiParameter(
                "address",
                ADDRESS_SHAPE,
                OpenApiParameter.PATH,
                description="A token; no quote token, and no mint of Solana, which has no locked LP position.",
            )
        ],
        responses={200: LpInfoAnswer, 404: None},
    )
    def get(self, request: Request, address: str) -> Response:
        """Tell how much of a token's supply its launch locked as liquidity, and where."""
        address = read_path_address(address, name="address", mint_rule=mint_rule(LP_POSITION))
        chain_id = self.query.get("chainId")
        quote = quote_symbol(address, chain_id=chain_id)
        if quote:
            raise ValidationError({"address": [f"must be a launched token; {quote} is a quote token"]})
        return Response(LpInfoAnswer(liquidity.locked_liquidity(token_at(address, chain_id))).data)


class ClaimInfoView(PartnerAccess, QueryView):
    """Where to claim the fees of a token up to generation v3.1, for partners."""

    query_serializer = ClaimInfoQuery
    cache_control = PRIVATE_NEVER_STORED

    @extend_schema(operation_id="getClaimInfo", responses={200: ClaimInfoAnswer, 404: None})
    def get(self, request: Request) -> Response:
        """Tell the locker and the LP NFT that the claim of a token's fees needs."""
        token = token_at(self.query["address"], self.query.get("chainId"))
        if not liquidity.has_lp_nft(token):
            raise ValidationError({"address": [NO_NFT_RULE]})
        return Response(
            {
                "lockerAddress": token.locker_address or None,
                "lpNftId": token.position_id or None,
                "contract_address": token.contract_address,
                "type": generation_label(token.generation),
            }
        )


def token_at(address: str, chain_id: int | None) -> Token:
    """The token at an address; where several chains hold it, the registry's order decides. Raises NotFound."""
    tokens = Token.objects.at_address(address, chain_id=chain_id).in_chain_order(list(registry().chains))
    token = tokens.select_related("launch").first()
    if token is None:
        raise NotFound("Token not found")
    return token
