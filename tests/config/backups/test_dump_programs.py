"""Versions of `pg_dump` and `pg_restore` that a backup needs: each refusal names a version that works."""

import pytest

from config.backups.dump_programs import BackupError, find_pg_dump, find_pg_restore


@pytest.fixture
def installed(tmp_path, settings):
    """Return a function that installs both programs of a major version."""
    settings.POSTGRESQL_PROGRAMS = tmp_path

    def install(major):
        for name in ("pg_dump", "pg_restore"):
            (tmp_path / name).write_text(f"#!/bin/sh\necho '{name} (PostgreSQL) {major}.1'\n")
            (tmp_path / name).chmod(0o755)

    return install


# Major versions: programs, server, `pg_dump` and server of the backup.
@pytest.mark.parametrize(
    ("programs", "server", "dumped_by", "dumped_from", "error"),
    [
        (18, 15, 18, 18, "restore into PostgreSQL 18 or newer$"),
        (15, 15, 18, 18, "restore into PostgreSQL 18 or newer$"),
        # The image's programs dumped an old server.
        (18, 15, 18, 15, "restore into PostgreSQL 17 or newer$"),
        (None, 16, 17, 15, "restore into PostgreSQL 17 or newer$"),
        (18, 15, 15, 15, "pg_restore 18 can't restore into PostgreSQL 15: install .* of PostgreSQL 15 or 16, and name"),
        (18, 16, 16, 16, "pg_restore 18 can't restore into PostgreSQL 16: install .* of PostgreSQL 16, and name"),
        (15, 16, 16, 16, "pg_restore 15 is older than the pg_dump 16 .* of PostgreSQL 16, and name"),
        (15, 18, 16, 15, "pg_restore 15 is older than the pg_dump 16 .* of PostgreSQL 16 or newer, and name"),
        (None, 18, 16, 15, "pg_restore is not in .* of PostgreSQL 16 or newer, and name"),
    ],
)
def test_a_restore_that_is_refused_names_a_version_that_works(
    installed, programs, server, dumped_by, dumped_from, error
):
    if programs:
        installed(programs)
    with pytest.raises(BackupError, match=error):
        find_pg_restore(server=server, dumped_by=dumped_by, dumped_from=dumped_from)


@pytest.mark.parametrize(
    ("programs", "server", "dumped_by", "dumped_from"), [(16, 15, 15, 15), (18, 18, 15, 15), (18, 17, 18, 15)]
)
def test_newer_programs_restore(installed, programs, server, dumped_by, dumped_from):
    installed(programs)
    assert find_pg_restore(server=server, dumped_by=dumped_by, dumped_from=dumped_from).major == programs


def test_a_backup_that_is_refused_names_a_version_that_works(installed):
    installed(15)
    with pytest.raises(BackupError, match="older than the server, PostgreSQL 18: install .* of PostgreSQL 18 or newer"):
        find_pg_dump(server=18)
