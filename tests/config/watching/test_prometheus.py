"""A real Prometheus scrapes running processes: each panel of docs/grafana.json has data, each rule is evaluated."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from shutil import which
from subprocess import DEVNULL, Popen
from typing import Any

import pytest
import requests
import yaml

from config.celery import app
from config.environment.variables import BASE_DIR
from development.servers.processes import free_port
from tests.config.watching.test_alert_rules import ALERTS, DASHBOARD, SELECTOR, WITHOUT_SAMPLES, in_prometheus
from tests.config.watching.test_watching_apps import app_broker
from tests.processes.service_processes import HOST, service, web_service
from tests.processes.waiting import wait_for
from tests.rows.agent_factories import SnapshotFactory
from tests.rows.factories import ChainHeadFactory, CoverageFactory, DeploymentFactory, DeployWalletFactory

TOKEN = "t0ken-of-prometheus"
CHAIN_ID = 8453


@contextmanager
def prometheus(directory: Path, targets: dict[str, str]) -> Iterator[str]:
    """Run the program with docs/alerts.yml, and yield its API's URL; `targets` are addresses by job."""
    program = which("prometheus")
    assert program, "run make promtool"
    jobs = [
        {"job_name": job, "authorization": {"credentials": TOKEN}, "static_configs": [{"targets": [address]}]}
        for job, address in targets.items()
    ]
    file = directory / "prometheus.yml"
    file.write_text(
        yaml.safe_dump(
            {
                "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                "rule_files": [str(BASE_DIR / "docs" / "alerts.yml")],
                "scrape_configs": jobs,
            }
        )
    )
    address = f"{HOST}:{free_port()}"
    words = [program, f"--config.file={file}", f"--storage.tsdb.path={directory}", f"--web.listen-address={address}"]
    with Popen(words, stdout=DEVNULL, stderr=DEVNULL) as running:
        try:
            wait_for(lambda: is_listening(address))
            yield f"http://{address}/api/v1"
        finally:
            running.kill()


def is_listening(address: str) -> bool:
    try:
        return requests.get(f"http://{address}/-/ready", timeout=60).ok
    except requests.ConnectionError:
        return False


def fetched(api: str, path: str, **parameters: str) -> Any:
    """Return a response's data."""
    answer = requests.get(f"{api}/{path}", params=parameters, timeout=60).json()
    assert answer["status"] == "success", answer
    return answer["data"]


def series(api: str, query: str) -> list[dict[str, str]]:
    """Return each series' labels in a query's result."""
    return [found["metric"] for found in fetched(api, "query", query=query)["result"]]


def rules(api: str) -> dict[str, Any]:
    """Return alert rule name -> state."""
    return {rule["name"]: rule for group in fetched(api, "rules")["groups"] for rule in group["rules"]}


@pytest.fixture
def rows(transactional_db: None) -> None:
    """Store rows that have their own metrics: a chain, a deployment, a wallet, rankings."""
    ChainHeadFactory()
    CoverageFactory(first_block=1, followed_to=100, verified_to=100)
    DeploymentFactory()
    DeployWalletFactory(balance=1)
    for interval in ("24h", "7d", "30d"):
        SnapshotFactory(interval=interval)


def test_panels_and_rules_have_data_of_running_processes(
    service_environment: dict[str, str], rows: None, index_key: dict[str, str], unused_port: int, tmp_path: Path
) -> None:
    stream_port = free_port()
    environment = service_environment | {
        "METRICS_TOKEN": TOKEN,
        "STREAM_PORT": str(stream_port),
        "RATE_LIMIT_INDEX": "0",
        # No node listens there: calls and requests fail.
        f"RPC_URLS_{CHAIN_ID}": f"http://{HOST}:{free_port()}",
    }
    jobs = {"launchboard": f"{HOST}:{unused_port}", "launchboard-stream": f"{HOST}:{stream_port}"}
    with (
        web_service(environment, unused_port) as url,
        service("worker", environment),
        service("beat", environment),
        service("stream", environment),
        prometheus(tmp_path, jobs) as api,
    ):
        body = {"chainId": CHAIN_ID, "txHash": "0x" + "5e" * 32}

        def is_failure_noticed() -> bool:
            """Fail once more: a rate needs a second sample."""
            answer = requests.post(f"{url}/api/tokens/index", json=body, headers=index_key, timeout=60)
            return answer.status_code == 503 and rules(api)["RequestsFail"]["state"] == "pending"

        wait_for(is_failure_noticed)
        with app.connection_for_write(app_broker(environment["REDIS_URL"])) as broker:
            app.send_task("tokens.tasks.confirm_chain", ("too", "many"), connection=broker)
        for panel in DASHBOARD["panels"]:
            for target in panel.get("targets", []):
                query = in_prometheus(target["expr"])
                if not {name for name, _ in SELECTOR.findall(query)} <= WITHOUT_SAMPLES:
                    found = wait_for(partial(series, api, query))
                    labels = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
                    assert all(labels <= one.keys() for one in found), (panel["title"], found)
        for alert in ALERTS:
            for name, labels in SELECTOR.findall(alert["expr"]):
                assert name in WITHOUT_SAMPLES or series(api, f"{name}{{{labels}}}"), alert["alert"]
        assert {one["job"] for one in series(api, "up == 1")} == jobs.keys()
        found = rules(api)
    assert found.keys() == {alert["alert"] for alert in ALERTS}
    assert {rule["health"] for rule in found.values()} == {"ok"}, [rule["lastError"] for rule in found.values()]
