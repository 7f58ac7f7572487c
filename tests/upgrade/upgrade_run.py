"""Run of an upgrade and the way back under load, after which chain, database and clients must agree."""

import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from development.devchain.anvil import CHAIN_ID, run_anvil
from development.devchain.deploy_contracts import deploy_contracts
from development.standins.issuer_server import IssuerStandIn
from tests.chaos import event_check, follower_chaos
from tests.chaos.deploy_chaos import servers, wait_for_deployments
from tests.chaos.deploy_clients import Answers, Partner, issue_keys
from tests.chaos.deploy_service import WALLETS
from tests.chaos.event_chaos import create_targets
from tests.chaos.event_receivers import HEALTHY, Receivers, receivers
from tests.nodes.devchain_launches import Launchpad
from tests.processes.service_processes import HOST
from tests.processes.stream_clients import ResumingReader
from tests.processes.waiting import wait_for
from tests.upgrade.former_version import Version, former_version, this_version
from tests.upgrade.lock_watch import Locks, watch_locks
from tests.upgrade.rolling_service import UPGRADE, RollingService, run_proxy
from tests.upgrade.upgrade_check import Evidence, judge
from tests.upgrade.upgrade_clients import KINDS, Clients

_DOMAIN = "app.example"
_FID = 7001
_PARTNER = "Partner"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Quantities of a run."""

    # Commit of the former version; empty for the default.
    ref: str = ""
    # Sample tokens in the database before the upgrade.
    tokens: int
    launches: int
    trades: int
    readers: int = 2
    streams: int = 3
    receivers: int = 5
    # Requests of the clients between two steps, and seconds between two requests of a client.
    pause: int
    interval: float
    timeout: float = 120.0


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


class _UpgradedChain(follower_chaos.ChainDriver):
    """Driver whose launches are spread over the steps of the upgrade; clients index them."""

    def __init__(self, launchpad: Launchpad, plan: Plan, clients: Clients) -> None:
        own = follower_chaos.Plan(launches=plan.launches, trades=plan.trades, kills=0, reorgs=0)
        super().__init__(launchpad, own, follower_chaos.Outcome())
        self._clients = clients
        self.share = 0.0

    def share_due(self) -> float:
        return self.share

    def note_launch(self, tx_hash: str) -> None:
        super().note_launch(tx_hash)
        self._clients.hashes.put(tx_hash)


@dataclass(frozen=True, kw_only=True)
class _Ground:
    """The servers, the node and the service of a run, and what its clients share."""

    database_url: str
    launchpad: Launchpad
    service: RollingService
    clients: Clients
    listening: Receivers
    targets: list[event_check.Target]
    log: Path


def run(place: Path, plan: Plan) -> Outcome:
    """Upgrade from the former version to this one under load, return to the former one, and check the result.

    Raises MissingVersionError.
    """
    started = time.monotonic()
    (place / "former").mkdir()
    former, new = former_version(place / "former", plan.ref), this_version()
    outcome = Outcome(former=former.commit, new=new.commit)
    with _ground(place, plan, former) as ground:
        streams = [ResumingReader(ground.service.proxy.port, "?lastEventId=0") for _ in range(plan.streams)]
        try:
            with ground.clients.at_work(readers=plan.readers), _chain_at_work(ground, plan) as chain:
                _change_versions(ground, plan, chain, outcome, former=former, new=new)
            _finish(ground, streams, plan)
        finally:
            for stream in streams:
                stream.close()
        ground.service.stop_all()
        evidence = Evidence(
            rpc_url=ground.launchpad.deployment.rpc_url,
            factory=ground.launchpad.deployment.factory,
            chain_id=CHAIN_ID,
            database_url=ground.database_url,
            clients=ground.clients,
            streams=streams,
            inbox=ground.listening.finish(),
            targets=ground.targets,
            log=ground.log,
        )
        outcome.wrong = [*ground.service.proxy.failures(), *ground.service.statuses, *judge(evidence)]
        _count(outcome, ground, evidence)
    outcome.seconds = round(time.monotonic() - started, 1)
    return outcome


@contextmanager
def _ground(place: Path, plan: Plan, former: Version) -> Iterator[_Ground]:
    """Run everything of the former version while the block runs."""
    log = place / "service.log"
    with (
        servers(place) as (postgres, valkey),
        run_anvil() as rpc_url,
        IssuerStandIn() as issuer,
        run_proxy(place / "proxy") as proxy,
        receivers([HEALTHY] * plan.receivers) as listening,
        ExitStack() as stack,
    ):
        launchpad = Launchpad(deploy_contracts(rpc_url, chains_file=place / "chains.toml"))
        follower_chaos.write_finality(place / "finality.toml", CHAIN_ID)
        environment = _environment(place, rpc_url, issuer.url) | {
            "DATABASE_URL": postgres.url,
            "REDIS_URL": valkey.url,
        }
        former.manage(environment, "migrate", "--verbosity", "0")
        if plan.tokens:
            former.manage(environment, "seed_tokens", "--count", str(plan.tokens))
        targets, signing_secrets = create_targets(
            environment, [HEALTHY] * plan.receivers, listening.ports, directory=former.directory
        )
        listening.listen(signing_secrets, range(plan.receivers))
        (key,) = issue_keys(environment, [_PARTNER], directory=former.directory)
        service = RollingService(environment=environment, proxy=proxy, log=log, stack=stack)
        clients = Clients(
            port=proxy.port,
            partner=Partner(_PARTNER, key, proxy.port, Answers()),
            key={"x-api-key": key},
            user={"Authorization": f"Bearer {issuer.quick_auth(_FID, domain=_DOMAIN)}"},
            interval=plan.interval,
        )
        service.start_all(former)
        clients.choose_paths()
        yield _Ground(
            database_url=postgres.url,
            launchpad=launchpad,
            service=service,
            clients=clients,
            listening=listening,
            targets=targets,
            log=log,
        )


def _environment(place: Path, rpc_url: str, issuer_url: str) -> dict[str, str]:
    limits = ("PUBLIC", "PAGES", "KEYED", "INDEX", "DEPLOY", "PRETOKEN")
    return dict(os.environ) | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SECRET_KEY": secrets.token_urlsafe(50),
        "CHAINS_FILE": f"{place / 'chains.toml'},{place / 'finality.toml'}",
        f"RPC_URLS_{CHAIN_ID}": rpc_url,
        f"RPC_WS_URL_{CHAIN_ID}": rpc_url.replace("http", "ws"),
        f"FOLLOW_FROM_{CHAIN_ID}": "0",
        f"DEPLOYER_KEYS_{CHAIN_ID}": ",".join(WALLETS.values()),
        "FARCASTER_AUTH_ORIGIN": issuer_url,
        "FARCASTER_AUTH_DOMAINS": _DOMAIN,
        "MARKET_PROVIDER_CHAINS": "",
        "FETCH_DOCUMENTS": "false",
        "WEBHOOK_ALLOWED_NETWORKS": HOST,
        "ALLOWED_HOSTS": "*",
        "TRUSTED_PROXIES": "1",
        "WEB_HOST": HOST,
        "LOG_LEVEL": "WARNING",
        "PYTHONWARNINGS": "ignore:You're running the worker with superuser",
        **{f"RATE_LIMIT_{name}": "0" for name in limits},
    }


@contextmanager
def _chain_at_work(ground: _Ground, plan: Plan) -> Iterator[_UpgradedChain]:
    """Launch and trade while the block runs, and until there is as much as planned."""
    chain, is_enough = _UpgradedChain(ground.launchpad, plan, ground.clients), threading.Event()
    driver = threading.Thread(target=chain.drive, args=(is_enough,))
    driver.start()
    try:
        yield chain
    finally:
        chain.share = 1.0
        is_enough.set()
        driver.join()
    wait_for(lambda: ground.clients.hashes.empty())


def _change_versions(
    ground: _Ground, plan: Plan, chain: _UpgradedChain, outcome: Outcome, *, former: Version, new: Version
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


def _finish(ground: _Ground, streams: list[ResumingReader], plan: Plan) -> None:
    """Wait until everything that has begun has an end; what has none after the timeout, the check finds."""
    wait_for_deployments([ground.clients.partner], ground.database_url, seconds=plan.timeout)
    follower_chaos.finish_chain(ground.launchpad, ground.database_url)
    healthy, deadline = [target.endpoint_id for target in ground.targets], time.monotonic() + plan.timeout

    def is_over() -> bool:
        newest = _newest_streamed(ground.database_url)
        are_streams_behind = any(not stream.events or stream.events[-1].id < newest for stream in streams)
        is_left = are_streams_behind or event_check.is_pending(ground.database_url, healthy)
        return not is_left or time.monotonic() > deadline

    wait_for(is_over, seconds=2 * plan.timeout)


def _newest_streamed(database_url: str) -> int:
    with psycopg.connect(database_url) as connection:
        found = connection.execute("SELECT max(id) FROM events_event WHERE starts_with(type, 'token.')").fetchone()
    return int(found[0]) if found and found[0] else 0


def _count(outcome: Outcome, ground: _Ground, evidence: Evidence) -> None:
    clients = ground.clients
    outcome.requests, outcome.retried = dict(clients.successes), dict(clients.retried)
    outcome.slowest, outcome.stop_seconds = clients.slowest, ground.service.stop_seconds
    outcome.statuses = ground.service.proxy.statuses()
    outcome.deployments = len(clients.partner.answers.orders)
    outcome.chain, outcome.events = evidence.chain, evidence.events
    outcome.deliveries = len(evidence.inbox.receipts)
    outcome.repeated = outcome.deliveries - len({receipt[:1] + receipt[2:3] for receipt in evidence.inbox.receipts})
    outcome.reconnects = sum(stream.connections - 1 for stream in evidence.streams)
