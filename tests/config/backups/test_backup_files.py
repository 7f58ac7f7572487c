"""`manage.py backup` and `restore`: what is in a file, and every file and database that is refused."""

import json
import os
import shutil
import signal
import stat
import subprocess
import zipfile
from datetime import timedelta
from io import StringIO
from pathlib import Path

import psycopg
import pytest
from django.conf import settings as configured
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.utils import timezone

from config.backups.backing_up import DUMP, MANIFEST
from config.backups.table_digests import digest_tables
from development.servers.programs import postgresql_programs
from tests.processes.empty_database import connected_to, empty_database
from tests.processes.forking.program import Program
from tests.processes.own_environment import database_url
from tests.processes.waiting import wait_for
from tests.rows.factories import ChainHeadFactory, TokenFactory, WebhookEndpointFactory
from tests.tokens.trades.test_trade_partitions import store
from tokens.models import ChainHead, Token

pytestmark = pytest.mark.django_db(transaction=True)

ALL_PROGRAMS = postgresql_programs()


@pytest.fixture(autouse=True)
def bundled_programs(settings):
    settings.POSTGRESQL_PROGRAMS = ALL_PROGRAMS


@pytest.fixture
def backup(tmp_path):
    """Back up a small database with partitions, one of them detached by an interrupted removal."""
    ChainHeadFactory(head=110, followed=100)
    WebhookEndpointFactory()
    for weeks in range(3):
        store(timezone.now() - timedelta(weeks=weeks))
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE tokens_trade_20200106 (LIKE tokens_trade INCLUDING ALL)")
        cursor.execute("INSERT INTO tokens_trade_20200106 SELECT * FROM tokens_trade LIMIT 1")
        # Another program's table in the same database.
        cursor.execute("CREATE SCHEMA IF NOT EXISTS reports; CREATE TABLE IF NOT EXISTS reports.sums (sum int)")
    call_command("backup", tmp_path / "whole.zip", stdout=StringIO())
    yield tmp_path / "whole.zip"
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA reports CASCADE")


def manifest_of(path):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read(MANIFEST))


def with_manifest(path, **changes):
    """Return a backup's copy with another manifest."""
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(path.with_name("other.zip"), "w") as other:
        other.writestr(DUMP, archive.read(DUMP))
        other.writestr(MANIFEST, json.dumps(json.loads(archive.read(MANIFEST)) | changes))
    return path.with_name("other.zip")


def restore(path):
    output = StringIO()
    call_command("restore", path, stdout=output)
    return output.getvalue()


def test_all_rows_are_restored_with_partitions_and_what_was_one_and_a_changed_secret_is_named(backup, settings):
    before = digest_tables()
    settings.PARTNER_KEY_PEPPER = "another pepper"
    assert sum(name.startswith("tokens_trade_") for name in before) == 4
    with empty_database() as name, connected_to(name):
        lines = restore(backup).splitlines()
        restored = digest_tables()
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_namespace WHERE nspname IN ('reports', 'filled_by_migrations')")
            assert cursor.fetchone() == (0,)
            cursor.execute("SELECT count(*) FROM tokens_trade")
            assert cursor.fetchone() == (3,)
        # It is in use: triggers and sequences work.
        TokenFactory()
    assert restored.keys() == before.keys()
    # The row has no follower any more.
    assert {name for name in before if before[name] != restored[name]} == {"tokens_chainhead"}
    assert lines[0].startswith(f"{len(before)} tables with ")
    assert "Chain 8453 goes on from block 100: start manage.py follow." in lines
    assert any("PARTNER_KEY_PEPPER differs from that of the backup" in line for line in lines)


def test_the_manifest_has_versions_blocks_and_no_secret_and_the_dump_is_of_the_plain_tools(backup, tmp_path):
    manifest = manifest_of(backup)
    (chain,) = manifest["facts"]["chains"]
    assert (chain["chainId"], chain["followed"]) == (8453, 100)
    assert manifest["service"] == configured.SERVICE_VERSION
    assert manifest["tables"]["tokens_trade_20200106"]["rows"] == 1
    assert configured.SECRET_KEY not in json.dumps(manifest)
    assert stat.S_IMODE(os.stat(backup).st_mode) == 0o600
    with zipfile.ZipFile(backup) as archive:
        archive.extract(DUMP, tmp_path)
    assert shutil.which("pg_restore", path=ALL_PROGRAMS)
    assert (tmp_path / DUMP).read_bytes().startswith(b"PGDMP")


def test_a_backup_gets_a_name_by_its_time_in_a_directory(tmp_path):
    call_command("backup", tmp_path, stdout=StringIO())
    (path,) = tmp_path.iterdir()
    assert path.name.startswith("launchboard-") and zipfile.ZipFile(path).testzip() is None


def test_only_the_newest_backups_of_a_directory_are_kept(tmp_path):
    for name in ("launchboard-20260101T000000Z.zip", "launchboard-20260102T000000Z.zip", "launchboard-before.zip"):
        (tmp_path / name).touch()
    output = StringIO()
    call_command("backup", tmp_path, keep=2, stdout=output)
    assert "Removed: launchboard-20260101T000000Z.zip\n" in output.getvalue()
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert len(kept) == 3 and {"launchboard-20260102T000000Z.zip", "launchboard-before.zip"} < set(kept)
    with pytest.raises(CommandError, match="--keep needs a directory"):
        call_command("backup", tmp_path / "file", keep=2)
    with pytest.raises(CommandError, match="--keep: must be a number from 1 on"):
        call_command("backup", tmp_path, "--keep", "0")


def test_an_existing_file_is_not_replaced(tmp_path):
    (tmp_path / "there").write_text("kept")
    with pytest.raises(CommandError, match="there exists"):
        call_command("backup", tmp_path / "there")
    assert (tmp_path / "there").read_text() == "kept"


def program(directory, name, text):
    """Write an executable."""
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (None, "pg_dump is not in .*POSTGRESQL_PROGRAMS"),
        (
            "echo 'pg_dump (PostgreSQL) 14.20'",
            "pg_dump 14 is older than the server, PostgreSQL 1[0-9]: install .* or newer",
        ),
        ("echo nothing", "is no program of PostgreSQL"),
        # It fails halfway.
        (
            "case $1 in --version) echo 'pg_dump (PostgreSQL) 99.1';; *) echo PGDMP; echo lost >&2; exit 1;; esac",
            "failed: lost",
        ),
    ],
)
def test_a_failed_backup_leaves_no_file(tmp_path, settings, text, error):
    settings.POSTGRESQL_PROGRAMS = tmp_path / "bin"
    (tmp_path / "to").mkdir()
    if text:
        program(tmp_path / "bin", "pg_dump", text)
    with pytest.raises(CommandError, match=error):
        call_command("backup", tmp_path / "to")
    assert list((tmp_path / "to").iterdir()) == []


def test_a_backup_that_is_stopped_leaves_no_file(tmp_path, service_environment):
    hanging = (
        f"case $1 in --version) echo 'pg_dump (PostgreSQL) 99.1';; *) echo $$ >{tmp_path}/pid; exec sleep 600;; esac"
    )
    program(tmp_path / "bin", "pg_dump", hanging)
    (tmp_path / "to").mkdir()
    words = ["python", "manage.py", "backup", str(tmp_path / "to")]
    environment = service_environment | {"POSTGRESQL_PROGRAMS": str(tmp_path / "bin")}
    with Program(words, environment, stderr=subprocess.PIPE) as running:
        wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n"))
        assert [path.suffix for path in (tmp_path / "to").iterdir()] == [".part"]
        running.terminate()
        _, error = running.communicate()
    assert error == "CommandError: stopped by a signal: there is no backup\n" and running.returncode == 1
    assert list((tmp_path / "to").iterdir()) == []
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


def test_a_place_that_can_t_be_written_is_one_sentence(tmp_path):
    with pytest.raises(CommandError, match="missing/file can't be written"):
        call_command("backup", tmp_path / "missing" / "file")
    # The name is too long, so that even its file type can't be read, as below another user's directory.
    for keep in (None, 2):
        with pytest.raises(CommandError, match="xxx can't be written: .*File name too long"):
            call_command("backup", tmp_path / ("x" * 300), keep=keep)


def test_the_password_is_in_the_environment_only(tmp_path, settings, monkeypatch):
    text = f'case $1 in --version) ;; *) echo "$@" >{tmp_path}/arguments; echo $PGPASSWORD >{tmp_path}/password;; esac'
    program(tmp_path / "bin", "pg_dump", f'{text}; exec {ALL_PROGRAMS}/pg_dump "$@"')
    settings.POSTGRESQL_PROGRAMS = tmp_path / "bin"
    monkeypatch.setitem(connection.settings_dict, "PASSWORD", "s3cret")
    connection.close()
    call_command("backup", tmp_path / "file", stdout=StringIO())
    assert "s3cret" not in (tmp_path / "arguments").read_text()
    assert (tmp_path / "password").read_text().strip() == "s3cret"


def test_another_secret_in_the_url_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", {"sslpassword": "s3cret"})
    connection.close()
    with pytest.raises(CommandError, match="DATABASE_URL has sslpassword") as refused:
        call_command("backup", tmp_path / "file")
    assert "s3cret" not in str(refused.value)


# Bad files.


def truncated(path):
    with path.open("rb+") as file:
        file.truncate(path.stat().st_size // 2)
    return path


def damaged(path):
    """Change a byte in the middle of the dump."""
    with path.open("rb+") as file:
        file.seek(path.stat().st_size // 3)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 0xFF]))
    return path


def foreign(path):
    path.write_bytes(b"PGDMP" + bytes(1000))
    return path


def other_archive(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    return path


def missing(path):
    return path.with_name("nothing")


BAD_FILES = (
    (truncated, "whole.zip is no complete backup"),
    (damaged, "whole.zip is damaged: the checksum of database.dump differs"),
    (foreign, "whole.zip is no complete backup"),
    (other_archive, "whole.zip is no backup: it must contain database.dump and manifest.json"),
    (missing, "nothing can't be read"),
    (lambda path: with_manifest(path, format=2), "has format 2, and this version reads format 1"),
    (lambda path: with_manifest(path, at="yesterday"), "the file's manifest is not that of a backup"),
    (
        lambda path: with_manifest(path, service="9.0", migrations=[["tokens", "9999_later"]]),
        "newer version, 9.0, with migrations .*tokens.9999_later. Install that version",
    ),
    (lambda path: with_manifest(path, pg_dump=99), "pg_restore 1[0-9] is older than the pg_dump 99 of the backup"),
)


def test_a_bad_file_changes_nothing(backup):
    content = backup.read_bytes()
    with empty_database() as name, connected_to(name):
        for change, error in BAD_FILES:
            backup.write_bytes(content)
            with pytest.raises(CommandError, match=error):
                restore(change(backup))
            assert digest_tables() == {}, error


def test_a_failed_program_leaves_the_database_empty_and_rows_that_differ_from_the_manifest_are_named(
    backup, tmp_path, settings
):
    text = "case $1 in --version) echo 'pg_restore (PostgreSQL) 18.1';; *) echo no disk >&2; exit 1;; esac"
    program(tmp_path / "bin", "pg_restore", text)
    tables = manifest_of(backup)["tables"]
    tables["tokens_token"]["rows"] += 1
    path = with_manifest(backup, tables=tables)
    with empty_database() as name, connected_to(name):
        settings.POSTGRESQL_PROGRAMS = tmp_path / "bin"
        with pytest.raises(CommandError, match="pg_restore failed: no disk"):
            restore(path)
        settings.POSTGRESQL_PROGRAMS = ALL_PROGRAMS
        with pytest.raises(CommandError, match="rows differ from the manifest in tokens_token: .* writes.*drop the"):
            restore(path)
        # The command does not accept it as a complete database.
        with pytest.raises(CommandError, match="an earlier restore into this database did not end"):
            restore(path)


def test_a_database_with_tables_or_in_use_is_refused(backup):
    count = Token.objects.count()
    with pytest.raises(CommandError, match="the database is not empty: it has .* empty database; create one"):
        restore(backup)
    assert Token.objects.count() == count
    with empty_database() as name, connected_to(name):
        with (
            psycopg.connect(database_url(name), application_name="launchboard-events"),
            pytest.raises(CommandError, match="is in use by launchboard-events .*Stop web, worker, follower, events"),
        ):
            restore(backup)
        assert digest_tables() == {}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_restore_that_is_stopped_names_the_way_on(backup, tmp_path, service_environment, number):
    hanging = f"cat >/dev/null; echo $$ >{tmp_path}/pid; exec sleep 600"
    program(
        tmp_path / "bin",
        "pg_restore",
        f"case $1 in --version) echo 'pg_restore (PostgreSQL) 18.1';; *) {hanging};; esac",
    )
    words = ["python", "manage.py", "restore", str(backup)]
    with empty_database() as name:
        own = {"POSTGRESQL_PROGRAMS": str(tmp_path / "bin"), "DATABASE_URL": database_url(name)}
        with Program(words, service_environment | own, stderr=subprocess.PIPE) as running:
            wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n"))
            running.send_signal(number)
            _, error = running.communicate()
    assert error.startswith("CommandError: stopped by a signal: the database is unfinished, so drop it")
    assert error.count("\n") == 1 and running.returncode == 1
    # It would go on to fill the database.
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


def test_rows_are_only_prepared_in_a_database_of_this_version():
    refused = pytest.raises(CommandError, match="the database was never migrated: DATABASE_URL must lead to")
    with empty_database() as name, connected_to(name), refused:
        call_command("restore", "--recovered")


def test_a_backup_before_an_upgrade_is_migrated_by_its_restore(backup):
    output = StringIO()
    with empty_database() as name, connected_to(name):
        restore(backup)
        call_command("migrate", "accounts", "0002", verbosity=0)
        older = backup.with_name("older.zip")
        call_command("backup", older, stdout=output)
        with pytest.raises(CommandError, match="migrations that the database lacks: .*Run manage.py migrate"):
            call_command("restore", "--recovered")
    assert "manage.py restore of this version migrates it" in output.getvalue()
    assert manifest_of(older)["facts"] == {}
    with empty_database() as name, connected_to(name):
        restore(older)
        call_command("restore", "--recovered", stdout=output)
        assert ChainHead.objects.get().followed == 100
