"""All service processes on a development chain, and what each process's clients do once."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from config.environment.server_urls import is_web_server_up
from config.environment.variables import BASE_DIR
from development.devchain.anvil import CHAIN_ID, run_anvil
from development.devchain.deploy_contracts import deploy_contracts
from development.servers.processes import free_port
from development.servers.programs import postgresql_programs
from tests.chaos.harness import Processes, chain_settings, create_accounts, manage, settings_of
from tests.nodes.devchain_launches import Launchpad
from tests.processes.service_processes import HOST
from tests.processes.stream_clients import ResumingReader, StreamProcess, stream_process
from tests.processes.waiting import Found, wait_for
from tests.servers.deploy_clients import Answers, Partner, order


def findings(environment: Mapping[str, str], *levels: str) -> dict[str, str]:
    """Return check -> findings by `manage.py doctor` at these levels."""
    command = [sys.executable, "manage.py", "doctor", "--json"]
    done = subprocess.run(command, cwd=BASE_DIR, env=dict(environment), capture_output=True, text=True, check=False)
    rows = [row for row in json.loads(done.stdout)["findings"] if row["level"] in levels]
    return {row["check"]: " ".join(each["summary"] for each in rows if each["check"] == row["check"]) for row in rows}


@dataclass(frozen=True)
class WholeService:
    """A running service with a partner."""

    environment: Mapping[str, str]
    launchpad: Launchpad
    partner: Partner
    key: str
    stream: StreamProcess
    processes: Processes

    def index(self, tx_hash: str) -> requests.Response:
        """Request that a transaction is indexed."""
        body, header = {"txHash": tx_hash, "chainId": CHAIN_ID}, {"x-api-key": self.key}
        return requests.post(self._url("/api/tokens/index"), json=body, headers=header, timeout=60)

    def has_token(self, tx_hash: str) -> bool:
        """Return whether the list has this transaction's token."""
        got = requests.get(self._url("/api/tokens"), timeout=60)
        return got.status_code == 200 and any(row["tx_hash"] == tx_hash for row in got.json()["data"])

    def use_everything(self) -> dict[str, Any]:
        """Index a launch, have the follower find another one, deploy a token and receive all three events.

        Return the deployment's status.
        """
        with closing(ResumingReader(self.stream.port, "?lastEventId=0")) as reader:
            indexed = self.launchpad.launch()
            assert self.index(indexed).status_code in (200, 202)
            followed = self.launchpad.launch()
            body = order("Pooled")
            assert self.partner.request_until_final(body).status in (200, 202)
            status = self._wait_for(lambda: self.partner.final_status(body["token"]["requestKey"]))
            assert status is not None
            launched = {indexed, followed, status["txHash"]}
            for tx_hash in launched:
                self._wait_for(lambda tx_hash=tx_hash: self.has_token(tx_hash))
            self._wait_for(lambda: launched <= {event.data["data"].get("tx_hash") for event in reader.events})
        return status

    def _wait_for(self, condition: Callable[[], Found]) -> Found:
        """Wait for the condition, and meanwhile start what ends, as a supervisor does.

        kombu's AttributeError ends a worker that loses its Redis server while replies to it wait there.
        """

        def is_met() -> Found:
            self.processes.restart_ended()
            return condition()

        return wait_for(is_met)

    def _url(self, path: str) -> str:
        return f"http://{HOST}:{self.environment['PORT']}{path}"


@contextmanager
def whole_service(place: Path, servers: Mapping[str, str]) -> Iterator[WholeService]:
    """Run all processes on a migrated database while the block runs; `servers` are the servers' settings."""
    with run_anvil() as rpc_url:
        deployment = deploy_contracts(rpc_url, chains_file=place / "chains.toml")
        environment = settings_of(
            DJANGO_SETTINGS_MODULE="development.setting_overrides",
            **chain_settings(rpc_url, place / "chains.toml") | dict(servers),
            POSTGRESQL_PROGRAMS=str(postgresql_programs()),
            PORT=str(free_port()),
            EDGE_CACHE_SECONDS="0",
            FETCH_DOCUMENTS="false",
            OVERRIDE_STREAM_HEARTBEAT_SECONDS="1",
            LOG_LEVEL="WARNING",
        )
        # The worker does so within a minute. Until then, on a week's last two days, the next partition is missing.
        manage(environment, "partitions", "--maintain")
        (key,), _ = create_accounts(environment, ["Partner"])
        lines = ("web", "worker", "beat", "follower", "events")
        with Processes(environment).at_work(*lines) as processes, stream_process(environment) as stream:
            wait_for(lambda: is_web_server_up(HOST, int(environment["PORT"])))
            partner = Partner("Partner", key, int(environment["PORT"]), Answers())
            yield WholeService(environment, Launchpad(deployment), partner, key, stream, processes)
