"""Solana in operation: leader election, readiness, refusals of commands, and system checks."""

import threading
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO

import pytest
from django.core.checks import run_checks
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.utils import timezone

from tests.nodes.solana.recorded import CLAIM, LAUNCH, MINT
from tests.processes.waiting import wait_for
from tests.rows.factories import ChainHeadFactory
from tokens.following.follower import follow_chains
from tokens.models import ChainHead, RollingClock, Token

pytestmark = pytest.mark.django_db(transaction=True)

SOLANA = 101


@pytest.fixture
def node(faulty_solana, settings):
    settings.FOLLOW_POLL_SECONDS = 0.1
    return faulty_solana


@contextmanager
def following():
    stop = threading.Event()
    thread = threading.Thread(target=follow_chains, args=((SOLANA,),), kwargs={"stop": stop})
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def is_read(node):
    return ChainHead.objects.filter(pk=SOLANA, followed=node.slot).exists()


def ready():
    answer = Client().get("/readyz", {"chain": str(SOLANA)})
    return answer.status_code, answer.json()["chain"]


@pytest.mark.parametrize("words", [["rewind", "--to", "5", "--yes"], ["backfill", "--from", "1", "--to", "5"]])
def test_commands_of_evm_chains_refuse_it(node, words):
    with pytest.raises(CommandError, match="chain 101 is Solana; only EVM chains are supported here"):
        call_command(*words, "--chain", str(SOLANA))


def test_it_is_followed_as_other_chains_are(node):
    assert ready()[0] == 503
    with following():
        wait_for(lambda: is_read(node))
        new = node.launch("new")
        wait_for(lambda: Token.objects.filter(contract_address=new).exists() and is_read(node))
        status, chain = ready()
    assert (status, chain["head"], chain["final"], chain["followed"]) == (200, node.slot, node.slot, node.slot)
    assert (chain["lagBlocks"], chain["halted"], chain["verified"]) == (0, False, None)


def test_its_leader_keeps_markets(node):
    now = timezone.now().replace(second=0, microsecond=0)
    RollingClock.objects.create(chain_id=SOLANA, rolled_to=now - timedelta(hours=1))
    with following():
        wait_for(lambda: RollingClock.objects.get(pk=SOLANA).rolled_to >= now)


def test_trouble_with_its_nodes_is_shown_until_it_is_over(node, settings, forget_chains):
    settings.RPC_ATTEMPTS, settings.RPC_PATIENCE_SECONDS = 1, 0.5
    forget_chains()
    with following():
        wait_for(lambda: is_read(node))
        node.refused["getSignaturesForAddress"] = {"code": -32005, "message": "Node is unhealthy"}
        wait_for(lambda: "account mBKq" in ChainHead.objects.get(pk=SOLANA).error)
        node.refused.clear()
        wait_for(lambda: ChainHead.objects.get(pk=SOLANA).error == "")


def test_trouble_is_shown_where_a_node_has_forgotten_what_was_read(node):
    with following():
        wait_for(lambda: is_read(node))
        node.kept_from = node.slot + 1
        mints = {node.launch("new"), node.launch("newer")}
        wait_for(lambda: "without transactions that were read" in ChainHead.objects.get(pk=SOLANA).error)
        node.kept_from = 0
        wait_for(lambda: is_read(node) and ChainHead.objects.get(pk=SOLANA).error == "")
    assert Token.objects.filter(contract_address__in=mints).count() == 2


@pytest.mark.parametrize(("seconds", "status"), [(50, 200), (61, 503)])
def test_it_is_ready_until_what_comes_next_has_waited_for_long(settings, seconds, status):
    settings.FOLLOW_LAG_ALARM_SECONDS = 60
    since = timezone.now() - timedelta(seconds=seconds)
    ChainHeadFactory(chain_id=SOLANA, head=1000, final=1000, followed=900, followed_at=since)
    assert ready()[0] == status


def test_the_metrics_report_it(node):
    with following():
        wait_for(lambda: is_read(node))
    text = Client().get("/metrics").content.decode()
    assert f'launchboard_chain_followed_block{{chain="101"}} {float(node.slot)}' in text


def checked(settings, forget_chains, *, rpc_urls, files=()):
    settings.RPC_URLS, settings.CHAINS_FILES = rpc_urls, files
    forget_chains()
    return [message.id for message in run_checks() if (message.id or "").startswith("tokens.")]


def test_a_node_without_an_account_to_follow_is_warned_of(settings, forget_chains, solana_file):
    nodes = {SOLANA: ("http://127.0.0.1:9",)}
    assert checked(settings, forget_chains, rpc_urls=nodes) == ["tokens.W004"]
    assert checked(settings, forget_chains, rpc_urls=nodes, files=(str(solana_file),)) == []
    assert checked(settings, forget_chains, rpc_urls={}, files=(str(solana_file),)) == []


def test_transactions_are_indexed_by_hand(node):
    output = StringIO()
    call_command("index_transactions", "--chain", str(SOLANA), LAUNCH, CLAIM, stdout=output)
    assert output.getvalue() == f"{LAUNCH} {MINT}\n{CLAIM} {MINT}\n"
    with pytest.raises(CommandError, match="HASH must be a base58 signature of 64 bytes"):
        call_command("index_transactions", "--chain", str(SOLANA), "0x" + "ab" * 32)
