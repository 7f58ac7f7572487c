"""Events about agents, as they are described, and what is answered; `leaderboard.events.payloads` has the rules."""

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field, inline_serializer
from rest_framework import serializers

from config.api.fields import AddressField, TransactionHashField
from leaderboard.events import field_rules as rules
from leaderboard.events.payloads import MAX_WALLETS
from leaderboard.events.request_body import MAX_EVENTS
from leaderboard.models.agents import MAX_AGENT_ID, MAX_NAME


def _exactly(pattern: str) -> str:
    return f"^(?:{pattern})$"


_CAST_TEXT = "Of it a key is kept alone, which texts share that differ in case, punctuation, links or names."


class FidField(serializers.IntegerField):
    """A number of the social protocol."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=1, max_value=2**63 - 1, **options)


class EventShape(serializers.Serializer[Any]):
    """What every event has."""

    id = serializers.RegexField(
        _exactly(rules.ID_PATTERN),
        help_text="Of your choice, for each event of a type another one: what comes again under it adds nothing.",
    )


class AgentEventShape(EventShape):
    """What happened with an agent of yours."""

    agentId = serializers.CharField(
        min_length=1, max_length=MAX_AGENT_ID, help_text="What you call the agent; it never changes."
    )


class AgentTokenShape(serializers.Serializer[Any]):
    """The agent's token, on any chain; it may be launched later."""

    chainId = serializers.IntegerField(min_value=1)
    address = AddressField(allow_mint=True)


class DescribedShape(AgentEventShape):
    """What an agent is from `at` on. Keys that are absent change nothing, null takes away what was there.

    Of each key the newest event's word counts, whenever it comes.
    """

    type = serializers.ChoiceField(choices=["agent"])
    at = serializers.DateTimeField()
    name = serializers.CharField(min_length=1, max_length=MAX_NAME, required=False, allow_null=True)
    fid = serializers.IntegerField(
        required=False, allow_null=True, help_text="Its own number in the social protocol, and no other agent's."
    )
    token = AgentTokenShape(
        required=False, allow_null=True, help_text="No other agent's; without one it is not ranked."
    )
    creatorFid = FidField(required=False, allow_null=True, help_text="Who made it.")
    wallets = serializers.ListField(
        child=AddressField(allow_mint=True),
        required=False,
        allow_null=True,
        max_length=MAX_WALLETS,
        help_text="All addresses that trade for the agent: its own, and its creator's; at most 1,000 in a batch.",
    )


class RanShape(AgentEventShape):
    """Something that the agent did from beginning to end."""

    type = serializers.ChoiceField(choices=["run"])
    kind = serializers.CharField(max_length=rules.MAX_RUN_KIND, required=False, help_text="In your own words.")
    startedAt = serializers.DateTimeField()
    finishedAt = serializers.DateTimeField(help_text="Not before startedAt.")
    succeeded = serializers.BooleanField()


class ActedShape(AgentEventShape):
    """The agent cast something. A cast that answers and quotes is a reply."""

    type = serializers.ChoiceField(choices=["action"])
    at = serializers.DateTimeField()
    kind = serializers.ChoiceField(choices=["post", "reply", "quote"])
    castHash = serializers.RegexField(_exactly(rules.CAST_PATTERN))
    text = serializers.CharField(max_length=rules.MAX_TEXT, required=False, help_text=_CAST_TEXT)


class InteractedShape(AgentEventShape):
    """Somebody took up a cast of the agent."""

    type = serializers.ChoiceField(choices=["interaction"])
    at = serializers.DateTimeField()
    kind = serializers.ChoiceField(choices=["like", "recast", "reply", "quote"])
    castHash = serializers.RegexField(_exactly(rules.CAST_PATTERN), help_text="The agent's cast.")
    actorFid = FidField(help_text="Who did.")
    messageHash = serializers.RegexField(
        _exactly(rules.CAST_PATTERN),
        required=False,
        help_text="The reply or quote itself: of these, and required.",
    )
    text = serializers.CharField(
        max_length=rules.MAX_TEXT, required=False, help_text=f"Of a reply or quote alone. {_CAST_TEXT}"
    )


class TradedShape(AgentEventShape):
    """The agent's token was bought or sold, by anybody."""

    type = serializers.ChoiceField(choices=["trade"])
    at = serializers.DateTimeField()
    txHash = TransactionHashField(allow_signature=True)
    logIndex = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    wallet = AddressField(allow_mint=True, help_text="Who gave or got the tokens.")
    side = serializers.ChoiceField(choices=["buy", "sell"])
    amount = serializers.RegexField(_exactly(rules.AMOUNT_PATTERN), help_text="In the token's smallest unit.")


class ScoredShape(EventShape):
    """What an account's social score was found to be: of creators and of those who interact.

    It counts for everybody's agents, so the key needs the scope `scores` besides. A time ahead of ours counts as now.
    """

    type = serializers.ChoiceField(choices=["score"])
    at = serializers.DateTimeField()
    fid = FidField()
    score = serializers.FloatField(min_value=0, max_value=1)
    registeredAt = serializers.DateTimeField(
        required=False, help_text="When the account was registered; of what events say of it the newest one's counts."
    )


_EVENT = PolymorphicProxySerializer(
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


@extend_schema_field(_EVENT)
class EventField(serializers.JSONField):
    """An event of any type."""


EVENTS_BODY = inline_serializer(
    "AgentEvents",
    {"events": serializers.ListField(child=EventField(), min_length=1, max_length=MAX_EVENTS)},
)
EVENTS_ANSWER = inline_serializer(
    "AgentEventsAnswer",
    {
        "success": serializers.BooleanField(),
        "added": serializers.IntegerField(min_value=0, help_text="Events that told something new."),
        "known": serializers.IntegerField(min_value=0, help_text="All others: they, or what they tell, were known."),
    },
)
