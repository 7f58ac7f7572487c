"""View for agent rankings."""

from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import OptionalUserAuthentication
from accounts.permissions import is_administrator_request
from config.api.replica_reads import from_replica
from config.api.views import QueryView
from config.web.response_headers import PRIVATE_NO_STORE, public_cache_control
from leaderboard.models import Interval
from leaderboard.ranking import standing_cursors
from leaderboard.ranking.responses import Leaderboard
from leaderboard.ranking.serializers import LeaderboardQuery
from leaderboard.ranking.standing_pages import read_standing_page

# Shared caches keep a ranking page, and serve it while they revalidate it.
TTL_SECONDS, STALE_SECONDS = 30, 60


class LeaderboardView(QueryView):
    """Public endpoint for rankings; administrators also get the score breakdown."""

    authentication_classes = [OptionalUserAuthentication]
    permission_classes = [AllowAny]
    query_serializer = LeaderboardQuery
    cache_control = public_cache_control(TTL_SECONDS, stale_seconds=STALE_SECONDS)
    vary = "Cookie"
    security_by_method = {"GET": [{"userToken": []}, {"adminSession": []}, {}]}

    @extend_schema(operation_id="listLeaderboard", responses={200: Leaderboard, 401: None})
    def get(self, request: Request) -> Response:
        """List agents with a token by their rank within an interval, best first.

        Anonymous callers, users who are not administrators, and callers with an invalid, forged or expired cookie get
        the public response. An invalid token is 401. Administrators, by token or by the cookie `admin_session`, also
        get `score`; that response is never cached.
        """
        interval = Interval(self.query["interval"])
        with_score = is_administrator_request(request)
        position = standing_cursors.decode_cursor(self.query.get("cursor", ""), interval=interval)
        is_public = not with_score and request.auth is None
        read_page = from_replica(read_standing_page) if is_public else read_standing_page
        page = read_page(interval, position, limit=self.query["limit"], with_score=with_score)
        cursor = standing_cursors.encode_cursor(page.next_position, interval=interval) if page.next_position else None
        response = Response(Leaderboard(data=page.rows, cursor=cursor))
        if not is_public:
            response["Cache-Control"] = PRIVATE_NO_STORE
        return response
