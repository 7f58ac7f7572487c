"""Check for what is red on the dashboard: the same panels, from the same functions, for a terminal."""

from collections.abc import Iterator
from datetime import datetime

from django.conf import settings

from config.doctor.findings import Finding, Level
from config.operators.dashboard import panel_sources

# Panel title -> section of docs/.
_GUIDES = {
    "Deployments in flight": "repairing.md#wallets",
    "Events": "repairing.md#runbook-events-and-webhooks",
    "Following": "repairing.md#runbook-following",
    "Leaderboard": "repairing.md#rankings",
    "Market data": "repairing.md#market-data",
    "Trades": "repairing.md#trades",
    "Deployers' profiles": "repairing.md#profiles",
    "Documents": "repairing.md#documents",
    "Nodes": "repairing.md#index-requests",
    "Periodic tasks": "repairing.md#runbook-a-process-or-server-fails",
    "Read replica": "repairing.md#runbook-a-process-or-server-fails",
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
                        guide=_GUIDES.get(panel.title, "repairing.md#runbook-a-process-or-server-fails"),
                    )
    yield Finding(level=Level.OK, summary=f"{count} panels of the dashboard were read.")
