"""Responses of events and webhooks."""

from datetime import datetime
from typing import Annotated, TypedDict

from accounts.models import DeliveryReason, DeliveryStatus
from accounts.subscriptions.endpoint_bodies import EVENT_NAMES, NEW_ENDPOINT
from accounts.subscriptions.endpoints import MAX_ENDPOINTS
from config.events.event_types import EventBody
from config.parsing.json_rules import Component, object_schema, response_schema
from config.parsing.response_types import Keywords, Timestamp, properties_schema

_EVENT = properties_schema(EventBody)
_EVENT["properties"] |= {"type": {"type": "string", "enum": EVENT_NAMES}}
PublishedEvent = Annotated[EventBody, Component("PublishedEvent", _EVENT)]


class Events(TypedDict):
    data: list[PublishedEvent]
    cursor: Annotated[int, "The id after which the next page begins; also if this page is empty."]


_BODY = response_schema(object_schema(NEW_ENDPOINT.keys))["properties"]


class EndpointJson(TypedDict):
    """A webhook endpoint and its state."""

    id: int
    url: Annotated[str, Keywords(**_BODY["url"])]
    description: str
    types: Annotated[list[str], Keywords(**_BODY["types"])]
    chainIds: Annotated[list[int], Keywords(**_BODY["chainIds"])]
    email: Annotated[str | None, Keywords(format="email")]
    enabled: bool
    disabledReason: str | None
    failingSince: Annotated[datetime | None, "First failure since the last success."]
    pausedUntil: Annotated[datetime | None, "Deliveries wait, as the endpoint requested."]
    previousSecretUntil: Annotated[datetime | None, "Until when the secret before the last rotation signs, too."]
    createdAt: datetime


class EndpointWithSecret(EndpointJson):
    """A webhook endpoint with its secret, which no other response contains."""

    secret: Annotated[str, "`whsec_` and base64: the key of the signatures, by Standard Webhooks."]


class WebhookEndpoints(TypedDict):
    data: Annotated[list[EndpointJson], f"At most {MAX_ENDPOINTS}."]


class DeliveryAttempt(TypedDict):
    """An attempt. No part of a response's content is stored."""

    at: Timestamp
    status: Annotated[int | None, "HTTP status; null without a response."]
    ms: Annotated[int, "Duration in milliseconds."]
    bytes: Annotated[int, "Bytes of the response's body that were read, at most 16384."]
    error: str


class Delivery(TypedDict):
    """A delivery of an event to an endpoint."""

    id: int
    eventId: Annotated[int | None, "Null for a test."]
    type: str
    reason: Annotated[str, Keywords(enum=DeliveryReason.values)]
    status: Annotated[str, Keywords(enum=DeliveryStatus.values)]
    createdAt: datetime
    nextAttemptAt: datetime | None
    attempts: list[DeliveryAttempt]


class WebhookDeliveries(TypedDict):
    data: list[Delivery]
    cursor: Annotated[int | None, "Null on the last page."]


class ReplayJson(TypedDict):
    queued: Annotated[int, "At most 10000."]
    cursor: Annotated[int | None, "If there are more: the `afterEventId` of the next call."]


class WebhookTest(TypedDict):
    deliveryId: Annotated[int, "In the delivery log within seconds."]
