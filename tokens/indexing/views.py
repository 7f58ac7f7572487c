"""Endpoints for indexing a transaction and for reporting a launched token."""

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, TypedDict

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
from config.parsing.response_types import Keywords
from config.processes.concurrency_limits import node_slot
from config.web.body_limits import SMALL_BODY_BYTES
from tokens.chains.addresses import AddressOrMint
from tokens.chains.errors import NodeUnavailableError, TransactionNotFoundError
from tokens.indexing import index_requests, saved_tokens, tasks
from tokens.indexing.launch_lookup import find_launch_transaction
from tokens.indexing.serializers import IndexBody, IndexByAddressBody, SaveBody, read_index_body

FAILED = "Failed to index transaction"
_NO_LAUNCH = "address must be a token that a known factory launched"
_UNAVAILABLE = "The chain is not available"


class SaveAnswer(TypedDict):
    """An accepted report. The transaction is indexed in a few seconds."""

    success: bool
    tokenAddress: Annotated[AddressOrMint, "The address of the request, checksummed; a mint unchanged."]


class IndexAnswer(TypedDict):
    """The tokens that a transaction launched; without a launch, the indexed tokens that it affected."""

    success: bool
    address: Annotated[
        str | None,
        "The first token. Null if the transaction only paid out fees in a currency, such as WETH, which belong to no"
        " token.",
    ]
    url: Annotated[str | None, Keywords(format="uri"), "The first token's page."]
    addresses: NotRequired[Annotated[list[str], "All tokens, if there are several."]]


class IndexByAddressAnswer(TypedDict):
    """The indexed token, and the transaction of its launch."""

    success: bool
    message: str
    address: AddressOrMint
    txHash: Annotated[str, "Transaction of the launch; on Solana a signature."]
    url: Annotated[str, Keywords(format="uri"), "The token's page."]


class IndexTransactionView(PartnerAccess, LimitedView):
    """Synchronous indexing: the response is sent when the tokens are listed."""

    required_scope = Scope.INDEX
    throttle_classes = [IndexLimit]

    @extend_schema(operation_id="indexTransaction", request=IndexBody, responses={200: IndexAnswer, 503: None})
    def post(self, request: Request) -> Response:
        """Index the launches of a transaction, or its events of indexed tokens.

        The launched tokens' admin, image, metadata, verification, fee recipients and airdrop are read from their
        contracts at the newest block. Idempotent: existing rows are refreshed, and the state is read again. If no node
        returns the state, the launch is indexed from its transaction.
        """
        body = read_index_body(IndexBody(data=request.data))
        addresses = _index(**body)
        first = next(iter(addresses), None)
        url = _page(body["chain_id"], first) if first else None
        answer = IndexAnswer(success=True, address=first, url=url)
        if len(addresses) > 1:
            answer["addresses"] = list(addresses)
        return Response(answer)


class IndexByAddressView(PartnerAccess, LimitedView):
    """Synchronous indexing of a token by its address."""

    required_scope = Scope.INDEX
    throttle_classes = [IndexLimit]

    @extend_schema(
        operation_id="indexTokenByAddress",
        request=IndexByAddressBody,
        responses={200: IndexByAddressAnswer, 503: None},
    )
    def post(self, request: Request) -> Response:
        """Index a token by its address: its launch is searched on the chain, and indexed as by its transaction.

        The search takes up to 25 requests to a node that has the states of old blocks. Without such a node only
        launches from v3.1 on are found, if a node searches the logs of all blocks at once. On Solana only an indexed
        token is found, whose state is read again: others need the signature of their launch.
        """
        body = read_index_body(IndexByAddressBody(data=request.data))
        try:
            with node_slot():
                tx_hash = find_launch_transaction(**body)
        except PermanentError as error:
            raise BadRequestError(_NO_LAUNCH, field="address") from error
        except NodeUnavailableError as error:
            raise UpstreamUnavailableError(_UNAVAILABLE) from error
        if body["address"] not in _index(chain_id=body["chain_id"], tx_hash=tx_hash):
            # A node named another transaction.
            raise BadRequestError(_NO_LAUNCH, field="address")
        answer: IndexByAddressAnswer = {
            "success": True,
            "message": "Token indexed successfully",
            "address": body["address"],
            "txHash": tx_hash,
            "url": _page(body["chain_id"], body["address"]),
        }
        return Response(answer)


def _index(*, chain_id: int, tx_hash: str) -> Sequence[str]:
    """Index a transaction and return its tokens' addresses. Raises the contract's errors."""
    try:
        return index_requests.index_transaction(chain_id=chain_id, tx_hash=tx_hash)
    except PermanentError as error:
        raise BadRequestError(FAILED) from error
    except index_requests.IndexingPostponedError as error:
        tasks.enqueue_retry(error, chain_id=chain_id, tx_hash=tx_hash)
        if isinstance(error.reason, TransactionNotFoundError):
            raise BadRequestError(FAILED) from error
        raise UpstreamUnavailableError(_UNAVAILABLE, wait=error.retry_after) from error


def _page(chain_id: int, address: str) -> str:
    return f"{settings.SITE_URL}/tokens/{chain_id}/{address}"


class SaveDeployedTokenView(LimitedView):
    """Launch reports by untrusted clients; only the chain decides what is listed."""

    authentication_classes = [OptionalUserAuthentication]
    permission_classes = [AllowAny]
    max_body_bytes = SMALL_BODY_BYTES

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
        return Response(SaveAnswer(success=True, tokenAddress=body.validated_data["address"]))


def _user(request: Request) -> CallingUser | None:
    user: Any = request.user
    return user if isinstance(user, CallingUser) else None
