"""Parameters and responses of events and webhooks, for validation of queries and the OpenAPI description."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, inline_serializer
from rest_framework import serializers

from accounts.models import DeliveryReason, DeliveryStatus
from accounts.subscriptions.endpoint_bodies import EVENT_NAMES, NEW_ENDPOINT
from accounts.subscriptions.endpoints import MAX_ENDPOINTS
from config.api.fields import ChainIdField, SchemaField, WholeNumberField
from config.parsing.json_rules import LARGEST_JSON_NUMBER, object_schema, response_schema


@extend_schema_field({"type": "object", "description": "Described by the schema of the type, under `webhooks`."})
class EventDataField(serializers.JSONField):
    """Data of an event."""


class EventsQuery(serializers.Serializer[Any]):
    """Page of the catch-up list."""

    after = WholeNumberField(
        min_value=0,
        max_value=LARGEST_JSON_NUMBER,
        required=False,
        help_text="The cursor of an earlier page; by default all.",
    )
    limit = WholeNumberField(min_value=1, max_value=500, default=100)
    type = serializers.ChoiceField(
        EVENT_NAMES,
        required=False,
        error_messages={"invalid_choice": f"must be one of {', '.join(EVENT_NAMES)}"},
    )
    chainId = ChainIdField(max_value=LARGEST_JSON_NUMBER, required=False)


EVENT = inline_serializer(
    "PublishedEvent",
    {
        "id": serializers.IntegerField(help_text="Rises in the sequence of publication, with gaps."),
        "type": serializers.ChoiceField(EVENT_NAMES),
        "version": serializers.IntegerField(help_text="Version of the schema of `data`."),
        "createdAt": serializers.DateTimeField(help_text="Time of the change."),
        "chainId": serializers.IntegerField(allow_null=True),
        "subject": serializers.CharField(help_text="What it is about, such as an address or a request key."),
        "data": EventDataField(),
    },
    many=True,
)
EVENTS_ANSWER = inline_serializer(
    "Events",
    {
        "data": EVENT,
        "cursor": serializers.IntegerField(
            help_text="The id after which the next page begins; also if this page is empty."
        ),
    },
)


_BODY = response_schema(object_schema(NEW_ENDPOINT.keys))["properties"]


class EndpointSerializer(serializers.Serializer[Any]):
    """A webhook endpoint and its state."""

    id = serializers.IntegerField()
    url = SchemaField(_BODY["url"])
    description = SchemaField(_BODY["description"], required=False)
    types = SchemaField(_BODY["types"], required=False)
    chainIds = SchemaField(_BODY["chainIds"], required=False)
    email = serializers.EmailField(allow_null=True)
    enabled = serializers.BooleanField()
    disabledReason = serializers.CharField(allow_null=True)
    failingSince = serializers.DateTimeField(allow_null=True, help_text="First failure since the last success.")
    pausedUntil = serializers.DateTimeField(allow_null=True, help_text="Deliveries wait, as the endpoint requested.")
    previousSecretUntil = serializers.DateTimeField(
        allow_null=True, help_text="Until when the secret before the last rotation signs, too."
    )
    createdAt = serializers.DateTimeField()


class EndpointWithSecret(EndpointSerializer):
    """A webhook endpoint with its secret, which no other response contains."""

    secret = serializers.CharField(help_text="`whsec_` and base64: the key of the signatures, by Standard Webhooks.")


ENDPOINTS_ANSWER = inline_serializer(
    "WebhookEndpoints", {"data": EndpointSerializer(many=True, help_text=f"At most {MAX_ENDPOINTS}.")}
)


class DeliveriesQuery(serializers.Serializer[Any]):
    """Page of the delivery log."""

    status = serializers.ChoiceField(
        DeliveryStatus.choices,
        required=False,
        error_messages={"invalid_choice": f"must be one of {', '.join(DeliveryStatus.values)}"},
    )
    limit = WholeNumberField(min_value=1, max_value=100, default=20)
    before = WholeNumberField(
        min_value=1, max_value=LARGEST_JSON_NUMBER, required=False, help_text="The cursor of an earlier page."
    )


class DeliveryAttemptSerializer(serializers.Serializer[Any]):
    """An attempt. No part of a response's content is stored."""

    at = serializers.DateTimeField()
    status = serializers.IntegerField(allow_null=True, help_text="HTTP status; null without a response.")
    ms = serializers.IntegerField(help_text="Duration in milliseconds.")
    bytes = serializers.IntegerField(help_text="Bytes of the response's body that were read, at most 16384.")
    error = serializers.CharField()


class DeliverySerializer(serializers.Serializer[Any]):
    """A delivery of an event to an endpoint."""

    id = serializers.IntegerField()
    eventId = serializers.IntegerField(allow_null=True, help_text="Null for a test.")
    type = serializers.CharField()
    reason = serializers.ChoiceField(DeliveryReason.choices)
    status = serializers.ChoiceField(DeliveryStatus.choices)
    createdAt = serializers.DateTimeField()
    nextAttemptAt = serializers.DateTimeField(allow_null=True)
    attempts = DeliveryAttemptSerializer(many=True)


DELIVERIES_ANSWER = inline_serializer(
    "WebhookDeliveries",
    {
        "data": DeliverySerializer(many=True),
        "cursor": serializers.IntegerField(allow_null=True, help_text="Null on the last page."),
    },
)


REPLAY_ANSWER = inline_serializer(
    "Replay",
    {
        "queued": serializers.IntegerField(help_text="At most 10000."),
        "cursor": serializers.IntegerField(
            allow_null=True, help_text="If there are more: the `afterEventId` of the next call."
        ),
    },
)
TEST_ANSWER = inline_serializer(
    "WebhookTest", {"deliveryId": serializers.IntegerField(help_text="In the delivery log within seconds.")}
)
