"""Examples on the page `/docs` that run on, with faults: the stream listener, and the webhook receiver."""

import base64
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import requests
from standardwebhooks import Webhook

from development.servers.processes import free_port
from development.standins.loopback import Reply
from tests.clients.scripted_server import scripted_server
from tests.processes.example_code import read_examples, run_example, running
from tests.processes.waiting import wait_for

LANGUAGES = ("python", "typescript")
BUSY, REFUSED = Reply(b'{"error":"Not now"}', 429, {"retry-after": "4"}), Reply(b'{"error":"No such id"}', 400)
KEY = b"k" * 32
SECRET = "whsec_" + base64.b64encode(KEY).decode()
BODY = '{"type":"token.indexed"}'


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def stream_code(language: str, client: Any, settings: Any, url: str) -> str:
    """Return the listener to a stream at a URL."""
    settings.SITE_URL = url
    return read_examples(client.get("/docs").text)["stream", language]


def events(text: str) -> Reply:
    return Reply(text.encode(), headers={"content-type": "text/event-stream"})


def event(number: int) -> str:
    return f'id: {number}\nevent: token.indexed\ndata: {{"id":{number}}}\n\n'


@pytest.mark.django_db
def test_a_stream_that_is_cut_off_loses_and_repeats_no_event(language, client, settings, tmp_path):
    whole = f"retry: 100\nid: 1\n\n{event(2)}"
    # After the id, within the data, before the empty line, and between two events.
    cuts = [whole + event(3)[:6], event(3) + event(4)[:-6], event(4) + event(5)[:-1], event(5), event(6)]
    with scripted_server(*map(events, cuts)) as server:
        code = stream_code(language, client, settings, server.url)
        with running(language, code, tmp_path) as output:
            wait_for(lambda: not server.script)
            wait_for(lambda: "6" in output())
            shown = [line for line in output().splitlines() if "reconnect" not in line]
    assert len(shown) == 5 and all(str(number) in line for number, line in zip(range(2, 7), shown, strict=True)), shown
    positions = [request.headers.get("last-event-id") for request in server.requests[:5]]
    assert positions == [None, "2", "3", "4", "5"]


@pytest.mark.django_db
def test_the_listener_waits_as_long_as_retry_after_requests_and_ends_with_other_errors(
    language, client, settings, tmp_path
):
    with scripted_server(BUSY, events(event(2)), REFUSED) as server:
        code = stream_code(language, client, settings, server.url)
        with pytest.raises(AssertionError, match="400"):
            run_example(language, code, tmp_path)
        assert not server.script and server.gaps()[0] >= 4


@pytest.mark.django_db
def test_the_listener_opens_a_silent_stream_again(language, client, settings, tmp_path):
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        code = stream_code(language, client, settings, f"http://127.0.0.1:{listening.getsockname()[1]}")
        for seconds, shorter in (("timeout=30", "timeout=1"), ("30_000", "1_000")):
            code = code.replace(seconds, shorter)
        with running(language, code, tmp_path):
            first, _ = listening.accept()
            with first:
                first.sendall(head + event(2).encode())
                second, _ = listening.accept()
                with second:
                    assert b"last-event-id: 2" in second.recv(65_536).lower()


@contextmanager
def receiver(language: str, client: Any, directory: Path) -> Iterator[tuple[int, Callable[[], str]]]:
    """Run the receiver while the block runs; yield its port, and a function that returns its output."""
    port = free_port()

    def is_up() -> bool:
        try:
            return requests.post(f"http://127.0.0.1:{port}", data="{}", timeout=30).status_code == 401
        except requests.ConnectionError:
            return False

    code = read_examples(client.get("/docs").text)["webhook", language]
    with running(language, code, directory, WEBHOOK_SECRET=SECRET, PORT=str(port)) as output:
        wait_for(is_up)
        yield port, output


def deliver(
    port: int, *, key: bytes = KEY, at: float | None = None, timestamp: str = "", signed: str = BODY, sent: str = ""
) -> int:
    """Send a delivery that was signed at a time, now by default, and return the response's status."""
    at = time.time() if at is None else at
    headers = {"webhook-id": "evt_1", "webhook-timestamp": timestamp or str(int(at))}
    signature = Webhook(key).sign("evt_1", datetime.fromtimestamp(at, UTC), signed)
    headers["webhook-signature"] = f"v1,b2xk {signature}"
    return requests.post(f"http://127.0.0.1:{port}", data=sent or signed, headers=headers, timeout=30).status_code


@pytest.mark.django_db
def test_the_receiver_accepts_only_what_is_signed(language, client, tmp_path):
    with receiver(language, client, tmp_path) as (port, output):
        assert deliver(port) == 204
        forged = [deliver(port, key=b"x" * 32), deliver(port, at=time.time() - 400), deliver(port, sent=BODY + " ")]
        assert forged == [401, 401, 401]
        assert [deliver(port, timestamp=each) for each in ("\u00b2", "9" * 5_000)] == [401, 401]
        assert output() == "token.indexed\n"


@pytest.mark.django_db
def test_the_receiver_outlives_requests_that_end_early_and_bodies_that_are_not_json(language, client, tmp_path):
    with receiver(language, client, tmp_path) as (port, output):
        with socket.create_connection(("127.0.0.1", port)) as cut:
            cut.sendall(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{")
        assert deliver(port, signed="no JSON") == 400
        # Neither sends a whole request.
        idle = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(2)]
        idle[1].sendall(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{")
        assert deliver(port) == 204
        assert output() == "token.indexed\n"
        for connection in idle:
            connection.close()


@pytest.mark.django_db
@pytest.mark.parametrize("secret", ["", "whsec_"])
def test_the_receiver_does_not_start_without_a_secret(language, client, tmp_path, secret):
    code = read_examples(client.get("/docs").text)["webhook", language]
    with pytest.raises(AssertionError, match="WEBHOOK_SECRET"):
        run_example(language, code, tmp_path, WEBHOOK_SECRET=secret, PORT=str(free_port()))
