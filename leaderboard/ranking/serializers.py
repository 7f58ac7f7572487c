"""Query parameters of the leaderboard."""

from typing import Any

from rest_framework import serializers

from config.api.fields import TextField, WholeNumberField
from leaderboard.models import Interval
from leaderboard.models.agents import MAX_AGENT_ID


class LeaderboardQuery(serializers.Serializer[Any]):
    """Query parameters of the leaderboard."""

    interval = serializers.ChoiceField(
        Interval.values,
        default=Interval.DAY.value,
        error_messages={"invalid_choice": f"must be one of {', '.join(Interval.values)}"},
        help_text="Period that the ranking covers.",
    )
    limit = WholeNumberField(min_value=1, max_value=100, default=25)
    cursor = serializers.CharField(
        required=False,
        help_text="Cursor of the previous page; all pages come from one ranking. A cursor of another interval, or of a "
        "deleted ranking, is ignored: the first page of the current ranking is returned.",
    )


class OwnStandingQuery(serializers.Serializer[Any]):
    """Query parameters of an agent's standing for its owner."""

    agentId = TextField(longest=MAX_AGENT_ID, help_text="The id under which its reporter describes the agent.")
    interval = serializers.ChoiceField(
        Interval.values,
        default=Interval.DAY.value,
        error_messages={"invalid_choice": f"must be one of {', '.join(Interval.values)}"},
        help_text="Period that the ranking covers.",
    )
