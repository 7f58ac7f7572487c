"""Leaderboard dashboard: panel source."""

from config.operators.dashboard import PanelSource, register_panels
from leaderboard.admin.dashboard import ranking_panels

register_panels(PanelSource(sort_key=110, permission="leaderboard.view_standing", read=ranking_panels))
