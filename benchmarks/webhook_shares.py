"""Deliveries to a bystander beside 20 endpoints, for one key or for ten, that answer and then hang.

    python -m benchmarks.webhook_shares [--seconds 20]

Ten events a second go to all endpoints. Times are from an event's storage to its request at the bystander, whose
endpoint has another owner. Exits with code 1 where an attack by one key makes the 99th percentile longer than 250 ms,
and longer than one and a half times that without an attack. Ten keys show what a full process costs: until their
endpoints hang, they take 200 deliveries a second.
"""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import cycle

import orjson

from benchmarks.harness import Limits, keep, parse_quantities, print_table
from benchmarks.http_load import percentile
from benchmarks.lists import dataset
from benchmarks.stream.stream_load import EVENTS_PER_SECOND, EventWriter, store_event
from development.standins.loopback import ReceivedRequest, Reply, run_server
from tests.processes.service_processes import HOST, service

_DATABASE, _MIGRATED, _ENDPOINTS = "webhook_shares", "webhook_shares_empty", 20
_SETTINGS = {"WEBHOOK_ALLOWED_NETWORKS": HOST}
# Longer than an attempt may take.
_HANG_SECONDS = 60.0
_LIMIT_SECONDS, _LIMIT_RATIO = 0.25, 1.5
# Attack -> the endpoints' keys; each one's fast answers before it hangs; whether it answers again afterwards.
_ATTACKS = {
    "none": (0, 0, False),
    "one answer": (1, 1, False),
    "five answers": (1, 5, False),
    "five answers, again": (1, 5, True),
    "ten keys, seven answers": (10, 7, False),
}
_KEY = """
INSERT INTO accounts_partnerkey (name, scopes, created_at) VALUES ('Attacker', '{webhooks}', now()) RETURNING id
"""
_ENDPOINT = """
INSERT INTO accounts_webhookendpoint (partner_key_id, url, description, types, chain_ids, email, salt, created_at,
    disabled_reason) VALUES (%s, %s, '', '{}', '{}', '', %s, now(), '')
"""


def main() -> int:
    """Print and keep the figures; return 1 where one is beyond its limit."""
    seconds: float = parse_quantities(__doc__, seconds=20.0).seconds
    dataset.start_server()
    dataset.make_migrated(_MIGRATED)
    figures = {name: _measure(seconds, *attack) for name, attack in _ATTACKS.items()}
    print_table(["attack", *figures["none"]], [[name, *each.values()] for name, each in figures.items()])
    keep("webhook_shares", {"seconds": seconds, "events a second": EVENTS_PER_SECOND, "attacks": figures})
    limits, floor = Limits(), figures["none"]["p99 ms"] / 1000
    for name, each in figures.items():
        if _ATTACKS[name][0] > 1:
            continue
        limits.at_most(f"{name}: p99", each["p99 ms"] / 1000, max(_LIMIT_SECONDS, _LIMIT_RATIO * floor), "s")
    return 0 if limits.are_kept else 1


def _measure(seconds: float, keys: int, answers: int, is_repeated: bool) -> dict[str, float]:
    """Return the bystander's times in one attack."""
    dataset.make_empty(_DATABASE, template=_MIGRATED)
    times: list[float] = []
    with _receiver(times, answers=None, is_repeated=False) as bystander, ExitStack() as attackers:
        hanging = [
            attackers.enter_context(_receiver([], answers=answers, is_repeated=is_repeated))
            for _ in range(_ENDPOINTS if answers else 0)
        ]
        with dataset.connect(_DATABASE) as connection:
            connection.execute(_ENDPOINT, [None, bystander, b"b" * 32])
            owners = [connection.execute(_KEY).fetchone() for _ in range(keys)]
            for url, owner in zip(hanging, cycle(owners), strict=False):
                connection.execute(_ENDPOINT, [owner and owner[0], url, b"a" * 32])
        with service("events", dataset.environment(_DATABASE) | _SETTINGS):
            # The first event waits for the process's start.
            with dataset.connect(_DATABASE) as connection:
                store_event(connection, "first")
            while not times:
                time.sleep(0.1)
            times.clear()
            writer = EventWriter(dataset.database_url(_DATABASE))
            time.sleep(seconds)
            writer.stop()
    received = sorted(times)
    return {
        "events": len(received),
        "p50 ms": round(1000 * percentile(received, 50), 1),
        "p99 ms": round(1000 * percentile(received, 99), 1),
        "max ms": round(1000 * received[-1], 1),
    }


@contextmanager
def _receiver(times: list[float], *, answers: int | None, is_repeated: bool) -> Iterator[str]:
    """Yield a receiver's URL that notes how old each event is; after so many answers it hangs, or never."""
    ended, counts = threading.Event(), [0]

    def respond(request: ReceivedRequest) -> Reply:
        times.append(time.time() - orjson.loads(request.content)["data"]["sent"])
        counts[0] += 1
        if answers is not None and counts[0] > answers:
            counts[0] = 0 if is_repeated else counts[0]
            ended.wait(_HANG_SECONDS)
        return Reply(status=204)

    with run_server(respond) as url:
        try:
            yield f"{url}/hook"
        finally:
            ended.set()


if __name__ == "__main__":
    sys.exit(main())
