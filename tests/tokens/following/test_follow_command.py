"""Tests of `manage.py follow`: its refusals, its chains, its standby, and its shutdown."""

import os
import signal
import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from development.devchain.anvil import CHAIN_ID
from tests.nodes.followed import listed
from tests.nodes.recordings import recorded_chain
from tests.nodes.relay import relay
from tests.processes.service_processes import managing
from tests.processes.waiting import wait_for
from tokens.following.follower import follow_chains
from tokens.indexing import index_requests
from tokens.models import ChainHead, Coverage, FeeClaim, IndexRequest, LaunchFacts, Token, TokenEvent

pytestmark = pytest.mark.django_db(transaction=True)

# Longer than any test waits: a test that depends only on it fails.
NEVER = 600.0
BASE = 8453


@contextmanager
def following(*chain_ids):
    """Follow chains in this process's threads during the block."""
    stop = threading.Event()
    thread = threading.Thread(target=follow_chains, args=(chain_ids or (CHAIN_ID,),), kwargs={"stop": stop})
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def process(environment, *words):
    """Start `manage.py follow` as its own process; killed at the end."""
    return managing(["follow", *words], environment | {"FOLLOW_POLL_SECONDS": "0.2"})


@pytest.fixture(autouse=True)
def _look_often(settings):
    settings.FOLLOW_POLL_SECONDS = 0.2


def end(running, number):
    """Send a process SIGTERM; return its log."""
    running.send_signal(number)
    signalled = time.monotonic()
    _, log = running.communicate(timeout=30)
    print(f"ended after {time.monotonic() - signalled:.2f} s")
    assert running.returncode == 0
    assert "Traceback" not in log
    return log


def follower():
    """Return the leading process's id; None before it has begun."""
    row = ChainHead.objects.filter(pk=CHAIN_ID).first()
    return int(row.follower.rpartition(":")[2]) if row else None


def is_followed(launchpad):
    row = ChainHead.objects.filter(pk=CHAIN_ID).first()
    return row is not None and row.followed == launchpad.web3.eth.block_number


def test_it_refuses_a_chain_that_is_not_in_the_registry(launchpad):
    with pytest.raises(CommandError, match="chain 424242 is not in the registry"):
        call_command("follow", "--chain", "424242")


def test_it_refuses_a_chain_without_a_node(launchpad):
    with pytest.raises(CommandError, match=f"RPC_URLS_{BASE} is not set"):
        call_command("follow", "--chain", str(CHAIN_ID), "--chain", str(BASE))


def test_it_refuses_to_follow_nothing(settings, forget_chains):
    settings.RPC_URLS = {424242: ("http://127.0.0.1:1",)}
    forget_chains()
    with pytest.raises(CommandError, match="no chain of the registry has a node"):
        call_command("follow")


def test_it_refuses_a_database_without_its_tables(launchpad):
    with connection.cursor() as cursor:
        cursor.execute("SET search_path TO pg_catalog")
    try:
        with pytest.raises(CommandError, match="manage.py migrate"):
            call_command("follow")
    finally:
        connection.close()


def test_history_joins_the_head_and_is_checked(own_launchpad, settings):
    before = own_launchpad.launch()
    own_launchpad.mine(20)
    settings.FOLLOW_FROM = {CHAIN_ID: 0}
    with following():
        wait_for(lambda: before in listed())
        newest = own_launchpad.web3.eth.block_number
        wait_for(lambda: Coverage.objects.filter(followed_to=newest, verified_to=newest - 5).exists())
        own_launchpad.mine(3)
        wait_for(lambda: Coverage.objects.filter(followed_to=newest + 3).exists())


def test_a_shorter_branch_is_followed_soon(own_launchpad):
    with following():
        wait_for(lambda: is_followed(own_launchpad))
        mark = own_launchpad.snapshot()
        dropped = own_launchpad.launch()
        own_launchpad.mine(3)
        wait_for(lambda: dropped in listed() and is_followed(own_launchpad))
        own_launchpad.revert(mark)
        wait_for(lambda: dropped not in listed() and is_followed(own_launchpad))


def test_a_node_notifies_of_new_blocks_where_it_has_a_websocket(own_launchpad, settings):
    settings.RPC_WS_URLS = {CHAIN_ID: own_launchpad.deployment.rpc_url.replace("http", "ws")}
    settings.FOLLOW_POLL_SECONDS = NEVER
    with following():
        wait_for(lambda: is_followed(own_launchpad))
        for _ in range(3):
            launched = own_launchpad.launch()
            wait_for(lambda launched=launched: launched in listed())


class Line:
    """A TCP connection to a node that can be cut, and refuses all clients from then on."""

    def __init__(self, port):
        self._target = port
        self._sockets = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"ws://127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        self._server.close()
        for end in self._sockets:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    @property
    def was_used(self):
        return bool(self._sockets)

    def _accept(self):
        with suppress(OSError):
            while True:
                near, _ = self._server.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                self._sockets += [near, far]
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source, sink):
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)


def test_nodes_are_polled_when_the_websocket_is_lost(own_launchpad, settings):
    line = Line(int(own_launchpad.deployment.rpc_url.rpartition(":")[2]))
    settings.RPC_WS_URLS = {CHAIN_ID: line.url}
    with following():
        wait_for(lambda: is_followed(own_launchpad) and line.was_used)
        line.cut()
        launched = own_launchpad.launch()
        wait_for(lambda: launched in listed())


def test_nodes_are_polled_where_the_websocket_has_no_server(own_launchpad, settings, unused_port):
    settings.RPC_WS_URLS = {CHAIN_ID: f"ws://127.0.0.1:{unused_port}"}
    with following():
        launched = own_launchpad.launch()
        wait_for(lambda: launched in listed())


def test_it_reports_that_no_node_responds_and_goes_on_when_one_does(own_launchpad, settings, node, forget_chains):
    settings.RPC_URLS, settings.RPC_ATTEMPTS, settings.RPC_PATIENCE_SECONDS = {BASE: (node.url,)}, 1, 0.5
    forget_chains()
    with following(BASE):
        wait_for(lambda: ChainHead.objects.filter(pk=BASE, followed=209).exists())
        node.answers["eth_getBlockByNumber"] = lambda number, full: {}
        wait_for(lambda: "out of reach" in ChainHead.objects.get(pk=BASE).error)
        del node.answers["eth_getBlockByNumber"]
        node.answers["eth_getBlockByNumber"] = lambda number, full: node.block(node._number(number))
        wait_for(lambda: ChainHead.objects.get(pk=BASE).error == "")


def rows(model, *but):
    """Return all rows without the values that differ between two databases."""
    names = [field.attname for field in model._meta.concrete_fields if field.attname not in but]
    return sorted(model.objects.values_list(*names), key=repr)


def everything():
    addresses = dict(Token.objects.values_list("pk", "contract_address"))
    facts = {addresses[pk]: facts for pk, facts in LaunchFacts.objects.values_list("token_id", "facts")}
    events = [
        (addresses.get(row.pop("token_id")), row)
        for row in TokenEvent.objects.order_by("block_number", "log_index").values()
    ]
    for _, row in events:
        del row["id"]
    claims = rows(FeeClaim, "id", "event_id")
    # Indexing by hash finds out later what is final.
    return rows(Token, "id", "created_at", "last_indexed", "confirmed"), facts, events, claims


def test_the_recorded_chain_is_followed_to_the_rows_that_indexing_each_hash_gives(
    node, settings, forget_chains, tmp_path
):
    final = tmp_path / "chains.toml"
    final.write_text(f"[chains.{BASE}]\nfinality_depth = 20\n")
    settings.CHAINS_FILES, settings.RPC_URLS, settings.FOLLOW_FROM = (str(final),), {BASE: (node.url,)}, {BASE: 0}
    forget_chains()
    # The recorded contracts' state includes two changes whose transactions the recording lacks.
    node.refuse_state()
    with following(BASE):
        wait_for(lambda: Coverage.objects.filter(followed_to=209, verified_to=189).exists())
    followed = everything()
    assert not IndexRequest.objects.exists()
    for model in (TokenEvent, Token):
        model.objects.all().delete()
    for block in recorded_chain()["blocks"]:
        for transaction in block["transactions"]:
            with suppress(index_requests.LaunchNotFoundError):
                index_requests.index_transaction(chain_id=BASE, tx_hash=transaction["hash"])
    assert followed == everything()
    assert len(followed[0]) == 10


def test_several_chains_are_followed_by_one_process(own_launchpad, node, settings, forget_chains):
    settings.RPC_URLS = settings.RPC_URLS | {BASE: (node.url,)}
    forget_chains()
    with following(CHAIN_ID, BASE):
        launched = own_launchpad.launch()
        wait_for(lambda: launched in listed() and Token.objects.filter(chain_id=BASE).exists())


def test_a_follower_that_has_lost_its_lock_leads_anew(own_launchpad):
    with following():
        wait_for(lambda: is_followed(own_launchpad))
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND datname = current_database()"
            )
        launched = own_launchpad.launch()
        wait_for(lambda: launched in listed())


@pytest.mark.slow
def test_a_second_process_stands_by_and_takes_over_from_a_killed_one(own_launchpad, service_environment):
    with process(service_environment) as first:
        wait_for(lambda: is_followed(own_launchpad))
        with process(service_environment) as second:
            wait_for(lambda: "standby" in second.stderr.readline())
            launched = own_launchpad.launch()
            wait_for(lambda: launched in listed())
            assert follower() == first.pid
            os.kill(first.pid, signal.SIGKILL)
            killed = time.monotonic()
            launched = own_launchpad.launch()
            wait_for(lambda: launched in listed())
            print(f"taken over after {time.monotonic() - killed:.2f} s")
            wait_for(lambda: follower() == second.pid)
            end(second, signal.SIGINT)


def test_it_ends_on_a_signal_although_a_node_does_not_answer(own_launchpad, service_environment):
    silent, released, waiting = threading.Event(), threading.Event(), threading.Event()

    def stall(_body):
        if silent.is_set():
            waiting.set()
            released.wait()

    with relay(own_launchpad.deployment.rpc_url, before=stall) as url:
        environment = service_environment | {f"RPC_URLS_{CHAIN_ID}": url, "RPC_TIMEOUT_SECONDS": "30"}
        with process(environment, "--chain", str(CHAIN_ID)) as running:
            launched = own_launchpad.launch()
            wait_for(lambda: launched in listed())
            silent.set()
            wait_for(waiting.is_set)
            assert f"chain={CHAIN_ID}" in end(running, signal.SIGTERM)
        released.set()
