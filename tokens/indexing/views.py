"""Endpoints for indexing a transaction and for reporting a launched token."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from accounts.authentication import OptionalUserAuthentication
from accounts.models import Scope
from accounts.permissions import PartnerAccess
from accounts.users.calling_users import CallingUser
from config.api.errors import BadRequestError, ConflictError, UpstreamUnavailableError
from config.api.throttling import AnonymousSaveLimit, IndexLimit, SaveLimit
from config.api.views import LimitedView
from config.http.errors import PermanentError
from tokens.chains.errors import TransactionNotFoundError
from tokens.indexing import index_requests, saved_tokens, tasks
from tokens.indexing.serializers import IndexAnswer, IndexBody, SaveAnswer, SaveBody
from tokens.installation.installed_chains import UnsupportedChainError, installed_launch_chain

FAILED = "Failed to index transaction"


class IndexTransactionView(PartnerAccess, LimitedView):
    """Synchronous indexing: the response is sent when the tokens are listed."""

    required_scope = Scope.INDEX
    throttle_classes = [IndexLimit]

    @extend_schema(operation_id="indexTransaction", request=IndexBody, responses={200: IndexAnswer, 503: None})
    def post(self, request: Request) -> Response:
        """Index the launches of a transaction, or its events of indexed tokens.

        Of launched tokens, the current admin, image, metadata, verification, fee recipients and airdrop are read from
        their contracts, as of the newest block. Idempotent: existing rows are refreshed, and the state is read again.
        If no node returns the state, the launch is indexed with what is known of it.
        """
        body = IndexBody.read(request.data)
        try:
            installed_launch_chain(body["chain_id"])
            addresses = index_requests.index_transaction(**body)
        except UnsupportedChainError as error:
            raise BadRequestError("Unsupported chain", field="chainId") from error
        except PermanentError as error:
            raise BadRequestError(FAILED) from error
        except index_requests.IndexingPostponedError as error:
            tasks.enqueue_retry(error, **body)
            if isinstance(error.reason, TransactionNotFoundError):
                raise BadRequestError(FAILED) from error
            raise UpstreamUnavailableError("The chain is not available", wait=error.retry_after) from error
        first = next(iter(addresses), None)
        answer = {
            "success": True,
            "address": first,
            "url": f"{settings.SITE_URL}/tokens/{body['chain_id']}/{first}" if first else None,
        }
        return Response(answer | ({"addresses": addresses} if len(addresses) > 1 else {}))


class SaveDeployedTokenView(LimitedView):
    """Reports of launches by untrusted clients; only the chain decides what is listed."""

    authentication_classes = [OptionalUserAuthentication]
    permission_classes = [AllowAny]

    def own_limits(self) -> Sequence[type[BaseThrottle]]:
        """Return the limit of users, or the per-IP limit without a user token."""
        return [AnonymousSaveLimit if _user(self.request) is None else SaveLimit]

    @extend_schema(operation_id="saveDeployedToken", request=SaveBody, responses={200: SaveAnswer, 409: None})
    def post(self, request: Request) -> Response:
        """Report a launched token.

        Its transaction is indexed in five seconds, and the token is listed if the launch is real. With a user token,
        the token is saved for the user at once, unindexed until the chain confirms it. A repeated request gets the same
        response. 409 if the user has saved 1,000 tokens.
        """
        body = SaveBody(data=request.data)
        body.is_valid(raise_exception=True)
        try:
            saved_tokens.save_token(**body.validated_data, user=_user(request))
        except saved_tokens.SavedTokenQuotaError as error:
            raise ConflictError(str(error)) from error
        return Response(SaveAnswer(body.validated_data).data)


def _user(request: Request) -> CallingUser | None:
    user: Any = request.user
    return user if isinstance(user, CallingUser) else None
