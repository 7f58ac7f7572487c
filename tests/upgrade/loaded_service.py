"""A whole service under load: servers, a node, the processes behind nginx, clients, streams and webhook receivers."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from development.devchain.anvil import CHAIN_ID
from development.standins.issuer_server import IssuerStandIn
from tests.chaos import chain_driver, harness
from tests.chaos.chain_driver import ChainDriver, past_launchpad
from tests.chaos.deploy_chaos import wait_for_deployments
from tests.chaos.event_chaos import create_targets
from tests.chaos.event_check import Target, is_pending
from tests.chaos.event_receivers import HEALTHY, Receivers, receivers
from tests.chaos.follower_chaos import finish_chain
from tests.faults.paced_load import LoadReport, PacedLoad, Sample, Targets
from tests.nodes.devchain_launches import Launchpad
from tests.nodes.faulty_node import FaultyNode
from tests.processes.own_postgresql import OwnPostgres
from tests.processes.own_valkey import OwnServer
from tests.processes.service_processes import HOST
from tests.processes.stream_clients import ResumingReader
from tests.processes.waiting import wait_for
from tests.servers.deploy_clients import Answers, Partner
from tests.upgrade.former_version import Version
from tests.upgrade.rolling_service import RollingService, run_proxy
from tests.upgrade.upgrade_check import judge
from tests.upgrade.upgrade_clients import Clients

_DOMAIN = "app.example"
_FID = 7001
_PARTNER = "Partner"
# Keys in the development chain's registry file that the former version refuses.
_NEWER_KEYS = ("permit2", "universal_router", "v3_quoter", "v4_quoter")
# For the events of the last tasks, which are written while the processes end.
_LAST_EVENTS_SECONDS = 60.0
# The share of launches before the first fault: other requests need a token.
_FIRST_SHARE = 0.1
_TOKENS = "SELECT chain_id, contract_address FROM tokens_token WHERE NOT unindexed ORDER BY id DESC LIMIT 1000"
_NEWEST = "SELECT coalesce(max(id), 0) FROM events_event WHERE starts_with(type, 'token.')"


@dataclass(frozen=True, kw_only=True)
class LoadPlan:
    """Quantities of a load."""

    # Sample tokens in the database before the load.
    tokens: int
    launches: int
    trades: int
    streams: int = 3
    receivers: int = 5
    # Seconds between two requests of a client, and between two steps on the chain.
    interval: float
    chain_interval: float = 0.1
    timeout: float = 120.0


class LoadedChain(ChainDriver):
    """Driver whose launches are spread over the run; clients index them."""

    def __init__(self, launchpad: Launchpad, plan: LoadPlan, clients: Clients, share_due: Callable[[], float]) -> None:
        own = chain_driver.Plan(
            launches=plan.launches,
            trades=plan.trades,
            kills=0,
            reorgs=0,
            declared=0.0,
            pause_seconds=plan.chain_interval,
        )
        super().__init__(launchpad, own)
        self._clients, self._share_due = clients, share_due

    def share_due(self) -> float:
        return 1.0 if self.may_end else max(_FIRST_SHARE, self._share_due())

    def note_launch(self, tx_hash: str) -> None:
        super().note_launch(tx_hash)
        self._clients.hashes.put(tx_hash)


@dataclass(frozen=True)
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
    targets: list[Target]
    log: Path

    @property
    def database_url(self) -> str:
        return self.postgres.url


@contextmanager
def loaded_service(
    directory: Path, plan: LoadPlan, version: Version, settings: Mapping[str, str] | None = None
) -> Iterator[LoadedService]:
    """Run everything of a version while the block runs; `settings` override those of the environment."""
    log = directory / "service.log"
    with (
        harness.servers(directory) as (postgres, valkey),
        past_launchpad(directory) as launchpad,
        FaultyNode(launchpad.deployment.rpc_url).running() as node,
        IssuerStandIn() as issuer,
        run_proxy(directory / "proxy") as proxy,
        receivers([HEALTHY] * plan.receivers) as listening,
        ExitStack() as stack,
    ):
        servers = {
            "DATABASE_URL": postgres.url,
            "REDIS_URL": valkey.url,
            # A repeated request has the same response from every process, with the URL of its status.
            "SITE_URL": f"http://{HOST}:{proxy.port}",
        }
        environment = harness.settings_of(**_settings(directory, node, issuer.url) | servers | dict(settings or {}))
        version.migrate(environment)
        if plan.tokens:
            # Of other chains than the node's, whose rows are compared with it.
            version.manage(environment | {"CHAINS_FILE": ""}, "seed_tokens", "--count", str(plan.tokens))
        behaviours = [HEALTHY] * plan.receivers
        targets, (key, *_) = create_targets(environment, behaviours, listening, directory=version.directory)
        service = RollingService(environment=environment, proxy=proxy, log=log, stack=stack)
        clients = Clients(
            port=proxy.port,
            partner=Partner(_PARTNER, key, proxy.port, Answers()),
            key={"x-api-key": key},
            user={"Authorization": f"Bearer {issuer.quick_auth(_FID, domain=_DOMAIN)}"},
            interval=plan.interval,
        )
        service.start_all(version)
        yield LoadedService(postgres, valkey, node, issuer, launchpad, service, clients, listening, targets, log)


def _settings(directory: Path, node: FaultyNode, issuer_url: str) -> dict[str, str]:
    limits = ("PUBLIC", "PAGES", "KEYED", "INDEX", "DEPLOY", "PRETOKEN")
    chains = directory / "chains.toml"
    settings = harness.chain_settings(node.url, chains, directory / "finality.toml")
    lines = chains.read_text().splitlines(keepends=True)
    chains.write_text("".join(line for line in lines if not line.startswith(_NEWER_KEYS)))
    return settings | {
        f"RPC_WS_URL_{CHAIN_ID}": node.rpc_url.replace("http", "ws"),
        "FARCASTER_AUTH_ORIGIN": issuer_url,
        "FARCASTER_AUTH_DOMAINS": _DOMAIN,
        "MARKET_PROVIDER_CHAINS": "",
        "FETCH_DOCUMENTS": "false",
        "WEBHOOK_ALLOWED_NETWORKS": HOST,
        "ALLOWED_HOSTS": "*",
        "TRUSTED_PROXIES": "1",
        "LOG_LEVEL": "WARNING",
        **{f"RATE_LIMIT_{name}": "0" for name in limits},
    }


class LoadedRun(harness.Run):
    """Run of a whole service under load, whose chain, database, clients, streams and receivers must agree."""

    # The requests of the paced load.
    report = LoadReport()

    def __init__(self, ground: LoadedService, plan: LoadPlan, load: PacedLoad, streams: list[ResumingReader]) -> None:
        self.ground, self.plan, self.paced, self.streams = ground, plan, load, streams
        self.chain_counts: dict[str, Any] = {}

    @contextmanager
    def chain_and_clients(self) -> Iterator[None]:
        """Launch, trade and send requests while the block runs, and until there is as much as planned."""
        clients = self.ground.clients
        driver = LoadedChain(self.ground.launchpad, self.plan, clients, self.done)
        with clients.at_work():
            with driver.at_work():
                wait_for(lambda: clients.indexed)
                yield
            wait_for(clients.hashes.empty)

    def targets(self, mix: Mapping[str, int]) -> Targets:
        """Return tokens and launches that the service has now."""
        with psycopg.connect(self.ground.database_url) as connection:
            tokens = connection.execute(_TOKENS).fetchall()
        clients = self.ground.clients
        return Targets(port=clients.port, tokens=tokens, hashes=list(clients.indexed), key=dict(clients.key), mix=mix)

    def wait_until_quiet(self) -> None:
        """Wait until everything that has begun has an end, while processes that end are started again."""
        self.supervised = self.ground.service
        with ThreadPoolExecutor(1) as pool:
            finishing = pool.submit(self._finish)
            harness.wait_supervised(self, finishing.done)
            finishing.result()

    def _finish(self) -> None:
        ground, timeout = self.ground, self.plan.timeout
        wait_for_deployments([ground.clients.partner], ground.database_url, seconds=timeout)
        finish_chain(ground.launchpad, ground.database_url, lambda: ground.service.running["follower"].kill())
        self._wait_for_events(timeout)

    def compare(self) -> list[str]:
        """Stop everything, and return what failed, was lost, or was made twice."""
        self.ground.service.stop_all(lambda: self._wait_for_events(_LAST_EVENTS_SECONDS))
        self.inbox = self.ground.listening.finish()
        failures = [
            f"{sample.kind}: {sample.status} {sample.error}"
            for sample in self.samples()
            if sample.status != 200 and not sample.is_refusal
        ]
        errors, self.chain_counts, self.events = judge(self.ground, self.streams, self.inbox)
        return [*self.ground.service.proxy.failures(), *failures, *errors]

    def samples(self) -> list[Sample]:
        """Return all requests."""
        return [*self.report.samples, *self.ground.clients.samples]

    def figures(self, spans: Sequence[harness.Span]) -> dict[str, Any]:
        """Return requests by kind, responses by status, and what chain, streams and receivers have."""
        samples = self.samples()
        return {
            "chain": self.chain_counts,
            "deployments": len(self.ground.clients.partner.answers.orders),
            "events": self.events,
            "deliveries": len(self.inbox.receipts),
            "repeated": len(self.inbox.receipts) - len({receipt[:1] + receipt[2:3] for receipt in self.inbox.receipts}),
            "reconnects": sum(stream.connections - 1 for stream in self.streams),
            "statuses": self.ground.service.proxy.statuses(),
            "requests": dict(Counter(sample.kind for sample in samples if sample.status == 200)),
            "refused": dict(Counter(sample.kind for sample in samples if sample.is_refusal)),
            "slowest": {
                kind: round(max(sample.ended - sample.due for sample in samples if sample.kind == kind), 2)
                for kind in {sample.kind for sample in samples}
            },
            "dropped": self.report.dropped,
        }

    def _wait_for_events(self, seconds: float) -> None:
        """Wait until all events are published, streamed and delivered; the comparison finds what is not in time."""
        endpoints = [target.endpoint_id for target in self.ground.targets]
        with psycopg.connect(self.ground.database_url, autocommit=True) as connection:

            def are_delivered() -> bool:
                newest = connection.execute(_NEWEST).fetchone()
                is_behind = any(
                    not stream.events or stream.events[-1].id < newest[0] for stream in self.streams if newest
                )
                return not is_behind and not is_pending(connection, endpoints)

            harness.wait_at_most(are_delivered, seconds)


@contextmanager
def streams_open(ground: LoadedService, plan: LoadPlan) -> Iterator[list[ResumingReader]]:
    """Read the stream from its beginning with several clients while the block runs."""
    streams = [ResumingReader(ground.service.proxy.port, "?lastEventId=0") for _ in range(plan.streams)]
    try:
        yield streams
    finally:
        for stream in streams:
            stream.close()
