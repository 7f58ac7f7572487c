"""A backup while a service writes, its restore, and following from there: as if it was never interrupted."""

import json
import os
import zipfile
from contextlib import contextmanager
from threading import Event as Signal
from threading import Thread

import psycopg
import pytest
from django.utils import timezone
from psycopg import sql

from config.backups.table_digests import digest_tables
from config.events.models import Event
from config.events.outbox import publish_events
from development.servers.programs import postgresql_programs
from tests.processes.empty_database import connected_to, empty_database
from tests.processes.fork_server import fork_server
from tests.processes.forking.program import run_program
from tests.processes.own_environment import database_url
from tests.processes.waiting import wait_for
from tests.rows.agent_factories import SnapshotFactory, StandingFactory
from tests.rows.factories import (
    DeployAttemptFactory,
    PartnerKeyFactory,
    PersonFactory,
    SavedTokenFactory,
    SignedTransactionFactory,
    WebhookDeliveryFactory,
    WebhookEndpointFactory,
)
from tests.rows.written_facts import all_rows
from tests.simulator import SimulatedChain, Traffic, serve
from tests.simulator.comparing import differences
from tests.simulator.registry_file import write_registry_file
from tokens.models import Coverage, Token

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

CHAIN_ID, FINALITY_DEPTH = 900_000, 20
ROLE = "backup_reader"
# For hundreds of blocks that are read, written and verified.
_BUSY_SECONDS = 400.0


def manage(environment, *words):
    """Run a command; return its output."""
    done = run_program(["python", "manage.py", *words], environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def growing(chain):
    """Mine blocks while the block runs."""
    stop = Signal()

    def mine():
        while not stop.wait(0.2):
            chain.mine(1)

    thread = Thread(target=mine)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def following(environment, node):
    """Follow the chain in a process on the database of the environment."""
    settings = {
        "RPC_URLS": {CHAIN_ID: [node.url]},
        "RPC_WS_URLS": {},
        "FOLLOW_FROM": {CHAIN_ID: 0},
        "FOLLOW_POLL_SECONDS": 0.1,
        "FOLLOW_RANGE_BLOCKS": 40,
        # Simulated chains are old.
        "CANDLE_MINUTE_DAYS": 100_000,
        "EVENT_HISTORY_HOURS": 1_000_000,
    }
    with fork_server(environment) as processes:
        follower = processes.follow(CHAIN_ID, settings=settings)
        try:
            yield
        finally:
            follower.kill()


def is_followed(block):
    """Return whether all blocks up to this one are stored and summed up, and all final blocks are verified."""
    rows = list(Coverage.objects.filter(chain_id=CHAIN_ID))
    return bool(rows) and all(
        min(row.followed_to, row.summed_to) >= block and row.verified_to >= block - FINALITY_DEPTH for row in rows
    )


def add_rows_of_callers():
    """Add what no chain can restore: keys, endpoints, deliveries, deployments, users and rankings."""
    endpoint = WebhookEndpointFactory(partner_key=PartnerKeyFactory())
    WebhookDeliveryFactory(endpoint=endpoint, leased_until=timezone.now(), due_at=timezone.now())
    SignedTransactionFactory(attempt=DeployAttemptFactory())
    SavedTokenFactory(person=PersonFactory())
    StandingFactory(snapshot=SnapshotFactory())


def publish_all():
    """Publish all events; return the id of the newest."""
    while publish_events():
        pass
    return Event.objects.latest("id").id


def counts(manifest):
    return {name: table["rows"] for name, table in manifest["tables"].items()}


@pytest.fixture
def environment(service_environment, tmp_path):
    write_registry_file(tmp_path / "chains.toml", [CHAIN_ID], finality_depth=FINALITY_DEPTH)
    own = {"CHAINS_FILE": str(tmp_path / "chains.toml"), "POSTGRESQL_PROGRAMS": str(postgresql_programs())}
    return service_environment | own | {"LOG_LEVEL": "ERROR"}


def test_a_restored_service_goes_on_as_one_that_was_never_interrupted(environment, tmp_path):
    chain = SimulatedChain(5, chain_id=CHAIN_ID, traffic=Traffic(swaps=1.0))
    chain.mine(100)
    path = tmp_path / "backup.zip"
    with serve(chain) as node, empty_database() as restored:
        with following(environment, node):
            wait_for(lambda: Token.objects.filter(chain_id=CHAIN_ID).count() > 5)
            add_rows_of_callers()
            publish_all()
            with growing(chain):
                manage(environment, "backup", str(path))
            chain.mine(2 * FINALITY_DEPTH)
            wait_for(lambda: is_followed(chain.head.number), seconds=_BUSY_SECONDS)
        truth = chain.truth()
        assert differences(truth, chain_id=CHAIN_ID) == []
        uninterrupted, now = all_rows(), digest_tables()
        newest = publish_all()
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read("manifest.json"))
        # Blocks were written after the snapshot.
        assert counts(manifest)["tokens_token"] < now["tokens_token"].rows
        assert any(name.startswith("tokens_trade_") and rows for name, rows in counts(manifest).items())
        there = environment | {"DATABASE_URL": database_url(restored)}
        output = manage(there, "restore", str(path))
        (chain_state,) = manifest["facts"]["chains"]
        assert f"Chain {CHAIN_ID} goes on from block {chain_state['followed']}: start manage.py follow." in output
        with connected_to(restored):
            assert Token.objects.count() == counts(manifest)["tokens_token"]
            with following(there, node):
                wait_for(lambda: is_followed(chain.head.number), seconds=_BUSY_SECONDS)
            assert differences(truth, chain_id=CHAIN_ID) == []
            assert all_rows() == uninterrupted
            before = Event.objects.latest("id").id
            publish_all()
            # A subscriber that has read all events before the loss misses no event after the restore.
            later = Event.objects.filter(id__gt=before)
            assert before < newest < later.earliest("id").id
            assert {event.subject for event in later if event.type == "token.indexed"}


def test_a_role_without_rights_of_a_superuser_backs_up_and_restores(environment, tmp_path):
    add_rows_of_callers()
    manage(environment, "backup", str(tmp_path / "first.zip"))
    with psycopg.connect(database_url("postgres"), autocommit=True) as server:
        role = sql.Identifier(ROLE)
        server.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 's3cret'").format(role))
        try:
            with empty_database(owner=ROLE) as name:
                url = database_url(name).replace("launchboard@", f"{ROLE}:s3cret@")
                there = environment | {"DATABASE_URL": url}
                manage(there, "restore", str(tmp_path / "first.zip"))
                output = manage(there, "backup", str(tmp_path / "second.zip"))
        finally:
            server.execute(sql.SQL("DROP ROLE {}").format(role))
    assert "s3cret" not in output and os.path.exists(tmp_path / "second.zip")
