"""Bundled PostgreSQL and Valkey: their addresses, and keeping them running while this process lives.

They serve if DATABASE_URL or REDIS_URL is not set. Each has a keeper process (`development.servers.keeper`) that starts
it, and stops it after its last user has ended. A user holds a shared lock on a file: the kernel releases the lock with
the process, even when the process is killed.
"""

import fcntl
import hashlib
import os
import re
import secrets
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

from django.core.exceptions import ImproperlyConfigured

from config.environment.installation_variables import ServerVariables
from config.environment.variables import BASE_DIR, invalid_value, read_variables
from development import private_files
from development.servers.processes import is_locked
from development.servers.unprivileged import close_directory, make_home, server_home, server_user

# Socket paths have at most 107 bytes on Linux, and 103 on macOS.
_LONGEST_SOCKET_PATH = 100
# Other characters have a meaning in a URL, or in a host list for PostgreSQL's client library.
_PLAIN_PATH = re.compile(r"[A-Za-z0-9/._-]+")
_POSTGRES_SOCKET, _VALKEY_SOCKET = ".s.PGSQL.5432", "valkey.sock"
_FIRST_START_SECONDS = 120

# Server name -> file descriptor; its shared lock makes this process a user of the server.
_held: dict[str, int] = {}
# Keepers started by this process, stored so that they are reaped when they end.
_keepers: list[subprocess.Popen[bytes]] = []


def local_directory() -> Path:
    """Return the directory for the bundled servers, keys and logs: LAUNCHBOARD_LOCAL, or `.local/`.

    Raises ImproperlyConfigured for an unusable path, such as an unknown user's home.
    """
    try:
        local = Path(read_variables(ServerVariables).LAUNCHBOARD_LOCAL or BASE_DIR / ".local").expanduser().resolve()
        # Called only for its errors: the name may be too long, or not readable for this user.
        local.exists()
    except (OSError, RuntimeError) as error:
        raise _refuse_local(error) from error
    return local


def make_local_directory() -> Path:
    """Create the local directory if it is missing, and return it. Only this user can enter it.

    If LAUNCHBOARD_LOCAL names a directory with other content, it keeps its permissions. Raises ImproperlyConfigured if
    it can't be created or written.
    """
    local = local_directory()
    try:
        local.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_own = local == BASE_DIR / ".local" or not any(local.iterdir())
        if is_own and local.stat().st_uid == os.geteuid():
            close_directory(local, local)
        # Permissions are not enough: some file systems, such as /proc, accept no files.
        with tempfile.TemporaryFile(dir=local):
            return local
    except OSError as error:
        raise _refuse_local(error) from error


def _refuse_local(error: Exception) -> ImproperlyConfigured:
    return invalid_value("LAUNCHBOARD_LOCAL", f"a directory that can be made and written ({error})")


def socket_directory() -> Path:
    """Return the directory for both sockets: the same for all processes of this installation and user."""
    local = local_directory()
    directory = server_home(local) / "run"
    is_short = len(os.fsencode(directory / _POSTGRES_SOCKET)) < _LONGEST_SOCKET_PATH
    if is_short and _PLAIN_PATH.fullmatch(str(directory)):
        return directory
    digest = hashlib.sha256(os.fsencode(local)).hexdigest()[:16]
    # Not TMPDIR, which differs between terminals; `_make_private` rejects a directory that another user has created
    # there.
    return Path("/tmp") / f"launchboard-{os.getuid()}-{digest}"  # noqa: S108


def database_url() -> str:
    """Return the bundled PostgreSQL's URL, running or not: its host is the percent-encoded socket directory."""
    return f"postgres://launchboard@{quote(str(socket_directory()), safe='')}/launchboard"


def redis_url() -> str:
    """Return the bundled Valkey's URL, running or not."""
    return f"unix://{socket_directory() / _VALKEY_SOCKET}?db=0"


def secret_key() -> str:
    """Return the secret stored in `.local/secret-key`, which the first call creates.

    Raises ImproperlyConfigured if DATABASE_URL is set: several machines may share that database, and each would create
    its own secret.
    """
    if read_variables(ServerVariables).DATABASE_URL:
        raise ImproperlyConfigured(
            "SECRET_KEY is required where DATABASE_URL is set: expected at least 50 random characters"
        )
    return private_files.read_or_create(make_local_directory() / "secret-key", secrets.token_urlsafe(50))


def ensure_running(*, durable: bool = True) -> None:
    """Start each bundled server that the settings need, and keep it running while this process lives.

    It returns at once if they run; call it again to restart them. `durable=False` is for tests: a server that it starts
    loses its last writes when the machine crashes. Raises ImproperlyConfigured with the log's end if a server can't be
    started.
    """
    variables = read_variables(ServerVariables)
    needed = [name for name, url in (("postgres", variables.DATABASE_URL), ("valkey", variables.REDIS_URL)) if not url]
    if not needed:
        return
    local = make_local_directory()
    make_home(local)
    _make_private(local / "lock", os.getuid())
    _make_private(socket_directory(), server_user())
    for name in needed:
        if name not in _held:
            _held[name] = _open_lock(name, "users")
            # Blocks while a keeper without users is stopping the server.
            fcntl.flock(_held[name], fcntl.LOCK_SH)
    for name in needed:
        if not _is_ready(name):
            _start(name, durable=durable)


def _start(name: str, *, durable: bool) -> None:
    """Start the server's keeper, one process at a time, and wait until the server is ready."""
    starting = _open_lock(name, "starting")
    try:
        fcntl.flock(starting, fcntl.LOCK_EX)
        while _is_kept(name) and not _is_ready(name):
            # Another process started the keeper and ended before it was ready.
            time.sleep(0.01)
        if not _is_ready(name):
            _ready_mark(name).unlink(missing_ok=True)
            _await_keeper(name, durable=durable)
    finally:
        os.close(starting)


def _await_keeper(name: str, *, durable: bool) -> None:
    log = local_directory() / "log" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        begin = output.tell()
        keeper = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "development.servers.keeper",
                name,
                str(local_directory()),
                str(socket_directory()),
                "durable" if durable else "fast",
            ],
            cwd=BASE_DIR,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    _keepers.append(keeper)
    deadline = time.monotonic() + _FIRST_START_SECONDS
    while not _is_ready(name):
        if keeper.poll() is not None or time.monotonic() > deadline:
            raise ImproperlyConfigured(_failure(name, log, begin))
        time.sleep(0.01)


def _failure(name: str, log: Path, begin: int) -> str:
    with log.open("rb") as file:
        file.seek(begin)
        lines = file.read().decode(errors="replace").splitlines()[-8:]
    output = "\n  ".join(lines) or "(no output)"
    return f"the bundled {name} did not start; the end of {log}:\n  {output}"


def _is_ready(name: str) -> bool:
    # Checked in this sequence: a dead keeper's mark is removed before the next keeper takes its lock.
    return _is_kept(name) and _ready_mark(name).exists()


def _is_kept(name: str) -> bool:
    """Return whether a keeper runs: it holds its lock exclusively."""
    return is_locked(_lock(name, "keeper"))


def _ready_mark(name: str) -> Path:
    return local_directory() / "lock" / f"{name}.ready"


def _lock(name: str, purpose: str) -> Path:
    return local_directory() / "lock" / f"{name}.{purpose}"


def _open_lock(name: str, purpose: str) -> int:
    return os.open(_lock(name, purpose), os.O_RDWR | os.O_CREAT, 0o600)


def _make_private(directory: Path, owner: int) -> None:
    """Create a directory that only its owner and root can enter: access to the sockets means access to the data."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    try:
        directory.mkdir(mode=0o700)
    except FileExistsError:
        status = directory.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid not in (os.getuid(), owner):
            raise ImproperlyConfigured(f"{directory} is not a directory of this user: remove it") from None
        directory.chmod(0o700)
    if owner != os.getuid():
        os.chown(directory, owner, owner)
