"""The operators' pages of the leaderboard."""

from leaderboard.admin.agents import AgentAdmin
from leaderboard.admin.standings import EventImportAdmin, StandingAdmin

__all__ = ["AgentAdmin", "EventImportAdmin", "StandingAdmin"]
