"""A token's liquidity and fees."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import PartnerAccess
from config.api.concurrency_limits import seat
from config.api.errors import UpstreamUnavailable
from config.api.fields import ADDRESS_OR_MINT_SHAPE, ADDRESS_SHAPE, read_path_address
from config.api.response_headers import PRIVATE_NEVER_STORED, private_for, shared_for
from config.api.views import QueryView
from tokens.chains.types import ContractUnknown
from tokens.fees import liquidity, uncollected
from tokens.fees.claimed import read_claimed_fees
from tokens.fees.serializers import (
    FEES_PATH,
    LP_POSITION,
    NO_NFT_RULE,
    ClaimedFeesAnswer,
    ClaimedFeesQuery,
    ClaimInfoAnswer,
    ClaimInfoQuery,
    LpInfoAnswer,
    LpInfoQuery,
    RewardsAnswer,
    RewardsQuery,
    UncollectedFeesAnswer,
    UncollectedFeesQuery,
)
from tokens.installation.address_formats import read_address_on, usual_chain_id
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


# What a recipient of fees was paid.
class ClaimedFeesView(PartnerAccess, QueryView):
    """The fees that were paid to a recipient in one currency, for partners."""

    query_serializer = ClaimedFeesQuery
    cache_control = private_for(60)

    @extend_schema(
        operation_id="getClaimedFees",
        parameters=[
            OpenApiParameter(
                "tokenAddress",
                ADDRESS_OR_MINT_SHAPE,
                OpenApiParameter.PATH,
                description="The currency that was paid: a launched token, or what it is paired with; "
                "on Solana its mint.",
            ),
            OpenApiParameter(
                "feeRecipient",
                ADDRESS_OR_MINT_SHAPE,
                OpenApiParameter.PATH,
                description="Who was paid; on Solana in base58.",
            ),
        ],
        responses={200: ClaimedFeesAnswer},
    )
    def get(self, request: Request, tokenAddress: str, feeRecipient: str) -> Response:
        """Tell what fees a recipient has claimed in one currency, with the transactions; without claims zeros."""
        currency = read_path_address(tokenAddress, name="tokenAddress", allow_mint=True)
        chain_id = self.query.get("chainId", usual_chain_id(currency))
        currency = read_address_on(chain_id, currency, name="tokenAddress")
        recipient = read_address_on(chain_id, feeRecipient, name="feeRecipient")
        limit, offset = self.query["limit"], self.query["offset"]
        claimed = read_claimed_fees(
            chain_id=chain_id, currency=currency, recipient=recipient, limit=limit, offset=offset
        )
        return Response(
            {
                "tokenAddress": currency,
                "feeRecipient": recipient,
                "chainId": chain_id,
                "totalClaimed": str(claimed.total),
                "claimCount": claimed.count,
                "txHashes": claimed.tx_hashes,
                "pagination": {
                    "limit": limit,
                    "offset": offset,
                    "hasMore": offset + len(claimed.tx_hashes) < claimed.count,
                },
            }
        )


# The fees that wait for a token's recipients.
_ADDRESS = OpenApiParameter(
    "address", ADDRESS_OR_MINT_SHAPE, OpenApiParameter.PATH, description="A launched token; on Solana its mint."
)


class UncollectedFeesView(PartnerAccess, QueryView):
    """What waits for the recipients of a token's fees, of every generation and on every chain."""

    query_serializer = UncollectedFeesQuery
    # Each answer costs a node some four requests.
    cache_control = private_for(15)

    @extend_schema(
        operation_id="getUncollectedFees",
        parameters=[_ADDRESS],
        responses={200: UncollectedFeesAnswer, 502: None, 503: None},
    )
    def get(self, request: Request, address: str) -> Response:
        """Tell a token's uncollected fees, to the smallest unit: harvested and pending, per currency and recipient."""
        address = read_path_address(address, name="address", allow_mint=True)
        chain_id = self.query.get("chainId", usual_chain_id(address))
        address = read_address_on(chain_id, address, name="address")
        recipient = self.query.get("recipient")
        if recipient is not None:
            read_address_on(chain_id, recipient, name="recipient")
        token = token_at(address, self.query.get("chainId"))
        try:
            with seat():
                found = uncollected.read_uncollected(token, recipient=recipient)
        except UnsupportedChain as error:
            raise UpstreamUnavailable("The chain is not available") from error
        except ContractUnknown as error:
            text = f"Fees can't be read on chain {token.chain_id}: its {error.key} is not in the registry"
            raise UpstreamUnavailable(text) from error
        return Response(UncollectedFeesAnswer({"token": token, "found": found}).data)
