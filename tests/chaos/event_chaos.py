"""Event chaos run: writers change tokens while the processes that publish and deliver are killed at random."""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from statistics import quantiles
from typing import Any

import psycopg

from config.environment.variables import BASE_DIR
from tests.chaos import harness
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
from tests.processes.service_processes import HOST
from tests.processes.waiting import wait_for

_WRITERS = 6
# How long a killed server stays down, at most.
_AWAY_SECONDS = 1.5
# Timeouts for transactions that are to be caught in the middle: a publisher's and a writer's.
_CATCH_SECONDS, _COMMIT_SECONDS = 30.0, 3.0
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

    events: int = 10_000
    receivers: int = 20
    processes: int = 2
    kills: int = 45
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


def run(directory: Path, plan: Plan, *, source: str = "") -> harness.Result:
    """Write the planned events under the planned kills, and check what the receivers got.

    `source` is the URL of a migrated database to copy, if there is one.
    """
    behaviours = [HEALTHY] * (plan.receivers - len(MISBEHAVIOURS)) + list(MISBEHAVIOURS)
    # The Valkey loses its data when it is killed.
    with harness.servers(directory, is_valkey_durable=False) as (postgres, valkey), receivers(behaviours) as listening:
        environment = harness.settings_of(
            DJANGO_SETTINGS_MODULE="development.setting_overrides",
            DATABASE_URL=postgres.url,
            REDIS_URL=valkey.url,
            WEBHOOK_ALLOWED_NETWORKS=HOST,
            # More attempts than a receiver's timeouts on a busy machine.
            OVERRIDE_WEBHOOK_SCHEDULE_SECONDS="[0, 1, 1, 2, 2, 5, 5, 10, 10, 10, 20, 20]",
            OVERRIDE_WEBHOOK_TIMEOUT_SECONDS="2",
        )
        harness.migrate(environment, source)
        targets, _ = create_targets(environment, behaviours, listening)
        with harness.Processes(environment).at_work(*["events"] * plan.processes) as processes:
            return harness.kill_and_compare(
                _EventRun(plan, processes, postgres, valkey, listening, targets), faults=plan.kills
            )


def create_targets(
    environment: Mapping[str, str],
    behaviours: Sequence[str],
    listening: Receivers,
    *,
    directory: Path = BASE_DIR,
) -> tuple[list[Target], list[str]]:
    """Return the receivers' endpoints and two partners' keys; the receivers verify by the endpoints' secrets.

    `directory` has the version that creates them. The first healthy receivers have filters or a partner; the
    others are operators' and get all events. These are counted.
    """
    filters: list[dict[str, Any]] = [
        {"types": ["token.reorged", "token.confirmed"]},
        {"chain_ids": [CHAIN_IDS[1]]},
        {"partner": 0},
        {"partner": 1},
    ]
    filters += [{} for _ in behaviours[len(filters) :]]
    forms = [
        {"url": f"http://{HOST}:{port}/events"} | form for port, form in zip(listening.ports, filters, strict=True)
    ]
    keys, endpoints = harness.create_accounts(environment, ("Partner A", "Partner B"), forms, directory=directory)
    targets = [
        Target(
            endpoint_id=endpoint_id,
            types=frozenset(form.get("types", ())),
            chain_ids=frozenset(form.get("chain_ids", ())),
            partner_id=partner_id,
            is_healthy=behaviour == HEALTHY,
        )
        for form, (endpoint_id, _, partner_id), behaviour in zip(filters, endpoints, behaviours, strict=True)
    ]
    counted = [number for number, target in enumerate(targets) if target.is_healthy and not filters[number]]
    listening.listen([secret for _, secret, _ in endpoints], counted)
    return targets, keys


def read_found(database_url: str, inbox: Inbox, targets: Sequence[Target]) -> Found:
    """Read the tables, and join them with what the receivers got."""
    return Found(
        rows=read_rows(database_url),
        receipts=inbox.receipts,
        bodies=inbox.bodies,
        unpublished=count_unpublished(database_url),
        undelivered=count_undelivered(database_url, healthy_ids(targets)),
    )


def healthy_ids(targets: Sequence[Target]) -> list[int]:
    return [target.endpoint_id for target in targets if target.is_healthy]


class _EventRun(harness.Run):
    def __init__(
        self,
        plan: Plan,
        processes: harness.Processes,
        postgres: OwnPostgres,
        valkey: OwnServer,
        listening: Receivers,
        targets: list[Target],
    ) -> None:
        self._plan, self._postgres = plan, postgres
        self.supervised = self._processes = processes
        self._listening, self._targets = listening, targets
        partner_ids = sorted({target.partner_id for target in targets if target.partner_id is not None})
        self._writers = Writers(postgres.url, partner_ids=partner_ids, seed=plan.seed, rolled_back=plan.rolled_back)
        # Receivers without a filter.
        self._readers = sum(target == Target(endpoint_id=target.endpoint_id) for target in targets)
        self._tables, self._ends, self._caught = cycle(_WRITTEN), cycle((postgres.quit, postgres.kill)), 0
        self._calm_since, self._drained_after = float("inf"), 0.0
        self._valkey, self._rng = valkey, random.Random(plan.seed)
        rng = self._rng
        self._running = list(processes.running.values())
        self.faults = {
            "process": harness.Fault(lambda: harness.restart(rng.choice(self._running))),
            "publisher": harness.Fault(self._kill_publisher),
            "PostgreSQL": harness.Fault(self._kill_postgres, postgres.start, lambda: rng.uniform(0.0, _AWAY_SECONDS)),
            "all processes": harness.Fault(self._restart_all),
            "Valkey": harness.Fault(self._kill_valkey, valkey.start, lambda: rng.uniform(0.0, _AWAY_SECONDS)),
        }

    @contextmanager
    def load(self) -> Iterator[None]:
        journal, events = self._writers.journal, self._plan.events

        def may_write() -> bool:
            return journal.events - self._listening.accepted / self._readers < self._plan.ahead

        with self._writers.write(_WRITERS, events=events, may_write=may_write):
            harness.wait_supervised(self, lambda: self._listening.accepted > 0)
            yield
            wait_for(lambda: journal.events >= events)
            wait_for(self._writers.have_ended)

    def done(self) -> float:
        return self._writers.journal.events / self._plan.events

    def wait_until_quiet(self) -> None:
        """Wait for the deliveries, and then for those of a burst without kills."""
        last_commit = time.monotonic()
        if self._plan.ends_leases:
            self._restart_all()
        self._wait_until_delivered()
        self._calm_since = time.monotonic()
        self._drained_after = self._calm_since - last_commit
        events = self._writers.journal.events + self._plan.calm
        with self._writers.write(_WRITERS, events=events, may_write=lambda: True):
            wait_for(self._writers.have_ended)
        self._wait_until_delivered()
        for running in self._running:
            running.stop()

    def _wait_until_delivered(self) -> None:
        """Wait until nothing is left for healthy receivers; after the plan's timeout, the check finds the rest."""
        healthy, deadline = healthy_ids(self._targets), time.monotonic() + self._plan.timeout
        with psycopg.connect(self._postgres.url, autocommit=True) as connection:
            harness.wait_supervised(self, lambda: not is_pending(connection, healthy) or time.monotonic() > deadline)

    def compare(self) -> list[str]:
        self._found = read_found(self._postgres.url, self._listening.finish(), self._targets)
        return judge(self._writers.journal.changes, self._targets, self._found)

    def _kill_publisher(self) -> None:
        """Lock a table that the publisher writes, and kill the processes once one waits for the lock."""
        table = next(self._tables)
        is_caught, deadline = False, time.monotonic() + _CATCH_SECONDS
        with psycopg.connect(self._postgres.url, autocommit=True) as watching, self._connect() as locking:
            locking.execute(f"LOCK TABLE {table} IN SHARE MODE")
            while not is_caught and time.monotonic() < deadline:
                is_caught = watching.execute(_CAUGHT, [f"%INSERT INTO {table}%"]).rowcount > 0
            self._kill_all()
            locking.rollback()
        self._caught += is_caught
        self._restart_all()

    def _kill_postgres(self) -> None:
        """End PostgreSQL during a COMMIT if there is one, in two ways in turn."""
        deadline = time.monotonic() + _COMMIT_SECONDS
        with psycopg.connect(self._postgres.url, autocommit=True) as watching:
            while not watching.execute(_COMMITTING).rowcount and time.monotonic() < deadline:
                pass
            next(self._ends)()

    def _kill_valkey(self) -> None:
        """End Valkey with its data, and restart a process meanwhile."""
        self._valkey.kill()
        harness.restart(self._rng.choice(self._running))

    def _connect(self) -> "psycopg.Connection[Any]":
        return psycopg.connect(self._postgres.url)

    def _kill_all(self) -> None:
        for running in self._running:
            running.kill()

    def _restart_all(self) -> None:
        self._kill_all()
        if self._plan.ends_leases:
            with psycopg.connect(self._postgres.url, autocommit=True) as connection:
                # The session of a killed process still completes what it has received.
                wait_for(lambda: connection.execute(_SESSIONS).rowcount == 0)
                connection.execute(_END_LEASES)
        harness.restart(*self._running)

    def figures(self, spans: Sequence[harness.Span]) -> dict[str, Any]:
        """Return the counts, and seconds from a commit to the event's first request at a healthy receiver.

        Calm ones are without kills, while the others misbehave.
        """
        journal, found = self._writers.journal, self._found
        commits = {f"evt_{number}": at for number, at in commit_times(journal.changes, found.rows).items()}
        healthy = [receipt for receipt in found.receipts if self._targets[receipt.receiver].is_healthy]
        began: dict[tuple[int, str], float] = {}
        for receipt in healthy:
            began.setdefault((receipt.receiver, receipt.message_id), receipt.began_at)
        delays = [(commits[message], at - commits[message]) for (_, message), at in began.items() if message in commits]
        return {
            "events": len(found.rows),
            "token.reorged": journal.reorged,
            "commits": journal.commits,
            "rolled back": journal.rollbacks,
            "COMMITs without a confirmation": journal.unconfirmed,
            "requests": len(found.receipts),
            "messages to healthy receivers": len(began),
            "repeated": len(healthy) - len(began),
            "publishers killed in their transaction": self._caught,
            "processes ended by themselves": self._processes.ended,
            "p50, p99, maximum under kills": _spread([delay for at, delay in delays if at < self._calm_since]),
            "p50, p99, maximum without": _spread([delay for at, delay in delays if at >= self._calm_since]),
            "seconds from the last commit under kills to its delivery": round(self._drained_after, 1),
        }


def _spread(values: Sequence[float]) -> tuple[float, ...]:
    """Return the median, the 99th percentile and the maximum."""
    if len(values) < 2:
        return (0.0, 0.0, 0.0)
    cuts = quantiles(values, n=100)
    return tuple(round(value, 2) for value in (cuts[49], cuts[98], max(values)))
