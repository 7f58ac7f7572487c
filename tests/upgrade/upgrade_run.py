"""Run of an upgrade and the way back under load, after which chain, database and clients must agree."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests.processes.waiting import wait_for
from tests.upgrade.former_version import Version, former_version, this_version
from tests.upgrade.loaded_service import (
    LoadedChain,
    LoadedService,
    LoadPlan,
    chain_at_work,
    collect_evidence,
    finish_load,
    loaded_service,
    streams_open,
)
from tests.upgrade.lock_watch import Locks, watch_locks
from tests.upgrade.rolling_service import UPGRADE
from tests.upgrade.upgrade_check import Evidence, judge, judge_log
from tests.upgrade.upgrade_clients import KINDS, Clients


@dataclass(frozen=True, kw_only=True)
class Plan(LoadPlan):
    """Quantities of a run."""

    # Commit of the former version; empty for the default.
    ref: str = ""
    # Requests of the clients between two steps.
    pause: int


@dataclass
class Outcome:
    """The outcome of a run."""

    former: str = ""
    new: str = ""
    migrations: list[str] = field(default_factory=list)
    locks: Locks = field(default_factory=Locks)
    # Seconds of each step by its name.
    steps: dict[str, float] = field(default_factory=dict)
    stop_seconds: dict[str, float] = field(default_factory=dict)
    # Successful requests, those that were retried after 503, and the longest response time in seconds, by kind.
    requests: dict[str, int] = field(default_factory=dict)
    retried: dict[str, int] = field(default_factory=dict)
    slowest: dict[str, float] = field(default_factory=dict)
    chain: dict[str, Any] = field(default_factory=dict)
    # All responses of the proxy by status.
    statuses: dict[str, int] = field(default_factory=dict)
    deployments: int = 0
    events: int = 0
    deliveries: int = 0
    repeated: int = 0
    reconnects: int = 0
    seconds: float = 0.0
    # What the check found wrong.
    wrong: list[str] = field(default_factory=list)


def run(place: Path, plan: Plan) -> Outcome:
    """Upgrade from the former version to this one under load, return to the former one, and check the result.

    Raises MissingVersionError.
    """
    started = time.monotonic()
    (place / "former").mkdir()
    former, new = former_version(place / "former", plan.ref), this_version()
    outcome = Outcome(former=former.commit, new=new.commit)
    with loaded_service(place, plan, former) as ground:
        with streams_open(ground, plan) as streams:
            with ground.clients.at_work(readers=plan.readers), chain_at_work(ground, plan) as chain:
                _change_versions(ground, plan, chain, outcome, former=former, new=new)
            finish_load(ground, streams, plan)
        evidence = collect_evidence(ground, streams)
        outcome.wrong = [*ground.service.proxy.failures(), *ground.service.statuses, *judge(evidence)]
        outcome.wrong += judge_log(ground.log)
        _count(outcome, ground, evidence)
    outcome.seconds = round(time.monotonic() - started, 1)
    return outcome


def _change_versions(
    ground: LoadedService, plan: Plan, chain: LoadedChain, outcome: Outcome, *, former: Version, new: Version
) -> None:
    """Migrate, replace each process by that of the new version, and then again by that of the former one."""
    service, environment = ground.service, ground.service.environment

    def migrate() -> None:
        with watch_locks(ground.database_url) as outcome.locks:
            new.manage(environment, "migrate", "--verbosity", "0")

    applied = _migrations(ground.database_url)
    steps: dict[str, Callable[[], None]] = {"migrate": migrate}
    steps |= {f"upgrade of {name}": lambda name=name: service.replace(name, new) for name in UPGRADE}
    # Producers first: processes of the former version never get a message of the new one.
    steps |= {f"return of {name}": lambda name=name: service.replace(name, former) for name in reversed(UPGRADE)}
    _wait_for_requests(ground.clients, plan)
    for number, (name, step) in enumerate(steps.items()):
        begun = time.monotonic()
        step()
        outcome.steps[name] = round(time.monotonic() - begun, 1)
        chain.share = (number + 1) / len(steps)
        _wait_for_requests(ground.clients, plan)
    outcome.migrations = sorted(_migrations(ground.database_url) - applied)


def _wait_for_requests(clients: Clients, plan: Plan) -> None:
    """Wait until the clients have made as many further requests of each kind as planned; launches are apart."""
    before, kinds = dict(clients.successes), [kind for kind in KINDS if kind != "index calls"]

    def have_made_them() -> bool:
        return all(clients.successes[kind] - before.get(kind, 0) >= plan.pause for kind in kinds)

    wait_for(have_made_them, seconds=plan.timeout)


def _migrations(database_url: str) -> set[str]:
    with psycopg.connect(database_url) as connection:
        return {f"{app}/{name}" for app, name in connection.execute("SELECT app, name FROM django_migrations")}


def _count(outcome: Outcome, ground: LoadedService, evidence: Evidence) -> None:
    clients = ground.clients
    outcome.requests, outcome.retried = dict(clients.successes), dict(clients.retried)
    outcome.slowest, outcome.stop_seconds = clients.slowest, ground.service.stop_seconds
    outcome.statuses = ground.service.proxy.statuses()
    outcome.deployments = len(clients.partner.answers.orders)
    outcome.chain, outcome.events = evidence.chain, evidence.events
    outcome.deliveries = len(evidence.inbox.receipts)
    outcome.repeated = outcome.deliveries - len({receipt[:1] + receipt[2:3] for receipt in evidence.inbox.receipts})
    outcome.reconnects = sum(stream.connections - 1 for stream in evidence.streams)
