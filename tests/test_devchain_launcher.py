"""The sample launcher: waits for what is missing, launches, has each launch indexed, and stops when told."""

import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from web3 import Web3

from devchain import node
from devchain.deploy import Deployment
from devchain.launches import TOKEN_SUPPLY, deployment_config
from devchain.samples import sample
from tests.on_devchain import OTHER, SENDER, launched
from tests.waiting import wait_for

LINE = re.compile(r"launched \S+ (0x[0-9a-fA-F]{40}) indexed in \d+\.\d s")


class Service(ThreadingHTTPServer):
    """Stands where the service would be: keeps what it is asked, and answers with the statuses given, then with 200.

    Each answer asks for `retry_after` seconds, where that is not empty.
    """

    def __init__(self, *statuses: int, retry_after: str = "") -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.statuses, self.retry_after = list(statuses), retry_after
        self.asked: list[tuple[str, str, dict[str, object]]] = []
        self.asked_at: list[float] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked_at.append(time.monotonic())
        self.server.asked.append((self.path, self.headers["x-api-key"], body))
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else 200)
        if self.server.retry_after:
            self.send_header("Retry-After", self.server.retry_after)
        self.end_headers()
        self.wfile.write(b'{"error":"Failed to index transaction"}')

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged: the tests read `asked`."""


@contextmanager
def service(*statuses: int, retry_after: str = "") -> Iterator[Service]:
    with Service(*statuses, retry_after=retry_after) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def launcher(rpc_url: str, api_url: str, key_file: Path, *more: str) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "devchain.launcher", "--rpc-url", rpc_url, "--api-url", api_url]
    with subprocess.Popen(
        [*command, "--key-file", str(key_file), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.kill()


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text("pk_sample\n")
    return path


def test_it_waits_for_the_key_and_says_so_once(deployment: Deployment, tmp_path: Path) -> None:
    missing = tmp_path / "key"
    with service() as api, launcher(deployment.rpc_url, api.url, missing, "--every", "0", "--count", "1") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"waiting: the key file {missing} can't be read\n"
        missing.write_text("late")
        output, errors = process.communicate(timeout=60)

    assert LINE.fullmatch(output.strip())
    assert (process.returncode, errors) == (0, "")
    assert [key for _, key, _ in api.asked] == ["late"]


def test_it_waits_for_a_node_that_is_not_there(key_file: Path) -> None:
    with service() as api, launcher("http://127.0.0.1:1", api.url, key_file, "--every", "0") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting: no answer from the node at http://127.0.0.1:1\n"
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=60) == ("", "")

    assert process.returncode == 0
    assert api.asked == []


def test_it_tries_again_while_the_service_is_unwell_and_goes_on_after_a_refusal(
    deployment: Deployment, key_file: Path
) -> None:
    with (
        service(503, 200, 400) as api,
        launcher(deployment.rpc_url, api.url, key_file, "--every", "0", "--count", "3") as process,
    ):
        output, errors = process.communicate(timeout=60)

    waiting, first, second, third = output.splitlines()
    assert waiting == f"waiting: the service at {api.url} answers 503"
    assert LINE.fullmatch(first) and LINE.fullmatch(third)
    assert "not indexed" in second and "Failed to index transaction" in second
    assert errors == ""
    # The launch that met the unwell service was not made twice.
    hashes = [str(body["txHash"]) for _, _, body in api.asked]
    assert hashes[0] == hashes[1] and len(set(hashes)) == 3


def test_it_waits_as_long_as_a_limit_says_and_loses_no_launch(deployment: Deployment, key_file: Path) -> None:
    with (
        service(200, 429, 429, 200, 429, retry_after="2") as api,
        launcher(deployment.rpc_url, api.url, key_file, "--every", "0.1", "--count", "4") as process,
    ):
        output, errors = process.communicate(timeout=60)

    waiting = f"waiting: the service at {api.url} answers 429"
    lines = [line if line == waiting else LINE.sub("indexed", line) for line in output.splitlines()]
    assert (lines, errors) == (["indexed", waiting, "indexed", waiting, "indexed", "indexed"], "")
    hashes = [str(body["txHash"]) for _, _, body in api.asked]
    assert hashes == [hashes[index] for index in (0, 1, 1, 1, 4, 4, 6)]
    assert len(set(hashes)) == 4
    # Refused at these places; what comes next comes no earlier than it was told to.
    for refused in (1, 2, 4):
        assert api.asked_at[refused + 1] - api.asked_at[refused] >= 2


@pytest.mark.parametrize("wish", ["0", "-5", "soon", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_it_waits_as_usual_where_a_limit_says_nothing_of_use(deployment: Deployment, key_file: Path, wish: str) -> None:
    with (
        service(429, retry_after=wish) as api,
        launcher(deployment.rpc_url, api.url, key_file, "--every", "0", "--count", "1") as process,
    ):
        output, errors = process.communicate(timeout=60)

    assert LINE.fullmatch(output.splitlines()[-1])
    assert (errors, len(api.asked)) == ("", 2)


def test_it_stops_at_once_while_it_waits(deployment: Deployment, key_file: Path) -> None:
    with (
        service(429, retry_after="9" * 30) as api,
        launcher(deployment.rpc_url, api.url, key_file, "--every", "0") as process,
    ):
        assert process.stdout is not None
        assert process.stdout.readline() == f"waiting: the service at {api.url} answers 429\n"
        # It still waits, although no clock reaches as far as it was told.
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=30) == ("", "")

    assert (process.returncode, len(api.asked)) == (0, 1)


def test_it_has_each_launch_indexed(deployment: Deployment, key_file: Path) -> None:
    with (
        service() as api,
        launcher(deployment.rpc_url, api.url, key_file, "--every", "0.01", "--count", "5") as process,
    ):
        output, _ = process.communicate(timeout=60)

    addresses = [found[1] for line in output.splitlines() if (found := LINE.fullmatch(line))]
    assert len(addresses) == len(api.asked) == 5
    factory = node.contract(deployment.rpc_url, "Factory", deployment.factory)
    for address, (path, key, body) in zip(addresses, api.asked, strict=True):
        assert (path, key, body["chainId"]) == ("/api/tokens/index", "pk_sample", 31337)
        created = factory.events.TokenCreated().get_logs(from_block=0, argument_filters={"tokenAddress": address})
        assert [log["transactionHash"].to_0x_hex() for log in created] == [body["txHash"]]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_between_launches_without_a_trace(
    deployment: Deployment, key_file: Path, number: signal.Signals
) -> None:
    with service() as api, launcher(deployment.rpc_url, api.url, key_file, "--every", "3600") as process:
        # Three come at once; the fourth would come in an hour.
        wait_for(lambda: len(api.asked) == 3, seconds=60)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)

    assert (process.returncode, errors, len(api.asked)) == (0, "", 3)


def test_samples_are_all_accepted_and_differ(deployment: Deployment) -> None:
    samples = [sample(deployment, sender=SENDER, accounts=[SENDER, OTHER]) for _ in range(40)]

    for config in samples:
        assert launched(deployment, config)["status"] == 1
        assert json.loads(config.context)["id"].isdecimal()
        arguments = deployment_config(deployment, config, sender=SENDER)
        assert Web3.is_checksum_address(arguments["poolConfig"]["pairedToken"])
        if config.airdrop:
            assert sum(amount for _, amount in config.airdrop.entries) <= TOKEN_SUPPLY * config.airdrop.bps // 10_000
    assert len({config.salt for config in samples}) == 40
    assert len({config.name for config in samples}) > 1
