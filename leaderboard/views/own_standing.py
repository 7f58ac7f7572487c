"""View of an agent's standing for the partner that owns the agent."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Scope
from accounts.permissions import PartnerAccess
from config.api.response_headers import PRIVATE_NO_STORE
from config.api.views import QueryView
from leaderboard.models import Agent, Interval
from leaderboard.ranking.own_standings import read_own_standing
from leaderboard.ranking.serializers import OWN_STANDING, OwnStandingQuery


class OwnStandingView(PartnerAccess, QueryView):
    """Endpoint for partners to see what their agents' scores are made of."""

    required_scope = Scope.AGENTS
    query_serializer = OwnStandingQuery
    cache_control = PRIVATE_NO_STORE

    @extend_schema(operation_id="getAgentStanding", responses={200: OWN_STANDING, 404: None})
    def get(self, request: Request) -> Response:
        """Return the current standing of one of your agents, with its score.

        It has the weight of the audience, each discount with its heaviest accounts, and whether the agent's FID is
        proven. Without a current standing, the values of the ranking are null. An agent of another reporter is 404.
        """
        partner: Any = request.auth
        agent = Agent.objects.filter(agent_id=self.query["agentId"], partner_key=partner).first()
        if agent is None:
            raise NotFound("Agent not found")
        return Response({"data": read_own_standing(agent, Interval(self.query["interval"]))})
