"""Admin pages of the leaderboard."""

from leaderboard.admin.agent_pages import AgentAdmin
from leaderboard.admin.ranking_pages import EventImportAdmin, StandingAdmin

__all__ = ["AgentAdmin", "EventImportAdmin", "StandingAdmin"]
