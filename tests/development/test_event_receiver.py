"""The receiver of webhooks that `make run` starts, and its endpoint: over HTTP, with events that the service sends."""

import signal
import stat
import subprocess
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
import requests
from django.core.management import call_command
from django.utils import timezone

from accounts.models import DisabledBy, WebhookEndpoint
from accounts.subscriptions import deliveries, endpoints, sending, webhook_secrets
from config.events.models import Event
from development import run_webhooks
from development.standins.market_server import MarketStandIn
from tests.accounts.subscriptions.subscribers import queue_events
from tests.processes.forking.program import Program, run_program
from tests.rows.factories import PartnerKeyFactory, WebhookEndpointFactory

pytestmark = pytest.mark.django_db

COMMAND = ["python", "-m", "development.standins.event_receiver"]
URL = "http://127.0.0.1:8603/"


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    call_command("prepare_webhook_receiver", URL, str(tmp_path / "secret"))
    return tmp_path / "secret"


class Receiver:
    """A running receiver with its endpoint, and the lines that it prints."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.url = self.line().rpartition(" ")[2]
        self.endpoint = WebhookEndpoint.objects.get()
        self.endpoint.url = self.url

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()


@pytest.fixture
def receiver(secret_file: Path, settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOK_ALLOWED_NETWORKS = (ip_network("127.0.0.1"),)
    with Program([*COMMAND, "0", str(secret_file)], stdout=subprocess.PIPE) as process:
        try:
            yield Receiver(process)
        finally:
            process.kill()


def test_it_prints_each_event_that_it_verified(receiver):
    [delivery] = queue_events(subject="0xabc")
    event = Event.objects.get()
    assert sending.send_delivery(receiver.endpoint, delivery, event).status == 204
    assert receiver.line() == f"token.indexed 0xabc, id {event.pk}, signature verified"
    test = deliveries.queue_test(receiver.endpoint)
    assert sending.send_delivery(receiver.endpoint, test, None).status == 204
    assert receiver.line() == f"webhook.test {receiver.endpoint.pk}, id 0, signature verified"


def test_it_still_verifies_after_a_rotation(receiver):
    endpoints.rotate_secret(receiver.endpoint)
    receiver.endpoint.url = receiver.url
    [delivery] = queue_events()
    assert sending.send_delivery(receiver.endpoint, delivery, Event.objects.get()).status == 204


@pytest.mark.parametrize(
    "changes",
    [{"webhook-signature": "v1,AAAA"}, {"webhook-signature": "nonsense"}, {"webhook-id": "evt_2"}, {"webhook-id": ""}],
)
def test_it_rejects_what_the_service_did_not_sign(receiver, changes):
    headers = webhook_secrets.signed_headers(receiver.endpoint, message_id="evt_1", body=b"{}", now=timezone.now())
    assert requests.post(receiver.url, data=b"{}", headers=headers | changes, timeout=60).status_code == 401
    assert receiver.line().startswith("rejected ")


def test_it_reads_no_large_body(receiver):
    assert requests.post(receiver.url, data=b" " * 65_537, timeout=60).status_code == 413


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_quietly_by_a_signal(receiver, number):
    receiver.process.send_signal(number)
    assert receiver.process.wait(120) == 0
    assert receiver.line() == ""


def test_it_names_what_it_can_not_start_with(secret_file, tmp_path):
    def refusal(*words: str) -> str:
        ended = run_program([*COMMAND, *words])
        assert ended.returncode == 1
        return ended.stderr

    assert refusal("port", str(secret_file)).startswith("usage: python -m ")
    assert refusal("0", str(tmp_path / "none")) == "can't start: No such file or directory\n"
    with MarketStandIn() as other:
        port = other.url.rpartition(":")[2]
        assert refusal(port, str(secret_file)) == "can't start: Address already in use\n"


def test_runs_have_one_endpoint_with_the_secret_in_a_private_file(secret_file):
    endpoint = WebhookEndpoint.objects.get()
    assert (endpoint.url, endpoint.partner_key) == (URL, None)
    assert secret_file.read_text().strip() == webhook_secrets.endpoint_secret(endpoint)
    assert stat.S_IMODE(secret_file.stat().st_mode) == 0o600
    # A partner may use the same words.
    other = WebhookEndpointFactory(partner_key=PartnerKeyFactory(), description=endpoint.description)
    endpoints.rotate_secret(endpoint)
    endpoints.disable_endpoint(endpoint, "nothing but failures for 5 days", by=DisabledBy.SERVICE, notice=False)
    call_command("prepare_webhook_receiver", "http://127.0.0.1:9000/", str(secret_file))
    again = WebhookEndpoint.objects.exclude(pk=other.pk).get()
    assert (again.pk, again.url, again.state) == (endpoint.pk, "http://127.0.0.1:9000/", "enabled")
    assert secret_file.read_text().strip() == webhook_secrets.endpoint_secret(again)
    endpoints.disable_endpoint(again, "disabled by an operator: too many lines", by=DisabledBy.OPERATOR, notice=False)
    call_command("prepare_webhook_receiver", URL, str(secret_file))
    again.refresh_from_db()
    assert again.state == "off"


def test_this_machine_may_get_events_unless_other_networks_are_set():
    assert run_webhooks.receiver_settings({}) == {"WEBHOOK_ALLOWED_NETWORKS": "127.0.0.1/32"}
    assert run_webhooks.receiver_settings({"WEBHOOK_ALLOWED_NETWORKS": "10.0.0.0/8"}) == {}
