"""Leaderboard's public page URL."""

from config.web.routing import endpoint
from leaderboard.views.ranking_page import leaderboard_page

urlpatterns = [endpoint("leaderboard", leaderboard_page, name="leaderboard-page")]
