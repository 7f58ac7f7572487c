"""Parameters of the endpoint for facts about a launch."""

from typing import Any

from rest_framework import serializers

WINDOWS = ("10", "30", "60", "300", "600")


class IntegrityQuery(serializers.Serializer[Any]):
    """Length of the time after the launch."""

    seconds = serializers.ChoiceField(
        WINDOWS,
        default="60",
        error_messages={"invalid_choice": f"must be one of {', '.join(WINDOWS)}"},
        help_text="Seconds after the block time of the launch that `firstSeconds`, `bundles` and `atLaunch` are of.",
    )
