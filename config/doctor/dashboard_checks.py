"""Check for what is red on the dashboard: the same panels, from the same functions, for a terminal."""

from collections.abc import Iterator
from datetime import datetime

from django.conf import settings

from config.doctor.findings import Finding, Level
from config.operators.dashboard import panel_sources

# Panel title -> section in docs/operating.md.
_GUIDES = {
    "Deployments in flight": "wallets",
    "Events": "runbook-events-and-webhooks",
    "Following": "runbook-following",
    "Leaderboard": "rankings",
    "Market data": "market-data",
    "Trades": "trades",
    "Deployers' profiles": "profiles",
    "Documents": "documents",
    "Nodes": "index-requests",
    "Periodic tasks": "runbook-a-process-or-server-fails",
    "Read replica": "runbook-a-process-or-server-fails",
}


def panels(now: datetime) -> Iterator[Finding]:
    """Yield each alarming figure on the dashboard."""
    count = 0
    for source in panel_sources():
        for panel in source.read(now):
            count += 1
            for figure in panel.figures:
                if figure.is_alarming:
                    yield Finding(
                        level=Level.WARNING,
                        summary=f"{panel.title}, {figure.label}: {figure.value}{figure.note and f'; {figure.note}'}.",
                        action=f"See {settings.SITE_URL}{figure.page or '/admin/'}",
                        guide=_GUIDES.get(panel.title, "runbook-a-process-or-server-fails"),
                    )
    yield Finding(level=Level.OK, summary=f"{count} panels of the dashboard were read.")
