"""Endpoints for deployments, airdrops and airdrop claims."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from accounts.authentication import PartnerKeyScheme
from accounts.models import Scope
from accounts.permissions import PartnerAccess, PartnerWrites
from config.api.replica_reads import from_replica
from config.api.throttling import DeployLimit
from config.api.views import LimitedView, QueryView
from config.cursors import CursorError
from config.web.response_headers import PRIVATE_NO_STORE, public_cache_control
from tokens.deploying import (
    accept,
    airdrop_proofs,
    api_errors,
    response_bodies,
    responses,
    saved_airdrops,
    token_airdrops,
)
from tokens.deploying.enqueueing import enqueue_deployment
from tokens.deploying.launch_request import DEPLOY_BODY
from tokens.deploying.request_keys import REQUEST_KEY_SCHEMA, is_request_key
from tokens.deploying.serializers import AirdropClaimQuery, AirdropsQuery, AllocationsQuery, SavedAirdropsQuery
from tokens.models import Deployment, SavedTree, TreeKind

# Digits in an id that a column can hold.
_LONGEST_ID = 18
_REPLAYED = "Idempotency-Replayed"
_KEY = OpenApiParameter(
    "requestKey",
    REQUEST_KEY_SCHEMA,
    OpenApiParameter.PATH,
    description="The deployment's request key, percent-encoded.",
)

# Its type in the package leaves out the scopes that OpenAPI has.
DEPLOY_SECURITY: Any = [{PartnerKeyScheme.name: []}]
SAVED_ID = OpenApiParameter("id", OpenApiTypes.STR, OpenApiParameter.PATH, description="Its id.")


class DeploymentView(PartnerAccess):
    """Base class for the deploy endpoints; their errors have the keys of their other responses as well."""

    required_scope = Scope.DEPLOY

    def extend_error(self, body: dict[str, Any]) -> dict[str, Any]:
        """Add `success`, and the sentence under `message`, which clients read as well."""
        return {"success": False, **body, "message": body["error"]}


class DeployView(DeploymentView, LimitedView):
    """Token deployment: synchronous until it is stored; it is sent after the response."""

    throttle_classes = [DeployLimit]
    max_body_bytes = api_errors.MAX_AIRDROP_BYTES
    extra_headers = {_REPLAYED: "true if the key's deployment was stored before this request; absent otherwise."}

    @extend_schema(
        operation_id="deployToken",
        request=DEPLOY_BODY.schema,
        responses={200: responses.DeployAnswer, 409: None, 502: None, 503: None},
    )
    def post(self, request: Request) -> Response:
        """Deploy a token once per `requestKey`, however often the request is sent.

        The body is validated and its transaction simulated first; a rejected request does not use up its key. If the
        key has a deployment with the same body, the response is that deployment's, whatever its status is now; with
        another body it is 409. Keys of other partners are independent of yours. `dryRun` validates and simulates, but
        stores and sends nothing.

        Each request counts for the daily rate limit and for your key's limit a minute, also a repeated one. Each
        deployment counts for your key's daily quota on the chain, which is the number of calls a day unless agreed
        otherwise. Days are UTC. A dev buy is 403 unless an operator allows your key to spend as much in a day on the
        chain, and 429 once the day's amount of your key or of all keys is used up.
        """
        api_errors.reject_oversized(request)
        partner: Any = request.auth
        with api_errors.as_api_errors():
            accepted = accept.accept_deployment(request.data, partner=partner)
        if accepted.dry_run:
            return _answer(response_bodies.dry_run_body(accepted.deployment), replayed=accepted.replayed)
        if not accepted.replayed:
            transaction.on_commit(lambda: enqueue_deployment(accepted.deployment.pk))
        return _answer(response_bodies.accepted_body(accepted.deployment), replayed=accepted.replayed)


@extend_schema_view(post=extend_schema(operation_id="deployTokenV4"))
class DeployV4View(DeployView):
    """The same endpoint under the path that names the generation."""


class DeployStatusView(DeploymentView, QueryView):
    """Status of a partner's deployment."""

    cache_control = PRIVATE_NO_STORE

    @extend_schema(operation_id="getDeployStatus", parameters=[_KEY], responses={200: responses.DeployStatusAnswer})
    def get(self, request: Request, requestKey: str) -> Response:
        """Return the status of a deployment. A key that you have not used is 404, even if another partner has."""
        # A key may end in a slash; so may a URL that is meant without it.
        text = requestKey if is_request_key(requestKey) else requestKey.removesuffix("/")
        partner: Any = request.auth
        deployments = Deployment.objects.select_related("token").defer("calldata", "config")
        deployment = deployments.filter(partner_key=partner, request_key=text).first() if is_request_key(text) else None
        if deployment is None:
            raise NotFound("Deployment not found")
        return Response(response_bodies.status_body(deployment))


def _answer(body: responses.DeployAnswer, *, replayed: bool) -> Response:
    return Response(body, headers={_REPLAYED: "true"} if replayed else None)


class AirdropClaimView(QueryView):
    """One account's proofs for a token's airdrop."""

    query_serializer = AirdropClaimQuery
    cache_control = public_cache_control(2)

    @extend_schema(operation_id="getAirdropProofs", responses={200: responses.AirdropClaimAnswer})
    def get(self, request: Request) -> Response:
        """Return the Merkle proofs for an account's claim of a token's airdrop; the list may be empty."""
        proofs = airdrop_proofs.find_proofs(self.query["tokenAddress"], claimer=self.query["claimerAddress"])
        return Response(response_bodies.claim_body(proofs))


class AirdropsView(PartnerWrites, QueryView):
    """A token's airdrops, and airdrops that partners save."""

    required_scope = Scope.DEPLOY
    query_serializer = AirdropsQuery
    cache_control = public_cache_control(2)
    max_body_bytes = api_errors.MAX_AIRDROP_BYTES

    def own_limits(self) -> Sequence[type[BaseThrottle]]:
        """Return the launch request limit for a POST, which is as much work as a launch with an airdrop."""
        return [DeployLimit] if self.request.method == "POST" else []

    @extend_schema(operation_id="listAirdrops", responses={200: responses.AirdropsAnswer})
    @from_replica
    def get(self, request: Request) -> Response:
        """List a token's airdrops whose entries this service has, and an account's amounts in them.

        They come from deployments through this service, and from saved entries with the on-chain root of the airdrop.
        """
        token, claimer = self.query["tokenAddress"], self.query.get("claimerAddress")
        claimable = token_airdrops.find_claimable(token, account=claimer) if claimer else []
        return Response(response_bodies.airdrops_body(token_airdrops.find_airdrops(token), claimable))

    @extend_schema(
        operation_id="saveAirdrop",
        request=saved_airdrops.AIRDROP_BODY,
        responses={200: responses.SavedAirdropAnswer, 409: None, 413: None},
        auth=DEPLOY_SECURITY,
    )
    def post(self, request: Request) -> Response:
        """Save the entries of an airdrop, and return the root of their Merkle tree.

        Proofs are served for every token whose airdrop has this root on the chain, also if it is launched later and
        elsewhere. The same entries are saved once: a repeated request gets the same response. A key may have 1,000,000
        saved entries, else the response is 409. Each request counts for the daily rate limit of launch requests.
        """
        partner: Any = request.auth
        with api_errors.as_api_errors():
            body = saved_airdrops.parse_airdrop_request(request.data)
            saved = saved_airdrops.save_airdrop(body, partner=partner)
        return Response(responses.SavedAirdropAnswer(**response_bodies.saved_airdrop_body(saved), success=True))


class AllocationsView(QueryView):
    """Entries in a token's airdrops."""

    query_serializer = AllocationsQuery
    cache_control = public_cache_control(2)

    @extend_schema(operation_id="listAllocations", responses={200: responses.Allocations})
    @from_replica
    def get(self, request: Request) -> Response:
        """List the entries of a token's airdrops, by account, up to 1,000 in a page."""
        try:
            body = token_airdrops.fetch_allocations(
                self.query["tokenAddress"], limit=self.query["limit"], cursor=self.query.get("cursor")
            )
        except CursorError as error:
            raise ValidationError({"cursor": [str(error)]}) from error
        return Response(body)


class SavedTreesView(PartnerAccess, QueryView):
    """Base class for lists of a partner's saved trees; each lists one kind."""

    required_scope = Scope.DEPLOY
    query_serializer = SavedAirdropsQuery
    cache_control = PRIVATE_NO_STORE
    kind: TreeKind

    def get(self, request: Request) -> Response:
        """List what the key has saved of the kind, newest first."""
        partner: Any = request.auth
        page, cursor = saved_airdrops.fetch_saved_page(
            partner, kind=self.kind, before=self.query.get("before"), limit=self.query["limit"]
        )
        return Response(self.page_body(page, cursor))

    def page_body(self, trees: Sequence[SavedTree], cursor: int | None) -> Any:
        """Return the body for a page."""
        raise NotImplementedError


@extend_schema_view(
    get=extend_schema(
        operation_id="listSavedAirdrops",
        description="List the airdrops that your key has saved, newest first.",
        responses={200: responses.SavedAirdrops},
    )
)
class SavedAirdropsView(SavedTreesView):
    """Airdrops that a partner has saved."""

    kind = TreeKind.AIRDROP

    def page_body(self, trees: Sequence[SavedTree], cursor: int | None) -> responses.SavedAirdrops:
        """Return the body for a page."""
        return {"data": [response_bodies.saved_airdrop_body(tree) for tree in trees], "cursor": cursor}


class SavedTreeView(PartnerAccess, QueryView):
    """Base class for deletion of a partner's saved trees; each deletes one kind."""

    required_scope = Scope.DEPLOY
    kind: TreeKind
    missing_text: str

    def delete(self, request: Request, id: str) -> Response:
        """Delete a saved tree of the key."""
        partner: Any = request.auth
        is_id = id.isascii() and id.isdigit() and len(id) <= _LONGEST_ID
        if not is_id or not saved_airdrops.delete_saved_tree(int(id), partner=partner, kind=self.kind):
            raise NotFound(self.missing_text)
        return Response({"success": True})


@extend_schema_view(
    delete=extend_schema(
        operation_id="deleteSavedAirdrop",
        description="Delete a saved airdrop of your key. Its tokens have no proofs here from then on.",
        parameters=[SAVED_ID],
        responses={200: responses.DeletedAirdrop},
    )
)
class SavedAirdropView(SavedTreeView):
    """One airdrop that a partner has saved."""

    kind, missing_text = TreeKind.AIRDROP, "Airdrop not found"
