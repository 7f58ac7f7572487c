"""Indexing a transaction on request."""

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Scope
from accounts.permissions import PartnerAccess
from config.api.errors import BadRequest, UpstreamUnavailable
from config.api.throttling import IndexLimit
from config.api.views import LimitedView
from config.http.json_client import Permanent
from tokens import tasks
from tokens.catalogue.serializers import IndexAnswer, IndexBody
from tokens.chains.types import TransactionNotFound
from tokens.indexing import index_requests
from tokens.installation.installed_chains import UnsupportedChain, installed_launch_chain

FAILED = "Failed to index transaction"


class IndexTransactionView(PartnerAccess, LimitedView):
    """Synchronous: the answer comes when the tokens are listed."""

    required_scope = Scope.INDEX
    throttle_classes = [IndexLimit]

    @extend_schema(operation_id="indexTransaction", request=IndexBody, responses={200: IndexAnswer, 503: None})
    def post(self, request: Request) -> Response:
        """Index the launches of a transaction, or what it did to known tokens; indexing again refreshes them."""
        body = IndexBody.read(request.data)
        try:
            installed_launch_chain(body["chain_id"])
            addresses = index_requests.index_transaction(**body)
        except UnsupportedChain as error:
            raise BadRequest("Unsupported chain", field="chainId") from error
        except Permanent as error:
            raise BadRequest(FAILED) from error
        except index_requests.Postponed as error:
            tasks.retry_later(error, **body)
            if isinstance(error.reason, TransactionNotFound):
                raise BadRequest(FAILED) from error
            raise UpstreamUnavailable("The chain is not available", wait=error.retry_after) from error
        first = next(iter(addresses), None)
        answer = {
            "success": True,
            "address": first,
            "url": f"{settings.SITE_URL}/tokens/{body['chain_id']}/{first}" if first else None,
        }
        return Response(answer | ({"addresses": addresses} if len(addresses) > 1 else {}))
