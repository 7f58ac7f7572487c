"""Query parameters of events and webhooks."""

from typing import Any

from rest_framework import serializers

from accounts.models import DeliveryStatus
from accounts.subscriptions.endpoint_bodies import EVENT_NAMES
from config.api.fields import ChainIdField, WholeNumberField
from config.parsing.json_rules import LARGEST_JSON_NUMBER


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
