"""The fees that wait for a token's recipients."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import PartnerAccess
from config.api.concurrency_limits import seat
from config.api.errors import UpstreamUnavailable
from config.api.fields import ADDRESS_OR_MINT_SHAPE, read_path_address
from config.api.response_headers import private_for
from config.api.views import QueryView
from tokens.chains.types import ContractUnknown
from tokens.fees import uncollected
from tokens.fees.uncollected_serializers import UncollectedFeesAnswer, UncollectedFeesQuery
from tokens.fees.views import token_at
from tokens.installation.address_formats import read_address_on, usual_chain_id
from tokens.installation.installed_chains import UnsupportedChain

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
