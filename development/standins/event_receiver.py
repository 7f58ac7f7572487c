"""Webhook receiver, as a subscriber has one: it prints a line per event, and whether the signature is valid.

Usage: `python -m development.standins.event_receiver PORT SECRET_FILE`. It shares no code with the service: the
published Standard Webhooks library verifies the signatures.
"""

import signal
import sys
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

from development.standins.loopback import HOST

# An event has less than 20 KB.
_MAX_BYTES = 64 * 1024
# The longest time that a silent client holds a thread.
_TIMEOUT_SECONDS = 10.0
_ACCEPTED, _BAD_SIGNATURE, _TOO_LARGE = 204, 401, 413


class EventReceiver(ThreadingHTTPServer):
    """HTTP server that accepts events signed with the secret; port 0 takes a free port."""

    daemon_threads = True

    def __init__(self, port: int, secret: str) -> None:
        self.webhook = Webhook(secret)
        super().__init__((HOST, port), _EventHandler)

    @property
    def url(self) -> str:
        """Return the URL for an endpoint."""
        return f"http://{HOST}:{self.server_port}/"


class _EventHandler(BaseHTTPRequestHandler):
    timeout = _TIMEOUT_SECONDS
    server: EventReceiver

    def do_POST(self) -> None:
        length = self.headers.get("content-length", "")
        if not (length.isdecimal() and int(length) <= _MAX_BYTES):
            self._respond(_TOO_LARGE)
            return
        body = self.rfile.read(int(length))
        try:
            event: Any = self.server.webhook.verify(body, dict(self.headers.items()))
        # The library raises ValueError for signatures that are not base64, and for a body that is not JSON.
        except (WebhookVerificationError, ValueError) as error:
            print(f"rejected {self.headers.get('webhook-id')!r}: {error}", flush=True)
            self._respond(_BAD_SIGNATURE)
            return
        print(f"{event['type']} {event['subject']}, id {event['id']}, signature verified", flush=True)
        self._respond(_ACCEPTED)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the printed lines are the events."""

    def _respond(self, status: int) -> None:
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()


def main() -> None:
    if len(sys.argv) != 3 or not sys.argv[1].isdecimal():
        sys.exit("usage: python -m development.standins.event_receiver PORT SECRET_FILE")
    # SIGINT too: a shell that starts a program in the background makes it ignore that signal.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        secret = Path(sys.argv[2]).read_text(encoding="utf-8").strip()
        receiver = EventReceiver(int(sys.argv[1]), secret)
    except OSError as error:
        sys.exit(f"can't start: {error.strerror}")
    with receiver, suppress(KeyboardInterrupt):
        print(f"verifies events at {receiver.url}", flush=True)
        receiver.serve_forever()


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
