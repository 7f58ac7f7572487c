"""OpenAPI serializers for the leaderboard's query parameters and response."""

from typing import Any

from drf_spectacular.utils import inline_serializer
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


class StandingTokenShape(serializers.Serializer[Any]):
    """The agent's token."""

    chainId = serializers.IntegerField()
    address = serializers.CharField()
    name = serializers.CharField(allow_null=True)
    symbol = serializers.CharField(allow_null=True)


class StandingRunsShape(serializers.Serializer[Any]):
    """Runs of the agent within the interval."""

    total = serializers.IntegerField()
    succeeded = serializers.IntegerField()
    failed = serializers.IntegerField()


class StandingActionsShape(serializers.Serializer[Any]):
    """Casts of the agent within the interval; a cast that replies and quotes is a reply."""

    posts = serializers.IntegerField()
    replies = serializers.IntegerField()
    quotes = serializers.IntegerField()


class CastMetricsShape(serializers.Serializer[Any]):
    """Number of casts within the interval, and of interactions with known casts of the agent."""

    casts = serializers.IntegerField()
    interactions = serializers.IntegerField()


class StandingCreatorShape(serializers.Serializer[Any]):
    """Creator of the agent."""

    fid = serializers.IntegerField(allow_null=True)
    socialScore = serializers.FloatField(allow_null=True, help_text="From 0 to 1.")


class StandingScoreShape(serializers.Serializer[Any]):
    """Breakdown of the score; administrators only."""

    composite = serializers.FloatField(help_text="From 0 to 100.")
    components = serializers.DictField(child=serializers.FloatField(), help_text="By name, from 0 to 1.")
    washConfidence = serializers.FloatField(help_text="From 0 to 1: share of the audience that does not count.")
    washFlags = serializers.ListField(child=serializers.CharField(), help_text="Discounts on the audience.")


class StandingShape(serializers.Serializer[Any]):
    """Agent in a ranking, as of the ranking's time."""

    rank = serializers.IntegerField(help_text="From 1.")
    agentId = serializers.CharField()
    agentName = serializers.CharField(allow_null=True)
    fid = serializers.IntegerField(allow_null=True)
    token = StandingTokenShape()
    runs = StandingRunsShape()
    actions = StandingActionsShape()
    castMetrics = CastMetricsShape()
    creator = StandingCreatorShape()
    lastActiveAt = serializers.DateTimeField(
        allow_null=True, help_text="Time of the last run or cast within the interval."
    )
    computedAt = serializers.DateTimeField(help_text="The end of the interval.")
    score = StandingScoreShape(required=False, help_text="Administrators only; the key is absent for other callers.")


class OwnStandingQuery(serializers.Serializer[Any]):
    """Query parameters of an agent's standing for its owner."""

    agentId = TextField(longest=MAX_AGENT_ID, help_text="The id under which its reporter describes the agent.")
    interval = serializers.ChoiceField(
        Interval.values,
        default=Interval.DAY.value,
        error_messages={"invalid_choice": f"must be one of {', '.join(Interval.values)}"},
        help_text="Period that the ranking covers.",
    )


class AudienceShape(serializers.Serializer[Any]):
    """Accounts that interacted in the judged period, the interval or at least seven days, and their weight."""

    accounts = serializers.IntegerField()
    weight = serializers.FloatField(help_text="Without discounts.")
    independent = serializers.FloatField(help_text="Weight of the accounts without a discount.")
    counted = serializers.FloatField(help_text="Weight that counts.")


class DiscountedAccountShape(serializers.Serializer[Any]):
    """Account to which a discount applies."""

    fid = serializers.IntegerField()
    interactions = serializers.IntegerField(help_text="Confirmed ones in the judged period; 1 if none is.")
    score = serializers.FloatField(allow_null=True, help_text="Social score from 0 to 1.")
    weight = serializers.FloatField()


class DiscountShape(serializers.Serializer[Any]):
    """Discount that takes 10 % of the audience's weight, and at least 1."""

    flag = serializers.CharField()
    meaning = serializers.CharField()
    accounts = serializers.IntegerField()
    interactions = serializers.IntegerField()
    weight = serializers.FloatField(help_text="With what the accounts of a stricter discount count.")
    independent = serializers.FloatField(help_text="Weight of the accounts without a discount.")
    limit = serializers.FloatField(help_text="Limit of what the accounts count together.")
    counted = serializers.FloatField(help_text="weight × limit ÷ (weight + limit)")
    listed = DiscountedAccountShape(many=True, help_text="The heaviest accounts, at most ten.")


class OwnStandingShape(serializers.Serializer[Any]):
    """Current standing of an agent, as its owner sees it."""

    agentId = serializers.CharField()
    fid = serializers.IntegerField(allow_null=True)
    fidProven = serializers.BooleanField(help_text="Whether what a hub has about the FID counts.")
    fidProofCode = serializers.CharField(
        allow_null=True, help_text="A post of the FID with this text proves it; null without a FID, or if it is proven."
    )
    interval = serializers.ChoiceField(Interval.values)
    computedAt = serializers.DateTimeField(allow_null=True, help_text="The end of the interval.")
    rank = serializers.IntegerField(allow_null=True, help_text="From 1; null without a listed token.")
    composite = serializers.FloatField(allow_null=True, help_text="From 0 to 100.")
    components = serializers.DictField(
        child=serializers.FloatField(), allow_null=True, help_text="By name, from 0 to 1."
    )
    audience = AudienceShape(allow_null=True)
    discounts = DiscountShape(many=True, allow_null=True)


OWN_STANDING = inline_serializer("AgentStanding", {"data": OwnStandingShape()})
LEADERBOARD = inline_serializer(
    "Leaderboard",
    {"data": StandingShape(many=True), "cursor": serializers.CharField(allow_null=True)},
)
