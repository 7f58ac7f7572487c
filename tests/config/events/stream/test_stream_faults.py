"""The stream while processes die, readers are slow and proxies forward: no gap, no duplicate, no harm to others."""

import json
import signal
import socket
import threading

import pytest
from django.db import connection

from config.environment.server_urls import is_web_server_up
from config.events.stream.__main__ import MAX_UNFINISHED
from config.events.stream.event_hub import KEPT_EVENTS
from config.events.stream.event_reading import APPLICATION_NAME
from tests.processes.nginx import run_nginx
from tests.processes.service_processes import HOST
from tests.processes.stream_clients import PATH, ResumingReader, StreamReader
from tests.processes.waiting import wait_for


@pytest.fixture
def publishing(publish):
    """Return a function that publishes numbered events from a thread, in small steps, and returns a way to wait."""
    threads = []

    def begin(count):
        def run():
            try:
                for number in range(count):
                    publish(str(number))
            finally:
                connection.close()

        thread = threading.Thread(target=run)
        threads.append(thread)
        thread.start()
        return thread.join

    yield begin
    for thread in threads:
        thread.join()


def numbers(events):
    return [int(event.data["subject"]) for event in events]


@pytest.mark.parametrize("fault", ["kill", "stop", "end of the connections"])
def test_a_client_that_resumes_gets_each_event_once(start, publish, publishing, end_connections, fault):
    stream = start(OVERRIDE_STREAM_HEARTBEAT_SECONDS="0.2")
    publish("-1")
    reader, count = ResumingReader(stream.port, "?lastEventId=0"), 120
    try:
        finish = publishing(count)
        for goal in (10, 40, 80):
            wait_for(lambda goal=goal: len(reader.events) >= goal)
            before = reader.connections
            if fault == "end of the connections":
                # It may just connect again.
                wait_for(end_stream_connections)
            else:
                stream.service.kill() if fault == "kill" else stream.service.stop()
                stream.service.start()
                wait_for(lambda before=before: reader.connections > before)
        finish()
        wait_for(lambda: len(reader.events) >= count + 1)
    finally:
        reader.close()
    assert numbers(reader.events) == list(range(-1, count))
    # Clients keep their connections while the database is away.
    assert reader.connections == (1 if fault == "end of the connections" else 4)


def end_stream_connections():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database()"
            " AND application_name = %s",
            [APPLICATION_NAME],
        )
        return cursor.fetchone()[0] > 0


def test_clients_far_behind_read_the_database_and_join_the_live_ones(start, publish, publishing):
    stored = KEPT_EVENTS + 500
    first, *_ = publish(*map(str, range(-stored, 0)))
    publish("0", data={"requestor_fid": 1})
    stream = start(OVERRIDE_STREAM_HEARTBEAT_SECONDS="0.2")
    reader = ResumingReader(stream.port, f"?lastEventId={first}")
    selective = ResumingReader(stream.port, f"?lastEventId={first}&creator=1")
    try:
        publishing(30)()
        wait_for(lambda: len(reader.events) >= stored + 30 and selective.events)
    finally:
        reader.close()
        selective.close()
    assert numbers(reader.events) == [*range(1 - stored, 1), *range(30)]
    assert numbers(selective.events) == [0]


def test_a_reader_that_stops_is_closed_and_others_go_on(start, publish):
    stream = start(OVERRIDE_STREAM_HEARTBEAT_SECONDS="0.2")
    [before] = publish("-1")
    stopped = socket.socket()
    stopped.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    stopped.connect((HOST, stream.port))
    stopped.sendall(f"GET {PATH}?lastEventId={before} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
    wait_for(lambda: stream.metric("clients") == 1)
    other, count = ResumingReader(stream.port, f"?lastEventId={before}"), 0
    try:
        while not stream.metric("slow_clients_closed_total"):
            publish(*map(str, range(count, count + 20)), data={"name": "x" * 2_000})
            count += 20
            wait_for(lambda count=count: len(other.events) >= count)
    finally:
        other.close()
    assert numbers(other.events) == list(range(count))
    assert (other.connections, stream.metric("slow_clients_closed_total")) == (1, 1)
    wait_for(lambda: stream.metric("clients") == 0)
    stopped.close()


def test_a_burst_closes_no_client_that_reads(start, publish):
    """A live client whose buffer is full reads on in pages, and becomes live again."""
    stream = start()
    reader = ResumingReader(stream.port)
    try:
        wait_for(lambda: stream.metric("clients") == 1)
        publish(*map(str, range(3_000)), data={"name": "x" * 2_000})
        wait_for(lambda: len(reader.events) >= 3_000)
        publish("3000")
        wait_for(lambda: len(reader.events) >= 3_001)
    finally:
        stream.service.stop()
        reader.close()
    assert numbers(reader.events) == list(range(3_001))
    assert reader.connections == 1


def test_a_signal_ends_all_streams_at_once(start, publish):
    stream = start()
    readers = [stream.listen() for _ in range(5)]
    stream.service.process.send_signal(signal.SIGTERM)
    assert [reader.next_event() for reader in readers] == [None] * 5
    assert stream.service.process.wait() == 0


def test_a_connection_without_a_whole_request_is_closed(start):
    stream = start()
    with socket.create_connection((HOST, stream.port), timeout=60) as unfinished:
        unfinished.sendall(b"GET /api/tokens/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        assert unfinished.recv(1) == b""
    assert stream.open().response.status == 200


def test_an_address_has_few_connections_without_a_whole_request(start, publish):
    stream = start()
    reader = stream.listen()
    clients = [socket.create_connection((HOST, stream.port), source_address=("127.0.0.9", 0)) for _ in range(200)]
    for client in clients[:MAX_UNFINISHED]:
        client.sendall(b"GET /api/tokens/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n")
    wait_for(lambda: stream.metric('refused_total{reason="unfinished"}') == 200 - MAX_UNFINISHED)
    # The accepted ones are served once they are complete, and others at once.
    clients[0].sendall(b"\r\n")
    assert clients[0].recv(12) == b"HTTP/1.1 200"
    publish("1")
    assert reader.next_event() is not None and stream.open().response.status == 200
    # After their deadline the address has room again.
    wait_for(lambda: is_served(stream, "127.0.0.9"))
    for client in clients:
        client.close()


def is_served(stream, address):
    try:
        return stream.open(address=address).response.status == 200
    except ConnectionError:
        return False


def test_without_a_database_clients_are_refused(start, unused_port):
    stream = start(DATABASE_URL=f"postgres://launchboard@127.0.0.1:{unused_port}/none", is_ready=False)
    wait_for(lambda: is_web_server_up(HOST, stream.port))
    refused = stream.open().response
    assert (refused.status, refused.headers["Retry-After"]) == (503, "5")
    assert json.loads(refused.read()) == {"error": "Service is temporarily unavailable"}


@pytest.mark.parametrize(
    "directives", ["", "proxy_http_version 1.1; proxy_set_header Connection '';"], ids=["HTTP/1.0", "HTTP/1.1"]
)
def test_nginx_forwards_each_event_at_once(start, publish, tmp_path, directives):
    stream = start(OVERRIDE_STREAM_HEARTBEAT_SECONDS="0.2", TRUSTED_PROXIES="1", STREAM_CLIENTS_PER_ADDRESS="1")
    forwarded = f"proxy_set_header X-Forwarded-For $remote_addr; {directives}"
    with run_nginx(tmp_path, upstream=stream.port, directives=forwarded) as port:
        reader = StreamReader(port)
        assert reader.response.status == 200
        reader.read_opening()
        # Each is read before the next one is published: with a buffering proxy this would block.
        for number in range(5):
            [event_id] = publish(str(number))
            [event] = reader.take(1)
            assert (event.id, numbers([event])) == (event_id, [number])
        assert StreamReader(port, address="127.0.0.2").response.status == 200
        assert StreamReader(port).response.status == 429
        resumed = StreamReader(port, address="127.0.0.3", Last_Event_ID=str(event_id - 2))
        assert numbers(resumed.take(2)) == [3, 4]
        # The heartbeat passes without an event, too.
        while reader.response.readline() != b": heartbeat\n":
            pass
        reader.close()
        wait_for(lambda: stream.metric("clients") < 3)
