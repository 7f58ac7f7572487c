"""Tests of `manage.py index_transactions`."""

import subprocess
import sys
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from config.environment.variables import BASE_DIR
from development.devchain.anvil import CHAIN_ID
from tests.nodes.devchain_launches import UNKNOWN_HASH
from tokens.indexing import index_requests
from tokens.models import IndexRequest, Token

pytestmark = pytest.mark.django_db


def run(capsys, *words):
    """Return its standard output, its standard error, and its error message if it fails."""
    failure = None
    try:
        call_command("index_transactions", *words)
    except CommandError as error:
        failure = str(error)
    return *capsys.readouterr(), failure


def test_it_refuses_what_is_no_hash_before_it_indexes_anything(launchpad, capsys):
    out, _, failure = run(capsys, launchpad.launch(), "0x12", "--chain", str(CHAIN_ID))
    assert (out, failure) == ("", "HASH must be a transaction hash, 0x followed by 64 hex digits")
    assert not IndexRequest.objects.exists()


def test_it_refuses_a_chain_that_is_not_installed_and_keeps_no_request(launchpad, capsys):
    assert run(capsys, "--chain=8453", UNKNOWN_HASH)[2] == "RPC_URLS_8453 is not set"
    assert run(capsys, UNKNOWN_HASH, "--chain", "999")[2] == "chain 999 is not in the registry"
    assert not IndexRequest.objects.exists()


def test_it_prints_of_each_transaction_how_it_went(launchpad, capsys):
    launched, empty = launchpad.launch(), launchpad.transfer()
    out, err, failure = run(capsys, launched, empty, UNKNOWN_HASH, "--chain", str(CHAIN_ID))
    assert out == f"{launched} {Token.objects.get().contract_address}\n"
    first, second = err.splitlines()[-2:]
    assert first == f"{empty} the transaction holds no launch by a known factory"
    assert second.startswith(f"{UNKNOWN_HASH} chain {CHAIN_ID} has no such transaction")
    assert second.endswith("; retried in 1 s")
    assert failure == "2 of 3 transactions were not indexed."
    in_one_second = timezone.now() + timedelta(seconds=1)
    assert index_requests.claim_due_requests(in_one_second - timedelta(seconds=1)) == []
    assert index_requests.claim_due_requests(in_one_second) == [(CHAIN_ID, UNKNOWN_HASH)]


def test_it_succeeds_where_all_are_indexed(launchpad, capsys):
    tx_hash = launchpad.launch()
    assert run(capsys, tx_hash, tx_hash, "--chain", str(CHAIN_ID))[2] is None
    assert Token.objects.count() == 1


def test_it_needs_no_broker(launchpad, service_environment):
    done = subprocess.run(
        [sys.executable, "manage.py", "index_transactions", UNKNOWN_HASH, "--chain", str(CHAIN_ID)],
        cwd=BASE_DIR,
        env=service_environment | {"REDIS_URL": "redis://127.0.0.1:9/0"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "Traceback" not in done.stderr
    assert (done.returncode, IndexRequest.objects.get().status) == (1, "pending")
