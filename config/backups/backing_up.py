"""A consistent backup in one file: `pg_dump` and the manifest's digests read the same snapshot.

The file is a ZIP archive with a dump in PostgreSQL's custom format and the manifest, which is written last:
`unzip -p FILE database.dump | pg_restore` works without this service. The archive's checksums detect a damaged file,
and the directory at its end detects a truncated one.
"""

import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils.module_loading import import_string

from config.backups.dump_programs import BackupError, arguments_for, find_pg_dump
from config.backups.manifest import Manifest, secret_digests
from config.backups.table_digests import digest_tables, lock_tables
from config.postgresql.schema_state import EXTENSIONS, applied_migrations, known_migrations, server_major

DUMP, MANIFEST = "database.dump", "manifest.json"

# Names contain the time, and sort by it.
_NAMES = "launchboard-????????T??????Z.zip"
_SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
# Other programs' schemas in the same database, which may belong to other roles.
_OTHER_SCHEMAS = """
SELECT nspname FROM pg_namespace
WHERE nspname <> 'public' AND nspname <> 'information_schema' AND NOT starts_with(nspname, 'pg_')
"""
# Leave out what only a superuser may read, or what another installation would refuse.
_PORTABLE = (
    *("--no-owner", "--no-privileges", "--no-comments", "--no-tablespaces"),
    *("--no-publications", "--no-subscriptions", "--no-security-labels"),
)


def write_backup(target: Path) -> tuple[Path, Manifest]:
    """Write a backup to the file, or to a new file in the directory, and return its path and its manifest.

    Only this process's user can read it. It has its name only once it is complete and on disk. The schema may be an
    older release's. Raises BackupError.
    """
    path = target
    try:
        if target.is_dir():
            path = target / f"launchboard-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.zip"
        if path.exists():
            raise BackupError(f"{path} exists")
        with _draft_of(path) as draft:
            manifest = _write_archive(draft)
    except OSError as error:
        raise BackupError(f"{path} can't be written: {error}") from error
    except DatabaseError as error:
        raise BackupError(f"the database failed, so repeat the backup: {' '.join(str(error).split())}") from error
    return path, manifest


def remove_older_backups(newest: Path, *, keep: int) -> list[Path]:
    """Remove all but the newest `keep` backups named by time from the newest backup's directory.

    Return the removed paths. Raises BackupError.
    """
    older = sorted(newest.parent.glob(_NAMES))[:-keep]
    try:
        for path in older:
            path.unlink()
    except OSError as error:
        raise BackupError(f"{newest} is complete, but an older one can't be removed: {error}") from error
    return older


@contextmanager
def _draft_of(path: Path) -> Iterator[Any]:
    """Open a file beside the path, and give it that name if the block succeeds; otherwise remove it."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.rename(path)
        directory = os.open(path.parent, os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)
    finally:
        draft.unlink(missing_ok=True)


def _write_archive(file: Any) -> Manifest:
    with zipfile.ZipFile(file, "w") as archive, transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute(_SNAPSHOT)
        server = server_major(cursor)
        program = find_pg_dump(server=server)
        lock_tables()
        cursor.execute("SELECT pg_export_snapshot(), now()")
        snapshot, snapshot_at = cursor.fetchone()
        cursor.execute(_OTHER_SCHEMAS)
        other_schemas = [name for (name,) in cursor.fetchall()]
        scope = [*arguments_for("exclude-schema", other_schemas), *arguments_for("extension", EXTENSIONS)]
        with (
            program.run("--format=custom", f"--snapshot={snapshot}", *_PORTABLE, *scope) as dump,
            archive.open(DUMP, "w", force_zip64=True) as entry,
        ):
            shutil.copyfileobj(dump, entry, 2**20)
        migrations = applied_migrations(cursor)
        manifest = Manifest(
            service=settings.SERVICE_VERSION,
            at=snapshot_at,
            server=server,
            pg_dump=program.major,
            migrations=migrations,
            tables=digest_tables(),
            # Their queries need this release's schema.
            facts={
                name: _read_fact(path, snapshot_at)
                for name, path in settings.BACKUP_FACTS.items()
                if known_migrations() <= migrations
            },
            secrets=secret_digests(),
        )
        archive.writestr(MANIFEST, manifest.to_json())
    return manifest


def _read_fact(path: str, snapshot_at: datetime) -> Any:
    read_fact: Callable[[datetime], Any] = import_string(path)
    return read_fact(snapshot_at)
