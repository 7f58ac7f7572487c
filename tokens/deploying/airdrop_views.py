"""What recipients of an airdrop need to claim it."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.api.response_headers import shared_for
from config.api.views import QueryView
from tokens.deploying import airdrop_proofs
from tokens.deploying.airdrop_serializers import AirdropClaimAnswer, AirdropClaimQuery


class AirdropClaimView(QueryView):
    """The proofs of one account for the airdrop of one token."""

    query_serializer = AirdropClaimQuery
    cache_control = shared_for(2)

    @extend_schema(operation_id="getAirdropProofs", responses={200: AirdropClaimAnswer})
    def get(self, request: Request) -> Response:
        """Give the Merkle proofs with which an account claims its part of a token's airdrop; a miss has none."""
        found = airdrop_proofs.proofs(self.query["tokenAddress"], claimer=self.query["claimerAddress"])
        return Response(AirdropClaimAnswer({"proofs": found}).data)
