"""An agent's current standing for its owner: score, weight of the audience, discounts, and the proof of its FID."""

from collections.abc import Mapping
from typing import Any

from leaderboard.hub import fid_proofs
from leaderboard.models import Agent, Interval, Standing
from leaderboard.models.snapshots import AUDIENCE_EVIDENCE

_NO_AUDIENCE = {"accounts": 0, "weight": 0.0, "independent": 0.0, "counted": 0.0}


def read_own_standing(agent: Agent, interval: Interval) -> dict[str, Any]:
    """Return the API row of an agent for its owner; without a current standing the values of the ranking are null."""
    current = Standing.objects.filter(agent=agent, snapshot__is_current=True, snapshot__interval=interval)
    standing = current.select_related("snapshot").first()
    is_proven = agent.has_proven(agent.fid)
    row = {
        "agentId": agent.agent_id,
        "fid": agent.fid,
        "fidProven": is_proven,
        "fidProofCode": None if is_proven or agent.fid is None else fid_proofs.proof_code(agent),
        "interval": interval.value,
    }
    if standing is None:
        return row | dict.fromkeys(("computedAt", "rank", "composite", "components", "audience", "discounts"))
    evidence: Mapping[str, Any] = standing.evidence
    return row | {
        "computedAt": standing.snapshot.computed_at,
        "rank": standing.rank,
        "composite": standing.composite,
        "components": standing.components,
        "audience": evidence.get(AUDIENCE_EVIDENCE, _NO_AUDIENCE),
        "discounts": [{"flag": flag, **evidence[flag]} for flag in standing.wash_flags if flag in evidence],
    }
