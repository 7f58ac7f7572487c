"""deploy/start, deploy/check and heartbeats; the processes that compose file, chart and units have."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import yaml

from config.environment.variables import BASE_DIR
from config.processes.heartbeats import INTERVAL_SECONDS, Heartbeat
from development.standins.loopback import ReceivedRequest, Reply, run_server
from tests.deploy.deploy_files import CHART, COMPOSE, UNITS, compose_file, procfile, settings_names
from tests.deploy.image_tree import read_stages

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that runs a program from deploy/ in an installation with its own Procfile."""
    (tmp_path / "deploy").mkdir()
    for name in ("start", "check"):
        shutil.copy(BASE_DIR / "deploy" / name, tmp_path / "deploy" / name)
    web = "web: printf '%s|' \"${PORT:-8000}\""
    (tmp_path / "Procfile").write_text(f"{web}\nwebsite: printf 'another process'\nstream: pwd\n")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)

    def run_program(name: str, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        environment = {"PATH": os.environ["PATH"]} | variables
        command = [str(tmp_path / "deploy" / name), *words]
        return subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=False)

    return run_program


def test_a_process_is_started_by_its_line_and_further_arguments(run: Run) -> None:
    assert run("start", "web").stdout == "8000|"
    assert run("start", "web", "--queues", "a b", PORT="81").stdout == "81|--queues|a b|"


def test_the_second_process_of_an_upgrade_has_a_port_of_its_own(run: Run) -> None:
    assert run("start", "web-next", "a", PORT="8000").stdout == "8010|a|"


def test_a_process_stays_in_the_directory_of_its_version(run: Run, tmp_path: Path) -> None:
    link = tmp_path.parent / f"{tmp_path.name}-link"
    link.symlink_to(tmp_path)
    started = subprocess.run([link / "deploy" / "start", "stream"], capture_output=True, text=True, check=True)
    assert started.stdout == f"{tmp_path.resolve()}\n"


@pytest.mark.parametrize("name", ["", "we", "web.*", "migrate", "-next", "migrate-next"])
def test_an_unknown_process_is_refused(run: Run, name: str) -> None:
    done = run("start", name)
    assert done.returncode != 0 and done.stdout == "" and "process" in done.stderr


def test_a_process_with_fresh_heartbeats_is_alive(run: Run, tmp_path: Path) -> None:
    heartbeats = tmp_path / "heartbeats"
    check = ("check", "follower")
    assert run(*check, HEARTBEAT_DIR=str(heartbeats)).returncode != 0
    heartbeats.mkdir()
    assert run(*check, HEARTBEAT_DIR=str(heartbeats)).returncode != 0
    for chain in (1, 8453):
        (heartbeats / f"chain-{chain}").touch()
    assert run(*check, HEARTBEAT_DIR=str(heartbeats)).returncode == 0
    now = time.time()
    os.utime(heartbeats / "chain-1", (now, now - 121))
    assert run(*check, HEARTBEAT_DIR=str(heartbeats)).returncode != 0


def test_a_check_without_heartbeats_says_what_is_missing(run: Run) -> None:
    done = run("check", "beat")
    assert done.returncode != 0 and "HEARTBEAT_DIR" in done.stderr


@pytest.mark.parametrize(("process", "variable"), [("web", "PORT"), ("stream", "STREAM_PORT")])
def test_a_server_is_alive_if_it_responds_with_200(run: Run, process: str, variable: str) -> None:
    healthy = Event()
    healthy.set()

    def respond(request: ReceivedRequest) -> Reply:
        return Reply(status=404 if request.path != "/healthz" else 200 if healthy.is_set() else 503)

    with run_server(respond) as url:
        port = {variable: url.rpartition(":")[2]}
        assert run("check", process, **port).returncode == 0
        healthy.clear()
        assert run("check", process, **port).returncode != 0
    assert run("check", process, **port).returncode != 0


def test_a_heartbeat_is_written_once_per_interval(settings: Any, tmp_path: Path) -> None:
    settings.HEARTBEAT_DIR = tmp_path / "new" / "heartbeats"
    heartbeat = Heartbeat("loop")
    file = tmp_path / "new" / "heartbeats" / "loop"
    os.utime(file, (0, 0))
    heartbeat.beat()
    assert file.stat().st_mtime == 0
    heartbeat._due -= INTERVAL_SECONDS
    heartbeat.beat()
    assert file.stat().st_mtime > 0


def test_without_a_directory_there_is_no_heartbeat(settings: Any) -> None:
    settings.HEARTBEAT_DIR = None
    Heartbeat("loop").beat()


def test_compose_file_and_target_have_each_process_of_the_procfile() -> None:
    commands = {name: service.get("command") for name, service in compose_file()["services"].items()}
    started = {name for name, command in commands.items() if command == ["deploy/start", name]}
    assert started == set(procfile())
    assert (commands["web-next"], commands["stream-next"]) == (commands["web"], commands["stream"])
    wanted = (UNITS / "launchboard.target").read_text()
    assert {name for name in procfile() if f"launchboard@{name}.service" in wanted} == set(procfile())


def test_no_file_has_a_setting_that_does_not_exist() -> None:
    services = compose_file()["services"]
    names = {name for service in ("migrate", *procfile()) for name in services[service]["environment"]}
    names |= {entry.split("=")[0] for text in read_stages()[-1].arguments("ENV") for entry in text.split()} - {"PATH"}
    unit = (UNITS / "launchboard@.service").read_text().splitlines()
    names |= {line.split("=")[1] for line in unit if line.startswith("Environment=")}
    assert len(names) > 8 and names <= settings_names()


def test_the_command_of_root_has_the_user_and_the_directories_of_the_units(tmp_path: Path) -> None:
    (tmp_path / "runuser").write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    (tmp_path / "runuser").chmod(0o700)
    command = [UNITS / "launchboard-manage", "backup", "a b"]
    done = subprocess.run(command, env={"PATH": f"{tmp_path}:/bin"}, capture_output=True, text=True, check=True)
    words = done.stdout.splitlines()
    unit = (UNITS / "launchboard@.service").read_text().splitlines()
    (user,) = (line.removeprefix("User=") for line in unit if line.startswith("User="))
    (directory,) = (line.removeprefix("WorkingDirectory=") for line in unit if line.startswith("WorkingDirectory="))
    variables = [line.removeprefix("Environment=") for line in unit if line.startswith("Environment=")]
    # The heartbeat directory for all processes; each process has a folder in it.
    variables = [text.replace("/run/%p/%i", "/run/launchboard") for text in variables]
    python = [f"{directory}/.venv/bin/python", f"{directory}/manage.py"]
    assert words == ["-u", user, "--", "env", *variables, *python, "backup", "a b"]


def test_the_guide_installs_the_command_of_root_and_uses_no_other_one() -> None:
    guide = (BASE_DIR / "docs" / "installing.md").read_text()
    assert "alias " not in guide
    # By an installation and by an upgrade.
    assert guide.count("# install deploy/systemd/launchboard-manage /usr/local/sbin/\n") == 2
    # Root's cron on Debian has no /usr/local/sbin in its PATH.
    assert "cron of root `/usr/local/sbin/launchboard-manage backup " in guide
    assert re.findall(r"(?:^# |`|&& )manage [a-z]+", guide, re.MULTILINE) == []


def test_a_restore_with_compose_stops_the_processes_and_keeps_the_servers() -> None:
    guide = (BASE_DIR / "docs" / "installing.md").read_text()
    (stopped,) = re.findall(r"`docker compose stop ([a-z -]+)`", guide)
    assert sorted(stopped.split()) == sorted(procfile())


def test_the_second_ports_are_those_of_the_proxys_file() -> None:
    proxy = (BASE_DIR / "docs" / "nginx.conf").read_text()
    ports = re.findall(r"server 127\.0\.0\.1:(\d+) max_fails=0 backup;", proxy)
    assert f"export PORT={ports[0]} STREAM_PORT={ports[1]}\n" in (BASE_DIR / "deploy" / "start").read_text()


def test_the_guide_has_each_value_of_the_chart() -> None:
    guide = (BASE_DIR / "docs" / "installing.md").read_text()
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert [name for name in values if not re.search(rf"^\|.*`{name}[`.]", guide, re.MULTILINE)] == []


def test_secrets_are_created_once_and_fit_the_compose_file(tmp_path: Path) -> None:
    shutil.copy(COMPOSE / "create-secrets", tmp_path)
    subprocess.run([tmp_path / "create-secrets"], check=True)
    directory = tmp_path / "secrets"
    secrets = {file.name: file.read_text() for file in directory.iterdir()}
    assert {f"secrets/{name}" for name in secrets} == {entry["file"] for entry in compose_file()["secrets"].values()}
    assert directory.stat().st_mode & 0o777 == 0o700
    password = secrets.pop("database-password")
    assert secrets.pop("database-url") == f"postgres://launchboard:{password}@postgres:5432/launchboard"
    random = {password, *secrets.values()}
    assert len(random) == 4 and all(len(text) == 64 for text in random)
    (directory / "secret-key").unlink()
    subprocess.run([tmp_path / "create-secrets"], check=True)
    again = {file.name: file.read_text() for file in directory.iterdir()}
    assert again["secret-key"] != secrets["secret-key"] and again["database-password"] == password
