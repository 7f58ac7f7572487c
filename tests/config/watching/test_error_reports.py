"""Real processes' reports to a server for Sentry: faults once, without secrets, and outages never."""

import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
import requests
from django.db import connection
from psycopg import sql

from config.environment.server_urls import is_web_server_up
from config.http.request_ids import HEADER
from config.watching.error_reports import FailureLog, process_name
from development.servers.processes import free_port
from development.standins.loopback import Reply
from tests.config.test_request_ids import CHAIN_ID, close_connections, node
from tests.config.watching.test_watching_apps import HASH, SECRET, errors, receiver
from tests.nodes.json_server import serve_json
from tests.processes.own_environment import database_url
from tests.processes.service_processes import HOST, service, web_service
from tests.processes.waiting import wait_for
from tests.rows.factories import ChainHeadFactory

# The table without which each process fails.
BROKEN = {
    "follower": "tokens_followedblock",
    "events": "accounts_webhookdelivery",
    "stream": "events_event",
}
OUTAGES = {
    "follower": "The database is unreachable",
    "events": "events: the database failed",
    "stream": "The database failed",
    "web": "Readiness: the database failed",
}


def place(report: Any) -> str:
    """Return a report's process, its text, and its exceptions' lines."""
    exceptions = report.get("exception", {}).get("values", [])
    lines = [(frame["filename"], frame["lineno"]) for each in exceptions for frame in each["stacktrace"]["frames"]]
    return str((report["tags"]["process"], report["logentry"], lines))


def type_of(report: Any) -> str:
    """Return the last exception's type in a report, empty without one."""
    return next((each["type"] for each in reversed(report.get("exception", {}).get("values", []))), "")


def is_halt(report: Any) -> bool:
    return bool(report["level"] == "fatal")


def of_process(reports: list[bytes], name: str) -> list[Any]:
    return [report for report in errors(reports) if report["tags"]["process"] == name]


@contextmanager
def database_outage() -> Iterator[None]:
    """Refuse and end all connections to the test's database while the block runs."""
    name = str(connection.settings_dict["NAME"])
    connection.close()
    with psycopg.connect(database_url("postgres"), autocommit=True) as server:
        allow = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
        server.execute(allow.format(sql.Identifier(name), sql.SQL("false")))
        try:
            server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
            yield
        finally:
            server.execute(allow.format(sql.Identifier(name), sql.SQL("true")))


def alter(table: str, change: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} {change}")


@contextmanager
def broken_tables() -> Iterator[None]:
    """Rename the tables while the block runs, and refuse index requests, with an error that has their row."""
    alter("tokens_indexrequest", "ADD CONSTRAINT broken CHECK (chain_id = 0) NOT VALID")
    for table in BROKEN.values():
        alter(table, f"RENAME TO {table}_broken")
    try:
        yield
    finally:
        for table in BROKEN.values():
            alter(f"{table}_broken", f"RENAME TO {table}")
        alter("tokens_indexrequest", "DROP CONSTRAINT broken")


def assert_clean(reports: list[bytes], *secrets: str) -> None:
    """Fail if a body has any of these secrets, or a part that may hold personal data."""
    for body in reports:
        assert not [secret for secret in secrets if secret.encode() in body]
    for report in errors(reports):
        assert not {"request", "user", "extra", "breadcrumbs"} & report.keys()
        for exception in report.get("exception", {}).get("values", []):
            assert not any("vars" in frame for frame in exception["stacktrace"]["frames"])


@pytest.mark.django_db(transaction=True)
def test_an_outage_is_not_reported_and_a_fault_once_by_each_process(
    service_environment: dict[str, str], index_key: dict[str, str], unused_port: int, tmp_path: Path
) -> None:
    ports = {"STREAM_PORT": str(free_port()), "WEB_WORKERS": "1"}
    logs = {name: tmp_path / name for name in OUTAGES}
    # PostgreSQL cuts a row's values.
    secrets = (SECRET, HASH.removeprefix("0x")[:32], index_key["x-api-key"], service_environment["SECRET_KEY"])

    def has_line(name: str, text: str) -> bool:
        return text in logs[name].read_text()

    def ready() -> int:
        return requests.get(f"http://{HOST}:{unused_port}/readyz", timeout=60).status_code

    with (
        receiver() as (sentry, reports),
        serve_json(lambda calls: Reply(b"", status=500)) as dead,
        ExitStack() as stack,
    ):
        environment = service_environment | ports | {"SENTRY_DSN": sentry.replace("//", "//publickey@") + "/1"}
        environment |= {f"RPC_URLS_{CHAIN_ID}": f"{dead}/{SECRET}"}
        url = stack.enter_context(web_service(environment, unused_port, log=logs["web"]))
        running = [stack.enter_context(service(name, environment, log=logs[name])) for name in BROKEN]
        wait_for(lambda: is_web_server_up(HOST, int(ports["STREAM_PORT"])))
        wait_for(partial(has_line, "follower", "failing"))
        call = partial(
            requests.post,
            f"{url}/api/tokens/index?secret={SECRET}",
            json={"chainId": CHAIN_ID, "txHash": HASH},
            headers=index_key | {HEADER: "mine-1", "User-Agent": SECRET, "Cookie": f"a={SECRET}"},
            timeout=60,
        )
        with database_outage():
            wait_for(lambda: ready() == 503)
            for name, text in OUTAGES.items():
                wait_for(partial(has_line, name, text))
            assert call().status_code == requests.get(f"{url}/", timeout=60).status_code == 503
        wait_for(lambda: ready() == 200)
        wait_for(partial(has_line, "stream", "responds again"))
        assert errors(reports) == []
        with broken_tables():
            for _ in range(2):
                assert call().status_code == 500
            for name in OUTAGES:
                wait_for(lambda name=name: of_process(reports, name))
            # The log has several entries for a failure that repeats each second.
            wait_for(lambda: logs["events"].read_text().count("UndefinedTable") > 6)
            for process in running:
                process.stop()
    repeated = [key for key, number in Counter(map(place, errors(reports))).items() if number > 1]
    assert repeated == []
    [served] = of_process(reports, "web")
    assert (served["tags"]["request_id"], served["logger"]) == ("mine-1", "config.api.error_handling")
    for report in errors(reports):
        assert report["tags"]["request_id"], report
        assert type_of(report) in ("IntegrityError", "ProgrammingError", "UndefinedTable"), report
    assert_clean(reports, *secrets)


def has_lost_directory(reports: list[bytes], name: str, directory: Path) -> bool:
    """Remove a process's directory, which its next session creates again, and return whether it reported that."""
    shutil.rmtree(directory, ignore_errors=True)
    return any(type_of(each) == "FileNotFoundError" for each in of_process(reports, name))


@pytest.mark.django_db(transaction=True)
def test_a_halted_chain_and_the_end_of_a_process_are_reported(
    service_environment: dict[str, str], tmp_path: Path
) -> None:
    ChainHeadFactory(chain_id=CHAIN_ID, halted="block 5 was replaced")
    log, beats = tmp_path / "log", {name: tmp_path / name for name in ("follower", "events")}
    with receiver() as (sentry, reports), serve_json(node) as chain, ExitStack() as stack:
        environment = service_environment | {
            "SENTRY_DSN": sentry.replace("//", "//publickey@") + "/1",
            f"RPC_URLS_{CHAIN_ID}": f"{chain}/{SECRET}",
        }
        for name, directory in beats.items():
            stack.enter_context(service(name, environment | {"HEARTBEAT_DIR": str(directory)}, log=log))
        halt = wait_for(lambda: next(filter(is_halt, errors(reports)), None))
        wait_for(lambda: len(list(beats["events"].iterdir())) == 2 if beats["events"].exists() else False)
        # The follower's next session alerts again, as each minute does.
        close_connections()
        wait_for(lambda: log.read_text().count("is halted: ") > 1)
        for name, directory in beats.items():
            wait_for(lambda name=name, directory=directory: has_lost_directory(reports, name, directory))
    assert "chain=8453 is halted: block 5 was replaced" in halt["logentry"]["formatted"]
    assert halt["tags"]["process"] == "follower"
    assert len(list(filter(is_halt, errors(reports)))) == 1
    assert all(report["tags"]["request_id"] for report in errors(reports))
    assert_clean(reports, SECRET, service_environment["SECRET_KEY"])


@pytest.mark.django_db(transaction=True)
def test_an_unreachable_broker_is_not_reported(
    service_environment: dict[str, str], unused_port: int, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with receiver() as (sentry, reports):
        environment = service_environment | {
            "SENTRY_DSN": sentry.replace("//", "//publickey@") + "/1",
            "REDIS_URL": f"redis://:{SECRET}@127.0.0.1:{unused_port}/0",
        }
        with service("worker", environment, log=log) as worker:
            wait_for(lambda: "Cannot connect to" in log.read_text())
            worker.stop()
    assert errors(reports) == []
    assert SECRET not in log.read_text()


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/venv/bin/granian --interface rsgi", "web"),
        ("/venv/bin/celery --quiet --app config.celery worker", "worker"),
        ("/venv/bin/celery --quiet --app config.celery beat", "beat"),
        ("manage.py follow", "follower"),
        ("manage.py deliver_events", "events"),
        ("/app/config/events/stream/__main__.py", "stream"),
        ("manage.py backfill 8453", "backfill"),
        ("-c", "-c"),
    ],
)
def test_the_process_has_its_name_in_the_procfile(command: str, name: str) -> None:
    assert process_name(command.split()) == name


def test_a_failure_is_new_once_and_only_the_newest_are_kept() -> None:
    failures = FailureLog()
    assert [failures.is_new(key) for key in ("a", "b", "a", "b")] == [True, True, False, False]
    assert all(failures.is_new(str(number)) for number in range(1_000))
    assert failures.is_new("a") and not failures.is_new("999")
