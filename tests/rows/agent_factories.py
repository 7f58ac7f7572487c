"""Factories for the leaderboard's rows."""

import uuid
from datetime import timedelta

import factory
from django.utils import timezone

from leaderboard.models import (
    Action,
    ActionKind,
    Agent,
    HubCast,
    HubCursor,
    HubQuote,
    Interaction,
    InteractionKind,
    Run,
    Snapshot,
    SocialScore,
    Standing,
    Trade,
)
from tests.rows.factories import RowFactory, TokenFactory


class AgentFactory(RowFactory[Agent]):
    """An agent with a FID, without a token."""

    class Params:
        token = None
        # With a token that is listed.
        launched = factory.Trait(token=factory.SubFactory(TokenFactory))

    agent_id = factory.Sequence(lambda n: f"agent-{n}")
    name = factory.Sequence(lambda n: f"Agent {n}")
    fid = factory.Sequence(lambda n: 3_000_000 + n)
    token_chain_id = factory.LazyAttribute(lambda agent: agent.token.chain_id if agent.token else None)
    token_address = factory.LazyAttribute(lambda agent: agent.token.contract_address if agent.token else "")


class RunFactory(RowFactory[Run]):
    """A run that went well and took a minute."""

    key = factory.LazyFunction(uuid.uuid4)
    agent = factory.SubFactory(AgentFactory)
    finished_at = factory.LazyFunction(timezone.now)
    started_at = factory.LazyAttribute(lambda run: run.finished_at - timedelta(minutes=1))
    succeeded = True


class ActionFactory(RowFactory[Action]):
    """A post."""

    key = factory.LazyFunction(uuid.uuid4)
    agent = factory.SubFactory(AgentFactory)
    at = factory.LazyFunction(timezone.now)
    kind = ActionKind.POST
    cast_key = factory.Sequence(lambda n: n + 1)
    cast_hash = factory.LazyAttribute(lambda action: f"0x{action.cast_key:016x}{0:024x}")


class InteractionFactory(RowFactory[Interaction]):
    """A like, each by another account."""

    key = factory.LazyFunction(uuid.uuid4)
    agent = factory.SubFactory(AgentFactory)
    at = factory.LazyFunction(timezone.now)
    kind = InteractionKind.LIKE
    actor_fid = factory.Sequence(lambda n: 4_000_000 + n)
    cast_key = 1
    is_confirmed = True


class TradeFactory(RowFactory[Trade]):
    """A purchase by some wallet."""

    key = factory.LazyFunction(uuid.uuid4)
    agent = factory.SubFactory(AgentFactory)
    at = factory.LazyFunction(timezone.now)
    tx_hash = factory.Sequence(lambda n: f"0x{n:064x}")
    log_index = 0
    wallet = factory.Sequence(lambda n: f"0x{n:040d}")
    is_buy = True
    amount = 10**18


class SocialScoreFactory(RowFactory[SocialScore]):
    """An account's score, fetched just now."""

    fid = factory.Sequence(lambda n: 4_000_000 + n)
    at = factory.LazyFunction(timezone.now)
    score = 0.9


class SnapshotFactory(RowFactory[Snapshot]):
    """A day's current ranking, without standings."""

    interval = "24h"
    computed_at = factory.LazyFunction(timezone.now)
    scoring_version = 1
    took_seconds = 1.5
    ranked = 0
    is_current = True


class StandingFactory(RowFactory[Standing]):
    """An agent at a ranking's head, with little to show."""

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


class HubCursorFactory(RowFactory[HubCursor]):
    """An agent's next cast pull, which is due."""

    agent = factory.SubFactory(AgentFactory)
    fid = factory.SelfAttribute("agent.fid")


class HubCastFactory(RowFactory[HubCast]):
    """A cast's next interaction pull, which is due."""

    action = factory.SubFactory(ActionFactory)
    fid = 5


class HubQuoteFactory(RowFactory[HubQuote]):
    """A reported quote's next look-up, which is due."""

    agent = factory.SubFactory(AgentFactory)
    fid = 5
    message_hash = factory.Sequence(lambda n: f"0x{n:040x}")
    at = factory.LazyFunction(timezone.now)
