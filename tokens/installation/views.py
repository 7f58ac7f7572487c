"""Endpoints for the registry's contracts."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.api.views import QueryView
from config.web.response_headers import public_cache_control
from tokens.installation.contract_list import FACTORY, list_contracts
from tokens.installation.responses import ContractJson
from tokens.installation.serializers import ContractsQuery, FactoriesQuery

# The registry is read when a process starts.
_CACHE_CONTROL = public_cache_control(300)


class FactoriesView(QueryView):
    """The registry's factories."""

    query_serializer = FactoriesQuery
    cache_control = _CACHE_CONTROL

    @extend_schema(operation_id="listFactories", responses={200: list[ContractJson]})
    def get(self, request: Request) -> Response:
        """List the factories by chain, with their launchpad, generation and the topics of their launches."""
        return Response(list_contracts(chain_id=self.query.get("chainId"), role=FACTORY))


class ContractsView(QueryView):
    """The registry's contracts."""

    query_serializer = ContractsQuery
    cache_control = _CACHE_CONTROL

    @extend_schema(operation_id="listContracts", responses={200: list[ContractJson]})
    def get(self, request: Request) -> Response:
        """List the launchpads' contracts by chain, with role and generation; on Solana accounts."""
        return Response(list_contracts(chain_id=self.query.get("chainId"), role=self.query.get("role")))
