"""Factories of the leaderboard's rows."""

import uuid
from datetime import timedelta

import factory
from django.utils import timezone

from leaderboard.models import (
    Action,
    ActionKind,
    Agent,
    AgentWallet,
    HubCast,
    HubCursor,
    Interaction,
    InteractionKind,
    Run,
    Snapshot,
    SocialScore,
    Standing,
    Trade,
)
from tests.rows.factories import TokenFactory


class AgentFactory(factory.django.DjangoModelFactory[Agent]):
    """An agent with a FID, without a token."""

    class Meta:
        model = Agent

    class Params:
        token = None
        # With a token that is listed.
        launched = factory.Trait(token=factory.SubFactory(TokenFactory))

    agent_id = factory.Sequence(lambda n: f"agent-{n}")
    name = factory.Sequence(lambda n: f"Agent {n}")
    fid = factory.Sequence(lambda n: 3_000_000 + n)
    token_chain_id = factory.LazyAttribute(lambda agent: agent.token.chain_id if agent.token else None)
    token_address = factory.LazyAttribute(lambda agent: agent.token.contract_address if agent.token else "")


class RunFactory(factory.django.DjangoModelFactory[Run]):
    """A run that went well and took a minute."""

    class Meta:
        model = Run

    key = factory.LazyFunction(uuid.uuid4)
    agent = factory.SubFactory(AgentFactory)
    finished_at = factory.LazyFunction(timezone.now)
    started_at = factory.LazyAttribute(lambda run: run.finished_at - timedelta(minutes=1))
    succeeded = True


class ActionFactory(factory.django.DjangoModelFactory[Action]):
    """A post."""

    class Meta:
        model = Action

    key = factory.LazyFunction(uuid.uuid4)
    agent = factory.SubFactory(AgentFactory)
    at = factory.LazyFunction(timezone.now)
    kind = ActionKind.POST
    cast_key = factory.Sequence(lambda n: n + 1)
    cast_hash = factory.LazyAttribute(lambda action: f"0x{action.cast_key:016x}{0:024x}")


class InteractionFactory(factory.django.DjangoModelFactory[Interaction]):
    """A like, each by another account."""

    class Meta:
        model = Interaction

    key = factory.LazyFunction(uuid.uuid4)
    agent = factory.SubFactory(AgentFactory)
    at = factory.LazyFunction(timezone.now)
    kind = InteractionKind.LIKE
    actor_fid = factory.Sequence(lambda n: 4_000_000 + n)
    cast_key = 1


class TradeFactory(factory.django.DjangoModelFactory[Trade]):
    """A purchase by some wallet."""

    class Meta:
        model = Trade

    key = factory.LazyFunction(uuid.uuid4)
    agent = factory.SubFactory(AgentFactory)
    at = factory.LazyFunction(timezone.now)
    tx_hash = factory.Sequence(lambda n: f"0x{n:064x}")
    log_index = 0
    wallet = factory.Sequence(lambda n: f"0x{n:040d}")
    is_buy = True
    amount = 10**18


class AgentWalletFactory(factory.django.DjangoModelFactory[AgentWallet]):
    """A wallet of an agent."""

    class Meta:
        model = AgentWallet

    agent = factory.SubFactory(AgentFactory)
    address = factory.Sequence(lambda n: f"0x{n:040d}")


class SocialScoreFactory(factory.django.DjangoModelFactory[SocialScore]):
    """The score of an account, fetched just now."""

    class Meta:
        model = SocialScore

    fid = factory.Sequence(lambda n: 4_000_000 + n)
    at = factory.LazyFunction(timezone.now)
    score = 0.9


class SnapshotFactory(factory.django.DjangoModelFactory[Snapshot]):
    """The current ranking of a day, without standings."""

    class Meta:
        model = Snapshot

    interval = "24h"
    computed_at = factory.LazyFunction(timezone.now)
    scoring_version = 1
    took_seconds = 1.5
    ranked = 0
    is_current = True


class StandingFactory(factory.django.DjangoModelFactory[Standing]):
    """An agent at the head of a ranking, with little to show."""

    class Meta:
        model = Standing

    snapshot = factory.SubFactory(SnapshotFactory)
    agent = factory.SubFactory(AgentFactory)
    rank = 1
    agent_name = factory.LazyAttribute(lambda standing: standing.agent.name)
    public_id = factory.LazyAttribute(lambda standing: standing.agent.agent_id)
    fid = factory.LazyAttribute(lambda standing: standing.agent.fid)
    runs_succeeded = 3
    runs_failed = 1
    posts = 2
    replies = 1
    quotes = 0
    interactions = 5
    composite = 50.0
    components = factory.LazyFunction(dict)
    wash_confidence = 0.0
    wash_flags = factory.LazyFunction(list)
    evidence = factory.LazyFunction(dict)


class HubCursorFactory(factory.django.DjangoModelFactory[HubCursor]):
    """The next pull of an agent's casts, which is due."""

    class Meta:
        model = HubCursor

    agent = factory.SubFactory(AgentFactory)
    fid = factory.SelfAttribute("agent.fid")


class HubCastFactory(factory.django.DjangoModelFactory[HubCast]):
    """The next pull of a cast's interactions, which is due."""

    class Meta:
        model = HubCast

    action = factory.SubFactory(ActionFactory)
    fid = 5
