"""A whole service that deploys, of real processes that share a chain, whose parts can be killed at any point."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from config.server_addresses import web_server_answers
from devchain import node
from tests.deploy_check import judge, read_chain, read_rows
from tests.deploy_clients import Answers, Partner
from tests.nursery import Forked, Nursery, nursery
from tests.service_processes import HOST, Service, free_port, service, words
from tests.troubled_node import TroubledNode
from tests.waiting import wait_for

# Accounts 3 and 4 of the node, which have enough for anything: our wallets.
WALLETS = {
    "0x90F79bf6EB2c4f870365E785982E1f101E93b906": "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6",
    "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65": "0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a",
}


@dataclass(kw_only=True)
class Stand:
    """Web server, worker and beat on one database."""

    environment: Mapping[str, str]
    node: TroubledNode
    factory: str
    wallets: tuple[str, ...]
    partner_key: str
    port: int
    web: Service
    answers: Answers = field(default_factory=Answers)
    # The block before the first that counts.
    since: int = 0
    _nursery: Nursery
    _worker: Forked | None = None

    def partner(self) -> Partner:
        return Partner("partner", self.partner_key, self.port, self.answers)

    def forget(self) -> None:
        """What was ordered until now counts no more."""
        self.answers, self.since = Answers(), node.connect(self.node.rpc_url).eth.block_number

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
            self._worker = self._nursery.celery(*words("worker", self.environment)[1:])

    def judge(self) -> list[str]:
        """What is wrong with the orders since the last call of `forget`, a line each."""
        chain = read_chain(self.node.rpc_url, factory=self.factory, wallets=self.wallets, since=self.since)
        keys = [key for _, key in self.answers.orders]
        return judge(self.answers, chain, read_rows(self.environment["DATABASE_URL"], request_keys=keys))


@contextmanager
def stand(
    environment: Mapping[str, str], *, node: TroubledNode, factory: str, wallets: tuple[str, ...], partner_key: str
) -> Iterator[Stand]:
    """The service while the block runs."""
    port = free_port()
    whole = dict(environment) | {"PORT": str(port), "WEB_HOST": HOST, "WEB_WORKERS": "2", "WORKER_PROCESSES": "2"}
    with service("web", whole) as web, nursery(whole, of="tests.forked_celery") as young:
        running = Stand(
            environment=whole,
            node=node,
            factory=factory,
            wallets=wallets,
            partner_key=partner_key,
            port=port,
            web=web,
            _nursery=young,
        )
        beat = young.celery(*words("beat", whole)[1:])
        running.start("worker")
        try:
            wait_for(lambda: web_server_answers(HOST, port), seconds=60)
            yield running
        finally:
            running.kill("worker")
            beat.kill()
