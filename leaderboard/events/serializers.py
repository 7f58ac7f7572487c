"""OpenAPI serializers for reported events and the response; `leaderboard.events.payloads` has the rules."""

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field, inline_serializer
from rest_framework import serializers

from leaderboard.events import field_rules
from leaderboard.events.payloads import MAX_WALLETS
from leaderboard.events.request_body import MAX_EVENTS
from leaderboard.models.agents import MAX_AGENT_ID, MAX_NAME
from tokens.installation.chain_fields import AddressField, TransactionHashField


def _anchored(pattern: str) -> str:
    return f"^(?:{pattern})$"


_CAST_TEXT = "Only a key of the text is stored; texts that differ in case, punctuation, links or names share it."


class FidField(serializers.IntegerField):
    """User number of the social protocol (FID)."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=1, max_value=2**63 - 1, **options)


class EventShape(serializers.Serializer[Any]):
    """Fields of every event."""

    id = serializers.RegexField(
        _anchored(field_rules.ID_PATTERN),
        help_text="Your own id, unique among your events of this type. An event with a known id adds nothing.",
    )


class AgentEventShape(EventShape):
    """Event about one of your agents."""

    agentId = serializers.CharField(
        min_length=1, max_length=MAX_AGENT_ID, help_text="Your own id of the agent; it never changes."
    )


class AgentTokenShape(serializers.Serializer[Any]):
    """The agent's token, on any chain; it may be launched later."""

    chainId = serializers.IntegerField(min_value=1)
    address = AddressField(allow_mint=True)


class DescribedShape(AgentEventShape):
    """Description of an agent, valid from `at`. Absent keys change nothing, null clears a value.

    For each key the newest event is kept, in whatever order events arrive.
    """

    type = serializers.ChoiceField(choices=["agent"])
    at = serializers.DateTimeField()
    name = serializers.CharField(min_length=1, max_length=MAX_NAME, required=False, allow_null=True)
    fid = serializers.IntegerField(
        required=False, allow_null=True, help_text="The agent's own FID; no two agents may share one."
    )
    token = AgentTokenShape(
        required=False,
        allow_null=True,
        help_text="No two agents may share one. An agent without a token is not ranked.",
    )
    creatorFid = FidField(required=False, allow_null=True, help_text="FID of the agent's creator.")
    wallets = serializers.ListField(
        child=AddressField(allow_mint=True),
        required=False,
        allow_null=True,
        max_length=MAX_WALLETS,
        help_text="All addresses that trade for the agent: its own and its creator's. At most 1,000 per batch.",
    )


class RanShape(AgentEventShape):
    """Run of the agent, with a start and an end."""

    type = serializers.ChoiceField(choices=["run"])
    kind = serializers.CharField(max_length=field_rules.MAX_RUN_KIND, required=False, help_text="Free text.")
    startedAt = serializers.DateTimeField()
    finishedAt = serializers.DateTimeField(help_text="Not before startedAt.")
    succeeded = serializers.BooleanField()


class ActedShape(AgentEventShape):
    """Cast written by the agent. A cast that replies and quotes is a reply."""

    type = serializers.ChoiceField(choices=["action"])
    at = serializers.DateTimeField()
    kind = serializers.ChoiceField(choices=["post", "reply", "quote"])
    castHash = serializers.RegexField(_anchored(field_rules.CAST_PATTERN))
    text = serializers.CharField(max_length=field_rules.MAX_TEXT, required=False, help_text=_CAST_TEXT)


class InteractedShape(AgentEventShape):
    """Reaction or reply of an account to a cast of the agent."""

    type = serializers.ChoiceField(choices=["interaction"])
    at = serializers.DateTimeField()
    kind = serializers.ChoiceField(choices=["like", "recast", "reply", "quote"])
    castHash = serializers.RegexField(_anchored(field_rules.CAST_PATTERN), help_text="The agent's cast.")
    actorFid = FidField(help_text="FID of the account that interacted.")
    messageHash = serializers.RegexField(
        _anchored(field_rules.CAST_PATTERN),
        required=False,
        help_text="Hash of the reply or quote itself. Required for these kinds, not allowed for others.",
    )
    text = serializers.CharField(
        max_length=field_rules.MAX_TEXT, required=False, help_text=f"Replies and quotes only. {_CAST_TEXT}"
    )


class TradedShape(AgentEventShape):
    """Purchase or sale of the agent's token, by any wallet."""

    type = serializers.ChoiceField(choices=["trade"])
    at = serializers.DateTimeField()
    txHash = TransactionHashField(allow_signature=True)
    logIndex = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    wallet = AddressField(allow_mint=True, help_text="Address that sold or bought the tokens.")
    side = serializers.ChoiceField(choices=["buy", "sell"])
    amount = serializers.RegexField(_anchored(field_rules.AMOUNT_PATTERN), help_text="In the token's smallest unit.")


class ScoredShape(EventShape):
    """Social score of an account, such as a creator or an account that interacts.

    It affects all agents, so the key needs the scope `scores` as well. A time in the future counts as now.
    """

    type = serializers.ChoiceField(choices=["score"])
    at = serializers.DateTimeField()
    fid = FidField()
    score = serializers.FloatField(min_value=0, max_value=1)
    registeredAt = serializers.DateTimeField(
        required=False, help_text="When the account was registered. The newest event decides."
    )


_ANY_EVENT = PolymorphicProxySerializer(
    component_name="Event",
    serializers={
        "agent": DescribedShape,
        "run": RanShape,
        "action": ActedShape,
        "interaction": InteractedShape,
        "trade": TradedShape,
        "score": ScoredShape,
    },
    resource_type_field_name="type",
)


@extend_schema_field(_ANY_EVENT)
class EventField(serializers.JSONField):
    """Event of any type."""


EVENTS_BODY = inline_serializer(
    "AgentEvents",
    {"events": serializers.ListField(child=EventField(), min_length=1, max_length=MAX_EVENTS)},
)
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
