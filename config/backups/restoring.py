"""Backup restore into an empty database: checks, `pg_restore`, comparison of all rows, and what must not survive.

A marker table exists from the first change to the last one, so that an interrupted restore is not taken for a complete
one.
"""

import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.utils.module_loading import import_string
from psycopg import sql

from config.backups.backing_up import DUMP, MANIFEST
from config.backups.dump_programs import BackupError, DumpProgram, find_pg_restore
from config.backups.manifest import Manifest, parse_manifest
from config.backups.table_digests import TableDigest, digest_tables
from config.postgresql.schema_state import (
    applied_migrations,
    known_migrations,
    newer_migrations,
    not_of_extension,
    server_major,
)

MARKER = "launchboard_restore_unfinished"
# A step in RESTORE_STEPS changes restored rows, and yields sentences for the operator.
RestoreStep = Callable[[], Iterator[str]]

_MAX_MANIFEST_BYTES = 50_000_000
_SHOWN = 5
# Tables, views, sequences and functions, except what belongs to extensions.
_OBJECTS = sql.SQL("""
SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
    AND {}
UNION ALL
SELECT proname || '()' FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    AND {}
""").format(not_of_extension("pg_class"), not_of_extension("pg_proc"))

# Sessions with this role, which all the service's processes have: monitoring has others, and writes nothing.
_OTHER_SESSIONS = """
SELECT format('%s (process %s of the server%s)', coalesce(nullif(application_name, ''), 'a session without a name'),
    pid, ', from ' || host(client_addr))
FROM pg_stat_activity
WHERE datname = current_database() AND usename = current_user AND backend_type = 'client backend'
    AND pid <> pg_backend_pid()
ORDER BY pid
"""


def read_manifest(path: Path) -> Manifest:
    """Return a file's manifest after validating all its checksums. Raises BackupError for a damaged or foreign file."""
    with _open_archive(path) as archive:
        damaged_entry = archive.testzip()
        if damaged_entry:
            raise BackupError(f"{path} is damaged: the checksum of {damaged_entry} differs")
        return parse_manifest(archive.read(MANIFEST))


def restore_backup(path: Path, manifest: Manifest) -> list[str]:
    """Restore into the empty database in the settings, and return sentences for the operator.

    An older backup is migrated to this version. Raises BackupError; after a failure the database is empty, or has the
    marker and must be dropped. Raises KeyboardInterrupt before any change.
    """
    _check_migrations(manifest)
    with _database_errors():
        _check_empty()
        _check_unused()
        with connection.cursor() as cursor:
            program = find_pg_restore(
                server=server_major(cursor), dumped_by=manifest.pg_dump, dumped_from=manifest.server
            )
        try:
            _fill_and_compare(path, manifest, program)
            call_command("migrate", interactive=False, verbosity=0)
            return _prepare_rows()
        except KeyboardInterrupt as error:
            raise BackupError(
                "stopped by a signal: the database is unfinished, so drop it, create it again, and repeat the restore"
            ) from error


def prepare_recovered() -> list[str]:
    """Change what must not survive the return to an earlier time, and return sentences for the operator.

    It may be repeated. Raises BackupError, also for a database whose schema is not this release's.
    """
    with _database_errors():
        with connection.cursor() as cursor:
            cursor.execute("SELECT to_regclass('django_migrations') IS NULL")
            if cursor.fetchone() == (True,):
                raise BackupError("the database was never migrated: DATABASE_URL must lead to the recovered one")
            lacking = sorted(".".join(name) for name in known_migrations() - applied_migrations(cursor))
        if lacking:
            raise BackupError(
                f"this version has migrations that the database lacks: {_listed(lacking)}. Run manage.py migrate, and"
                " repeat this command"
            )
        return _prepare_rows()


def _prepare_rows() -> list[str]:
    with transaction.atomic(), connection.cursor() as cursor:
        sentences = []
        for path in settings.RESTORE_STEPS:
            step: RestoreStep = import_string(path)
            sentences += list(step())
        cursor.execute(f"DROP TABLE IF EXISTS {MARKER}")
    return sentences


@contextmanager
def _database_errors() -> Iterator[None]:
    """Raise BackupError for database errors in the block."""
    try:
        yield
    except DatabaseError as error:
        raise BackupError(f"the database failed: {' '.join(str(error).split())}") from error


@contextmanager
def _open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a backup. Raises BackupError."""
    try:
        with zipfile.ZipFile(path) as archive:
            if set(archive.namelist()) != {DUMP, MANIFEST} or archive.getinfo(MANIFEST).file_size > _MAX_MANIFEST_BYTES:
                raise BackupError(f"{path} is no backup: it must contain {DUMP} and {MANIFEST}")
            yield archive
    except (zipfile.BadZipFile, EOFError) as error:
        raise BackupError(f"{path} is no complete backup: {error}") from error
    except OSError as error:
        raise BackupError(f"{path} can't be read: {error}") from error


def _check_migrations(manifest: Manifest) -> None:
    if later := newer_migrations(manifest.migrations):
        raise BackupError(
            f"the backup is of a newer version, {manifest.service}, with migrations that this version"
            f" ({settings.SERVICE_VERSION}) lacks: {_listed(later)}. Install that version"
        )


def _check_empty() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_OBJECTS)
        objects = sorted(name for (name,) in cursor.fetchall())
    if MARKER in objects:
        raise BackupError("an earlier restore into this database did not end: drop the database and create it again")
    if objects:
        raise BackupError(
            f"the database is not empty: it has {_listed(objects)}. A backup is only restored into an empty database;"
            " create one, and set DATABASE_URL to it"
        )


def _check_unused() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_OTHER_SESSIONS)
        sessions = [session for (session,) in cursor.fetchall()]
    if sessions:
        raise BackupError(
            f"the database is in use by {_listed(sessions)}. Stop web, worker, follower, events, beat and stream, and"
            " any other program that uses it as this role, such as psql or a pooler with idle connections"
        )


def _fill_and_compare(path: Path, manifest: Manifest, program: DumpProgram) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {MARKER} ()")
        _fill(path, program)
        _compare(manifest.tables, digest_tables(without=(MARKER,)))
        cursor.execute("ANALYZE")


def _fill(path: Path, program: DumpProgram) -> None:
    """Run `pg_restore` in one transaction: after a failure the database is empty, and the marker is removed."""
    arguments = ("--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", "--no-comments")
    try:
        with (
            _open_archive(path) as archive,
            program.run(*arguments, writes=True) as restore,
            archive.open(DUMP) as entry,
            # `pg_restore` ended early; its messages have the reason.
            suppress(BrokenPipeError),
        ):
            shutil.copyfileobj(entry, restore, 2**20)
            restore.close()
    except BackupError:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE {MARKER}")
        raise


def _compare(expected: Mapping[str, TableDigest], restored: Mapping[str, TableDigest]) -> None:
    different = sorted(name for name in expected.keys() | restored.keys() if expected.get(name) != restored.get(name))
    if different:
        raise BackupError(
            f"restored rows differ from the manifest in {_listed(different)}: a process of the service writes into the"
            " database, or a disk of one of both servers is faulty. Stop all processes, check the disks, drop the"
            " database, and repeat the restore"
        )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
