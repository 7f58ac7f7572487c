"""Liquidity and fee endpoints."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import PartnerAccess
from config.api.errors import UpstreamUnavailableError
from config.api.views import QueryView
from config.processes.concurrency_limits import node_slot
from config.web.response_headers import PRIVATE_NO_STORE, private_cache_control, public_cache_control
from tokens.chains.addresses import ADDRESS_OR_MINT_SHAPE, ADDRESS_SHAPE
from tokens.chains.errors import UnknownContractError
from tokens.fees import liquidity, uncollected
from tokens.fees.claimed import read_claimed_fees
from tokens.fees.responses import ClaimedFeesAnswer, ClaimInfoAnswer, LpInfoAnswer, RewardsAnswer, UncollectedFeesAnswer
from tokens.fees.serializers import (
    FEES_PATH,
    LP_POSITION,
    NO_FEES_RULE,
    NO_NFT_RULE,
    ClaimedFeesQuery,
    ClaimInfoQuery,
    LpInfoQuery,
    RewardsQuery,
    UncollectedFeesQuery,
)
from tokens.installation.address_formats import evm_address_rule, infer_chain_id
from tokens.installation.chain_fields import parse_path_address, parse_path_address_on
from tokens.installation.installed_chains import UnsupportedChainError
from tokens.installation.installed_launchpads import is_declared, launchpad_of
from tokens.installation.installed_registry import generation_label, quote_symbol, registry
from tokens.models import Token

# Retry after these seconds: by then the provider has probably been queried for the token.
_NEXT_PRICES = 30


class RewardsEstimateView(QueryView):
    """Estimated rewards for a token's recipients, up to generation v3.1."""

    query_serializer = RewardsQuery
    # Each response costs two node requests.
    cache_control = public_cache_control(15)
    successor = FEES_PATH

    @extend_schema(
        operation_id="estimateRewardsByPoolAddress", responses={200: RewardsAnswer, 404: None, 502: None, 503: None}
    )
    def get(self, request: Request) -> Response:
        """Estimate the USD value that a pool's uncollected fees have for all reward recipients.

        Deprecated: /api/get-uncollected-fees/{address} returns amounts per currency, for every generation.
        """
        tokens = Token.objects.in_pools([self.query["poolAddress"]]).exclude(position_id="")
        token = tokens.select_related("market").order_by("id").first()
        if token is None:
            raise NotFound("Token not found")
        try:
            with node_slot():
                rewards = liquidity.estimate_user_rewards(token)
        except liquidity.PriceUnknownError as error:
            raise UpstreamUnavailableError("Market data is not available yet", wait=_NEXT_PRICES) from error
        except UnsupportedChainError as error:
            raise UpstreamUnavailableError("The chain is not available") from error
        return Response(RewardsAnswer(userRewards=rewards))


class LpInfoView(PartnerAccess, QueryView):
    """Liquidity locked by a token's launch, for partners."""

    query_serializer = LpInfoQuery
    cache_control = private_cache_control(120)

    @extend_schema(
        operation_id="getLpInfo",
        parameters=[
            OpenApiParameter(
                "address",
                ADDRESS_SHAPE,
                OpenApiParameter.PATH,
                description="A token. Quote tokens and mints of Solana are rejected: they have no locked LP position.",
            )
        ],
        responses={200: LpInfoAnswer, 404: None},
    )
    def get(self, request: Request, address: str) -> Response:
        """Return the supply that a token's launch locked as liquidity, and the contracts that hold it."""
        address = parse_path_address(address, name="address", mint_rule=evm_address_rule(LP_POSITION))
        chain_id = self.query.get("chainId")
        quote = quote_symbol(address, chain_id=chain_id)
        if quote:
            raise ValidationError({"address": [f"must be a launched token; {quote} is a quote token"]})
        return Response(liquidity.locked_liquidity(get_token_or_404(address, chain_id)))


class ClaimInfoView(PartnerAccess, QueryView):
    """Contracts for claiming a token's fees, up to generation v3.1, for partners."""

    query_serializer = ClaimInfoQuery
    cache_control = PRIVATE_NO_STORE

    @extend_schema(operation_id="getClaimInfo", responses={200: ClaimInfoAnswer, 404: None})
    def get(self, request: Request) -> Response:
        """Return the locker and the LP NFT for claiming a token's fees."""
        token = get_token_or_404(self.query["address"], self.query.get("chainId"))
        if not liquidity.has_lp_nft(token):
            raise ValidationError({"address": [NO_NFT_RULE]})
        return Response(
            ClaimInfoAnswer(
                lockerAddress=token.locker_address or None,
                lpNftId=token.position_id or None,
                contract_address=token.contract_address,
                type=generation_label(token.generation),
            )
        )


def get_token_or_404(address: str, chain_id: int | None) -> Token:
    """Return the token at an address, on the first registry chain that has it. Raises NotFound."""
    tokens = Token.objects.at_address(address, chain_id=chain_id).in_chain_order(list(registry().chains))
    token = tokens.select_related("launch").first()
    if token is None:
        raise NotFound("Token not found")
    return token


class ClaimedFeesView(PartnerAccess, QueryView):
    """Fees paid to a recipient in one currency, for partners."""

    query_serializer = ClaimedFeesQuery
    cache_control = private_cache_control(60)

    @extend_schema(
        operation_id="getClaimedFees",
        parameters=[
            OpenApiParameter(
                "tokenAddress",
                ADDRESS_OR_MINT_SHAPE,
                OpenApiParameter.PATH,
                description="The currency paid: a launched token or its paired token; on Solana the mint.",
            ),
            OpenApiParameter(
                "feeRecipient",
                ADDRESS_OR_MINT_SHAPE,
                OpenApiParameter.PATH,
                description="The account paid; on Solana in base58.",
            ),
        ],
        responses={200: ClaimedFeesAnswer},
    )
    def get(self, request: Request, tokenAddress: str, feeRecipient: str) -> Response:
        """Return the fees that a recipient has claimed in one currency, with the transactions; zeros without claims."""
        currency = parse_path_address(tokenAddress, name="tokenAddress", allow_mint=True)
        chain_id = self.query.get("chainId", infer_chain_id(currency))
        currency = parse_path_address_on(chain_id, currency, name="tokenAddress")
        recipient = parse_path_address_on(chain_id, feeRecipient, name="feeRecipient")
        limit, offset = self.query["limit"], self.query["offset"]
        claimed = read_claimed_fees(
            chain_id=chain_id, currency=currency, recipient=recipient, limit=limit, offset=offset
        )
        return Response(
            ClaimedFeesAnswer(
                tokenAddress=currency,
                feeRecipient=recipient,
                chainId=chain_id,
                totalClaimed=str(claimed.total),
                claimCount=claimed.count,
                txHashes=list(claimed.tx_hashes),
                pagination={
                    "limit": limit,
                    "offset": offset,
                    "hasMore": offset + len(claimed.tx_hashes) < claimed.count,
                },
            )
        )


_ADDRESS = OpenApiParameter(
    "address", ADDRESS_OR_MINT_SHAPE, OpenApiParameter.PATH, description="A launched token; on Solana its mint."
)


class UncollectedFeesView(PartnerAccess, QueryView):
    """A token's uncollected fees, for every generation and chain, for partners."""

    query_serializer = UncollectedFeesQuery
    # Each response costs about four node requests.
    cache_control = private_cache_control(15)

    @extend_schema(
        operation_id="getUncollectedFees",
        parameters=[_ADDRESS],
        responses={200: UncollectedFeesAnswer, 502: None, 503: None},
    )
    def get(self, request: Request, address: str) -> Response:
        """Return a token's uncollected fees, harvested and pending, per currency and recipient.

        Amounts are in the currency's smallest unit.
        """
        address = parse_path_address(address, name="address", allow_mint=True)
        chain_id = self.query.get("chainId", infer_chain_id(address))
        address = parse_path_address_on(chain_id, address, name="address")
        recipient = self.query.get("recipient")
        if recipient is not None:
            parse_path_address_on(chain_id, recipient, name="recipient")
        token = get_token_or_404(address, self.query.get("chainId"))
        if is_declared(token.generation):
            raise ValidationError({"address": [NO_FEES_RULE.format(launchpad=launchpad_of(token.generation).title)]})
        try:
            with node_slot():
                report = uncollected.read_uncollected(token, recipient=recipient)
        except UnsupportedChainError as error:
            raise UpstreamUnavailableError("The chain is not available") from error
        except UnknownContractError as error:
            text = f"Fees can't be read on chain {token.chain_id}: its {error.key} is not in the registry"
            raise UpstreamUnavailableError(text) from error
        return Response(uncollected.describe_report(token, report))
