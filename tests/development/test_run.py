"""`python -m development.run` as `make run` starts it: a real process on a free port, in its own directory."""

import http.client
import json
import os
import re
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests

from config.environment.kinds import split_list
from config.environment.variables import BASE_DIR
from development.devchain.anvil import CHAIN_ID
from development.servers.processes import free_port
from development.standins.social_server import username
from tests.processes.service_processes import command_line
from tests.processes.waiting import wait_for

_UNSET = (
    *("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "SITE_URL"),
    *("MARKET_API_KEY", "MARKET_BASE_URL", "SOCIAL_API_KEY", "FARCASTER_HUB_URL"),
)
# A program that starts another one and waits for it, as make does.
_PARENT = (sys.executable, "-c", "import subprocess, sys; subprocess.run(sys.argv[1:])")


class Run:
    """A run with its output and processes."""

    def __init__(self, local: Path, *, through: Sequence[str] = (), **settings: str) -> None:
        """Start it at once, by the program `through` where there is one."""
        self.port = free_port()
        self.local, self._output = local, local.with_suffix(f".{self.port}")
        # Empty, not absent: a developer's .env must not fill them in.
        unset = dict.fromkeys(_UNSET, "")
        ports = {"PORT": str(self.port), "STREAM_PORT": str(free_port())}
        self._environment = os.environ | unset | {"LAUNCHBOARD_LOCAL": str(local)} | ports | settings
        self._through = through
        self._seen: list[psutil.Process] = []
        self.start()

    def start(self) -> None:
        with self._output.open("wb") as output:
            self.process = subprocess.Popen(
                [*self._through, sys.executable, "-m", "development.run"],
                cwd=BASE_DIR,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def output(self) -> str:
        return self._output.read_text()

    def wait_for_greeting(self) -> None:
        # Several runs may start at once, each with all servers and a chain.
        wait_for(lambda: "Ctrl-C stops" in self.output() or self.process.poll() is not None, seconds=300)
        assert self.process.poll() is None, self.output()
        self._seen = psutil.Process(self.process.pid).children(recursive=True)

    def sockets(self) -> Path:
        """Return the socket directory, which is elsewhere: this local directory's name is no plain path."""
        command = [sys.executable, "-c", "from development.servers import bundled; print(bundled.socket_directory())"]
        return Path(subprocess.check_output(command, cwd=BASE_DIR, env=self._environment, text=True).strip())

    def children(self, word: str) -> list[psutil.Process]:
        return [child for child in self._seen if word in command_line(child)]

    def live_processes(self) -> list[str]:
        """Return its live processes' command lines: processes seen before, and any that name its directory."""
        found = {process for process in self._seen if process.is_running()} | set(psutil.process_iter())
        commands = {process: command_line(process) for process in found}
        return [
            command
            for process, command in commands.items()
            if command and (process in self._seen or str(self.local) in command)
        ]

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def paste(self, title: str) -> Any:
        """Send the request in the curl command under this title in the greeting; return the decoded response."""
        found = re.search(rf"^  {title} +(curl (?:.*\\\n)*.*)$", self.output(), re.MULTILINE)
        assert found
        # Shells join continued lines; shlex doesn't.
        _, url, *options = shlex.split(found[1].replace("\\\n", ""))
        given = [(option, value) for option, value in zip(options[::2], options[1::2], strict=True)]
        headers = dict(value.split(": ", 1) for option, value in given if option == "-H")
        content = next((value for option, value in given if option == "-d"), None)
        return requests.request(
            "GET" if content is None else "POST", url, headers=headers, data=content, timeout=30
        ).json()

    def manage(self, *words: str) -> str:
        """Run a `manage.py` command beside it; return its output."""
        command = [sys.executable, "manage.py", *words]
        return subprocess.check_output(command, cwd=BASE_DIR, env=self._environment, text=True).strip()

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(120)


# Characters with a special meaning in addresses, lists in settings or shells.
_NAME = "a,b %41?#'\u00e9"


@pytest.fixture
def local(make_directory: Callable[[], Path]) -> Path:
    return make_directory() / _NAME


@pytest.fixture(scope="module")
def lived_in(make_directory: Callable[[], Path]) -> Path:
    """Return a directory for successive runs: only the first has to create servers and tables."""
    return make_directory() / _NAME


@pytest.fixture
def run(lived_in: Path, request: pytest.FixtureRequest) -> Iterator[Run]:
    # A node that gets no requests, and so no development chain: these tests are about the service's own processes.
    yield from end_in_time(Run(lived_in, through=getattr(request, "param", ()), RPC_URLS_8453="http://127.0.0.1:9"))


@pytest.fixture
def sample_run(local: Path) -> Iterator[Run]:
    """Start a run with default settings, except for faster launches and trades, and an operator's empty registry."""
    registry = local.parent / "mine.toml"
    registry.touch()
    faster = {"OVERRIDE_LAUNCH_EVERY_SECONDS": "5", "OVERRIDE_TRADE_EVERY_SECONDS": "0.2"}
    yield from end_in_time(Run(local, CHAINS_FILE=str(registry), **faster))


def end_in_time(run: Run) -> Iterator[Run]:
    yield run
    if run.process.poll() is None:
        run.process.kill()
        run.process.wait()
    wait_for(lambda: not run.live_processes())
    shutil.rmtree(run.sockets())


@pytest.fixture
def taken_port() -> Iterator[str]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield str(taken.getsockname()[1])


@pytest.mark.parametrize(
    ("settings", "refusal"),
    [
        ({"PORT": "taken"}, r"can't listen on 127\.0\.0\.1 port \d+ \(Address already .*\): set PORT to a free one"),
        (
            {"STREAM_PORT": "taken"},
            r"can't listen on 127\.0\.0\.1 port \d+ \(Address already .*\): set STREAM_PORT to a free one",
        ),
        (
            {"WEB_HOST": "192.0.2.1"},
            r"can't listen on 192\.0\.2\.1 port \d+ \(.*\): set WEB_HOST to an address of this machine",
        ),
        (
            {"DATABASE_URL": "postgres://user:s3cret@127.0.0.1:9/name", "SECRET_KEY": "x" * 50},
            r"DATABASE_URL: no response from the server \(.*127\.0\.0\.1.*refused.*\)",
        ),
        (
            {"REDIS_URL": "redis://:s3cret@127.0.0.1:9/0"},
            r"REDIS_URL: no response from the server \(.*127\.0\.0\.1:9.*refused.*\)",
        ),
        (
            {"CHAINS_FILE": "/nowhere.toml"},
            r"CHAINS_FILE: /nowhere\.toml: can't be read: No such file or directory",
        ),
        (
            {"LAUNCHBOARD_LOCAL": "/proc/x"},
            r"LAUNCHBOARD_LOCAL has a value that can't be used: expected a directory .*/proc/x.*",
        ),
    ],
)
def test_it_refuses_what_it_cannot_use_in_one_line_before_anything_starts(
    local: Path, taken_port: str, settings: dict[str, str], refusal: str
) -> None:
    run = Run(local, **{name: taken_port if value == "taken" else value for name, value in settings.items()})
    assert run.process.wait(120) == 1
    assert re.fullmatch(f"launchboard: {refusal}\n", run.output()), run.output()
    assert "s3cret" not in run.output()
    assert run.live_processes() == []


@pytest.mark.slow
def test_it_greets_serves_and_stops_quietly_and_finds_its_data_again(run: Run) -> None:
    run.wait_for_greeting()
    assert run.get("/healthz")[0] == 200
    assert json.loads(run.get("/readyz")[1])["status"] == "ok"
    assert run.get("/api/tokens?limit=3")[0] == 200
    # The web server passes it to the service, which refuses it like any other bad token.
    long = run.get("/api/pretoken/pending", Authorization="Bearer " + "a" * 20_000)
    assert long == (401, '{"error":"Unauthorized"}')
    [listen] = re.findall("^  Stream            curl -N (.*)$", run.output(), re.MULTILINE)
    with requests.get(listen.strip("'"), stream=True, timeout=60) as response:
        assert next(response.iter_lines()).startswith(b"retry: ")
    assert "Chains            chain 8453" in run.output()
    # Beside a real chain nothing is made up.
    assert "Market data       of the chains' own trades" in run.output()
    assert "Profiles          none: set SOCIAL_API_KEY (Neynar) or FARCASTER_HUB_URL" in run.output()
    assert "(of agents that partners report on)" in run.output()
    assert run.paste("Events") == {"data": [], "cursor": 0}
    assert "Webhooks          " not in run.output()
    assert not run.children("development.standins") and not run.children("development.sample_data.agent_reporter")
    password, key = (run.local / "administrator").read_text().strip(), (run.local / "partner-key").read_text().strip()
    assert f"admin, password {password}" in run.output()
    assert key in run.output()
    for name in ("administrator", "partner-key", "secret-key"):
        assert stat.S_IMODE((run.local / name).stat().st_mode) == 0o600
    second = Run(run.local)
    assert second.process.wait(120) == 1
    assert second.output() == f"launchboard: it already runs with the data in {run.local}\n"
    run.wait_for_greeting()

    run.process.send_signal(signal.SIGINT)
    wait_for(lambda: "stopping, which may take a minute; another Ctrl-C changes nothing" in run.output())
    assert run.end(signal.SIGINT) == 0
    assert "Traceback" not in run.output()
    wait_for(lambda: not run.live_processes())

    run.start()
    run.wait_for_greeting()
    assert password in run.output()
    assert key in run.output()
    assert (run.local / "partner-key").read_text().strip() == key


@pytest.mark.slow
def test_it_shows_sample_launches_by_sample_people_where_nothing_is_set(sample_run: Run) -> None:
    sample_run.wait_for_greeting()
    for title, name in (("Profiles", "social"), ("Users", "issuer")):
        found = re.search(rf"{title} +SAMPLE DATA of a stand-in at (\S+);\n +for real data set", sample_run.output())
        assert found
        assert f"stand-ins | {name}: sample data at {found[1]}" in sample_run.output()
    # All stand-ins are one process; the event receiver is another one.
    assert len(sample_run.children("development.standins")) == 2
    assert len(sample_run.children("development.standins.event_receiver")) == 1
    # The operator's file is the last one, which overrides the chain's own; commands have the same registry.
    chains_files = split_list(sample_run.children("manage.py follow")[0].environ()["CHAINS_FILE"])
    assert [Path(file).name for file in chains_files] == ["chains.toml", "launchpads.toml", "mine.toml"]
    command = "from django.conf import settings; print(*settings.CHAINS_FILES, sep=chr(10))"
    assert sample_run.manage("shell", "-v", "0", "-c", command).splitlines() == list(chains_files)

    def complete_records() -> list[dict[str, Any]]:
        answer = sample_run.get("/api/tokens?limit=20&includeUser=true&includeMarket=true")[1]
        related = [token["related"] for token in json.loads(answer)["data"]]
        return [facts for facts in related if facts["user"] and facts["market"]]

    facts = wait_for(complete_records)[0]
    assert facts["user"]["username"] == username(int(facts["user"]["fid"]))
    assert facts["user"]["displayName"].endswith("(sample)")
    assert facts["market"]["priceUsd"] > 0
    # The follower found them: there was no index request.
    status, metrics = sample_run.get("/metrics")
    index_requests = [line for line in metrics.splitlines() if line.startswith("launchboard_index_requests_newest{")]
    assert (status, len(index_requests), {line.rpartition(" ")[2] for line in index_requests}) == (200, 5, {"0.0"})
    ready = re.search(r"Followed so far   http://127\.0\.0\.1:\d+(/readyz\?chain=\d+)\n", sample_run.output())
    assert ready
    state = json.loads(sample_run.get(ready[1])[1])
    assert (state["status"], state["chain"]["chainId"]) == ("ok", CHAIN_ID)
    # What was on the chain before the follower is read and checked, too.
    checked = rf'launchboard_chain_verified_block\{{chain="{CHAIN_ID}"\}} [1-9]'
    wait_for(lambda: re.search(checked, sample_run.get("/metrics")[1]))
    # Traders swap on the chain: all market data come from these trades.
    assert "Market data       of the chains' own trades\n" in sample_run.output()
    assert not [line for line in sample_run.output().splitlines() if "market: sample data" in line]
    trade = wait_for(lambda: sample_run.paste("Trades")["data"])[0]
    assert (trade["side"] in ("buy", "sell"), trade["valueUsd"] > 0) == (True, True)
    candle = wait_for(lambda: sample_run.paste("Candles")["data"])[0]
    assert candle["l"] <= candle["o"] <= candle["h"] and candle["trades"] > 0
    trending = wait_for(lambda: sample_run.paste("Trending")["trending"] and sample_run.paste("Trending"))
    # What happens is published, and sent to a receiver that verifies it.
    listed = wait_for(lambda: sample_run.paste("Events")["data"])[0]
    line = f"receiver | {listed['type']} {listed['subject']}, id {listed['id']}, signature verified"
    wait_for(lambda: line in sample_run.output())
    assert "Webhooks          each line of `receiver`" in sample_run.output()
    assert "receiver | rejected" not in sample_run.output()
    # The example deploys a token, once however often it is pasted.
    ordered = sample_run.paste("Deploy a token")
    assert (ordered["success"], sample_run.paste("Deploy a token")) == (True, ordered)
    assert wait_for(lambda: sample_run.paste("What became of it")["address"]) == ordered["expectedAddress"]
    # The issuer stand-in's tokens let sample users in.
    assert "As a user         curl " in sample_run.output()
    token = sample_run.manage("user_token", "--fid", "12345")
    status, pending = sample_run.get("/api/pretoken/pending", Authorization=f"Bearer {token}")
    assert (status, json.loads(pending)) == (200, {"pendingPretokens": []})
    assert sample_run.get("/api/pretoken/pending", Authorization=f"Bearer {token[:-4]}AAAA")[0] == 401
    # Pages for visitors come first, and after a healthy start no process has an error.
    pages = dict(re.findall(r"^  ([\w ]+?) +http://127\.0\.0\.1:\d+(/\w*)$", sample_run.output(), re.MULTILINE))
    assert pages == {"Public site": "/", "Leaderboard": "/leaderboard", "Status": "/status", "First steps": "/docs"}
    assert all(sample_run.get(path)[0] == 200 for path in pages.values())
    assert "CommandError" not in sample_run.output()
    # What made-up agents do is reported and ranked.
    ranked = re.search(
        r"Rankings          http://127\.0\.0\.1:\d+(/\S+)  \(SAMPLE DATA of made-up agents\)\n", sample_run.output()
    )
    assert ranked
    assert len(sample_run.children("development.sample_data.agent_reporter")) == 1
    rows = wait_for(lambda: json.loads(sample_run.get(f"{ranked[1]}?interval=30d")[1])["data"])
    assert rows[0]["agentName"].endswith("(sample)")
    assert rows[0]["token"]["chainId"] == CHAIN_ID
    assert min(rows[0]["runs"]["total"], rows[0]["castMetrics"]["interactions"]) > 50
    assert all(token["chain_id"] == CHAIN_ID for token in trending["tokens"].values())


@pytest.mark.slow
def test_its_processes_are_those_of_production_and_start_again_when_they_end(run: Run) -> None:
    run.wait_for_greeting()
    assert len(run.children("granian")) == 3
    assert len(run.children("config.celery worker")) >= 1
    beat = run.children("config.celery beat")
    assert len(beat) == 1
    assert len(run.children("manage.py follow")) == 1
    assert len(run.children("manage.py deliver_events")) == 1

    beat[0].kill()

    def beat_again() -> bool:
        now = psutil.Process(run.process.pid).children(recursive=True)
        return any("config.celery beat" in command_line(child) for child in now if child != beat[0])

    wait_for(beat_again)
    assert "beat | ended with status -9; starts again in 1 s" in run.output()


@pytest.mark.slow
@pytest.mark.parametrize("run", [(), _PARENT], indirect=True, ids=["itself", "its parent"])
def test_nothing_of_it_lives_on_when_what_was_started_is_killed(run: Run) -> None:
    run.wait_for_greeting()
    assert len(run.live_processes()) > 8

    run.process.kill()
    run.process.wait()

    wait_for(lambda: not run.live_processes())
