"""Webhooks for `make run`: a receiver beside the development chain that prints and verifies each event."""

import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from django.core.management import call_command

from development import run_chains
from development.supervisor import Supervisor

HOST = "127.0.0.1"
NAME = "receiver"
PORT = 8603
_ALLOWED = "WEBHOOK_ALLOWED_NETWORKS"


def receiver_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the setting that allows webhooks to this machine, unless it is set."""
    return {} if environment.get(_ALLOWED) else {_ALLOWED: f"{HOST}/32"}


def start_receiver(
    supervisor: Supervisor, environment: Mapping[str, str], *, local: Path, find_free_port: Callable[[int], int]
) -> None:
    """Create this run's operator endpoint and start its receiver, if there is a development chain."""
    if not run_chains.has_development_chain(environment):
        return
    port, secret_file = find_free_port(PORT), local / "webhook-secret"
    call_command("prepare_webhook_receiver", f"http://{HOST}:{port}/", str(secret_file))
    command = [sys.executable, "-m", "development.standins.event_receiver", str(port), str(secret_file)]
    supervisor.start(NAME, command, environment=environment)


def events_greeting(address: str, *, partner_key: str, has_receiver: bool) -> str:
    """Return the greeting's lines about events: a shell command that lists them, and where a receiver prints them."""
    url, header = shlex.quote(f"{address}/api/events?limit=3"), shlex.quote(f"x-api-key: {partner_key}")
    lines = f"  Events            curl {url} -H {header}\n"
    if has_receiver:
        lines += f"  Webhooks          each line of `{NAME}` here is an event that it got and verified\n"
    return lines
