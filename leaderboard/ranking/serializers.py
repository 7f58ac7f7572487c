"""Parameters and answers of the leaderboard, as they are described."""

from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from config.api.fields import WholeNumberField
from leaderboard.models import Interval


class LeaderboardQuery(serializers.Serializer[Any]):
    """Which ranking, and which part of it."""

    interval = serializers.ChoiceField(
        Interval.values,
        default=Interval.DAY.value,
        error_messages={"invalid_choice": f"must be one of {', '.join(Interval.values)}"},
        help_text="How far back the ranking looks.",
    )
    limit = WholeNumberField(min_value=1, max_value=100, default=25)
    cursor = serializers.CharField(
        required=False,
        help_text="From the answer before: pages of one walk come from one ranking. One that is of another interval, "
        "or of a ranking that is gone, is ignored, and the walk begins anew.",
    )


class StandingTokenShape(serializers.Serializer[Any]):
    """The agent's token."""

    chainId = serializers.IntegerField()
    address = serializers.CharField()
    name = serializers.CharField(allow_null=True)
    symbol = serializers.CharField(allow_null=True)


class StandingRunsShape(serializers.Serializer[Any]):
    """What it ran within the interval."""

    total = serializers.IntegerField()
    succeeded = serializers.IntegerField()
    failed = serializers.IntegerField()


class StandingActionsShape(serializers.Serializer[Any]):
    """What it wrote within the interval; a cast that answers and quotes is a reply."""

    posts = serializers.IntegerField()
    replies = serializers.IntegerField()
    quotes = serializers.IntegerField()


class CastMetricsShape(serializers.Serializer[Any]):
    """All that it wrote within the interval, and how often somebody took up a cast of its that is known."""

    casts = serializers.IntegerField()
    interactions = serializers.IntegerField()


class StandingCreatorShape(serializers.Serializer[Any]):
    """Who made it."""

    fid = serializers.IntegerField(allow_null=True)
    socialScore = serializers.FloatField(allow_null=True, help_text="From 0 to 1.")


class StandingScoreShape(serializers.Serializer[Any]):
    """What its rank was made of, for administrators alone."""

    composite = serializers.FloatField(help_text="From 0 to 100.")
    components = serializers.DictField(child=serializers.FloatField(), help_text="By name, from 0 to 1.")
    washConfidence = serializers.FloatField(help_text="From 0 to 1: how sure it is that its audience is made up.")
    washFlags = serializers.ListField(child=serializers.CharField())


class StandingShape(serializers.Serializer[Any]):
    """An agent in a ranking, as it was then."""

    rank = serializers.IntegerField(help_text="From 1.")
    agentId = serializers.CharField()
    agentName = serializers.CharField(allow_null=True)
    fid = serializers.IntegerField(allow_null=True)
    token = StandingTokenShape()
    runs = StandingRunsShape()
    actions = StandingActionsShape()
    castMetrics = CastMetricsShape()
    creator = StandingCreatorShape()
    lastActiveAt = serializers.DateTimeField(allow_null=True, help_text="When it last ran or wrote something.")
    computedAt = serializers.DateTimeField(help_text="The end of the interval.")
    score = StandingScoreShape(required=False, help_text="For administrators alone; others' answers have no such key.")


LEADERBOARD = inline_serializer(
    "Leaderboard",
    {"data": StandingShape(many=True), "cursor": serializers.CharField(allow_null=True)},
)
