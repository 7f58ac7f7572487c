"""What a recipient of fees was paid."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import PartnerAccess
from config.api.fields import ADDRESS_OR_MINT_SHAPE, read_path_address
from config.api.response_headers import private_for
from config.api.views import QueryView
from tokens.fees.claimed import read_claimed_fees
from tokens.fees.claimed_serializers import ClaimedFeesAnswer, ClaimedFeesQuery
from tokens.installation.address_formats import read_address_on, usual_chain_id


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
