"""`manage.py deliver_events`: publish events and deliver them to webhook endpoints until the process is stopped."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from accounts.subscriptions.delivery_process import deliver_events
from config.processes.stop_signals import stopped_by_signals

# Seconds to store the last attempts' outcomes.
_DATABASE_SECONDS = 1.0


class Command(BaseCommand):
    help = (
        "Publish events, and deliver them to webhook endpoints, until SIGTERM or SIGINT. Several processes share the"
        " deliveries, and one of them publishes."
    )
    # Chain checks need nodes.
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        # The receiver of an interrupted attempt would get its event again.
        grace = settings.WEBHOOK_TIMEOUT_SECONDS + _DATABASE_SECONDS
        with stopped_by_signals(status=0, grace_seconds=grace) as stop:
            deliver_events(stop)
