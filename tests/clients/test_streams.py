"""Both clients' streams: the real stream server while it is killed, and scripted responses."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from launchboard import Launchboard

from development.clients import CLIENTS
from development.standins.loopback import Reply
from tests.clients.quick_starts import read_guide_samples
from tests.clients.scripted_server import ScriptedServer, scripted_server
from tests.clients.typescript_package import find_node
from tests.config.events.stream.conftest import committed_events, publish, start
from tests.processes.example_code import compile_typescript
from tests.processes.waiting import wait_for

__all__ = ["committed_events", "publish", "start"]
# The silence after which clients open a connection again.
SILENCE_SECONDS = 2
# Each prints events as JSON lines until it reads a line, and at the end how the iteration ended.
_PYTHON = """
import json, os, sys, threading
from launchboard import Launchboard, LaunchboardError

def close_on_request():
    sys.stdin.readline()
    events.close()

with Launchboard(os.environ["SERVER"], timeout_seconds=float(os.environ["SILENCE_SECONDS"])) as api:
    events = api.stream_tokens(**json.loads(os.environ["QUERY"]))
    threading.Thread(target=close_on_request, daemon=True).start()
    end = "closed"
    try:
        for event in events:
            print(json.dumps(event), flush=True)
    except LaunchboardError as error:
        end = str(error.status)
print(json.dumps(end), flush=True)
"""
_TYPESCRIPT = """
import { createInterface } from "node:readline";
import { launchboard, LaunchboardError, streamEvents, type StreamInit } from "launchboard-client";

const api = launchboard(process.env.SERVER ?? "");
const query = JSON.parse(process.env.QUERY ?? "");
const request = new AbortController();
const lines = createInterface({ input: process.stdin });
lines.once("line", () => request.abort());
let end = "closed";
const options = { signal: request.signal, silenceSeconds: Number(process.env.SILENCE_SECONDS) };
try {
  const open = (init: StreamInit) => api.GET("/api/tokens/stream", { ...init, params: { query } });
  for await (const event of streamEvents(open, options)) {
    console.log(JSON.stringify(event));
  }
} catch (error) {
  if (!(error instanceof LaunchboardError)) throw error;
  end = String(error.status);
}
console.log(JSON.stringify(end));
lines.close();
"""


@dataclass
class Listener:
    """A process that listens to a stream, and the file for its lines."""

    process: "subprocess.Popen[str]"
    output: Path

    def lines(self) -> list[Any]:
        """Return the events so far, and after them how the iteration ended."""
        return [json.loads(line) for line in self.output.read_text().split("\n")[:-1]]

    def close(self) -> Any:
        """End the iteration, and return how it ended."""
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.wait(60) == 0
        return self.lines()[-1]


# Listens to a server's stream, for the whole database or for what a query selects.
Listen = Callable[..., Listener]


@pytest.fixture(scope="module")
def compiled(typescript: Path) -> Path:
    compile_typescript({"listener": _TYPESCRIPT}, typescript)
    return typescript


@pytest.fixture(params=["python", "typescript"])
def listen(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Listen]:
    """Return a function that listens by a client."""
    listeners: list[Listener] = []
    if request.param == "python":
        command, directory = [sys.executable, "-c", _PYTHON], tmp_path
    else:
        command, directory = [find_node(), "listener.mjs"], request.getfixturevalue("compiled")

    def begin(url: str, *, silence: int = SILENCE_SECONDS, **query: Any) -> Listener:
        variables = {"SERVER": url, "QUERY": json.dumps(query), "SILENCE_SECONDS": str(silence)}
        output = tmp_path / f"events{len(listeners)}"
        with output.open("w") as target:
            process = subprocess.Popen(
                command,
                cwd=directory,
                env=os.environ | {"PYTHONPATH": str(CLIENTS / "python")} | variables,
                stdin=subprocess.PIPE,
                stdout=target,
                text=True,
            )
        listeners.append(Listener(process, output))
        return listeners[-1]

    yield begin
    for listener in listeners:
        listener.process.kill()
        listener.process.wait()


def subjects(listener: Listener) -> list[str]:
    return [event["data"]["subject"] for event in listener.lines()]


def test_each_event_once_while_the_stream_is_killed(start: Any, publish: Any, listen: Listen) -> None:
    stream = start(OVERRIDE_STREAM_HEARTBEAT_SECONDS="0.2")
    # A stream line has no break where JavaScript's expressions see one.
    publish("first", data={"name": "a\u2028b"})
    listener = listen(f"http://127.0.0.1:{stream.port}", lastEventId=0)
    wait_for(lambda: subjects(listener) == ["first"])
    assert listener.lines()[0]["data"]["data"]["name"] == "a\u2028b"
    published = ["first"]
    for fault in (stream.service.kill, stream.service.stop):
        fault()
        for _ in range(20):
            published.append(str(len(published)))
            publish(published[-1])
        stream.service.start()
        wait_for(lambda: subjects(listener)[-1] == published[-1])
        publish("live")
        published.append("live")
        wait_for(lambda: subjects(listener)[-1] == "live")
    assert subjects(listener) == published
    assert listener.close() == "closed"


def test_it_ends_on_request_while_no_event_arrives(start: Any, listen: Listen) -> None:
    # The next heartbeat is far off.
    stream = start(OVERRIDE_STREAM_HEARTBEAT_SECONDS="300")
    listener = listen(f"http://127.0.0.1:{stream.port}", silence=300)
    wait_for(lambda: stream.metric("clients") == 1)
    began = time.monotonic()
    assert listener.close() == "closed"
    assert time.monotonic() - began < 60
    wait_for(lambda: stream.metric("clients") == 0)


def events(text: str) -> Reply:
    return Reply(text.encode(), headers={"content-type": "text/event-stream"})


def positions(server: ScriptedServer) -> list[str | None]:
    return [request.headers.get("last-event-id") for request in server.requests]


def refusal(status: int, seconds: int) -> Reply:
    return Reply(b'{"error":"Not now"}', status, {"retry-after": str(seconds)})


def test_it_waits_as_long_as_each_response_requests(listen: Listen) -> None:
    first = events('retry: 200\nid: 4\n\nid: 5\nevent: token.indexed\ndata: {"id":5}\n\nid: 6\nevent: cut')
    # Fields without a space, data lines, and another line end.
    second = events('id:7\r\ndata:{"id":\r\ndata:7}\r\n\r\n: heartbeat\r\nid: 9\r\n\r\n')
    script = [first, refusal(429, 1), refusal(503, 1), second, None, None, Reply(b"{}", 400)]
    with scripted_server(*script) as server:
        listener = listen(server.url, type=["token.indexed"])
        wait_for(lambda: listener.process.poll() is not None)
        *found, end = listener.lines()
    assert [(each["id"], each["event"], each["data"]) for each in found] == [
        ("5", "token.indexed", {"id": 5}),
        ("7", "message", {"id": 7}),
    ]
    assert end == "400"
    # An incomplete block moves nothing; a heartbeat does.
    assert positions(server) == [None, "5", "5", "5", "9", "9", "9"]
    assert {request.path for request in server.requests} == {"/api/tokens/stream?type=token.indexed"}
    waits = server.gaps()
    assert all(wait >= least for wait, least in zip(waits, (0.2, 1, 1, 0.2, 0.4, 0.8), strict=True))
    assert waits[0] < 1 and waits[3] < 1


@pytest.mark.parametrize("reply", [refusal(429, 3600), refusal(503, 61), Reply(b"{}", 404)])
def test_a_response_that_no_attempt_changes_is_an_error(listen: Listen, reply: Reply) -> None:
    with scripted_server(reply) as server:
        listener = listen(server.url)
        wait_for(lambda: listener.process.poll() is not None)
        assert listener.lines() == [str(reply.status)]


def test_it_ends_on_request_while_it_waits_for_an_attempt(listen: Listen) -> None:
    with scripted_server(refusal(503, 60)) as server:
        listener = listen(server.url)
        wait_for(lambda: not server.script)
        began = time.monotonic()
        assert listener.close() == "closed"
        assert time.monotonic() - began < 30


@contextmanager
def silent_server(response: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """Run a server that sends each client a response and keeps the connection; yield its URL and the requests."""
    requests: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", requests
        connections = []
        for _ in range(2):
            connection, _ = listening.accept()
            connections.append(connection)
            requests.append(connection.recv(65_536))
            connection.sendall(response)
        for connection in connections:
            connection.close()


def test_it_ends_on_request_while_a_connection_opens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor() as pool:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        stream = Launchboard(url, timeout_seconds=300).stream_tokens()
        found = pool.submit(list, stream)
        connection, _ = listening.accept()
        with connection:
            connection.recv(65_536)
            stream.close()
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            assert found.result(timeout=20) == []


def test_a_silent_connection_is_opened_again(listen: Listen) -> None:
    """Without chunks, too, such as from a proxy that speaks HTTP/1.0."""
    head = "HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    with silent_server(f"{head}retry: 10\nid: 1\nevent: token.indexed\ndata: {{}}\n\n".encode()) as (url, requests):
        listener = listen(url)
    assert b"last-event-id: 1" in requests[1].lower()
    wait_for(lambda: len(listener.lines()) == 2)


_GUIDE_STARTS = {
    "python": 'import os\nfrom launchboard import Launchboard\napi = Launchboard(os.environ["SERVER"])\n',
    "ts": 'import { launchboard, streamEvents } from "launchboard-client";\n'
    'const api = launchboard(process.env.SERVER ?? "");\n',
}


@pytest.mark.parametrize("language", _GUIDE_STARTS)
def test_the_sample_of_the_guide_runs(language: str, typescript: Path, tmp_path: Path) -> None:
    code = _GUIDE_STARTS[language] + read_guide_samples(language)[0]
    command = [sys.executable, "-c", code]
    if language == "ts":
        compile_typescript({"guide": code}, typescript)
        command = [find_node(), str(typescript / "guide.mjs")]
    script = [events('retry: 1\n\nid: 5\nevent: token.indexed\ndata: {"subject":"0xabc"}\n\n'), Reply(b"{}", 400)]
    with scripted_server(*script) as server:
        variables = {"PYTHONPATH": str(CLIENTS / "python"), "SERVER": server.url}
        done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, timeout=120)
        assert done.stdout.startswith("5 ") and "0xabc" in done.stdout, done.stderr
        queries = [parse_qs(urlsplit(request.path).query) for request in server.requests]
        assert queries == [{"type": ["token.indexed"], "lastEventId": ["1041"]}] * 2
