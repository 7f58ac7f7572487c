"""Real processes' errors and traces arrive at a server for Sentry and at a collector, without secrets."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

import orjson
import pytest
import requests
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from config.celery import app
from config.environment.variables import BASE_DIR
from config.http.request_ids import HEADER
from development.standins.loopback import ReceivedRequest, Reply, run_server
from tests.config.test_request_ids import CHAIN_ID, node
from tests.nodes.json_server import serve_json
from tests.processes.forking.program import run_program
from tests.processes.service_processes import service, web_service
from tests.processes.waiting import wait_for

SECRET = "s3cret"
SETTINGS = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"}
HASH = "0x" + "5e" * 32
CLIENT = Span.SpanKind.SPAN_KIND_CLIENT


@contextmanager
def receiver() -> Iterator[tuple[str, list[bytes]]]:
    """Yield the URL for a server that accepts each POST, and the bodies that it received."""
    bodies: list[bytes] = []

    def accept(request: ReceivedRequest) -> Reply:
        is_packed = request.headers.get("content-encoding") == "gzip"
        bodies.append(gzip.decompress(request.content) if is_packed else request.content)
        return Reply()

    with run_server(accept) as url:
        yield url, bodies


def errors(bodies: list[bytes]) -> list[Any]:
    """Return the events in Sentry's envelopes: a header, and for each item a header and a payload, in lines."""
    envelopes = [[json.loads(line) for line in body.splitlines() if line] for body in list(bodies)]
    return [payload for lines in envelopes for head, payload in zip(lines[1::2], lines[2::2], strict=True)
            if head["type"] == "event"]  # fmt: skip


def spans(bodies: list[bytes]) -> list[Any]:
    requested = [ExportTraceServiceRequest.FromString(body) for body in list(bodies)]
    return [
        span
        for request in requested
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def span_of(bodies: list[bytes], name: str) -> Any:
    return next((span for span in spans(bodies) if span.name == name), None)


@contextmanager
def recording_node() -> Iterator[tuple[str, list[set[str]]]]:
    """Yield the URL for a node without the transaction, and the header names in each request that it received."""
    names: list[set[str]] = []

    def respond(request: ReceivedRequest) -> Reply:
        names.append(set(request.headers))
        return node(orjson.loads(request.content))

    with run_server(respond) as url:
        yield url, names


def attributes_of(span: Any) -> dict[str, str]:
    return {each.key: each.value.string_value for each in span.attributes}


def below(bodies: list[bytes], ancestor: Any) -> list[Any]:
    """Return the spans within a span, at any depth."""
    known = {span.span_id: span for span in spans(bodies) if span.trace_id == ancestor.trace_id}

    def is_below(span: Any) -> bool:
        parent = known.get(span.parent_span_id)
        return parent is not None and (parent.span_id == ancestor.span_id or is_below(parent))

    return [span for span in known.values() if is_below(span)]


@pytest.mark.django_db(transaction=True)
def test_a_trace_has_statements_commands_and_calls_of_request_and_task(
    service_environment: dict[str, str], index_key: dict[str, str], unused_port: int
) -> None:
    with receiver() as (collector, traces), recording_node() as (chain, header_names):
        environment = service_environment | {
            f"RPC_URLS_{CHAIN_ID}": f"{chain}/{SECRET}",
            "TRACES_URL": f"{collector}/v1/traces",
            "TRACES_SHARE": "1",
            "OTEL_BSP_SCHEDULE_DELAY": "200",
        }
        with web_service(environment, unused_port) as url, service("worker", environment):
            requests.post(
                f"{url}/api/tokens/index", json={"chainId": CHAIN_ID, "txHash": HASH}, headers=index_key, timeout=60
            )
            served = wait_for(lambda: span_of(traces, "POST api/tokens/index"))
            task = wait_for(lambda: span_of(traces, "run/tokens.tasks.index_transaction"))
            # A trace is complete once its last statement, which stores the outcome, has arrived.
            wait_for(lambda: any(span.name == "UPDATE" for span in below(traces, task)))
    for ancestor in (served, task):
        found = below(traces, ancestor)
        texts = [attributes_of(span).get("db.query.text", "") for span in found]
        assert any('"tokens_indexrequest"' in text for text in texts), texts
        assert not any(HASH.removeprefix("0x") in text for text in texts)
        methods = {attributes_of(span).get("rpc.method") for span in found if span.name == "POST"}
        assert "eth_getTransactionReceipt" in "".join(filter(None, methods)), methods
        systems = {attributes_of(span).get("db.system") for span in found}
        assert "redis" in systems or ancestor is task, systems
    assert task.span_id in {span.span_id for span in below(traces, served)}
    # Polling without a request or task, such as a worker's for messages, starts no trace.
    assert not [span.name for span in spans(traces) if not span.parent_span_id and span.kind == CLIENT]
    assert header_names and not {"traceparent", "tracestate", "baggage"} & set().union(*header_names)
    for body in traces:
        assert SECRET.encode() not in body and index_key["x-api-key"].encode() not in body
        assert HASH.removeprefix("0x").encode() not in body and bytes.fromhex(HASH[2:]) not in body


@pytest.mark.django_db(transaction=True)
def test_a_trace_and_an_error_arrive_without_secrets(
    service_environment: dict[str, str], index_key: dict[str, str], unused_port: int
) -> None:
    with receiver() as (sentry, reports), receiver() as (collector, traces), serve_json(node) as chain:
        environment = service_environment | {
            f"RPC_URLS_{CHAIN_ID}": f"{chain}/{SECRET}",
            "SENTRY_DSN": sentry.replace("//", "//publickey@") + "/1",
            "TRACES_URL": f"{collector}/v1/traces",
            "TRACES_SHARE": "1",
            # Seconds between two exports.
            "OTEL_BSP_SCHEDULE_DELAY": "200",
        }
        with web_service(environment, unused_port) as url, service("worker", environment):
            answer = requests.post(
                f"{url}/api/tokens/index?secret={SECRET}",
                json={"chainId": CHAIN_ID, "txHash": HASH},
                headers=index_key | {HEADER: "mine-1", "User-Agent": SECRET, "Cookie": f"a={SECRET}"},
                timeout=60,
            )
            assert answer.status_code == 400
            served = wait_for(lambda: span_of(traces, "POST api/tokens/index"))
            task = wait_for(lambda: span_of(traces, "run/tokens.tasks.index_transaction"))
            with app.connection_for_write(app_broker(environment["REDIS_URL"])) as broker:
                app.send_task("tokens.tasks.confirm_chain", (SECRET, SECRET), connection=broker)
            wait_for(lambda: errors(reports))
    assert task.trace_id == served.trace_id
    attributes = attributes_of(served)
    assert attributes["launchboard.request_id"] == "mine-1" and attributes["http.route"] == "api/tokens/index"
    [report] = errors(reports)
    assert report["logger"] == "celery.app.trace" and report["exception"]["values"][-1]["type"] == "TypeError"
    assert len(report["tags"]["request_id"]) == 32
    frames = report["exception"]["values"][-1]["stacktrace"]["frames"]
    assert frames and not any("vars" in frame for frame in frames)
    assert not {"request", "user", "extra", "breadcrumbs"} & report.keys()
    for body in [*reports, *traces]:
        assert SECRET.encode() not in body and index_key["x-api-key"].encode() not in body
        assert service_environment["SECRET_KEY"].encode() not in body


# An export for each span. All but the first still wait when the process ends.
_TRACED_REQUESTS = """
import django
django.setup()
from django.test import Client
for _ in range(6):
    Client().get("/api/unknown")
"""


def test_a_process_ends_without_further_exports_while_the_collector_hangs() -> None:
    requested: list[str] = []
    released = Event()

    def hang(request: ReceivedRequest) -> None:
        requested.append(request.target)
        released.wait()

    with run_server(hang) as collector:
        environment = {
            "TRACES_URL": f"{collector}/v1/traces",
            "TRACES_SHARE": "1",
            "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "1",
            "ALLOWED_HOSTS": "testserver",
        }
        done = run_program(["python", "-c", _TRACED_REQUESTS], SETTINGS | environment)
        assert done.returncode == 0, done.stderr
        released.set()
    # A second one on a machine on which the six requests take longer than the first export.
    assert 1 <= len(requested) <= 2, done.stderr


def app_broker(redis_url: str) -> str:
    return redis_url.replace("unix://", "redis+socket://").replace("?db", "?virtual_host")


def start_error(code: str, **environment: str) -> str:
    """Return what Python prints when it runs the code, which must fail."""
    done = run_program(["python", "-c", code], SETTINGS | environment)
    assert done.returncode != 0
    return done.stderr


@pytest.mark.parametrize(
    ("name", "value", "package"),
    [("SENTRY_DSN", f"https://{SECRET}@h/1", "sentry_sdk"), ("TRACES_URL", "http://h:4318/v1/traces", "opentelemetry")],
)
def test_a_setting_without_its_package_is_one_clear_error(name: str, value: str, package: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; import django; django.setup()"
    error = start_error(code, **{name: value})
    assert f"{name}: needs the packages of requirements-watching.txt, which are not installed" in error
    assert SECRET not in error


def test_an_address_that_is_no_dsn_is_refused() -> None:
    error = start_error("import django; django.setup()", SENTRY_DSN=f"https://sentry.example/{SECRET}")
    assert "SENTRY_DSN: must be https://<key>@<host>/<project>" in error and SECRET not in error


def test_neither_package_is_loaded_by_default() -> None:
    code = "import sys, django; django.setup(); print(*{'sentry_sdk', 'opentelemetry'} & sys.modules.keys())"
    assert subprocess.check_output([sys.executable, "-c", code], cwd=BASE_DIR, env=SETTINGS, text=True) == "\n"
