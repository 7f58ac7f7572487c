"""Leaderboard models: agents, facts about them, and rankings."""

from leaderboard.models.agents import Agent, AgentWallet
from leaderboard.models.facts import (
    Action,
    ActionKind,
    Interaction,
    InteractionKind,
    Run,
    SocialAccount,
    SocialScore,
    Trade,
)
from leaderboard.models.snapshots import Interval, Snapshot, Standing
from leaderboard.models.sources import EventImport, HubCast, HubCursor, HubQuote

__all__ = [
    "Action",
    "ActionKind",
    "Agent",
    "AgentWallet",
    "EventImport",
    "HubCast",
    "HubCursor",
    "HubQuote",
    "Interaction",
    "InteractionKind",
    "Interval",
    "Run",
    "Snapshot",
    "SocialAccount",
    "SocialScore",
    "Standing",
    "Trade",
]
