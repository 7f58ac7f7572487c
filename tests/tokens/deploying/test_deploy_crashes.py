"""Crashes of deploying: a request becomes exactly one token, wherever its process is killed, with no manual help.

So it does where a repeated request overtakes it, and where the chain drops its block.

All points are made from outside, by the node's relay, the signer, and triggers in PostgreSQL; the service has no hooks.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import psycopg
import pytest

from development.devchain import node_client
from tests.chaos.deploy_service import DeployService, run_deploy_service
from tests.nodes.faulty_node import BROADCAST
from tests.nodes.remote_signer import FakeRemoteSigner
from tests.processes.database_gates import database_gate
from tests.processes.waiting import wait_for
from tests.servers.deploy_clients import order

pytestmark = pytest.mark.slow

CLIENTS = 8


class Gate(Protocol):
    """A point at which a process can be blocked."""

    def wait(self) -> None:
        """Wait until a process is blocked."""

    def lose(self) -> None:
        """Forget the blocked processes, which are dead."""


class SignerGate:
    """A gate at the signer, which stops responding."""

    def __init__(self, signer: FakeRemoteSigner) -> None:
        self._signer = signer
        signer.hold()

    def wait(self) -> None:
        wait_for(lambda: self._signer.waiting)

    def lose(self) -> None:
        self._signer.release()


@dataclass(frozen=True)
class Point:
    """The point at which `victim` is blocked and killed."""

    name: str
    victim: str
    gate: Callable[[DeployService], AbstractContextManager[Gate]]

    def __str__(self) -> str:
        return self.name


def node_gate(method: str, *, answered: bool = False) -> Callable[[DeployService], AbstractContextManager[Gate]]:
    return lambda service: service.node.gate(method, answered=answered)


def row_gate(table: str, **how: Any) -> Callable[[DeployService], AbstractContextManager[Gate]]:
    return lambda service: database_gate(service.database_url, table, **how)


@contextmanager
def signer_gate(service: DeployService) -> Iterator[Gate]:
    gate = SignerGate(service.signer)
    try:
        yield gate
    finally:
        gate.lose()


WEB, WORKER = "web", "worker"
POINTS = [
    Point("before the order is stored", WEB, row_gate("tokens_deployment")),
    Point("when the order is stored and its message is not sent", WEB, row_gate("tokens_deployment", commit=True)),
    Point("before it has a nonce", WORKER, node_gate("eth_maxPriorityFeePerGas")),
    Point("before it is signed", WORKER, signer_gate),
    Point("when it is signed and not stored", WORKER, row_gate("tokens_signedtransaction")),
    Point("when it is stored and the worker does not know", WORKER, row_gate("tokens_signedtransaction", commit=True)),
    Point("before it is broadcast", WORKER, node_gate(BROADCAST)),
    Point("when it is broadcast and the worker does not know", WORKER, node_gate(BROADCAST, answered=True)),
    Point("before its receipt is read", WORKER, node_gate("eth_getTransactionReceipt")),
    Point("when its receipt is read", WORKER, node_gate("eth_getTransactionReceipt", answered=True)),
    Point(
        "before it is noted as mined",
        WORKER,
        row_gate("tokens_deployment", on="UPDATE OF status", when="NEW.status = 'mined'"),
    ),
    Point("before it is indexed", WORKER, node_gate("eth_getTransactionByHash")),
    Point("while it is indexed", WORKER, row_gate("tokens_token")),
    Point(
        "before it is noted as indexed",
        WORKER,
        row_gate("tokens_deployment", on="UPDATE OF status", when="NEW.status = 'indexed'"),
    ),
]


@pytest.fixture(scope="module")
def service(django_db_modify_db_settings, tmp_path_factory) -> Iterator[DeployService]:
    with run_deploy_service(tmp_path_factory.mktemp("crashes") / "chains.toml") as running:
        yield running


@pytest.mark.django_db
@pytest.mark.parametrize("point", POINTS, ids=str)
def test_an_order_becomes_one_token_though_its_process_is_killed(service, point):
    service.forget()
    partner, body = service.partner(), order(f"Killed {point}"[:50])
    with ThreadPoolExecutor(1) as pool:
        with point.gate(service) as gate:
            first = pool.submit(partner.request_until_final, body)
            gate.wait()
            service.kill(point.victim)
            gate.lose()
        service.start(point.victim)
        answers = [first.result(), *partner.request_at_once(body, CLIENTS)]
    partner.wait(body["token"]["requestKey"])

    assert service.judge() == []
    assert len(answers) == CLIENTS + 1


@pytest.mark.django_db
def test_a_repeated_order_is_answered_as_the_first_whose_token_came_while_it_was_tried(service):
    service.forget()
    partner = service.partner()
    body = order("Twice")
    with ThreadPoolExecutor(1) as pool, service.node.gate("eth_call", most=1) as gate:
        late = pool.submit(partner.order, body)
        gate.wait()
        first = partner.order(body)
        partner.wait(body["token"]["requestKey"])
        gate.open()
        assert late.result() == first
    assert service.judge() == []


def select(service: DeployService, statement: str, *values: Any) -> list[Any]:
    with psycopg.connect(service.database_url) as connection:
        return [row[0] for row in connection.execute(statement, values)]


@pytest.mark.django_db
def test_a_launch_that_the_chain_drops_is_launched_again_at_the_same_address(service):
    service.forget()
    partner = service.partner()
    body = order("Taken back")
    request_key = body["token"]["requestKey"]
    expected = partner.request_until_final(body).body["expectedAddress"]
    partner.wait(request_key)
    block = "SELECT block_hash FROM tokens_token WHERE contract_address = %s"
    before = select(service, block, expected)
    # The node drops the transactions of the blocks, which others may keep.
    manager = node_client.connect(service.node.rpc_url).manager
    manager.request_blocking("anvil_reorg", [1, []])
    manager.request_blocking("anvil_mine", ["0x1"])
    status = "SELECT status FROM tokens_deployment WHERE request_key = %s"
    wait_for(lambda: select(service, status, request_key) != ["indexed"])
    partner.wait(request_key)
    assert select(service, block, expected) not in ([], before)
    assert service.judge() == []
