"""Ordering launches, and how far they are."""

from typing import Any

from django.db import transaction
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Scope
from accounts.permissions import PartnerAccess
from config.api.response_headers import PRIVATE_NEVER_STORED, shared_for
from config.api.throttling import DeployLimit
from config.api.views import LimitedView, QueryView
from tokens import tasks
from tokens.deploying import accept, airdrop_proofs, api_errors, response_bodies
from tokens.deploying.rules.scalars import is_request_key
from tokens.deploying.serializers import (
    DEPLOY_BODY,
    REQUEST_KEY_PATTERN,
    AirdropClaimAnswer,
    AirdropClaimQuery,
    DeployAnswer,
    DeployStatusAnswer,
)
from tokens.models import Deployment

_REPLAYED = "Idempotency-Replayed"
_KEY = OpenApiParameter(
    "requestKey",
    {"type": "string", "pattern": REQUEST_KEY_PATTERN},
    OpenApiParameter.PATH,
    description="That of the order, percent-encoded.",
)


class OrderView(PartnerAccess):
    """What is asked about orders; errors have the keys of this endpoint's other answers, too."""

    required_scope = Scope.DEPLOY

    def extend_error(self, body: dict[str, Any]) -> dict[str, Any]:
        """Clients look at `success`, and for the sentence in either key."""
        return {"success": False, **body, "message": body["error"]}


class DeployView(OrderView, LimitedView):
    """Synchronous as far as the order is stored; sending it comes after the answer."""

    throttle_classes = [DeployLimit]
    max_body_bytes = api_errors.MAX_AIRDROP_BYTES
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
        api_errors.refuse_large(request)
        partner: Any = request.auth
        with api_errors.told():
            accepted = accept.accept(request.data, partner=partner)
        if accepted.dry_run:
            return _answer(response_bodies.rehearsed(accepted.deployment), replayed=accepted.replayed)
        if not accepted.replayed:
            transaction.on_commit(lambda: tasks.enqueue_deployment(accepted.deployment.pk))
        return _answer(response_bodies.accepted(accepted.deployment), replayed=accepted.replayed)


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
        return Response(response_bodies.status(found))


def _answer(body: dict[str, Any], *, replayed: bool) -> Response:
    return Response(body, headers={_REPLAYED: "true"} if replayed else None)


# What recipients of an airdrop need to claim it.
class AirdropClaimView(QueryView):
    """The proofs of one account for the airdrop of one token."""

    query_serializer = AirdropClaimQuery
    cache_control = shared_for(2)

    @extend_schema(operation_id="getAirdropProofs", responses={200: AirdropClaimAnswer})
    def get(self, request: Request) -> Response:
        """Give the Merkle proofs with which an account claims its part of a token's airdrop; a miss has none."""
        found = airdrop_proofs.proofs(self.query["tokenAddress"], claimer=self.query["claimerAddress"])
        return Response(AirdropClaimAnswer({"proofs": found}).data)
