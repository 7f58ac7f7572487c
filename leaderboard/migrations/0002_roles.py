"""Permissions of operators and support staff for the leaderboard's admin pages."""

from django.db import migrations

from accounts.operators import roles

_SEEN = (
    "agent",
    "agentwallet",
    "action",
    "run",
    "interaction",
    "trade",
    "socialaccount",
    "socialscore",
    "snapshot",
    "standing",
    "eventimport",
    "hubcursor",
    "hubcast",
)
SEE = tuple(f"leaderboard.view_{model}" for model in _SEEN)
PERMISSIONS = {
    # Facts and rankings are read-only for all roles.
    roles.OPERATOR: (
        *SEE,
        "leaderboard.add_agent",
        "leaderboard.change_agent",
        "leaderboard.add_agentwallet",
        "leaderboard.change_agentwallet",
        "leaderboard.delete_agentwallet",
    ),
    roles.SUPPORT: SEE,
}


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0001_leaderboard"),
        ("accounts", "0004_roles"),
    ]

    operations = [roles.grant(PERMISSIONS)]
