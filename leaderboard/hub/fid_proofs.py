"""Proofs that a FID is its agent's; until then nothing that the hub has about the FID counts as confirmed.

Anyone may describe an agent with the FID of a popular account. A proof is a post by the FID with the agent's code, or a
verified address of the FID that launched the agent's token. A reply or quote proves nothing: many bots repeat in them
what others write. The addresses of a description (`wallets`) prove nothing: the verified addresses of any account are
public.
"""

import logging
from collections.abc import Iterable, Sequence

from django.db import connection
from django.db.models import F
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.models import SocialProfile
from leaderboard.models import Agent, HubCast, HubQuote

logger = logging.getLogger(__name__)

# A wallet that launched other tokens, too, may be a service that launches for anyone.
_PROVE_BY_ADDRESSES = """
UPDATE leaderboard_agent AS agent SET proven_fid = agent.fid
FROM accounts_socialprofile AS profile, tokens_token AS token
WHERE agent.partner_key_id IS NOT NULL AND agent.proven_fid IS DISTINCT FROM agent.fid AND profile.fid = agent.fid
    AND token.chain_id = agent.token_chain_id AND token.contract_address = agent.token_address
    AND token.msg_sender <> '' AND token.msg_sender = ANY(profile.verified_addresses) AND NOT token.unindexed
    AND NOT EXISTS (SELECT FROM tokens_token other WHERE other.msg_sender = token.msg_sender AND other.id <> token.id)
RETURNING agent.id
"""


def proof_code(agent: Agent) -> str:
    """Return the text that proves the agent's FID if a post of the FID contains it."""
    digest = salted_hmac("leaderboard.hub.fid_proofs", f"{agent.pk} {agent.fid}", algorithm="sha256").hexdigest()
    return f"launchboard-{digest[:16]}"


def prove_by_posts(agent: Agent, texts: Iterable[str]) -> None:
    """Store the proof if one of these texts, of posts by the agent's FID, contains the agent's code."""
    if not agent.has_proven(agent.fid):
        code = proof_code(agent)
        if any(code in text for text in texts):
            accept_fids([agent])


def prove_by_addresses() -> int:
    """Store the proofs that fetched profiles and indexed launches give, and return how many.

    Also requests the profiles of FIDs without a proof.
    """
    unproven = Agent.objects.filter(partner_key__isnull=False, fid__isnull=False).exclude(proven_fid=F("fid"))
    SocialProfile.objects.enqueue(fid for fid in unproven.values_list("fid", flat=True) if fid is not None)
    with connection.cursor() as cursor:
        cursor.execute(_PROVE_BY_ADDRESSES)
        agent_ids = [agent_id for (agent_id,) in cursor.fetchall()]
    _read_again(agent_ids)
    return len(agent_ids)


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
    """Queue the agents' casts and quotes anew: what was read before the proof is not confirmed."""
    if agent_ids:
        now = timezone.now()
        HubCast.objects.filter(action__agent__in=agent_ids).requeue(due_at=now, read_until=0)
        HubQuote.objects.filter(agent__in=agent_ids).requeue(due_at=now)
        logger.info("the FIDs of %s agents are proven", len(agent_ids))
