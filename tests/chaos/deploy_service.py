"""A whole service that deploys, as real processes that share a chain and can be killed at any point."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings

from config.environment.server_urls import is_web_server_up
from development.devchain import anvil
from development.devchain import node_client as node
from development.devchain.deploy_contracts import deploy_contracts
from development.servers.processes import free_port
from tests.chaos.deploy_check import judge, read_chain, read_rows
from tests.chaos.harness import WALLETS, create_accounts, settings_of
from tests.nodes.faulty_node import FaultyNode
from tests.nodes.remote_signer import FakeRemoteSigner, remote_signer
from tests.processes.fork_server import Forked, ForkServer, fork_server
from tests.processes.own_environment import environment_on
from tests.processes.service_processes import HOST, Service, service, words
from tests.processes.template_database import own_database
from tests.processes.waiting import wait_for
from tests.servers.deploy_clients import Answers, Partner

# How long a transaction stays pending before it is replaced.
STUCK_SECONDS = 2


@dataclass
class DeployService:
    """Web server, worker and beat on one database."""

    environment: Mapping[str, str]
    node: FaultyNode
    signer: FakeRemoteSigner
    factory: str
    partner_key: str
    web: Service
    fork_server: ForkServer
    answers: Answers = field(default_factory=Answers)
    # The block before the first that counts.
    since: int = 0
    _worker: Forked | None = None

    @property
    def database_url(self) -> str:
        return self.environment["DATABASE_URL"]

    def partner(self) -> Partner:
        return Partner("partner", self.partner_key, int(self.environment["PORT"]), self.answers)

    def forget(self) -> None:
        """Exclude all earlier requests from `judge`."""
        self.answers, self.since = Answers(), node.connect(self.node.rpc_url).eth.block_number

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Run all processes during the block."""
        beat = self.fork_server.celery(*words("beat", self.environment)[1:])
        self.start("worker")
        try:
            wait_for(lambda: is_web_server_up(HOST, int(self.environment["PORT"])))
            yield
        finally:
            self.kill("worker")
            beat.kill()

    def kill(self, name: str) -> None:
        """End the web server or the worker as `kill -9` does, with its children."""
        if name == "web":
            self.web.kill()
        elif self._worker:
            self._worker.kill()

    def start(self, name: str) -> None:
        """Start what was killed."""
        if name == "web":
            self.web.start()
        else:
            self._worker = self.fork_server.celery(*words("worker", self.environment)[1:])

    def judge(self) -> list[str]:
        """Return the errors of requests since the last `forget` call, a line each."""
        chain = read_chain(self.node.rpc_url, factory=self.factory, wallets=tuple(WALLETS), since=self.since)
        keys = [key for _, key in self.answers.orders]
        return judge(self.answers, chain, read_rows(self.database_url, request_keys=keys))


@contextmanager
def run_deploy_service(chains_file: Path) -> Iterator[DeployService]:
    """Run the service during the block, on its own node and database, with a signer's wallets.

    `chains_file` is the registry file's path to write.
    """
    with (
        own_database() as database,
        anvil.run_anvil() as rpc_url,
        remote_signer(*WALLETS.values()) as signer,
        FaultyNode(rpc_url).running() as relay,
    ):
        deployment = deploy_contracts(rpc_url, chains_file=chains_file)
        deploying = {
            "SECRET_KEY": settings.SECRET_KEY,
            "CHAINS_FILE": str(chains_file),
            f"RPC_URLS_{anvil.CHAIN_ID}": relay.url,
            f"DEPLOYER_REMOTE_{anvil.CHAIN_ID}": ",".join(WALLETS),
            "DEPLOYER_SIGNER_URL": signer.url,
            "DEPLOY_STUCK_SECONDS": str(STUCK_SECONDS),
            # A process that a gate blocks must not retry.
            "OVERRIDE_DEPLOYER_SIGNER_TIMEOUT_SECONDS": "60",
            "RPC_TIMEOUT_SECONDS": "60",
            "PORT": str(free_port()),
            "WEB_WORKERS": "2",
            "WORKER_PROCESSES": "2",
        }
        environment = settings_of(**environment_on(database) | deploying)
        (key,), _ = create_accounts(environment, ["Partner"])
        with (
            service("web", environment) as web,
            fork_server(environment) as processes,
        ):
            running = DeployService(environment, relay, signer, deployment.factory, key, web, processes)
            with running.at_work():
                yield running
