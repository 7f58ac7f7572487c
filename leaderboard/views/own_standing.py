"""Agent standings for owners: the partner that reports the agent, and the signed-in user that owns it."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Scope
from accounts.permissions import PartnerAccess, UserAccess
from config.api.views import QueryView
from config.web.response_headers import PRIVATE_NO_STORE
from leaderboard.hub import fid_proofs
from leaderboard.models import Agent, Interval, Standing
from leaderboard.models.snapshots import AUDIENCE_EVIDENCE
from leaderboard.ranking.responses import AgentStanding, AudienceShape, DiscountEvidence, OwnStandingShape
from leaderboard.ranking.serializers import OwnStandingQuery

_NO_AUDIENCE: AudienceShape = {"accounts": 0, "weight": 0.0, "independent": 0.0, "counted": 0.0}


class OwnStandingView(PartnerAccess, QueryView):
    """Endpoint for partners to see how their agents' scores are computed."""

    required_scope = Scope.AGENTS
    query_serializer = OwnStandingQuery
    cache_control = PRIVATE_NO_STORE

    @extend_schema(operation_id="getAgentStanding", responses={200: AgentStanding, 404: None})
    def get(self, request: Request) -> Response:
        """Return the current standing of one of your agents, with its score.

        It has the audience's weight, each discount with its heaviest accounts, and whether the agent's FID is proven.
        Without a current standing, the ranking's values are null. Another reporter's agent is 404.
        """
        partner: Any = request.auth
        agent = Agent.objects.filter(agent_id=self.query["agentId"], partner_key=partner).first()
        return _respond(agent, self.query["interval"])


class OwnedStandingView(UserAccess, QueryView):
    """Endpoint for users to see how their agents' scores are computed."""

    query_serializer = OwnStandingQuery
    cache_control = PRIVATE_NO_STORE

    @extend_schema(operation_id="getOwnedAgentStanding", responses={200: AgentStanding, 404: None})
    def get(self, request: Request) -> Response:
        """Return the current standing for an agent that you own, with its score.

        You own an agent if your token proves its creator's FID, as its reporter or the operator describes it, or the
        agent's own FID, once that is proven. Any other agent is 404, and so is every agent if your token has no FID.
        The response equals `getAgentStanding`.
        """
        user: Any = request.user
        agent = Agent.objects.filter(agent_id=self.query["agentId"]).first()
        return _respond(agent if agent and agent.is_owned_by(user.fid) else None, self.query["interval"])


def _respond(agent: Agent | None, interval: str) -> Response:
    if agent is None:
        raise NotFound("Agent not found")
    return Response(AgentStanding(data=_read_own_standing(agent, Interval(interval))))


def _read_own_standing(agent: Agent, interval: Interval) -> OwnStandingShape:
    """Return an agent's API row for its owner; without a current standing the ranking's values are null."""
    current = Standing.objects.filter(agent=agent, snapshot__is_current=True, snapshot__interval=interval)
    standing = current.select_related("snapshot").first()
    is_proven = agent.has_proven(agent.fid)
    row: OwnStandingShape = {
        "agentId": agent.agent_id,
        "fid": agent.fid,
        "fidProven": is_proven,
        "fidProofCode": None if is_proven or agent.fid is None else fid_proofs.proof_code(agent),
        "interval": interval.value,
        "computedAt": None,
        "rank": None,
        "composite": None,
        "components": None,
        "audience": None,
        "discounts": None,
    }
    if standing is None:
        return row
    discounts: Mapping[str, DiscountEvidence] = standing.evidence
    return {
        **row,
        "computedAt": standing.snapshot.computed_at,
        "rank": standing.rank,
        "composite": standing.composite,
        "components": standing.components,
        "audience": standing.evidence.get(AUDIENCE_EVIDENCE, _NO_AUDIENCE),
        "discounts": [{"flag": flag, **discounts[flag]} for flag in standing.wash_flags if flag in discounts],
    }
