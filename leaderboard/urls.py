"""Leaderboard URL routes, in the contract's sequence."""

from config.web.routing import endpoint
from leaderboard.views.event_reports import AgentEventsView
from leaderboard.views.own_standing import OwnedStandingView, OwnStandingView
from leaderboard.views.rankings import LeaderboardView

urlpatterns = [
    endpoint("droid/leaderboard", LeaderboardView.as_view(), name="leaderboard"),
    endpoint("droid/events", AgentEventsView.as_view(), name="agent-events"),
    endpoint("droid/standing", OwnStandingView.as_view(), name="agent-standing"),
    endpoint("droid/standing/owned", OwnedStandingView.as_view(), name="owned-agent-standing"),
]
