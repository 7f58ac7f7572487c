"""The cache of public responses in several processes: request coalescing through Redis."""

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from redis import Redis

from tests.processes.edge_clients import Origin, edge_cache, fetch
from tests.processes.waiting import wait_for
from tests.rows.factories import TokenFactory
from tokens.models import Token

ROOT = Path(__file__).parents[3]

# The leader of a run that never ends. Arguments: the URL of Redis, and the coalescer's timeout in seconds.
ENDLESS_LEADER = """
import sys, time
from tests.processes.edge_clients import Origin, edge_cache, fetch

def run_for_ever(number):
    print("running", flush=True)
    time.sleep(3600)

fetch(edge_cache(Origin(before=run_for_ever), sys.argv[1], coalescer_timeout=float(sys.argv[2])))
"""


class Gate:
    """Gate that blocks the runs of an Origin until it is opened."""

    def __init__(self):
        self.begun, self._open = threading.Event(), threading.Event()

    def __call__(self, number):
        self.begun.set()
        assert self._open.wait(30)

    def open(self):
        self._open.set()


@pytest.fixture
def server(redis_url):
    return Redis.from_url(redis_url)


def names(server):
    return server.keys("launchboard:edge:*")


def connections_that_read(server):
    """Return the connections to this test's numbered database with a read as their last command."""
    database = str(server.connection_pool.connection_kwargs.get("db", 0))
    return {client["id"] for client in server.client_list() if (client["db"], client["cmd"]) == (database, "get")}


def test_another_process_serves_what_one_has_run(redis_url):
    origin = Origin(headers={"Content-Type": "text/plain; charset=utf-8", "RateLimit-Remaining": "3"})
    first = fetch(edge_cache(origin, redis_url))
    second = fetch(edge_cache(origin, redis_url))
    assert (second.status, second.body, origin.runs) == (200, b"run 1", 1)
    del first.headers["ratelimit-remaining"]
    assert second.headers == first.headers | {"age": "0"}


def test_a_kept_body_may_be_any_bytes(redis_url):
    body = bytes(range(256)) * 3

    def application(environ, start_response):
        headers = [("Cache-Control", "public, s-maxage=60"), ("Content-Length", "768"), ("X-Latin", "\xe9")]
        start_response("200 OK", headers)
        return [body]

    for _ in range(2):
        answer = fetch(edge_cache(application, redis_url))
        assert (answer.body, answer.headers["x-latin"]) == (body, "\xe9")


def test_a_process_waits_for_the_one_that_runs_the_view(redis_url, server):
    gate = Gate()
    origin = Origin(before=gate)
    caches = [edge_cache(origin, redis_url) for _ in range(3)]
    before = connections_that_read(server)
    with ThreadPoolExecutor(12) as pool:
        tasks = [pool.submit(lambda cache=cache: fetch(cache).body) for cache in caches * 4]
        assert gate.begun.wait(30)
        wait_for(lambda: len(connections_that_read(server) - before) == 2)
        gate.open()
        assert {task.result(timeout=30) for task in tasks} == {b"run 1"}
    assert (origin.runs, len(names(server))) == (1, 1)


def test_no_copy_lives_longer_than_the_first(redis_url, server):
    one, other = (edge_cache(Origin(), redis_url) for _ in range(2))
    assert fetch(one).body == b"run 1"
    (name,) = names(server)
    assert 0 < server.pttl(name) <= 60_000
    # Shortened, to distinguish a copy that follows the first from a new one.
    server.pexpire(name, 2_000)
    assert fetch(other).headers["age"] >= "58"
    wait_for(lambda: "age" not in fetch(other).headers)


def test_a_copy_is_as_old_as_the_first(redis_url, server):
    origin = Origin()
    fetch(edge_cache(origin, redis_url))
    (name,) = names(server)
    server.pexpire(name, 30_000)
    assert 30 <= int(fetch(edge_cache(origin, redis_url)).headers["age"]) < 60


@pytest.mark.parametrize("failure", ["exception", "uncacheable", "503 Service Unavailable"])
def test_a_leader_without_an_answer_lets_the_others_run_at_once(redis_url, server, failure):
    gate = Gate()

    def fail(number):
        gate(number)
        if failure == "exception":
            raise OSError("the leader fails")

    leading = Origin(before=fail)
    if failure == "uncacheable":
        leading.headers = {"Cache-Control": "no-store"}
    elif failure != "exception":
        leading.status = failure
    following = Origin()
    # Far beyond what this test takes: no timeout ends here.
    leader, follower = (edge_cache(origin, redis_url, coalescer_timeout=600.0) for origin in (leading, following))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(fetch, leader)
        assert gate.begun.wait(30)
        assert len(names(server)) == 1
        before = connections_that_read(server)
        second = pool.submit(fetch, follower)
        wait_for(lambda: connections_that_read(server) - before)
        gate.open()
        assert second.result(timeout=30).status == 200
        assert (first.exception(timeout=30) is not None) == (failure == "exception")
    assert following.runs == 1
    assert names(server) == []


def test_after_the_wait_timeout_a_follower_runs_the_view_itself(redis_url):
    gate = Gate()
    # The leader's marker outlives the follower's timeout by far.
    leader = edge_cache(Origin(before=gate), redis_url, coalescer_timeout=600.0)
    follower = edge_cache(Origin(), redis_url, coalescer_timeout=0.1)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(fetch, leader)
        assert gate.begun.wait(30)
        assert "age" not in pool.submit(fetch, follower).result(timeout=30).headers
        gate.open()
        assert first.result(timeout=30).status == 200


def test_a_leader_after_its_timeout_does_not_end_the_next_one(redis_url, server):
    fetch(edge_cache(Origin(), redis_url))
    (name,) = names(server)
    server.delete(name)
    gate = Gate()
    leader = edge_cache(Origin(before=gate, headers={"Cache-Control": "no-store"}), redis_url, coalescer_timeout=0.1)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(fetch, leader)
        assert gate.begun.wait(30)
        wait_for(lambda: not server.exists(name))
        server.set(name, b"running", px=60_000)
        gate.open()
        assert first.result(timeout=30).status == 200
    assert server.get(name) == b"running"


def test_a_leader_that_is_killed_blocks_no_other_for_long(redis_url, server):
    command = [sys.executable, "-c", ENDLESS_LEADER, redis_url, "1.0"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "running\n"
    finally:
        process.kill()
        process.wait(timeout=10)
    origin = Origin()
    cache = edge_cache(origin, redis_url, coalescer_timeout=1.0)
    assert [fetch(cache).body for _ in range(2)] == [b"run 1", b"run 1"]
    # Its mark ends by itself, and then the processes share again.
    wait_for(lambda: b"running" not in server.mget(names(server) or ["none"]))
    shared = fetch(edge_cache(origin, redis_url))
    assert fetch(edge_cache(origin, redis_url)).body == shared.body


@pytest.fixture
def closed_url():
    """Bind a port, so that no other process takes it, which refuses connections; return its URL."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"redis://127.0.0.1:{bound.getsockname()[1]}/0"


@pytest.fixture
def silent_url():
    """Listen on a port that accepts connections and never responds; return its URL."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(16)
        yield f"redis://127.0.0.1:{listening.getsockname()[1]}/0"


@pytest.mark.parametrize("url", ["closed_url", "silent_url"])
def test_without_redis_each_process_keeps_its_own(request, caplog, url):
    origin = Origin()
    caches = [edge_cache(origin, request.getfixturevalue(url)) for _ in range(2)]
    assert [fetch(cache).body for cache in caches * 2] == [b"run 1", b"run 2", b"run 1", b"run 2"]
    assert [record.levelname for record in caplog.records] == ["WARNING"]


@pytest.fixture
def frequent_thread_switches():
    """Set the shortest switch interval of threads, to provoke races."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("frequent_thread_switches")
def test_without_redis_a_burst_still_costs_each_process_one_run(closed_url):
    origin = Origin()
    cache = edge_cache(origin, closed_url)
    addresses = [f"/api/{number}" for number in range(300)]
    with ThreadPoolExecutor(8) as pool:
        statuses = pool.map(lambda address: fetch(cache, address).status, [a for a in addresses for _ in range(8)])
        assert set(statuses) == {200}
    assert origin.runs == len(addresses)


def test_a_failing_redis_is_warned_of_once_for_many_requests(closed_url, caplog):
    cache = edge_cache(Origin(), closed_url)
    assert {fetch(cache, f"/api/{number}").status for number in range(100)} == {200}
    assert [record.name for record in caplog.records] == ["config.redis.connection"]


@pytest.mark.parametrize("kept", ["public, s-maxage=60", "no-store"])
def test_redis_that_fails_after_the_lookup_costs_only_the_sharing(redis_url, server, caplog, kept):
    user = f"edge-{os.getpid()}-{len(kept)}"
    server.execute_command("ACL", "SETUSER", user, "on", "nopass", "~*", "+@all")
    try:
        origin = Origin(headers={"Cache-Control": kept})
        origin.before = lambda number: server.execute_command("ACL", "SETUSER", user, "-@all") and None
        cache = edge_cache(origin, f"{redis_url.replace('unix://', f'unix://{user}@')}&password=any")
        assert fetch(cache).body == b"run 1"
        assert "NOPERM" in caplog.text or "no permissions" in caplog.text
    finally:
        server.execute_command("ACL", "DELUSER", user)


@pytest.mark.parametrize("content", [b"", b"x", b"{}\nbody", b"[1]\nbody", b"[1,[1]]\nbody", b"[1, [[1]]]\n", b"\xff"])
def test_what_is_no_answer_is_not_served(redis_url, server, content, caplog):
    origin = Origin()
    fetch(edge_cache(origin, redis_url))
    (name,) = names(server)
    server.set(name, content, px=60_000)
    assert fetch(edge_cache(origin, redis_url)).body == b"run 2"
    assert "is not a response" in caplog.text


def test_a_name_without_an_end_is_not_served_for_ever(redis_url, server):
    origin = Origin()
    fetch(edge_cache(origin, redis_url))
    (name,) = names(server)
    server.persist(name)
    assert fetch(edge_cache(origin, redis_url)).body == b"run 2"


@contextlib.contextmanager
def web_server(environment):
    """Run the web server as the Procfile does, with two processes of four threads; return its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "config.wsgi:application", "--port", str(port)]
    command += ["--workers", "2", "--blocking-threads", "4", "--workers-kill-timeout", "8s"]
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        wait_for(lambda: get(port, "/healthz") is not None, seconds=60)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=30)


def get(port, address, **headers):
    """Return status, headers by lower-case name, and body; None if the port is closed."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        client.request("GET", address, headers=headers)
        answer = client.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    except ConnectionError:
        return None
    finally:
        client.close()


def at_once(count, call):
    """Make `count` calls that begin together and return their results."""
    barrier = threading.Barrier(count, timeout=30)

    def begin():
        barrier.wait()
        return call()

    with ThreadPoolExecutor(count) as pool:
        return [task.result(timeout=60) for task in [pool.submit(begin) for _ in range(count)]]


def scans():
    """Return the number of sequential and index scans of the table of tokens."""
    read = "SELECT seq_scan + coalesce(idx_scan, 0) FROM pg_stat_user_tables WHERE relname = %s"
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute(read, [Token._meta.db_table])
        return cursor.fetchone()[0]


def other_connections():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return cursor.fetchone()[0]


def test_a_burst_on_the_web_server_costs_one_query(service_environment):
    token = TokenFactory()
    # Its view has one query whatever was requested before; lists cache their counts.
    address = f"/api/tokens/fetch-by-pool-address?poolAddress={token.pool_address}"
    before = scans()
    assert Client().get(address).status_code == 200
    per_run = scans() - before
    assert per_run > 0
    environment = service_environment | {"ALLOWED_HOSTS": "127.0.0.1", "EDGE_CACHE_SECONDS": "60"}
    with web_server(environment) as port:
        # Requests with a cookie are run each, and warm up both processes.
        warm = at_once(24, lambda: get(port, address, Cookie="a=b"))
        burst = at_once(40, lambda: get(port, address))
    assert {status for status, _, _ in warm + burst} == {200}
    assert len({body for _, _, body in burst}) == 1
    assert sum("age" in headers for _, headers, _ in burst) == 39
    assert not any("age" in headers for _, headers, _ in warm)
    # A connection's reads are counted by its end at the latest.
    wait_for(lambda: other_connections() == 0)
    assert scans() - before == per_run * (1 + 24 + 1)
