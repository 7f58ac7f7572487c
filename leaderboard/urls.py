"""The endpoints of the leaderboard, in the contract's order."""

from config.api.routing import endpoint
from leaderboard.views.events import AgentEventsView
from leaderboard.views.standings import LeaderboardView

urlpatterns = [
    endpoint("droid/leaderboard", LeaderboardView.as_view(), name="leaderboard"),
    endpoint("droid/events", AgentEventsView.as_view(), name="agent-events"),
]
