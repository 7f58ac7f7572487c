"""Scenes of wash activity as rows of the database, and the ranking that is made of them."""

from datetime import UTC, datetime, timedelta

from django.utils import timezone

from leaderboard.models import (
    Action,
    Agent,
    AgentWallet,
    Interaction,
    Interval,
    SocialAccount,
    SocialScore,
    Standing,
    Trade,
)
from leaderboard.ranking import snapshot_building
from tests.rows.agent_factories import ActionFactory, AgentFactory, InteractionFactory, TradeFactory
from tests.rows.wash_scenes import NOW, WashScene

CHAIN = 8453


def hash_of(cast: int) -> str:
    """Return a hash with this key."""
    return f"0x{cast:016x}{7:024x}"


def wallet_of(number: int) -> str:
    return f"0x{number:040d}"


def store(scene: WashScene) -> list[Agent]:
    """Store the facts as rows, of agents in the scene's order."""
    agents = [
        AgentFactory(
            fid=fid or None,
            creator_fid=creator_fid or None,
            token_chain_id=CHAIN,
            token_address=wallet_of(10**9 + number),
        )
        for number, (fid, creator_fid) in enumerate(scene.agents)
    ]
    Action.objects.bulk_create(
        ActionFactory.build(agent=agents[agent], at=at(ago), cast_key=cast, cast_hash=hash_of(cast))
        for agent, ago, cast in scene.casts
    )
    Interaction.objects.bulk_create(
        InteractionFactory.build(
            agent=agents[agent], at=at(ago), kind=kind, actor_fid=fid, cast_key=cast, text_key=text, message_key=number
        )
        for number, (agent, ago, kind, fid, cast, text) in enumerate(scene.interactions, 1)
    )
    Trade.objects.bulk_create(
        TradeFactory.build(
            agent=agents[agent], at=at(ago), wallet=wallet_of(wallet), is_buy=is_buy, amount=round(amount * 1_000)
        )
        for agent, ago, wallet, _, is_buy, amount in scene.trades
    )
    own = {(agent, wallet) for agent, _, wallet, is_own, _, _ in scene.trades if is_own}
    AgentWallet.objects.bulk_create(
        AgentWallet(agent=agents[agent], address=wallet_of(wallet)) for agent, wallet in own
    )
    SocialScore.objects.bulk_create(
        SocialScore(fid=fid, at=at(1), score=score) for fid, (score, _) in scene.known.items()
    )
    SocialAccount.objects.bulk_create(
        SocialAccount(fid=fid, registered_at=datetime.fromtimestamp(registered, UTC), told_at=timezone.now())
        for fid, (_, registered) in scene.known.items()
        if registered
    )
    return agents


def judged(scene: WashScene, agent: int) -> Standing:
    """Make a ranking of the week from the stored scene; return an agent's stored result, read anew."""
    agents = store(scene)
    snapshot = snapshot_building.build_snapshot(Interval.WEEK, computed_at=at(0))
    return Standing.objects.get(snapshot=snapshot, agent=agents[agent])


def at(ago: int) -> datetime:
    return datetime.fromtimestamp(NOW, UTC) - timedelta(seconds=ago)
