"""Webhook receiver, as a subscriber has one: it prints a line per event, and whether the signature is valid.

Usage: `python -m development.standins.event_receiver PORT SECRET_FILE`. It shares no code with the service: the
published Standard Webhooks library verifies the signatures.
"""

import signal
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType

from standardwebhooks import Webhook, WebhookVerificationError

from development.standins.loopback import LoopbackServer, ReceivedRequest, Reply

# An event has less than 20 KB.
_MAX_BYTES = 64 * 1024


def respond(webhook: Webhook, received: ReceivedRequest) -> Reply:
    """Print a line about an event, and accept it if its signature is valid."""
    if received.method != "POST":
        return Reply(status=405)
    try:
        event = webhook.verify(received.content, dict(received.headers))
    # The library raises ValueError for signatures that are not base64, and for a body that is not JSON.
    except (WebhookVerificationError, ValueError) as error:
        print(f"rejected {received.headers.get('webhook-id')!r}: {error}", flush=True)
        return Reply(status=401)
    print(f"{event['type']} {event['subject']}, id {event['id']}, signature verified", flush=True)
    return Reply(status=204)


def main() -> None:
    if len(sys.argv) != 3 or not sys.argv[1].isdecimal():
        sys.exit("usage: python -m development.standins.event_receiver PORT SECRET_FILE")
    # SIGINT too: a shell that starts a program in the background makes it ignore that signal.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        secret = Path(sys.argv[2]).read_text(encoding="utf-8").strip()
        receiver = LoopbackServer(partial(respond, Webhook(secret)), int(sys.argv[1]), max_bytes=_MAX_BYTES)
    except OSError as error:
        sys.exit(f"can't start: {error.strerror}")
    receiver.start()
    print(f"verifies events at {receiver.url}/", flush=True)
    with suppress(KeyboardInterrupt):
        signal.pause()
    receiver.close()


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
