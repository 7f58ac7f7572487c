"""The rankings of agents."""

from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.administrators.sessions import is_by_administrator
from accounts.authentication import UserIfAny
from config.api.response_headers import PRIVATE_NEVER_STORED, shared_for
from config.api.views import QueryView
from leaderboard.models import Interval
from leaderboard.ranking import standing_cursors, standing_pages
from leaderboard.ranking.serializers import LEADERBOARD, LeaderboardQuery


class LeaderboardView(QueryView):
    """Agents by rank, for everybody; administrators see what the ranks were made of."""

    authentication_classes = [UserIfAny]
    permission_classes = [AllowAny]
    query_serializer = LeaderboardQuery
    cache_control = shared_for(30, stale_seconds=60)
    vary = "Cookie"

    @extend_schema(
        operation_id="listLeaderboard",
        auth=[{"userToken": []}, {"adminSession": []}, {}],  # type: ignore[list-item]
        responses={200: LEADERBOARD, 401: None},
    )
    def get(self, request: Request) -> Response:
        """List the agents with a token by their rank within an interval, from the best on.

        Without a token, or with somebody's who is no administrator, and with a cookie that is none, is forged or is
        over, this is the public answer; a bad token is 401. Administrators, by their token or by the cookie
        `admin_session`, see `score` in addition, which no cache keeps.
        """
        interval = Interval(self.query["interval"])
        sees_score = is_by_administrator(request)
        place = standing_cursors.decode(self.query.get("cursor", ""), interval=interval)
        page = standing_pages.read_page(interval, place, limit=self.query["limit"], with_score=sees_score)
        following = page.following and standing_cursors.encode(page.following, interval=interval)
        response = Response({"data": page.rows, "cursor": following})
        if sees_score or request.auth is not None:
            response["Cache-Control"] = PRIVATE_NEVER_STORED
        return response
