"""Indexing a transaction on request."""

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from accounts.authentication import UserIfAny
from accounts.models import Scope
from accounts.permissions import PartnerAccess
from accounts.users.calling_users import CallingUser
from config.api.errors import BadRequest, Conflict, UpstreamUnavailable
from config.api.throttling import AnonymousSaveLimit, IndexLimit, SaveLimit
from config.api.views import LimitedView
from config.http.json_client import Permanent
from tokens import tasks
from tokens.catalogue.serializers import IndexAnswer, IndexBody
from tokens.chains.types import TransactionNotFound
from tokens.indexing import index_requests, saved_tokens
from tokens.indexing.serializers import SaveAnswer, SaveBody
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


# Tokens that pages say have been launched.
class SaveDeployedTokenView(LimitedView):
    """Whoever calls is believed nothing: the chain is asked."""

    authentication_classes = [UserIfAny]
    permission_classes = [AllowAny]

    def get_throttles(self) -> list[BaseThrottle]:
        """Users have a limit of their own; whose token is refused counts as everybody without a key."""
        if self.throttle_classes:
            return super().get_throttles()
        return [AnonymousSaveLimit() if _user(self.request) is None else SaveLimit()]

    @extend_schema(operation_id="saveDeployedToken", request=SaveBody, responses={200: SaveAnswer, 409: None})
    def post(self, request: Request) -> Response:
        """Say that a transaction has launched a token: it is looked at in five seconds, and listed if that is true.

        With a user's token it is saved as his at once, unindexed until the chain confirms it. The same again answers
        the same. 409 where you have saved 1,000 tokens.
        """
        body = SaveBody(data=request.data)
        body.is_valid(raise_exception=True)
        try:
            saved_tokens.save(**body.validated_data, user=_user(request))
        except saved_tokens.NoRoom as error:
            raise Conflict(str(error)) from error
        return Response(SaveAnswer(body.validated_data).data)


def _user(request: Request) -> CallingUser | None:
    user: Any = request.user
    return user if isinstance(user, CallingUser) else None
