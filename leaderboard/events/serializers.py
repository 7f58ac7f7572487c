"""Response to reported events, for the OpenAPI description."""

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

EVENTS_RESPONSE = inline_serializer(
    "AgentEventsAnswer",
    {
        "success": serializers.BooleanField(),
        "added": serializers.IntegerField(min_value=0, help_text="Number of events that added or changed something."),
        "known": serializers.IntegerField(
            min_value=0, help_text="Number of events that were already known, or whose facts were."
        ),
    },
)
