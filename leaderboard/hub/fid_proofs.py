"""Proofs that a FID belongs to its agent. Without a proof, no fact from the hub about the FID counts as confirmed.

Anyone may describe an agent with a popular account's FID, public addresses and token. Only a post by the FID with the
agent's code is a proof. A reply or quote proves nothing: many bots repeat other accounts' texts in them.
"""

import logging
from collections.abc import Iterable, Sequence

from django.utils import timezone
from django.utils.crypto import salted_hmac

from leaderboard.models import Agent, HubCast, HubQuote

logger = logging.getLogger(__name__)


def proof_code(agent: Agent) -> str:
    """Return the text that proves the agent's FID if a post by the FID contains it."""
    digest = salted_hmac("leaderboard.hub.fid_proofs", f"{agent.pk} {agent.fid}", algorithm="sha256").hexdigest()
    return f"launchboard-{digest[:16]}"


def prove_by_posts(agent: Agent, texts: Iterable[str]) -> None:
    """Store the proof if one of these texts contains the agent's code; they are posts by the agent's FID."""
    if not agent.has_proven(agent.fid):
        code = proof_code(agent)
        if any(code in text for text in texts):
            accept_fids([agent])


def accept_fids(agents: Iterable[Agent]) -> None:
    """Store that agents' FIDs are proven, except those that have changed since the agents were read."""
    proven = [
        agent
        for agent in agents
        if agent.fid and Agent.objects.filter(pk=agent.pk, fid=agent.fid).update(proven_fid=agent.fid)
    ]
    for agent in proven:
        agent.proven_fid = agent.fid
    _read_again([agent.pk for agent in proven])


def _read_again(agent_ids: Sequence[int]) -> None:
    """Queue the agents' casts and quotes again: facts that were read before the proof are not confirmed."""
    if agent_ids:
        now = timezone.now()
        HubCast.objects.filter(action__agent__in=agent_ids).requeue(due_at=now, read_until=0)
        HubQuote.objects.filter(agent__in=agent_ids).requeue(due_at=now)
        logger.info("the FIDs of %s agents are proven", len(agent_ids))
