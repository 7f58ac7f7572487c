"""PostgreSQL's `pg_dump` and `pg_restore`: where they are, their versions, and their connection.

POSTGRESQL_PROGRAMS is their directory; by default the bundled server's, or with DATABASE_URL the PATH.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, cast

from django.conf import settings
from psycopg import conninfo, pq

from config.postgresql.pooler import direct_url_name, new_direct_connection

_VERSION = re.compile(r"\(PostgreSQL\) ([0-9]+)")
# Bytes that are kept from the end of a program's messages.
_LONGEST_MESSAGE = 4000
# The first version with the parameter `transaction_timeout`.
_TRANSACTION_TIMEOUT = 17


class BackupError(Exception):
    """A backup can't be made or restored; the text names the rule, and what to do."""


@dataclass(frozen=True, kw_only=True)
class DumpProgram:
    """A PostgreSQL program and its major version."""

    path: str
    name: str
    major: int

    @contextmanager
    def run(self, *arguments: str, writes: bool = False) -> Iterator[IO[bytes]]:
        """Run the program on the service's database; the block reads its output or, with `writes`, writes its input.

        The password is in the environment, never among the arguments, which every user on the machine can read. Raises
        BackupError with the program's last messages if it fails. If the block raises, the program is killed.
        """
        with tempfile.TemporaryFile() as messages:
            program = subprocess.Popen(
                [self.path, "--no-password", f"--dbname={_connection_text()}", *arguments],
                env=dict(os.environ) | _password(),
                stdin=subprocess.PIPE if writes else subprocess.DEVNULL,
                stdout=subprocess.DEVNULL if writes else subprocess.PIPE,
                stderr=messages,
            )
            with program:
                try:
                    yield cast("IO[bytes]", program.stdin if writes else program.stdout)
                    # It has all its input, and a signal to this process would not end it.
                    program.wait()
                except BaseException:
                    program.kill()
                    program.wait()
                    raise
            if program.returncode != 0:
                raise BackupError(f"{self.name} failed: {_last_messages(messages)}")


def find_pg_dump(*, server: int) -> DumpProgram:
    """Return `pg_dump` for a server with this major version.

    Raises BackupError if it is missing, or older than the server: it would refuse the server.
    """
    hint = _hint(f"{server} or newer")
    program = _find_program("pg_dump", hint)
    if program.major < server:
        raise BackupError(f"pg_dump {program.major} is older than the server, PostgreSQL {server}: {hint}")
    return program


def find_pg_restore(*, server: int, dumped_by: int, dumped_from: int) -> DumpProgram:
    """Return `pg_restore` for a server and a dump: all three parameters are major versions.

    `dumped_by` is the `pg_dump` version, `dumped_from` the dumped server's. Raises BackupError if `pg_restore` is
    missing or older than `pg_dump`. From 17 on it sets a parameter that older servers reject: no program restores a
    dump by 17 or newer into these.
    """
    if server < _TRANSACTION_TIMEOUT <= dumped_by:
        raise BackupError(
            f"the backup is by pg_dump {dumped_by}, which no program restores into PostgreSQL {server}: restore into"
            f" PostgreSQL {max(_TRANSACTION_TIMEOUT, dumped_from)} or newer"
        )
    hint = _hint(_restoring_versions(dumped_by, server))
    program = _find_program("pg_restore", hint)
    if program.major < dumped_by:
        raise BackupError(f"pg_restore {program.major} is older than the pg_dump {dumped_by} of the backup: {hint}")
    if server < _TRANSACTION_TIMEOUT <= program.major:
        raise BackupError(f"pg_restore {program.major} can't restore into PostgreSQL {server}: {hint}")
    return program


def _restoring_versions(dumped_by: int, server: int) -> str:
    if server >= _TRANSACTION_TIMEOUT:
        return f"{dumped_by} or newer"
    return " or ".join(str(major) for major in range(dumped_by, _TRANSACTION_TIMEOUT))


def _hint(versions: str) -> str:
    return f"install the client programs of PostgreSQL {versions}, and name their directory in POSTGRESQL_PROGRAMS"


def _find_program(name: str, hint: str) -> DumpProgram:
    directory = settings.POSTGRESQL_PROGRAMS
    path = shutil.which(name, path=None if directory is None else str(directory))
    if path is None:
        where = "on the PATH" if directory is None else f"in {directory}"
        raise BackupError(f"{name} is not {where}: {hint}")
    version = _VERSION.search(_run_for_version(path))
    if version is None:
        raise BackupError(f"{path} is no program of PostgreSQL: its --version has no number")
    return DumpProgram(path=path, name=name, major=int(version[1]))


def _run_for_version(path: str) -> str:
    try:
        return subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BackupError(f"{path} can't be run: {error}") from error


def _connection_text() -> str:
    """Return libpq's parameters, without the password. Raises BackupError for other secrets among them."""
    option_by_name = {option.keyword.decode(): option for option in pq.Conninfo.get_defaults()}
    all_parameters: dict[str, Any] = new_direct_connection().get_connection_params()
    parameters = {
        name: value for name, value in all_parameters.items() if name in option_by_name and name != "password"
    }
    # libpq marks secrets so; it reads them from no other place.
    for name in parameters:
        if option_by_name[name].dispchar == b"*":
            raise BackupError(
                f"{direct_url_name()} has {name}, which would be visible among the arguments of a program"
            )
    return conninfo.make_conninfo("", **parameters)


def _password() -> dict[str, str]:
    password = new_direct_connection().settings_dict["PASSWORD"]
    return {"PGPASSWORD": password} if password else {}


def _last_messages(messages: IO[bytes]) -> str:
    size = messages.seek(0, os.SEEK_END)
    messages.seek(max(0, size - _LONGEST_MESSAGE))
    return messages.read().decode(errors="replace").strip() or "no message"


def arguments_for(option: str, values: Sequence[str]) -> list[str]:
    """Return arguments for a repeatable option that takes patterns, each value quoted to match only itself."""
    return [f'--{option}="{value.replace(chr(34), chr(34) * 2)}"' for value in values]
