"""Small form of `make upgrade-under-load`: an upgrade from the last version, and the way back, without a failure."""

import tempfile
import threading
from pathlib import Path

import psycopg
import pytest
import requests
from django.db import connection

from tests.processes.own_environment import database_url
from tests.processes.service_processes import HOST
from tests.processes.waiting import wait_for
from tests.upgrade.former_version import MissingVersionError, former_version
from tests.upgrade.lock_watch import watch_locks
from tests.upgrade.rolling_service import UPGRADE, Proxy, run_proxy
from tests.upgrade.upgrade_run import Plan, run

pytestmark = pytest.mark.slow

PLAN = Plan(tokens=100, launches=14, trades=10, pause=2, reads=5.0, interval=0.2)


def test_an_upgrade_and_the_way_back_fail_no_request_and_lose_nothing():
    # Not in pytest's directories: a socket's path may have 107 characters at most.
    with tempfile.TemporaryDirectory() as directory:
        result = run(Path(directory), PLAN)
    assert result.wrong == []
    figures = result.figures
    assert figures["chain"]["tokens"] == PLAN.launches + figures["deployments"]
    # Each stream is interrupted by each replacement.
    assert figures["reconnects"] >= 2 * PLAN.streams
    assert figures["events"] and figures["deliveries"] >= figures["events"]
    assert set(figures["stop_seconds"]) == set(UPGRADE)
    assert figures["locks"]["samples"]


def test_the_watch_finds_a_lock_and_who_waits_for_it(transactional_db):
    url = database_url(connection.settings_dict["NAME"])
    with psycopg.connect(url) as locking, psycopg.connect(url) as waiting, watch_locks(url) as locks:
        locking.execute("LOCK TABLE tokens_token IN ACCESS EXCLUSIVE MODE")
        reader = threading.Thread(target=waiting.execute, args=["SELECT FROM tokens_token LIMIT 1"])
        reader.start()
        wait_for(lambda: locks.longest >= 0.2 and locks.longest_wait >= 0.1)
        locking.rollback()
        reader.join()
    assert locks.longest_of == "tokens_token: AccessExclusiveLock"


def test_only_503_with_retry_after_is_no_failure(tmp_path):
    failed = [
        '502 POST /a "-" "502"',
        '503 GET /b "-" "503"',
        '500 GET /?"x"503 "-" "500"',
        '504 GET /c "-" "504, 200"',
    ]
    accepted = ['200 GET /502 "-" "200"', '503 GET /d "5" "503"', '404 GET /503 "-" "404"', '200 GET /e "-" "502, 200"']
    (tmp_path / "access.log").write_text(
        "\n".join(line for pair in zip(failed, accepted, strict=True) for line in pair)
    )
    proxy = Proxy(directory=tmp_path, port=0, ports={})
    assert proxy.failures() == failed
    assert proxy.statuses() == {"200": 2, "404": 1, "500": 1, "502": 1, "503": 2, "504": 1}


def test_the_proxy_answers_503_with_retry_after_without_processes(tmp_path):
    with run_proxy(tmp_path / "proxy") as proxy:
        url = f"http://{HOST}:{proxy.port}/api/tokens"
        answers = [requests.post(url, json={}, timeout=60), requests.get(f"{url}/stream", timeout=60)]
    for response in answers:
        assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
        assert response.json() == {"error": "Service is temporarily unavailable"}


def test_a_missing_version_is_named():
    with pytest.raises(MissingVersionError, match="The history lacks no-such-version"):
        former_version("no-such-version")
