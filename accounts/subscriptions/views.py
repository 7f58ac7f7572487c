"""Endpoints of events and webhooks, for partners."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import DisabledBy, Scope, WebhookDelivery, WebhookEndpoint
from accounts.permissions import PartnerAccess
from accounts.subscriptions import deliveries, endpoint_bodies, endpoints, responses, serializers
from accounts.subscriptions.event_pages import HistoryLostError, read_event_page
from accounts.subscriptions.webhook_secrets import endpoint_secret
from config.api.errors import ConflictError
from config.api.views import LimitedView, QueryView
from config.parsing.json_rules import InvalidFieldsError, truncate_problems
from config.web.response_headers import NO_STORE, PRIVATE_NO_STORE

_ID = OpenApiParameter("id", OpenApiTypes.STR, OpenApiParameter.PATH, description="The id of the endpoint.")
_BY_OPERATOR = "An operator has disabled the endpoint"


class EventsView(PartnerAccess, QueryView):
    """Catch-up list of events."""

    query_serializer = serializers.EventsQuery
    cache_control = PRIVATE_NO_STORE

    @extend_schema(
        operation_id="listEvents",
        responses={200: responses.Events, 410: None},
    )
    def get(self, request: Request) -> Response:
        """List events in publication sequence: public events, and events about your own deployments.

        Repeat the call with `after` set to the `cursor` of the page before: no event is left out, in whatever
        sequence transactions end. 410 if events after `after` are past their retention, or if `after` is larger than
        any id: read the token list again, and go on from its `X-Last-Event-Id`.
        """
        partner: Any = request.auth
        try:
            page = read_event_page(
                partner_key_id=partner.pk,
                after=self.query.get("after"),
                limit=self.query["limit"],
                event_type=self.query.get("type"),
                chain_id=self.query.get("chainId"),
            )
        except HistoryLostError as lost:
            text = f"after: {lost}; read the list again and go on from its X-Last-Event-Id"
            return Response({"error": text, "oldestId": lost.oldest, "newestId": lost.newest}, status=410)
        return Response(responses.Events(data=page.events, cursor=page.cursor))


class WebhooksAccess(PartnerAccess):
    """First base class of the webhook views; each endpoint is one of the partner's own."""

    required_scope = Scope.WEBHOOKS

    def own_endpoints(self) -> QuerySet[WebhookEndpoint]:
        """Return the partner's endpoints."""
        partner: Any = self.request.auth
        return WebhookEndpoint.objects.filter(partner_key=partner)

    def endpoint_or_404(self, id: str, *, lock: bool = False) -> WebhookEndpoint:
        """Return one of them. Raises NotFound."""
        own = self.own_endpoints().select_for_update() if lock else self.own_endpoints()
        endpoint = own.filter(pk=int(id)).first() if id.isascii() and id.isdigit() and len(id) <= 18 else None
        if endpoint is None:
            raise NotFound("Webhook endpoint not found")
        return endpoint


class WebhooksView(WebhooksAccess, QueryView):
    """Webhook endpoints of a partner."""

    cache_control = PRIVATE_NO_STORE

    @extend_schema(operation_id="listWebhooks", responses={200: responses.WebhookEndpoints})
    def get(self, request: Request) -> Response:
        """List your webhook endpoints."""
        return Response(responses.WebhookEndpoints(data=[_endpoint(each) for each in self.own_endpoints()]))

    @extend_schema(
        operation_id="createWebhook",
        request=endpoint_bodies.NEW_ENDPOINT.schema,
        responses={201: responses.EndpointWithSecret, 409: None},
    )
    def post(self, request: Request) -> Response:
        """Create a webhook endpoint, which gets events from now on, by POST.

        The response contains the secret of its signatures, once. 409 if your key has 20 endpoints, or if an operator
        has disabled one with this URL.
        """
        partner: Any = request.auth
        with _as_400():
            fields = endpoint_bodies.NEW_ENDPOINT.parse(request.data)
        _reject_disabled_url(partner, fields["url"])
        try:
            created = endpoints.create_endpoint(partner, **fields)
        except endpoints.TooManyEndpointsError as error:
            raise ConflictError(str(error)) from error
        return Response(_with_secret(created), status=201, headers={"Cache-Control": NO_STORE})


class WebhookView(WebhooksAccess, QueryView):
    """One webhook endpoint of a partner."""

    cache_control = PRIVATE_NO_STORE

    @extend_schema(operation_id="getWebhook", parameters=[_ID], responses={200: responses.EndpointJson})
    def get(self, request: Request, id: str) -> Response:
        """Return one of your webhook endpoints."""
        return Response(_endpoint(self.endpoint_or_404(id)))

    @extend_schema(
        operation_id="updateWebhook",
        parameters=[_ID],
        request=endpoint_bodies.CHANGES_BODY,
        responses={200: responses.EndpointJson, 409: None},
    )
    def patch(self, request: Request, id: str) -> Response:
        """Change a webhook endpoint: the keys that are given.

        Disabling it cancels what is queued. After enabling it, a replay sends what it missed. A pause ends by a new
        URL, `enabled: true` or a test. 409 for a new URL or `enabled: true` if an operator has disabled it, or one with
        the new URL.
        """
        with _as_400():
            changes = endpoint_bodies.parse_changes(request.data)
        enabled = changes.pop("enabled", None)
        with transaction.atomic():
            endpoint = self.endpoint_or_404(id, lock=True)
            if "url" in changes or enabled is True:
                _reject_operators_decision(endpoint)
            if "url" in changes:
                _reject_disabled_url(request.auth, changes["url"])
            if changes:
                WebhookEndpoint.objects.filter(pk=endpoint.pk).update(**changes)
            if "url" in changes or enabled is True:
                endpoints.end_pause(endpoint)
            if enabled is True and endpoint.disabled_at is not None:
                endpoints.enable_endpoint(endpoint)
            elif enabled is False:
                endpoints.disable_endpoint(endpoint, "disabled by its owner", by=DisabledBy.OWNER, notice=False)
            endpoint.refresh_from_db()
        return Response(_endpoint(endpoint))

    @extend_schema(operation_id="deleteWebhook", parameters=[_ID], request=None, responses={204: None, 409: None})
    def delete(self, request: Request, id: str) -> Response:
        """Delete a webhook endpoint with its delivery log. 409 if an operator has disabled it."""
        endpoint = self.endpoint_or_404(id)
        _reject_operators_decision(endpoint)
        endpoints.delete_endpoint(endpoint)
        return Response(status=204)


class WebhookTestView(WebhooksAccess, LimitedView):
    """Test of a webhook endpoint."""

    @extend_schema(
        operation_id="testWebhook",
        parameters=[_ID],
        request=None,
        responses={202: responses.WebhookTest, 409: None},
    )
    def post(self, request: Request, id: str) -> Response:
        """Send an event of type `webhook.test` once. The delivery log has the result. 409 if it is disabled."""
        endpoint = _enabled(self.endpoint_or_404(id))
        return Response(responses.WebhookTest(deliveryId=deliveries.queue_test(endpoint).pk), status=202)


class WebhookRotationView(WebhooksAccess, LimitedView):
    """Rotation of the secret of a webhook endpoint."""

    @extend_schema(
        operation_id="rotateWebhookSecret",
        parameters=[_ID],
        request=None,
        responses={200: responses.EndpointWithSecret},
    )
    def post(self, request: Request, id: str) -> Response:
        """Create a new secret and return it. For 24 hours each event is signed by the previous one as well."""
        endpoint = self.endpoint_or_404(id)
        endpoints.rotate_secret(endpoint)
        return Response(_with_secret(endpoint), headers={"Cache-Control": NO_STORE})


class WebhookDeliveriesView(WebhooksAccess, QueryView):
    """Delivery log of a webhook endpoint."""

    query_serializer = serializers.DeliveriesQuery
    cache_control = PRIVATE_NO_STORE

    @extend_schema(operation_id="listWebhookDeliveries", parameters=[_ID], responses={200: responses.WebhookDeliveries})
    def get(self, request: Request, id: str) -> Response:
        """List the deliveries of an endpoint, newest first, with all of their attempts."""
        endpoint = self.endpoint_or_404(id)
        rows = WebhookDelivery.objects.filter(endpoint=endpoint).order_by("-pk")
        if "status" in self.query:
            rows = rows.filter(status=self.query["status"])
        if "before" in self.query:
            rows = rows.filter(pk__lt=self.query["before"])
        limit = self.query["limit"]
        page = list(rows[: limit + 1])
        cursor = page[limit - 1].pk if len(page) > limit else None
        data = [_delivery(each, endpoint) for each in page[:limit]]
        return Response(responses.WebhookDeliveries(data=data, cursor=cursor))


class WebhookReplayView(WebhooksAccess, LimitedView):
    """Replay of events to a webhook endpoint."""

    @extend_schema(
        operation_id="replayWebhook",
        parameters=[_ID],
        request=endpoint_bodies.REPLAY_BODY,
        responses={202: responses.ReplayJson, 409: None},
    )
    def post(self, request: Request, id: str) -> Response:
        """Send events again: one by `eventId`, or those after `afterEventId` up to `untilEventId`.

        The endpoint's filters apply. The messages have the ids of the first deliveries. 409 if the endpoint is
        disabled.
        """
        with _as_400():
            events = endpoint_bodies.parse_replay(request.data)
        endpoint = _enabled(self.endpoint_or_404(id))
        replay = deliveries.replay_events(endpoint, first=events.first, last=events.last)
        return Response(responses.ReplayJson(queued=replay.queued, cursor=replay.cursor), status=202)


@contextmanager
def _as_400() -> Iterator[None]:
    """Raise the problems of a body as ValidationError by field."""
    try:
        yield
    except InvalidFieldsError as error:
        details: dict[str, list[str]] = {}
        for path, rule in truncate_problems(error.problems):
            details.setdefault(path or "body", []).append(rule)
        raise ValidationError(details) from error


def _reject_operators_decision(endpoint: WebhookEndpoint) -> None:
    if endpoint.disabled_by == DisabledBy.OPERATOR:
        raise ConflictError(_BY_OPERATOR)


def _reject_disabled_url(partner: Any, url: str) -> None:
    if endpoints.is_disabled_by_operator(partner, url):
        raise ConflictError(_BY_OPERATOR)


def _enabled(endpoint: WebhookEndpoint) -> WebhookEndpoint:
    if endpoint.disabled_at is not None:
        raise ConflictError("The endpoint is disabled")
    return endpoint


def _endpoint(endpoint: WebhookEndpoint) -> responses.EndpointJson:
    return {
        "id": endpoint.pk,
        "url": endpoint.url,
        "description": endpoint.description,
        "types": endpoint.types,
        "chainIds": endpoint.chain_ids,
        "email": endpoint.email or None,
        "enabled": endpoint.disabled_at is None,
        "disabledReason": endpoint.disabled_reason or None,
        "failingSince": endpoint.failing_since,
        "pausedUntil": endpoint.paused_until,
        "previousSecretUntil": endpoint.previous_expires_at,
        "createdAt": endpoint.created_at,
    }


def _with_secret(endpoint: WebhookEndpoint) -> responses.EndpointWithSecret:
    return {**_endpoint(endpoint), "secret": endpoint_secret(endpoint)}


def _delivery(delivery: WebhookDelivery, endpoint: WebhookEndpoint) -> responses.Delivery:
    is_pending = delivery.status == "pending"
    due_at = max(delivery.due_at, endpoint.paused_until or delivery.due_at)
    return {
        "id": delivery.pk,
        "eventId": delivery.event_id,
        "type": delivery.event_type,
        "reason": delivery.reason,
        "status": delivery.status,
        "createdAt": delivery.created_at,
        "nextAttemptAt": due_at if is_pending else None,
        "attempts": delivery.log,
    }
