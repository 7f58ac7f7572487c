"""Ordering launches, and how far they are."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.exceptions import NotFound, Throttled
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Scope
from accounts.permissions import PartnerAccess
from config.api.caching import PRIVATE_NEVER_STORED
from config.api.errors import (
    BadRequest,
    Conflict,
    PayloadTooLarge,
    Unavailable,
    UpstreamFailed,
    UpstreamUnavailable,
)
from config.api.parsing import MAX_BODY_BYTES, declared_length
from config.api.throttling import DeployLimit
from config.api.views import LimitedView, QueryView
from tokens import tasks
from tokens.chains.base import NodeUnavailable, NotOffered, WouldRevert
from tokens.deploy_rules.values import is_request_key
from tokens.deploying import accepting, answers, quotas
from tokens.deploying.answer_shapes import DeployAnswer, DeployStatusAnswer
from tokens.deploying.body_shape import DEPLOY_BODY
from tokens.installed_chains import UnsupportedChain
from tokens.models import Deployment

# An airdrop of 100,000 entries has its place in it.
_MAX_AIRDROP_BYTES = 8 * MAX_BODY_BYTES
# How many seconds to wait before what only operators can change is tried again.
_PAUSED_SECONDS, _UNFIT_SECONDS = 60, 60
_REPLAYED = "Idempotency-Replayed"
_KEY = OpenApiParameter("requestKey", str, OpenApiParameter.PATH, description="That of the order, percent-encoded.")


class OrderView(PartnerAccess):
    """What is asked about orders; errors have the keys of this endpoint's other answers, too."""

    required_scope = Scope.DEPLOY

    def extend_error(self, body: dict[str, Any]) -> dict[str, Any]:
        """Clients look at `success`, and for the sentence in either key."""
        return {"success": False, **body, "message": body["error"]}


class DeployView(OrderView, LimitedView):
    """Synchronous as far as the order is stored; sending it comes after the answer."""

    throttle_classes = [DeployLimit]
    max_body_bytes = _MAX_AIRDROP_BYTES
    own_headers = {_REPLAYED: "true where the key's order was there before this call; absent otherwise."}

    @extend_schema(
        operation_id="deployToken",
        request=DEPLOY_BODY,
        responses={200: DeployAnswer, 409: None, 502: None, 503: None},
    )
    def post(self, request: Request) -> Response:
        """Order the launch of a token, once for each `requestKey` of yours, however often it is sent.

        The body is checked and its transaction simulated first; what is refused uses no key up. With the key and body
        of an order that is stored, the answer is that order's, whatever became of it since; with another body it is
        409. Keys are your own: those of other partners are others. `dryRun` does all but store and send.

        Each call counts for the limit of a day, also one that repeats an order; the order itself counts for the quota
        of your key on the chain, which is that limit unless agreed otherwise, and is of a day by UTC.
        """
        _refuse_large(request)
        partner: Any = request.auth
        with _refusals():
            accepted = accepting.accept(request.data, partner=partner)
        if accepted.dry_run:
            return _answer(answers.rehearsed(accepted.deployment), replayed=accepted.replayed)
        if not accepted.replayed:
            transaction.on_commit(lambda: tasks.enqueue_deployment(accepted.deployment.pk))
        return _answer(answers.accepted(accepted.deployment), replayed=accepted.replayed)


@extend_schema_view(post=extend_schema(operation_id="deployTokenV4"))
class DeployV4View(DeployView):
    """The same, at the address that names the generation."""


class DeployStatusView(OrderView, QueryView):
    """How far a partner's order is."""

    cache_control = PRIVATE_NEVER_STORED

    @extend_schema(operation_id="getDeployStatus", parameters=[_KEY], responses={200: DeployStatusAnswer})
    def get(self, request: Request, requestKey: str) -> Response:
        """Tell how far an order is. Keys that you haven't used are not found, also where they are others'."""
        # A key may end in a slash, as an address may that is meant without it.
        text = requestKey if is_request_key(requestKey) else requestKey.removesuffix("/")
        partner: Any = request.auth
        orders = Deployment.objects.select_related("token").defer("calldata", "config")
        found = orders.filter(partner_key=partner, request_key=text).first() if is_request_key(text) else None
        if found is None:
            raise NotFound("Deployment not found")
        return Response(answers.status(found))


def _refuse_large(request: Request) -> None:
    """Only an airdrop has a reason to be larger than all other bodies may be. Raises PayloadTooLarge."""
    body = request.data
    if declared_length(request) > MAX_BODY_BYTES and not (isinstance(body, dict) and body.get("airdrop")):
        raise PayloadTooLarge(f"Request body without an airdrop is over {MAX_BODY_BYTES} bytes")


def _answer(body: dict[str, Any], *, replayed: bool) -> Response:
    return Response(body, headers={_REPLAYED: "true"} if replayed else None)


@contextmanager
def _refusals() -> Iterator[None]:
    """What stands in an order's way, as an error of the API; what concerns our wallets is for operators alone."""
    try:
        yield
    except accepting.KeyTaken as error:
        raise Conflict("This requestKey was used with another body") from error
    except UnsupportedChain as error:
        raise BadRequest("Unsupported chain", field="chainId") from error
    except NotOffered as error:
        raise BadRequest(str(error), field=error.field) from error
    except WouldRevert as error:
        raise BadRequest(f"The deployment would be reverted: {error.reason}") from error
    except NodeUnavailable as error:
        raise UpstreamUnavailable("The chain is not available") from error
    except accepting.StrangeAnswer as error:
        raise UpstreamFailed("The chain gave no address for the token") from error
    except accepting.NobodySends as error:
        text = "Deployments on this chain are not possible at the moment"
        raise Unavailable(text, wait=_UNFIT_SECONDS) from error
    except accepting.Paused as error:
        raise Unavailable("Deployments are paused", wait=_PAUSED_SECONDS) from error
    except quotas.QuotaExceeded as error:
        raise Throttled(wait=error.wait) from error
