"""Event chaos run: writers change tokens while the processes that publish and deliver are killed at random."""

import json
import os
import random
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from statistics import quantiles

import psycopg

from config.environment.variables import BASE_DIR
from tests.chaos.deploy_chaos import servers
from tests.chaos.event_check import (
    Found,
    Target,
    commit_times,
    count_undelivered,
    count_unpublished,
    is_pending,
    judge,
    read_rows,
)
from tests.chaos.event_receivers import HEALTHY, MISBEHAVIOURS, Inbox, Receivers, receivers
from tests.chaos.event_writers import CHAIN_IDS, Writers
from tests.processes.own_postgresql import OwnPostgres
from tests.processes.own_valkey import OwnServer
from tests.processes.service_processes import HOST, Service, python_of
from tests.processes.waiting import wait_for

_WRITERS = 6
_PARTNERS = ("Partner A", "Partner B")
# How long a killed server stays down, at most.
_AWAY_SECONDS = 1.5
# Interval between polls for the end.
_LOOK_SECONDS = 0.3
# Timeouts for transactions that are to be caught in the middle: a publisher's and a writer's.
_CATCH_SECONDS, _COMMIT_SECONDS = 10.0, 3.0
# Tables that a publisher writes in turn, so that a lock on one catches it inside its transaction.
_WRITTEN = ("events_event", "accounts_webhookdelivery")
_CAUGHT = """
SELECT FROM pg_stat_activity
WHERE wait_event_type = 'Lock' AND query LIKE %s AND datname = current_database() AND pid <> pg_backend_pid()
"""
_COMMITTING = """
SELECT FROM pg_stat_activity WHERE application_name = 'writer' AND state = 'active' AND query = 'COMMIT'
"""
# Sessions of killed processes.
_SESSIONS = """
SELECT FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name <> 'writer'
"""
_END_LEASES = "UPDATE accounts_webhookdelivery SET due_at = now() WHERE status = 'pending' AND leased_until > now()"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A run's quantities; `rolled_back` is a share of transactions."""

    events: int
    receivers: int = 20
    processes: int = 2
    kills: int
    rolled_back: float = 0.15
    # Events at the end, when nothing is killed any more.
    calm: int = 100
    # Committed events without a delivery, at most, so that publication and delivery go on during the whole run.
    ahead: int = 1000
    # Whether an update ends killed processes' leases, so that a short run does not wait for their end.
    ends_leases: bool = False
    seed: int = 1
    # Timeout from the last event to the last delivery.
    timeout: float = 600.0


@dataclass
class Outcome:
    """A run's outcome."""

    kills: dict[str, int] = field(default_factory=dict)
    # Publishers that were killed within their transaction.
    caught: int = 0
    # Processes that ended without a kill, and were started again.
    ended: int = 0
    events: int = 0
    reorged: int = 0
    commits: int = 0
    rollbacks: int = 0
    unconfirmed: int = 0
    # Requests to all receivers, and to the healthy ones; messages to the healthy ones without repetitions.
    requests: int = 0
    healthy_requests: int = 0
    healthy_messages: int = 0
    # Seconds from a commit to the event's first request at a healthy receiver: median, 99 %, and maximum.
    latency: tuple[float, float, float] = (0.0, 0.0, 0.0)
    # The same without kills, while the others misbehave.
    calm_latency: tuple[float, float, float] = (0.0, 0.0, 0.0)
    # From the last commit under kills to its last delivery to healthy receivers.
    drain_seconds: float = 0.0
    seconds: float = 0.0
    # What the check found wrong.
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Ground:
    """The service's environment: its own servers, with an empty database."""

    postgres: OwnPostgres
    valkey: OwnServer
    environment: Mapping[str, str]


@contextmanager
def ground(place: Path) -> Iterator[Ground]:
    """Yield servers in a directory, and a database with the tables. The Valkey loses its data when it is killed."""
    with servers(place, is_valkey_durable=False) as (postgres, valkey):
        environment = dict(os.environ) | {
            "DATABASE_URL": postgres.url,
            "REDIS_URL": valkey.url,
            "SECRET_KEY": secrets.token_urlsafe(50),
            "DJANGO_SETTINGS_MODULE": "development.setting_overrides",
            "LOG_LEVEL": "ERROR",
            "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.1",
            # More attempts than a receiver's timeouts on a busy machine.
            "OVERRIDE_WEBHOOK_SCHEDULE_SECONDS": "[0, 1, 1, 2, 2, 5, 5, 10, 10, 10, 20, 20]",
            "OVERRIDE_WEBHOOK_TIMEOUT_SECONDS": "2",
        }
        command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(command, cwd=BASE_DIR, env=environment, check=True)
        yield Ground(postgres=postgres, valkey=valkey, environment=environment)


def run(ground: Ground, plan: Plan) -> Outcome:
    """Write the planned events under the planned kills, wait until they are delivered, and check the result."""
    started, behaviours = time.monotonic(), _behaviours(plan)
    with receivers(behaviours) as listening, ExitStack() as stack:
        targets, signing_secrets = create_targets(ground.environment, behaviours, listening.ports)
        unfiltered = [
            number
            for number, target in enumerate(targets)
            if target == Target(endpoint_id=target.endpoint_id, is_healthy=True)
        ]
        listening.listen(signing_secrets, unfiltered)
        partner_ids = sorted({target.partner_id for target in targets if target.partner_id is not None})
        writers = Writers(ground.postgres.url, partner_ids=partner_ids, seed=plan.seed, rolled_back=plan.rolled_back)
        service = _Processes(ground, plan)
        service.start(stack)
        outcome = Outcome()
        _write_under_kills(writers, service, listening, plan, outcome, readers=len(unfiltered))
        last_commit = time.monotonic()
        if plan.ends_leases:
            service.restart()
        service.wait_until_delivered(targets)
        calm_since = time.monotonic()
        outcome.drain_seconds = calm_since - last_commit
        with writers.write(_WRITERS, events=writers.journal.events + plan.calm, may_write=lambda: True):
            wait_for(writers.have_ended)
        service.wait_until_delivered(targets)
        outcome.caught, outcome.ended = service.caught, service.ended
        service.stop()
        inbox = listening.finish()
    found = read_found(ground.postgres.url, inbox, targets)
    outcome.wrong = judge(writers.journal.changes, targets, found)
    outcome.seconds = time.monotonic() - started
    _count(outcome, writers, targets, found, calm_since)
    return outcome


def _write_under_kills(
    writers: Writers, service: "_Processes", listening: Receivers, plan: Plan, outcome: Outcome, *, readers: int
) -> None:
    journal = writers.journal

    def may_write() -> bool:
        return journal.events - listening.accepted / readers < plan.ahead

    # The processes are started here, and not in a thread: what a thread has started ends with it.
    with writers.write(_WRITERS, events=plan.events, may_write=may_write):
        service.wait_for(lambda: listening.accepted > 0)
        outcome.kills = service.kill_at_random(lambda: journal.events / plan.events)
        wait_for(lambda: journal.events >= plan.events)
        wait_for(writers.have_ended)


def _behaviours(plan: Plan) -> list[str]:
    return [HEALTHY] * (plan.receivers - len(MISBEHAVIOURS)) + list(MISBEHAVIOURS)


def create_targets(
    environment: Mapping[str, str], behaviours: Sequence[str], ports: Sequence[int], *, directory: Path = BASE_DIR
) -> tuple[list[Target], list[str]]:
    """Create the receivers' endpoints and two partners' keys; return the endpoints and their secrets.

    `directory` has the version that creates them. The first healthy receivers have filters or a partner; the
    others are operators' and get all events.
    """
    special: list[dict[str, object]] = [
        {"types": ["token.reorged", "token.confirmed"]},
        {"chain_ids": [CHAIN_IDS[1]]},
        {"partner": 0},
        {"partner": 1},
    ]
    forms = [
        {"url": f"http://{HOST}:{port}/events"} | (special[number] if number < len(special) else {})
        for number, port in enumerate(ports)
    ]
    command = """if True:
        import json, sys, django
        django.setup()
        from accounts.keys.credentials import issue_key
        from accounts.models import PartnerKey
        from accounts.subscriptions.endpoints import create_endpoint
        from accounts.subscriptions.webhook_secrets import endpoint_secret
        forms, names = json.loads(sys.argv[1])
        for name in names: issue_key(name, scopes=["webhooks", "read"])
        keys = [PartnerKey.objects.get(name=name) for name in names]
        created = []
        for form in forms:
            key = keys[form.pop("partner")] if "partner" in form else None
            endpoint = create_endpoint(key, **form)
            created.append([endpoint.pk, endpoint_secret(endpoint), key and key.pk])
        print(json.dumps(created))
    """
    done = subprocess.run(
        [python_of(directory), "-c", command, json.dumps([forms, _PARTNERS])],
        cwd=directory,
        env=dict(environment),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    created = json.loads(done.stdout.splitlines()[-1])
    targets = [
        Target(
            endpoint_id=endpoint_id,
            types=frozenset(form.get("types", ())),
            chain_ids=frozenset(form.get("chain_ids", ())),
            partner_id=partner_id,
            is_healthy=behaviour == HEALTHY,
        )
        for form, (endpoint_id, _, partner_id), behaviour in zip(forms, created, behaviours, strict=True)
    ]
    return targets, [secret for _, secret, _ in created]


def read_found(database_url: str, inbox: Inbox, targets: Sequence[Target]) -> Found:
    """Read the tables, and join them with what the receivers got."""
    return Found(
        rows=read_rows(database_url),
        receipts=inbox.receipts,
        bodies=inbox.bodies,
        unpublished=count_unpublished(database_url),
        undelivered=count_undelivered(database_url, _healthy_ids(targets)),
    )


def _healthy_ids(targets: Sequence[Target]) -> list[int]:
    return [target.endpoint_id for target in targets if target.is_healthy]


def _count(outcome: Outcome, writers: Writers, targets: Sequence[Target], found: Found, calm_since: float) -> None:
    journal = writers.journal
    outcome.events, outcome.reorged = len(found.rows), journal.reorged
    outcome.commits, outcome.rollbacks, outcome.unconfirmed = journal.commits, journal.rollbacks, journal.unconfirmed
    commits = {f"evt_{number}": at for number, at in commit_times(journal.changes, found.rows).items()}
    first: dict[tuple[int, str], float] = {}
    for receipt in found.receipts:
        if targets[receipt.receiver].is_healthy:
            outcome.healthy_requests += 1
            first.setdefault((receipt.receiver, receipt.message_id), receipt.began_at)
    outcome.requests, outcome.healthy_messages = len(found.receipts), len(first)
    delays = [(commits[message], at - commits[message]) for (_, message), at in first.items() if message in commits]
    outcome.latency = _spread([delay for at, delay in delays if at < calm_since])
    outcome.calm_latency = _spread([delay for at, delay in delays if at >= calm_since])


def _spread(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the median, the 99th percentile and the maximum."""
    if len(values) < 2:
        return (0.0, 0.0, 0.0)
    cuts = quantiles(values, n=100)
    return cuts[49], cuts[98], max(values)


class _Processes:
    """The processes that publish and deliver, and their servers; a kill may hit each."""

    def __init__(self, ground: Ground, plan: Plan) -> None:
        self._ground, self._plan, self._rng = ground, plan, random.Random(plan.seed)
        self._tables = cycle(_WRITTEN)
        self._ends = cycle((ground.postgres.quit, ground.postgres.kill))
        self.caught = self.ended = 0

    def start(self, stack: ExitStack) -> None:
        """Start the processes."""
        self._running = [Service("events", self._ground.environment) for _ in range(self._plan.processes)]
        for each in self._running:
            stack.callback(each.kill)

    def stop(self) -> None:
        """Terminate the processes, and wait for their end."""
        for each in self._running:
            each.stop()

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition; start processes that have ended without a kill, as a supervisor does."""

        def is_true() -> bool:
            for each in self._running:
                if each.process.poll() is not None:
                    self.ended += 1
                    each.start()
            return condition()

        wait_for(is_true, seconds=2 * self._plan.timeout)

    def kill_at_random(self, done: Callable[[], float]) -> dict[str, int]:
        """Kill and restart, evenly over the events, `done` being their share; count the kills by target."""
        kinds: dict[str, Callable[[], None]] = {
            "process": self._restart_one,
            "publisher": self._kill_publisher,
            "PostgreSQL": self._kill_postgres,
            "all processes": self.restart,
            "Valkey": self._lose_valkey,
        }
        counts = dict.fromkeys(kinds, 0)
        # Each kind in turn, so that few kills meet all.
        for number, kind in enumerate(islice(cycle(kinds), self._plan.kills)):
            share = (number + 1) / (self._plan.kills + 1)
            self.wait_for(lambda share=share: done() >= share)
            kinds[kind]()
            counts[kind] += 1
        return counts

    def _restart_one(self) -> None:
        process = self._rng.choice(self._running)
        process.kill()
        process.start()

    def _kill_publisher(self) -> None:
        """Lock a table that the publisher writes, and kill the processes once one waits for the lock."""
        table = next(self._tables)
        url, is_caught, deadline = self._ground.postgres.url, False, time.monotonic() + _CATCH_SECONDS
        with psycopg.connect(url, autocommit=True) as watching, psycopg.connect(url) as locking:
            locking.execute(f"LOCK TABLE {table} IN SHARE MODE")
            while not is_caught and time.monotonic() < deadline:
                is_caught = watching.execute(_CAUGHT, [f"%INSERT INTO {table}%"]).rowcount > 0
            self._kill_all()
            locking.rollback()
        self.caught += is_caught
        self._start_all()

    def _kill_postgres(self) -> None:
        """End PostgreSQL during a COMMIT if there is one, in two ways in turn, and start it after a while."""
        postgres, deadline = self._ground.postgres, time.monotonic() + _COMMIT_SECONDS
        with psycopg.connect(postgres.url, autocommit=True) as watching:
            while not watching.execute(_COMMITTING).rowcount and time.monotonic() < deadline:
                pass
            next(self._ends)()
        self._wait_a_while()
        postgres.start()

    def _lose_valkey(self) -> None:
        """End Valkey with its data, restart a process meanwhile, and start an empty one after a while."""
        self._ground.valkey.kill()
        self._restart_one()
        self._wait_a_while()
        self._ground.valkey.start()

    def _wait_a_while(self) -> None:
        end = time.monotonic() + self._rng.uniform(0.0, _AWAY_SECONDS)
        wait_for(lambda: time.monotonic() >= end)

    def restart(self) -> None:
        """Kill and restart all processes."""
        self._kill_all()
        self._start_all()

    def _kill_all(self) -> None:
        for each in self._running:
            each.kill()

    def _start_all(self) -> None:
        if self._plan.ends_leases:
            with psycopg.connect(self._ground.postgres.url, autocommit=True) as connection:
                # The session of a killed process still completes what it has received.
                wait_for(lambda: connection.execute(_SESSIONS).rowcount == 0)
                connection.execute(_END_LEASES)
        for each in self._running:
            each.start()

    def wait_until_delivered(self, targets: Sequence[Target]) -> None:
        """Wait until nothing is left for healthy receivers; after the plan's timeout, the check finds the rest."""
        healthy, deadline = _healthy_ids(targets), time.monotonic() + self._plan.timeout
        next_look = 0.0

        def is_over() -> bool:
            nonlocal next_look
            if time.monotonic() < next_look:
                return False
            is_left = is_pending(self._ground.postgres.url, healthy)
            next_look = time.monotonic() + _LOOK_SECONDS
            return not is_left or time.monotonic() > deadline

        self.wait_for(is_over)
