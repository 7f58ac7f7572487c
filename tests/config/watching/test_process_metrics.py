"""Metrics about requests, tasks and calls to nodes: sums over processes, which any web process serves."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from celery.result import EagerResult
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from config.http import process_sums
from config.http.process_sums import BUCKETS, MAX_SUMS, add_to_histogram, add_to_sum, take_sums
from config.redis.connection import redis_client
from config.redis.stored_sums import read_sums, store_sums
from development.standins.loopback import Reply
from tests.nodes.json_server import serve_json
from tests.processes.service_processes import service, web_service
from tests.processes.waiting import wait_for
from tokens.chains.errors import NodeUnavailableError
from tokens.chains.rpc.client import RpcClient
from tokens.indexing.tasks import sweep_index_requests

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_sums() -> Iterator[None]:
    redis_client().delete("launchboard:sums")
    take_sums()
    yield
    redis_client().delete("launchboard:sums")
    take_sums()


def samples(text: str) -> dict[tuple[str, ...], float]:
    """Return (name without prefix, label values in the sequence of their names) -> number."""
    families = text_string_to_metric_families(text)
    return {
        (sample.name.removeprefix("launchboard_"), *(text for _, text in sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def scrape() -> dict[tuple[str, ...], float]:
    store_sums()
    return samples(Client().get("/metrics").text)


def test_a_histogram_has_cumulative_buckets() -> None:
    for seconds in (0.0, BUCKETS[0], 0.3, 99.0):
        add_to_histogram("request_seconds", "api/x", seconds=seconds)
    found = scrape()
    bounds = {key[1]: number for key, number in found.items() if key[0] == "request_seconds_bucket"}
    assert bounds["0.005"] == 2 and bounds["0.25"] == 2 and bounds["0.5"] == 3 and bounds["10.0"] == 3
    assert bounds["+Inf"] == found["request_seconds_count", "api/x"] == 4
    assert found["request_seconds_sum", "api/x"] == pytest.approx(99.305)


def test_sums_of_processes_are_added() -> None:
    for _ in range(2):
        add_to_sum(("requests", "api/x", "200"), 3)
        store_sums()
    assert scrape()["requests_total", "api/x", "200"] == 6
    assert take_sums() == {}


def test_without_redis_sums_are_kept_and_metrics_served(own_server: Any) -> None:
    add_to_sum(("requests", "api/x", "200"))
    own_server.stop()
    found = scrape()
    assert found["redis_up",] == 0 and ("requests_total", "api/x", "200") not in found
    assert take_sums() == {("requests", "api/x", "200"): 1}


def test_sums_are_limited() -> None:
    for number in range(MAX_SUMS + 10):
        add_to_sum(("requests", str(number), "200"))
    add_to_sum(("requests", "0", "200"))
    taken = take_sums()
    assert (len(taken), taken["requests", "0", "200"]) == (MAX_SUMS, 2)


def test_threads_lose_nothing() -> None:
    def add() -> None:
        for _ in range(1000):
            add_to_sum(("requests", "api/x", "200"))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert take_sums() == {("requests", "api/x", "200"): 4000}


def test_a_task_is_counted_by_its_outcome() -> None:
    result: EagerResult[Any] = sweep_index_requests.apply()
    assert result.successful()
    found = scrape()
    assert found["tasks_total", "success", "tokens.tasks.sweep_index_requests"] == 1
    assert found["task_seconds_count", "tokens.tasks.sweep_index_requests"] == 1


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(b'{"jsonrpc":"2.0","id":0,"result":"0x1"}'), "unavailable"),
        (Reply(b"", status=429), "rate limited"),
        (Reply(b"", status=504), "timeout"),
        (Reply(b"", status=500), "unavailable"),
        (Reply(b"{}", status=400), "refused"),
    ],
)
def test_calls_to_a_node_are_counted_by_outcome(reply: Reply, outcome: str) -> None:
    with serve_json(lambda body: reply) as url, pytest.raises(NodeUnavailableError):
        RpcClient(chain_id=8453, urls=(url,), attempts=1).query([("eth_blockNumber", ())], parse=list)
    found = scrape()
    assert found["rpc_calls_total", "8453", "eth_blockNumber", outcome] == 1
    assert found["rpc_request_seconds_count", "8453"] == 1


def respond(body: Any) -> Reply:
    """Respond as a node that has block 1 and rejects every contract call."""
    calls = body if isinstance(body, list) else [body]
    results = {"eth_chainId": '"result":"0x2105"', "eth_blockNumber": '"result":"0x1"'}
    rejected = '"error":{"code":3,"message":"execution reverted"}'
    answers = [f'{{"jsonrpc":"2.0","id":{call["id"]},{results.get(call["method"], rejected)}}}' for call in calls]
    return Reply(f"[{','.join(answers)}]".encode() if isinstance(body, list) else answers[0].encode())


def test_each_call_of_a_request_is_counted() -> None:
    calls = [("eth_blockNumber", ()), ("eth_call", ({}, "latest")), ("eth_call", ({}, "latest"))]
    with serve_json(respond) as url:
        RpcClient(chain_id=8453, urls=(url,)).query(calls, parse=list)
    found = scrape()
    assert found["rpc_calls_total", "8453", "eth_blockNumber", "ok"] == 1
    assert found["rpc_calls_total", "8453", "eth_call", "rejected"] == 2
    assert found["rpc_request_seconds_count", "8453"] == 1


@pytest.mark.django_db(transaction=True)
def test_web_and_worker_count_what_they_do(service_environment: dict[str, str], unused_port: int) -> None:
    environment = service_environment | {"RATE_LIMIT_PUBLIC": "0", "EDGE_CACHE_SECONDS": "60"}
    with web_service(environment, unused_port) as url, service("worker", environment), service("beat", environment):
        for path in ("/api/tokens", "/api/tokens?limit=x", "/none", "/admin/login/", "/healthz", "/api/tokens/1/0x"):
            requests.get(f"{url}{path}", timeout=60)
        wait_for(lambda: "Age" in requests.get(f"{url}/api/tokens", timeout=60).headers)

        def served() -> dict[tuple[str, ...], float]:
            return samples(requests.get(f"{url}/metrics", timeout=60).text)

        expected = {
            ("requests_total", "api/tokens", "400"),
            ("requests_total", "none", "404"),
            ("requests_total", "admin", "200"),
            ("requests_total", "cache", "200"),
            ("requests_total", "probes", "200"),
            ("tasks_total", "success", "tokens.tasks.watch_deployments"),
        }
        wait_for(lambda: expected <= served().keys())
        found = served()
        assert found["redis_up",] == 1
        assert found["request_seconds_count", "api/tokens"] == sum(
            number for key, number in found.items() if key[:2] == ("requests_total", "api/tokens")
        )
        # No client's path is a label.
        assert not any("0x" in label or "login" in label for _, *labels in found for label in labels)


def test_the_fields_in_redis_are_what_was_added() -> None:
    add_to_sum(("requests", 'a "quoted" | route', "200"), 0.5)
    store_sums()
    assert read_sums() == {("requests", 'a "quoted" | route', "200"): 0.5}
    assert process_sums.take_sums() == {}
