"""Endpoints of presales and of their allow-lists."""

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from config.api.errors import BadRequestError, UpstreamUnavailableError
from config.api.replica_reads import from_replica
from config.api.response_headers import public_cache_control
from config.api.views import QueryView
from tokens.chains.errors import NodeUnavailableError
from tokens.deploying.sales.presale_allowlists import PresaleAllowlist, find_allowlist, prove_buyer
from tokens.deploying.sales.presale_list import NoPresalesError, fetch_presale_page
from tokens.deploying.sales.serializers import (
    ALLOWLIST_ANSWER,
    PRESALES_ANSWER,
    AllowlistProofAnswer,
    AllowlistProofQuery,
    AllowlistQuery,
    PresalesQuery,
    ShownPresaleSerializer,
)
from tokens.installation.installed_chains import UnsupportedChainError

_NO_PRESALES = "chainId must be a chain of this service with a presale contract"


class PresalesView(QueryView):
    """Presales of a chain."""

    query_serializer = PresalesQuery
    # Each response costs two node requests.
    cache_control = public_cache_control(15)

    @extend_schema(operation_id="listPresales", responses={200: PRESALES_ANSWER, 503: None})
    def get(self, request: Request) -> Response:
        """List the presales of a chain by id, with their state as of the newest block."""
        try:
            page = fetch_presale_page(
                self.query["chainId"],
                offset=self.query["offset"],
                limit=self.query["limit"],
                newest_first=self.query["sort"] == "desc",
            )
        except (NoPresalesError, UnsupportedChainError) as error:
            raise BadRequestError(_NO_PRESALES, field="chainId") from error
        except NodeUnavailableError as error:
            raise UpstreamUnavailableError("The chain is not available") from error
        shown = ShownPresaleSerializer(page.presales, many=True).data
        return Response({"presales": shown, "totalCount": page.total})


class AllowlistView(QueryView):
    """Allow-list of a presale."""

    query_serializer = AllowlistQuery
    cache_control = public_cache_control(60)

    @extend_schema(operation_id="getPresaleAllowlist", responses={200: ALLOWLIST_ANSWER, 404: None})
    @from_replica
    def get(self, request: Request) -> Response:
        """Return the buyers of a presale that this service has started. Others are 404."""
        presale_id, chain_id = self.query["presaleId"], self.query["chainId"]
        found = _find(chain_id, presale_id)
        return Response(
            {
                "presaleId": presale_id,
                "chainId": chain_id,
                "merkleRoot": found.tree().root if found.buyers else None,
                "allocations": [{"address": buyer, "allowedAmountWei": str(found.most)} for buyer in found.buyers],
            }
        )


class AllowlistProofView(QueryView):
    """Proof of a buyer for a presale."""

    query_serializer = AllowlistProofQuery
    cache_control = public_cache_control(60)

    @extend_schema(operation_id="getPresaleAllowlistProof", responses={200: AllowlistProofAnswer, 404: None})
    @from_replica
    def get(self, request: Request) -> Response:
        """Return whether an account may buy in a presale that this service has started, with the proof for it."""
        found = _find(self.query["chainId"], self.query["presaleId"])
        return Response(AllowlistProofAnswer(prove_buyer(found, buyer=self.query["buyerAddress"])).data)


def _find(chain_id: int, presale_id: int) -> PresaleAllowlist:
    found = find_allowlist(chain_id, presale_id)
    if found is None:
        raise NotFound("Presale not found")
    return found
