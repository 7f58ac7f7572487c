"""`manage.py doctor`: what it finds in bad states of real servers, nodes and rows, and its two forms."""

import json
import os
import re
import socket
import time
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from django.conf import settings as configured
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from accounts.keys.diagnostics import partner_keys
from config.doctor import machine_checks
from config.doctor import postgresql_checks as postgresql
from config.doctor import redis_checks as redis
from config.doctor.findings import Level
from config.environment.variables import BASE_DIR
from config.postgresql.advisory_locks import session_lock
from config.processes.heartbeats import STALE_SECONDS, Heartbeat
from config.redis.connection import redis_client
from tests.processes.empty_database import connected_to, empty_database
from tests.processes.forking.program import run_program
from tests.processes.own_environment import database_url
from tests.processes.service_processes import service
from tests.processes.waiting import wait_for
from tests.rows.factories import ChainHeadFactory, CoverageFactory, IndexRequestFactory, PartnerKeyFactory
from tests.simulator import Faults, Limits, SimulatedChain, serve
from tests.tokens.trades.test_trade_partitions import store
from tokens.following import diagnostics as following
from tokens.indexing.chain_lock import ChainLockPurpose, chain_lock_key
from tokens.installation.diagnostics import nodes

BASE = 8453


def found(check, level=None):
    """Return the texts of a check's findings, at this level or any; each bad one has an action and a section."""
    findings = list(check(timezone.now()))
    assert all(each.action and each.guide for each in findings if each.level in (Level.WARNING, Level.ERROR))
    return [finding.summary for finding in findings if level in (None, finding.level)]


def doctor(environment, *words):
    """Run the command; return its exit status and output."""
    done = run_program(["python", "manage.py", "doctor", *words], environment)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout


def by_check(output):
    """Return check -> its levels, and the findings, of the JSON output."""
    rows = json.loads(output)["findings"]
    return {
        name: {row["level"] for row in rows if row["check"] == name} for name in {row["check"] for row in rows}
    }, rows


@contextmanager
def hanging_server():
    """Listen on a port, and never respond."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_unreachable_servers_are_findings(unused_port):
    with hanging_server() as hanging:
        environment = {
            "PATH": "/usr/bin:/bin",
            "DATABASE_URL": f"postgres://user:s3cret@127.0.0.1:{hanging}/name",
            "REDIS_URL": f"redis://:s3cret@127.0.0.1:{unused_port}/0",
            "SECRET_KEY": configured.SECRET_KEY,
            "RPC_URLS_8453": f"http://127.0.0.1:{unused_port}/s3cret",
        }
        status, output = doctor(environment, "--json")
    levels, rows = by_check(output)
    assert status == 1 and "s3cret" not in output
    assert levels["postgresql"] == levels["redis"] == levels["nodes"] == {"error"}
    assert levels["workers"] == levels["migrations"] == levels["dashboard"] == {"unknown"}
    assert {row["summary"] for row in rows if row["check"] == "queues"} == {"Not checked, because migrations failed."}
    assert all(row["action"] for row in rows if row["level"] == "error")


@pytest.mark.django_db(transaction=True)
def test_lines_have_the_action_and_the_section(service_environment):
    status, output = doctor(service_environment)
    assert status == 1
    assert re.search(r"^error    workers: No worker responds.*\n +Start a worker.*\n +docs/repairing.md#", output, re.M)
    assert output.splitlines()[-1].endswith(" 0 unknown"), output


@pytest.mark.django_db(transaction=True)
def test_an_interrupted_index_is_found(own_tables):
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE twice AS SELECT 1 AS number FROM generate_series(1, 2)")
        with pytest.raises(IntegrityError):
            cursor.execute("CREATE UNIQUE INDEX CONCURRENTLY half_built ON twice (number)")
    assert found(postgresql.schema, Level.ERROR) == ["Invalid indexes: half_built."]


@pytest.mark.django_db
def test_migrations_and_extensions_that_are_missing_are_found():
    assert found(postgresql.migrations, Level.OK) == ["No unapplied migrations."]
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'tokens' AND name LIKE '0001%%'")
        cursor.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('tokens', '9999_later', now())")
        cursor.execute("DROP EXTENSION btree_gin CASCADE")
    (missing, later) = postgresql.migrations(timezone.now())
    assert missing.level == Level.ERROR and missing.summary.startswith("Unapplied migrations: tokens.0001_")
    assert later.level == Level.WARNING and "tokens.9999_later" in later.summary
    assert found(postgresql.schema, Level.ERROR) == ["Missing extensions: btree_gin."]


@pytest.mark.django_db
def test_an_unfinished_restore_is_found():
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE launchboard_restore_unfinished ()")
    assert found(postgresql.schema, Level.ERROR) == ["A restore into this database did not end."]


@pytest.mark.django_db
def test_a_role_that_may_not_create_tables_is_found_before_migrate():
    assert found(postgresql.schema, Level.ERROR) == []
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE test_reader; GRANT SELECT ON django_migrations TO test_reader")
        cursor.execute("SET LOCAL ROLE test_reader")
    assert found(postgresql.schema, Level.ERROR) == ["The role test_reader may not create tables in the schema public."]
    with pytest.raises(SystemCheckError, match="GRANT CREATE ON SCHEMA public TO test_reader"):
        call_command("migrate", skip_checks=False)


@pytest.mark.django_db
def test_partitions_that_maintenance_left_out_are_found():
    week_ago = timezone.now() - timedelta(days=7)
    store(week_ago, now=week_ago)
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE tokens_trade_20200106 (LIKE tokens_trade INCLUDING ALL)")
    (missing,) = found(postgresql.partitions, Level.ERROR)
    assert missing.startswith("Missing partitions: tokens_trade_")
    assert found(postgresql.partitions, Level.WARNING) == ["Partitions detached: tokens_trade_20200106."]


@pytest.mark.django_db(transaction=True)
def test_a_database_of_another_encoding_is_an_error():
    with empty_database() as name, psycopg.connect(database_url("postgres"), autocommit=True) as server:
        server.execute(f"DROP DATABASE {name}")
        server.execute(
            f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C'"
        )
        with connected_to(name):
            (encoding,) = found(postgresql.server, Level.ERROR)
            (letters,) = found(postgresql.server, Level.WARNING)
            (never,) = found(postgresql.migrations, Level.ERROR)
    assert encoding.endswith("its encoding is SQL_ASCII and must be UTF8.")
    assert letters.startswith("Its character type is C: ") and never == "The database was never migrated."


@pytest.mark.parametrize(("seconds", "level"), [(9, Level.WARNING), (-3600, Level.ERROR)])
@pytest.mark.django_db
def test_a_clock_that_differs_is_found(seconds, level):
    with connection.cursor() as cursor:
        clock = f"SELECT now() + make_interval(secs => {seconds})"
        cursor.execute(f"CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS '{clock}'")
        cursor.execute("SET LOCAL search_path = public, pg_catalog")
        (difference,) = found(postgresql.clock, level)
    assert difference.startswith("The clocks of this machine and of PostgreSQL differ by ")


@pytest.mark.django_db
def test_connections_and_clock_are_measured():
    (connections,) = found(postgresql.connections_in_use, Level.OK)
    assert re.match(r"\d+ of \d+ connections are in use, \d+ of them by this database\.", connections)
    assert found(postgresql.clock, Level.OK) == ["The clocks of this machine and of PostgreSQL differ by 0.0 s."]


def test_an_eviction_policy_is_an_error(own_server):
    redis_client().config_set("maxmemory-policy", "allkeys-lru")
    assert found(redis.server, Level.ERROR) == ["maxmemory-policy is allkeys-lru."]


def test_a_full_queue_server_is_found(own_server):
    redis_client().config_set("maxmemory-policy", "noeviction")
    redis_client().config_set("maxmemory", "1mb")
    assert found(redis.server, Level.WARNING) == ["It uses more than 90% of maxmemory."]


def test_a_node_of_another_chain_and_one_that_is_behind_are_found(settings, forget_chains):
    chain = SimulatedChain(seed=1)
    chain.mine(60)
    with serve(chain) as good, serve(chain, faults=Faults(chain_id=1)) as foreign, serve(chain) as behind:
        behind.faults = Faults(behind=40)
        settings.RPC_URLS = {BASE: (good.url, foreign.url, behind.url)}
        forget_chains()
        (error,) = found(nodes, Level.ERROR)
        warnings = found(nodes, Level.WARNING)
    assert "node 2: " in error and "it is a node of another chain" in error
    assert any("node 3: head" in text and "40 blocks behind another node." in text for text in warnings)


def test_the_limits_of_a_node_and_a_chain_that_stands_still_are_found(settings, forget_chains):
    still = SimulatedChain(seed=1)
    chain = SimulatedChain(seed=1, genesis_time=int(time.time()) - 150)
    for each in (still, chain):
        each.mine(60)
    settings.FOLLOW_RANGE_BLOCKS = 50
    with serve(still) as old, serve(chain, limits=Limits(blocks=10)) as limited:
        settings.RPC_URLS = {BASE: (old.url, limited.url)}
        forget_chains()
        texts = found(nodes, Level.WARNING)
    assert any("node 1: head" in text and "s ago by this machine's clock." in text for text in texts)
    assert any("query exceeds max block range 10" in text for text in texts)


@pytest.mark.django_db
def test_a_chain_of_no_registry_is_found(settings, forget_chains):
    settings.RPC_URLS = {4_242: ("http://127.0.0.1:1",)}
    forget_chains()
    assert found(nodes, Level.ERROR) == ["chain 4242 is not in the registry."]


@pytest.mark.django_db(transaction=True)
def test_a_leader_a_halt_and_a_lag_are_found(settings):
    settings.RPC_URLS = {BASE: ("http://127.0.0.1:1",)}
    head = ChainHeadFactory(head=100, followed=100, seen_at=timezone.now())
    assert found(following.following, Level.ERROR) == ["Base: no process follows it."]
    with session_lock(chain_lock_key(ChainLockPurpose.FOLLOWING, BASE)):
        assert found(following.following, Level.ERROR) == []
        # Its heartbeat is old.
        head.seen_at = timezone.now() - timedelta(hours=2)
        head.save()
        (late,) = found(following.following, Level.ERROR)
        assert late.startswith("Base: followed block 100 of 100, 7,2")
        head.halted = "block 80 was dropped"
        head.save()
        assert found(following.following, Level.ERROR) == ["Base is halted: its nodes dropped final blocks."]


@pytest.mark.django_db
def test_runs_that_are_not_complete_are_found():
    CoverageFactory(first_block=1, last_block=90, followed_to=50)
    CoverageFactory(first_block=100, last_block=120, followed_to=120)
    assert found(following.coverage, Level.WARNING) == ["Base: blocks 51 to 90 are not read."]


@pytest.mark.django_db
def test_a_history_and_a_verification_that_lag_are_found():
    ChainHeadFactory(head=90_900)
    CoverageFactory(first_block=1, followed_to=20_000, verified_to=10_000)
    history, verified = found(following.coverage, Level.WARNING)
    assert history == "Base: history is read to block 20,000 of 90,000."
    assert verified == "Base: read again to block 10,000 of 20,000."


@pytest.mark.django_db
def test_keys_that_expire_soon_are_found(settings):
    now = timezone.now()
    settings.PARTNER_KEY_PEPPER = settings.SECRET_KEY
    soon = PartnerKeyFactory(name="Acme", expires_at=now + timedelta(days=3))
    for days in (-1, 100):
        PartnerKeyFactory(expires_at=now + timedelta(days=days))
    expiring, pepper = found(partner_keys, Level.WARNING)
    assert expiring.startswith(f"The key {soon.pk}, Acme, expires at ")
    assert pepper == "2 partner keys are active; their digests depend on SECRET_KEY."


def test_dangerous_settings_are_found(settings):
    settings.DEBUG, settings.SITE_URL = True, "http://tokens.example"
    assert found(machine_checks.settings_in_use, Level.ERROR) == ["DEBUG is true: tracebacks show settings."]
    (plain,) = found(machine_checks.settings_in_use, Level.WARNING)
    assert plain.startswith("SITE_URL is http://tokens.example: passwords")


def test_a_full_disk_is_an_error(settings):
    # /proc has no free space.
    settings.SITE_PICTURE_DIR = Path("/proc/pictures")
    assert any(" at /proc." in text for text in found(machine_checks.disk_space, Level.ERROR))


def test_a_loop_that_hangs_is_found(settings, tmp_path):
    assert found(machine_checks.heartbeats) == ["0 fresh heartbeats to read: HEARTBEAT_DIR is not set."]
    for name in ("worker", "chain-8453"):
        settings.HEARTBEAT_DIR = tmp_path / "processes" / name
        Heartbeat(name)
    settings.HEARTBEAT_DIR = tmp_path
    assert found(machine_checks.heartbeats) == [f"2 fresh heartbeats in {tmp_path}."]
    stale = tmp_path / "processes" / "worker" / "worker"
    os.utime(stale, (0, time.time() - STALE_SECONDS - 1))
    assert found(machine_checks.heartbeats, Level.ERROR) == [f"The last heartbeat in {stale} was 121 s ago."]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_workers_beat_and_queues_are_found(service_environment):
    IndexRequestFactory(due_at=timezone.now() - timedelta(hours=1))
    environment = service_environment | {"WORKER_PROCESSES": "1"}

    def levels():
        return by_check(doctor(environment, "--json")[1])[0]

    # The sweeper of the worker claims the request.
    assert levels()["queues"] == {"ok", "warning"}
    with service("worker", environment) as worker:
        with service("beat", environment):
            wait_for(lambda: levels()["workers"] == {"ok"})
        # One stopped beat: its last tasks are executed meanwhile.
        wait_for(lambda: levels()["workers"] == {"ok", "error"})
        worker.stop()
        wait_for(lambda: levels()["workers"] == {"error"})


def test_each_section_that_findings_name_exists():
    sources = [path.read_text() for path in BASE_DIR.glob("*/**/diagnostics.py")]
    sources += [path.read_text() for path in (BASE_DIR / "config" / "doctor").glob("*.py")]
    named = {section for text in sources for section in re.findall(r'"([a-z]+\.md#[a-z-]+)"', text)}
    headings = [
        (guide.name, heading)
        for guide in (BASE_DIR / "docs").glob("*.md")
        for heading in re.findall(r"^#+ (.*)$", guide.read_text(), re.MULTILINE)
    ]
    sections = {f"{name}#{re.sub(r'[^a-z0-9 -]', '', heading.lower()).replace(' ', '-')}" for name, heading in headings}
    assert len(named) > 10 and named <= sections


@pytest.mark.django_db
def test_every_check_can_read_an_empty_database(settings):
    settings.RPC_URLS = {}
    for check in (postgresql.server, postgresql.schema, following.following, following.coverage, nodes):
        with transaction.atomic():
            assert not any(finding.level == Level.ERROR for finding in check(timezone.now()))
