"""The request id: from an HTTP request's header through a message to the worker, in both processes' log lines."""

import json
import re
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import orjson
import pytest
import requests
from django.db import connection

from config.celery import app
from config.http.request_ids import HEADER, RequestThreadPool, accept_request_id, current_request_id, request_scope
from development.servers.processes import free_port
from development.standins.loopback import ReceivedRequest, Reply, answer_calls, run_server
from tests.config.edge.test_wsgi_environ import SCRIPT
from tests.nodes.json_server import serve_json
from tests.processes.service_processes import service, web_service
from tests.processes.slow_clients import own_web_server, receive_response
from tests.processes.waiting import wait_for
from tokens.chains.errors import NodeUnavailableError, SignerRejectedError
from tokens.chains.evm.transactions.signing import RemoteSigner, UnsignedTransaction
from tokens.chains.rpc.client import RpcClient
from tokens.deploying.tasks import submit_waiting

SIGNER = "0x" + "11" * 20
TRANSACTION = UnsignedTransaction(
    chain_id=8453, nonce=0, to=SIGNER, value=0, data=b"", gas=21_000, max_fee=1, priority_fee=1
)
_NEW = re.compile("[0-9a-f]{32}")
CHAIN_ID = 8453
# Celery prints it on standard output at SIGTERM.
NOTICE = ("\n", "worker: Warm shutdown (MainProcess)\n")


@pytest.mark.parametrize("text", ["a", "4f0c-9.B_7", "f" * 64])
def test_a_well_formed_id_is_kept(text: str) -> None:
    assert accept_request_id(text) == text


@pytest.mark.parametrize("text", ["", "f" * 65, "a b", "a\nb", "a\r\n", "-a", '"a"', "a,b", "\u00e9", "\u0661", "a%0a"])
def test_any_other_id_is_replaced(text: str) -> None:
    assert _NEW.fullmatch(accept_request_id(text))
    assert accept_request_id(text) != accept_request_id(text)


def test_work_in_a_pool_has_the_id_of_its_submitter() -> None:
    with RequestThreadPool(1) as pool:
        with request_scope("first"):
            assert pool.submit(current_request_id).result() == "first"
        with request_scope(""):
            assert pool.submit(current_request_id).result() == ""


def test_a_message_has_the_id_of_its_sender(queue: Any) -> None:
    with request_scope("from-web"):
        submit_waiting.apply_async((CHAIN_ID,))
        app.signature("tokens.tasks.submit_deployment").apply_async((1,))
        app.send_task("tokens.tasks.submit_deployment", (1,), headers={"other": "kept"})
    with request_scope(""):
        submit_waiting.apply_async((CHAIN_ID,))
    assert [message.request_id for message in queue()] == ["from-web", "from-web", "from-web", None]


def test_the_signer_gets_the_id_and_a_node_does_not() -> None:
    ids: list[str | None] = []

    def refuse(request: ReceivedRequest) -> Reply:
        ids.append(request.headers.get(HEADER.lower()))
        return Reply(status=400)

    with run_server(refuse) as url, request_scope("from-web"):
        with pytest.raises(SignerRejectedError):
            RemoteSigner(url, address=SIGNER, timeout=10).sign(TRANSACTION)
        with pytest.raises(NodeUnavailableError):
            RpcClient(chain_id=CHAIN_ID, urls=(url,), attempts=1).query([("eth_blockNumber", ())], parse=list)
    assert ids == ["from-web", None]


@pytest.mark.django_db(transaction=True)
class TestServed:
    """The web server returns an id with each response, whichever part responds."""

    def test_every_response_has_an_id(self, service_environment: dict[str, str]) -> None:
        with own_web_server(service_environment, EDGE_CACHE_SECONDS="60") as server:
            wait_for(lambda: server.fetch("GET", "/api/tokens").getheader("Age"))
            for path, status in [("/api/tokens", 200), ("/healthz", 200), ("/none", 404), (SCRIPT, 200)]:
                response = server.fetch("GET", path, X_Request_ID="mine-1")
                assert (response.status, response.getheader(HEADER)) == (status, "mine-1"), path
            refused = server.fetch("GET", "/api/tokens", X_Request_ID="mine-2", X_Long="x" * 33_000)
            assert (refused.status, refused.getheader(HEADER)) == (431, "mine-2")
            # A cached response has its own request's id, not the id from the request that filled the cache.
            first, second = (server.fetch("GET", "/api/tokens").headers.get_all(HEADER) for _ in range(2))
            assert first and second and len(first) == len(second) == 1
            assert _NEW.fullmatch(first[0]) and _NEW.fullmatch(second[0]) and first != second

    def test_a_hostile_id_is_replaced(self, service_environment: dict[str, str]) -> None:
        with own_web_server(service_environment) as server:
            for value in (b"a b", b"x" * 10_240, b"\xc3\xa9", b"a\tb", b"a\xff", b"one\r\nX-Request-ID: two", b""):
                request = b"GET /healthz HTTP/1.1\r\nHost: test\r\nX-Request-ID: %b\r\n\r\n" % value
                response = receive_response(server.connect(request))
                assert response.status == 200
                assert _NEW.fullmatch(response.getheader(HEADER, "")), value


def node(calls: Any) -> Reply:
    """Respond as a node that has no transaction."""
    results = {"eth_chainId": hex(CHAIN_ID)}
    return Reply(orjson.dumps(answer_calls(calls, lambda call: results.get(call["method"]))))


@pytest.mark.django_db(transaction=True)
def test_one_id_is_in_the_json_lines_of_web_and_worker(
    service_environment: dict[str, str], index_key: dict[str, str], unused_port: int, tmp_path: Path
) -> None:
    log, failed = tmp_path / "log", Event()

    def fail_once(calls: Any) -> Reply:
        """Respond as a node that fails once, and then has no such transaction."""
        if failed.is_set() or "eth_chainId" in str(calls):
            return node(calls)
        failed.set()
        return Reply(b"", status=500)

    with serve_json(fail_once) as url:
        environment = service_environment | {f"RPC_URLS_{CHAIN_ID}": url, "LOG_FORMAT": "json"}
        with web_service(environment, unused_port, log=log) as web, service("worker", environment, log=log):
            response = requests.post(
                f"{web}/api/tokens/index",
                json={"chainId": CHAIN_ID, "txHash": "0x" + "5e" * 32},
                headers=index_key | {HEADER: "mine-1"},
                timeout=60,
            )
            assert (response.status_code, response.headers[HEADER]) == (400, "mine-1")
            wait_for(lambda: "postponed" in log.read_text())
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    found = {entry["logger"] for entry in entries if entry.get("request_id") == "mine-1"}
    assert found == {"django.request", "tokens.chains.rpc.client", "tokens.indexing.tasks"}, entries
    # All lines from both servers are JSON, also from granian's and Celery's main processes.
    assert {"_granian", "celery.apps.worker"} <= {entry["logger"] for entry in entries}


def close_connections() -> None:
    """Close all processes' connections to the test's database."""
    with connection.cursor() as cursor:
        cursor.execute("""SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()""")


@pytest.mark.django_db(transaction=True)
def test_all_lines_of_all_processes_are_json(
    service_environment: dict[str, str], unused_port: int, tmp_path: Path
) -> None:
    ports = {"PORT": str(unused_port), "STREAM_PORT": str(free_port())}
    logs = {name: tmp_path / name for name in ("web", "worker", "beat", "follower", "events", "stream")}

    def entries(name: str) -> list[dict[str, str]]:
        lines = logs[name].read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n") and line not in NOTICE]

    with serve_json(lambda calls: Reply(b"", status=500)) as url, ExitStack() as stack:
        environment = service_environment | ports | {"LOG_FORMAT": "json", "LOG_LEVEL": "DEBUG"}
        environment |= {f"RPC_URLS_{CHAIN_ID}": url}
        running = [stack.enter_context(service(name, environment, log=log)) for name, log in logs.items()]
        for name in ("web", "worker", "beat", "follower"):
            wait_for(partial(entries, name))
        # These two are silent until something fails.
        for name in ("events", "stream"):
            wait_for(lambda name=name: entries(name) or close_connections())
        for process in running:
            process.stop()
    assert all(entries(name) for name in logs)
    for name in ("follower", "events"):
        assert any("request_id" in entry for entry in entries(name)), name
