"""Workers that are killed at any instant lose no transaction: the rows are stored, and the sweeper enqueues again."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from eth_utils.crypto import keccak
from hexbytes import HexBytes

from config.celery import app as celery_app
from development.devchain import node_client
from development.devchain.anvil import CHAIN_ID
from development.devchain.launch_transactions import DevLaunchConfig, deployment_config
from tests.nodes.devchain_launches import SENDER, Launchpad
from tests.nodes.relay import relay
from tests.processes.service_processes import service
from tests.processes.waiting import wait_for
from tests.rows.factories import IndexRequestFactory
from tokens.indexing import tasks
from tokens.models import IndexRequest, Token

pytestmark = pytest.mark.slow

LAUNCHES, PASSED, WORKERS = 30, 10, 2


class Gate:
    """A gate that lets the first transactions through and blocks requests for another one, until it is opened."""

    def __init__(self) -> None:
        self.counted: set[str] = set()
        self.seen: set[str] = set()
        self.waiting = 0
        self._lock = threading.Lock()
        self._opened = threading.Event()

    def count(self, hashes: list[str]) -> None:
        self.counted = set(hashes)

    def open(self) -> None:
        self._opened.set()

    def pass_through(self, requested: Any) -> None:
        calls = requested if isinstance(requested, list) else [requested]
        hashes = {call["params"][0] for call in calls if call["method"] == "eth_getTransactionByHash"}
        with self._lock:
            self.seen |= hashes & self.counted
            held = bool(hashes & self.counted) and len(self.seen) > PASSED
            self.waiting += held
        if held:
            self._opened.wait()


def sign_launch(launchpad: Launchpad) -> tuple[str, str]:
    """Return (hash, signed transaction) of a launch that was not sent yet."""
    deployment, config = launchpad.deployment, DevLaunchConfig(name="Late", salt=b"\7" * 32)
    factory = node_client.bind_contract(deployment.rpc_url, "Factory", deployment.factory)
    call = {
        "from": SENDER,
        "to": deployment.factory,
        "data": factory.encode_abi("deployToken", [deployment_config(deployment, config, sender=SENDER)]),
        "nonce": hex(launchpad.web3.eth.get_transaction_count(SENDER)),
        "gas": hex(node_client.GAS),
        "maxFeePerGas": hex(10**10),
        "maxPriorityFeePerGas": hex(1),
        "chainId": hex(CHAIN_ID),
    }
    signed = launchpad.rpc("eth_signTransaction", call)
    return "0x" + keccak(HexBytes(signed)).hex(), signed


def enqueue(hashes: list[str], broker: str) -> None:
    with celery_app.connection_for_write(
        broker.replace("unix://", "redis+socket://").replace("?db", "?virtual_host")
    ) as to:
        for tx_hash in hashes:
            tasks.index_transaction.apply_async((CHAIN_ID, tx_hash), connection=to)


def count(*statuses: str) -> int:
    return IndexRequest.objects.filter(status__in=statuses).count()


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_lost_or_doubled_when_all_workers_are_killed(own_launchpad, service_environment):
    launched = [own_launchpad.send() for _ in range(LAUNCHES)]
    for tx_hash in launched:
        own_launchpad.mined(tx_hash)
    late, signed = sign_launch(own_launchpad)
    for tx_hash in [late, *launched]:
        IndexRequestFactory(chain_id=CHAIN_ID, tx_hash=tx_hash, due_at=timezone.now() + timedelta(seconds=2))
    enqueue([late, *launched], service_environment["REDIS_URL"])
    gate = Gate()
    gate.count(launched)
    with relay(own_launchpad.deployment.rpc_url, before=gate.pass_through) as url:
        # A process that the gate blocks must not retry, so that the waiting ones are different workers.
        timeouts = {"RPC_TIMEOUT_SECONDS": "120", "OVERRIDE_INDEX_LEASE_SECONDS": "2", "WORKER_PROCESSES": str(WORKERS)}
        environment = service_environment | timeouts | {f"RPC_URLS_{CHAIN_ID}": url}
        with service("worker", environment) as worker:
            # Both processes have a transaction in progress.
            wait_for(lambda: gate.waiting >= WORKERS)
            worker.kill()
            assert count("indexed") == Token.objects.count() == PASSED
            tried = IndexRequest.objects.get(tx_hash=late)
            assert (tried.status, tried.attempts > 0) == ("pending", True)
            assert own_launchpad.rpc("eth_sendRawTransaction", signed) == late
            gate.open()
            worker.start()
            with service("beat", environment):
                wait_for(lambda: count("indexed", "confirmed") == LAUNCHES + 1)
    assert Token.objects.listed().count() == LAUNCHES + 1
    assert set(Token.objects.values_list("tx_hash", flat=True)) == {late, *launched}
    assert count("pending", "failed", "orphaned") == 0
