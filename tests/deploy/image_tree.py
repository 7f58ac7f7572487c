"""The image's file tree, built by the Dockerfile's steps without a container engine, and processes that run in it.

Bubblewrap stands in for the engine: the build stage's commands see this machine's system, and can write only the
image's directories. A process sees the image's tree read-only, its own /tmp and the volumes, as another user without
any capability. The base image is not here: this machine's Python replaces its Python.
"""

import fnmatch
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import psutil
import pytest

from config.environment.variables import BASE_DIR
from tests.processes.waiting import wait_for

# The image's directories with our files.
_WRITTEN = ("srv", "var/lib")
VOLUMES = ("/var/lib/launchboard/backups", "/var/lib/launchboard/pictures", "/var/lib/launchboard/uploads")
_SYSTEM = ("usr", "bin", "lib", "lib64", "sbin")


@dataclass
class Stage:
    """A build stage's instructions, each with its arguments in one line."""

    instructions: list[tuple[str, str]] = field(default_factory=list)

    def arguments(self, name: str) -> list[str]:
        """Return the arguments to all instructions with this name."""
        return [text for instruction, text in self.instructions if instruction == name]


def read_stages() -> list[Stage]:
    """Return the Dockerfile's stages."""
    lines = (BASE_DIR / "Dockerfile").read_text().splitlines()
    text = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    stages: list[Stage] = []
    for line in text.replace("\\\n", " ").splitlines():
        name, _, arguments = line.strip().partition(" ")
        if name == "FROM":
            stages.append(Stage())
        if name and stages:
            stages[-1].instructions.append((name, " ".join(shlex.split(arguments)) if name == "ENV" else arguments))
    return stages


def context_files() -> list[str]:
    """Return the tracked files that .dockerignore lets into the build."""
    lines = [line for line in (BASE_DIR / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    git = shutil.which("git")
    assert git
    command = [git, "ls-files", "--cached", "--others", "--exclude-standard"]
    tracked = subprocess.check_output(command, cwd=BASE_DIR, text=True)
    return [name for name in tracked.splitlines() if not _is_ignored(name, lines)]


def _is_ignored(name: str, lines: Sequence[str]) -> bool:
    """Return whether the last line that names the file, or a folder above it, has no exclamation mark."""
    path = PurePosixPath(name)
    names = [str(each) for each in (path, *path.parents)]
    ignored = False
    for line in lines:
        pattern = line.removeprefix("!")
        if any(fnmatch.fnmatchcase(f"/{each}", pattern.replace("**", "*")) or each == pattern for each in names):
            ignored = not line.startswith("!")
        elif pattern == "*":
            ignored = True
    return ignored


class ImageTree:
    """The built image's directories and settings."""

    def __init__(self, place: Path) -> None:
        self._place = place
        build, final = read_stages()
        for name in _WRITTEN:
            (place / "build" / name).mkdir(parents=True)
            (place / "image" / name).mkdir(parents=True)
        self._build(build)
        self._copy_result(final)
        self.environment = dict(entry.split("=", 1) for text in final.arguments("ENV") for entry in text.split())
        (self.directory,) = final.arguments("WORKDIR")
        (user,) = final.arguments("USER")
        self.user, self.group = user.split(":")
        self._names = place / "etc"
        self._names.mkdir()
        # As useradd and groupadd write them.
        (self._names / "passwd").write_text(f"launchboard:x:{self.user}:{self.group}::/nonexistent:/bin/sh\n")
        (self._names / "group").write_text(f"launchboard:x:{self.group}:\n")

    def path(self, name: str) -> Path:
        """Return the local path for a path in the image."""
        return self._place / "image" / name.lstrip("/")

    def run(self, words: Sequence[str], *, tmp: Path, servers: Path, variables: Mapping[str, str]) -> "Contained":
        """Start a process in the image, with this directory as its /tmp, and with the servers' socket directory."""
        system = [part for name in _SYSTEM for part in ("--ro-bind-try", f"/{name}", f"/{name}")]
        trees = [part for name in _WRITTEN for part in ("--ro-bind", str(self.path(name)), f"/{name}")]
        tmp.mkdir(exist_ok=True)
        environment = self.environment | dict(variables) | {"PATH": f"{self.directory}/.venv/bin:/usr/bin:/bin"}
        command = [
            *("bwrap", "--unshare-user", "--uid", self.user, "--gid", self.group, "--unshare-pid", "--as-pid-1"),
            *("--cap-drop", "ALL", "--die-with-parent", "--new-session", "--clearenv"),
            *system,
            *("--ro-bind", sys.base_prefix, sys.base_prefix, "--ro-bind", str(self._names), "/etc", *trees),
            *(part for volume in VOLUMES for part in ("--bind", str(self.path(volume)), volume)),
            *("--proc", "/proc", "--dev", "/dev", "--bind", str(tmp), "/tmp", "--bind", str(servers), "/servers"),
            *("--remount-ro", "/", "--chdir", self.directory),
            *(part for name, text in environment.items() for part in ("--setenv", name, text)),
            *("--", *words),
        ]
        return Contained(command)

    def _build(self, stage: Stage) -> None:
        directory = "/"
        for name, arguments in stage.instructions:
            if name == "WORKDIR":
                directory = arguments
                self._built(directory).mkdir(parents=True, exist_ok=True)
            elif name == "COPY":
                *sources, _ = arguments.split()
                for source in sources:
                    self._copy_context(source, self._built(directory))
            elif name == "RUN":
                self._run_in_build(arguments, directory)
            else:
                assert name == "FROM", f"an instruction of the build stage that this test does not know: {name}"

    def _built(self, path: str) -> Path:
        return self._place / "build" / path.lstrip("/")

    def _copy_context(self, source: str, target: Path) -> None:
        for name in context_files():
            if source in (".", name):
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(BASE_DIR / name, target / name)

    def _run_in_build(self, command: str, directory: str) -> None:
        mounts = [part for name in _WRITTEN for part in ("--bind", str(self._built(name)), f"/{name}")]
        path = f"{sys.base_prefix}/bin{os.pathsep}{os.environ['PATH']}"
        sandbox = ["bwrap", "--bind", "/", "/", "--remount-ro", "/", *mounts, "--dev", "/dev", "--proc", "/proc"]
        shell = ["--tmpfs", "/tmp", "--chdir", directory, "--setenv", "PATH", path, "/bin/sh", "-ec", command]
        done = subprocess.run([*sandbox, *shell], capture_output=True, text=True, check=False)
        assert done.returncode == 0, (done.stdout + done.stderr)[-4_000:]

    def _copy_result(self, stage: Stage) -> None:
        for arguments in stage.arguments("COPY"):
            *options, source, target = arguments.split()
            assert "--from=build" in options
            shutil.copytree(self._built(source), self.path(target), symlinks=True, dirs_exist_ok=True)


class Contained:
    """A container's process number 1."""

    def __init__(self, command: Sequence[str]) -> None:
        self._sandbox = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def finish(self) -> tuple[int, str]:
        """Wait for its end, and return its exit status and output."""
        output, _ = self._sandbox.communicate()
        return self._sandbox.returncode, output

    def stop(self, *, seconds: float) -> tuple[int, str]:
        """Send SIGTERM, as an engine does, and return its exit status and output; fail the test after the seconds."""
        (process,) = wait_for(psutil.Process(self._sandbox.pid).children)
        process.terminate()
        try:
            output, _ = self._sandbox.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            pytest.fail(f"did not end within {seconds} s of SIGTERM")
        return self._sandbox.returncode, output

    def kill(self) -> None:
        """End it at once."""
        self._sandbox.kill()
        self._sandbox.communicate()

    @property
    def is_running(self) -> bool:
        return self._sandbox.poll() is None
