"""A whole service under load: servers, a node, the processes behind nginx, clients, streams and webhook receivers."""

import os
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from development.devchain.anvil import CHAIN_ID, run_anvil
from development.standins.issuer_server import IssuerStandIn
from tests.chaos import event_check, follower_chaos
from tests.chaos.deploy_chaos import servers, wait_for_deployments
from tests.chaos.deploy_clients import Answers, Partner, issue_keys
from tests.chaos.deploy_service import WALLETS
from tests.chaos.event_chaos import create_targets
from tests.chaos.event_receivers import HEALTHY, Receivers, receivers
from tests.nodes.devchain_launches import Launchpad
from tests.nodes.faulty_node import FaultyNode
from tests.processes.own_postgresql import OwnPostgres
from tests.processes.own_valkey import OwnServer
from tests.processes.service_processes import HOST
from tests.processes.stream_clients import ResumingReader
from tests.processes.waiting import wait_for
from tests.upgrade.former_version import Version
from tests.upgrade.rolling_service import RollingService, run_proxy
from tests.upgrade.upgrade_check import Evidence
from tests.upgrade.upgrade_clients import Clients

_DOMAIN = "app.example"
_FID = 7001
_PARTNER = "Partner"
# For the events of the last tasks, which are written while the processes end.
_LAST_EVENTS_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class LoadPlan:
    """Quantities of a load."""

    # Sample tokens in the database before the load.
    tokens: int
    launches: int
    trades: int
    readers: int = 2
    streams: int = 3
    receivers: int = 5
    # Seconds between two requests of a client, and between two steps on the chain.
    interval: float
    chain_interval: float = 0.1
    timeout: float = 120.0


class LoadedChain(follower_chaos.ChainDriver):
    """Driver whose launches are spread over the run; clients index them."""

    def __init__(self, launchpad: Launchpad, plan: LoadPlan, clients: Clients) -> None:
        own = follower_chaos.Plan(
            launches=plan.launches, trades=plan.trades, kills=0, reorgs=0, pause_seconds=plan.chain_interval
        )
        super().__init__(launchpad, own, follower_chaos.Outcome())
        self._clients = clients
        self.share = 0.0

    def share_due(self) -> float:
        return self.share

    def note_launch(self, tx_hash: str) -> None:
        super().note_launch(tx_hash)
        self._clients.hashes.put(tx_hash)


@dataclass(frozen=True, kw_only=True)
class LoadedService:
    """The servers, the node and the service of a run, and what its clients share."""

    postgres: OwnPostgres
    valkey: OwnServer
    node: FaultyNode
    issuer: IssuerStandIn
    launchpad: Launchpad
    service: RollingService
    clients: Clients
    listening: Receivers
    targets: list[event_check.Target]
    log: Path

    @property
    def database_url(self) -> str:
        return self.postgres.url


@contextmanager
def loaded_service(
    place: Path, plan: LoadPlan, version: Version, settings: Mapping[str, str] | None = None
) -> Iterator[LoadedService]:
    """Run everything of a version while the block runs; `settings` override those of the environment."""
    log = place / "service.log"
    with (
        servers(place) as (postgres, valkey),
        run_anvil() as rpc_url,
        FaultyNode(rpc_url).running() as node,
        IssuerStandIn() as issuer,
        run_proxy(place / "proxy") as proxy,
        receivers([HEALTHY] * plan.receivers) as listening,
        ExitStack() as stack,
    ):
        launchpad = follower_chaos.deploy_in_the_past(rpc_url, place / "chains.toml")
        follower_chaos.write_finality(place / "finality.toml", CHAIN_ID)
        environment = _environment(place, node, issuer.url) | {
            "DATABASE_URL": postgres.url,
            "REDIS_URL": valkey.url,
            # A repeated request has the same response from every process, with the URL of its status.
            "SITE_URL": f"http://{HOST}:{proxy.port}",
            **(settings or {}),
        }
        version.manage(environment, "migrate", "--verbosity", "0")
        if plan.tokens:
            # Of other chains than the node's, whose rows are compared with it.
            version.manage(environment | {"CHAINS_FILE": ""}, "seed_tokens", "--count", str(plan.tokens))
        targets, signing_secrets = create_targets(
            environment, [HEALTHY] * plan.receivers, listening.ports, directory=version.directory
        )
        listening.listen(signing_secrets, range(plan.receivers))
        (key,) = issue_keys(environment, [_PARTNER], directory=version.directory)
        service = RollingService(environment=environment, proxy=proxy, log=log, stack=stack)
        clients = Clients(
            port=proxy.port,
            partner=Partner(_PARTNER, key, proxy.port, Answers()),
            key={"x-api-key": key},
            user={"Authorization": f"Bearer {issuer.quick_auth(_FID, domain=_DOMAIN)}"},
            interval=plan.interval,
        )
        service.start_all(version)
        clients.choose_paths()
        yield LoadedService(
            postgres=postgres,
            valkey=valkey,
            node=node,
            issuer=issuer,
            launchpad=launchpad,
            service=service,
            clients=clients,
            listening=listening,
            targets=targets,
            log=log,
        )


def _environment(place: Path, node: FaultyNode, issuer_url: str) -> dict[str, str]:
    limits = ("PUBLIC", "PAGES", "KEYED", "INDEX", "DEPLOY", "PRETOKEN")
    return dict(os.environ) | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SECRET_KEY": secrets.token_urlsafe(50),
        "CHAINS_FILE": f"{place / 'chains.toml'},{place / 'finality.toml'}",
        f"RPC_URLS_{CHAIN_ID}": node.url,
        f"RPC_WS_URL_{CHAIN_ID}": node.rpc_url.replace("http", "ws"),
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
def chain_at_work(ground: LoadedService, plan: LoadPlan) -> Iterator[LoadedChain]:
    """Launch and trade while the block runs, and until there is as much as planned."""
    chain, is_enough = LoadedChain(ground.launchpad, plan, ground.clients), threading.Event()
    driver = threading.Thread(target=chain.drive, args=(is_enough,))
    driver.start()
    try:
        yield chain
    finally:
        chain.share = 1.0
        is_enough.set()
        driver.join()
    wait_for(lambda: ground.clients.hashes.empty())


@contextmanager
def streams_open(ground: LoadedService, plan: LoadPlan) -> Iterator[list[ResumingReader]]:
    """Read the stream from its beginning with several clients while the block runs."""
    streams = [ResumingReader(ground.service.proxy.port, "?lastEventId=0") for _ in range(plan.streams)]
    try:
        yield streams
    finally:
        for stream in streams:
            stream.close()


def collect_evidence(ground: LoadedService, streams: list[ResumingReader]) -> Evidence:
    """Stop the processes and the receivers, and return all that the run has left behind."""
    ground.service.stop_all(lambda: _wait_for_events(ground, streams, seconds=_LAST_EVENTS_SECONDS))
    return Evidence(
        rpc_url=ground.node.rpc_url,
        factory=ground.launchpad.deployment.factory,
        chain_id=CHAIN_ID,
        database_url=ground.database_url,
        clients=ground.clients,
        streams=streams,
        inbox=ground.listening.finish(),
        targets=ground.targets,
        log=ground.log,
    )


def finish_load(ground: LoadedService, streams: list[ResumingReader], plan: LoadPlan) -> None:
    """Wait until everything that has begun has an end; what has none after the timeout, the check finds."""
    wait_for_deployments([ground.clients.partner], ground.database_url, seconds=plan.timeout)
    follower_chaos.finish_chain(ground.launchpad, ground.database_url)
    _wait_for_events(ground, streams, seconds=plan.timeout)


def _wait_for_events(ground: LoadedService, streams: list[ResumingReader], *, seconds: float) -> None:
    """Wait until all events are published, streamed and delivered; what is not after so long, the check finds."""
    healthy, deadline = [target.endpoint_id for target in ground.targets], time.monotonic() + seconds

    def is_over() -> bool:
        newest = _newest_streamed(ground.database_url)
        are_streams_behind = any(not stream.events or stream.events[-1].id < newest for stream in streams)
        is_left = are_streams_behind or event_check.is_pending(ground.database_url, healthy)
        return not is_left or time.monotonic() > deadline

    wait_for(is_over, seconds=2 * seconds)


def _newest_streamed(database_url: str) -> int:
    with psycopg.connect(database_url) as connection:
        found = connection.execute("SELECT max(id) FROM events_event WHERE starts_with(type, 'token.')").fetchone()
    return int(found[0]) if found and found[0] else 0
