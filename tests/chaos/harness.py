"""Harness for kill-and-compare runs: load, faults by a seeded schedule, quiet, and a comparison with a truth.

A run declares only what is its own: the processes, the load, the faults, when it is quiet, and what it compares.
"""

import json
import multiprocessing
import os
import secrets
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle, islice
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from config.environment.variables import BASE_DIR
from development.devchain.anvil import CHAIN_ID
from development.servers.programs import postgresql_programs
from tests.processes.own_postgresql import OwnPostgres
from tests.processes.own_valkey import OwnServer
from tests.processes.service_processes import HOST, Service, python_of
from tests.processes.waiting import wait_for

# The node's accounts 3 to 6, which have enough for anything: our wallets.
WALLETS = {
    "0x90F79bf6EB2c4f870365E785982E1f101E93b906": "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6",
    "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65": "0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a",
    "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc": "0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba",
    "0x976EA74026E726554dB657fA54763abd0C3a0aa9": "0x92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e",
}
# Timeout for a response from a helper process.
_HELPER_SECONDS = 180.0
_ACCOUNTS = """
import json, sys, django
django.setup()
from accounts.keys.credentials import issue_key
from accounts.models import PartnerKey
names, forms = json.loads(sys.argv[1])
keys = [issue_key(name, scopes=["deploy", "index", "read", "webhooks"]) for name in names]
rows = [PartnerKey.objects.get(name=name) for name in names]
endpoints = []
if forms:
    from accounts.subscriptions.endpoints import create_endpoint
    from accounts.subscriptions.webhook_secrets import endpoint_secret
for form in forms:
    partner = rows[form.pop("partner")] if "partner" in form else None
    endpoint = create_endpoint(partner, **form)
    endpoints.append([endpoint.pk, endpoint_secret(endpoint), partner and partner.pk])
print(json.dumps([keys, endpoints]))
"""


class Span(NamedTuple):
    """A fault by name, from its begin to its end by time.monotonic()."""

    name: str
    began: float
    ended: float


@dataclass(frozen=True)
class Fault:
    """A fault and its repair, which follows after so many seconds."""

    begin: Callable[[], object]
    end: Callable[[], object] = lambda: None
    seconds: Callable[[], float] = lambda: 0.0


@dataclass
class Result:
    """A run's errors, faults by name, figures, and seconds in all."""

    # What was lost, came twice, or was altered: a line each.
    wrong: list[str] = field(default_factory=list)
    faults: dict[str, int] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


class Run(ABC):
    """What is a run's own."""

    # By name, in the sequence in which they are caused.
    faults: Mapping[str, Fault]
    # Processes that are started again, so many seconds after they ended without or by a fault.
    supervised: "Processes | None" = None
    restart_delay = 0.0

    @abstractmethod
    def load(self) -> AbstractContextManager[object]:
        """Put the service under load while the block runs, and until there is as much as planned."""

    @abstractmethod
    def done(self) -> float:
        """Return the share of the load that is done. Faults are spread evenly over it."""

    @abstractmethod
    def wait_until_quiet(self) -> None:
        """Wait until everything that has begun has an end. The comparison finds what has none in time."""

    @abstractmethod
    def compare(self) -> list[str]:
        """Return what was lost, came twice or was altered, a line each."""

    def figures(self, spans: Sequence[Span]) -> dict[str, Any]:
        """Return the run's figures."""
        return {}


def kill_and_compare(run: Run, *, faults: int) -> Result:
    """Cause so many faults under load, wait until it is quiet, and compare.

    Processes are started and killed by this thread: what a thread has started ends with it.
    """
    started = time.monotonic()
    with run.load():
        spans = cause_faults(run, faults)
    wrong: list[str] = []
    try:
        run.wait_until_quiet()
    except AssertionError as error:
        # The figures are not lost with a run that has no end.
        wrong.append(str(error))
    wrong += run.compare()
    counts = dict.fromkeys(run.faults, 0) | Counter(span.name for span in spans)
    return Result(wrong, counts, run.figures(spans), round(time.monotonic() - started, 1))


def cause_faults(run: Run, count: int) -> list[Span]:
    """Cause faults evenly over the load, each kind in turn, so that few faults meet all kinds."""
    spans: list[Span] = []
    for number, name in enumerate(islice(cycle(run.faults), count)):
        wait_supervised(run, lambda share=number / count: run.done() >= share)
        fault, began = run.faults[name], time.monotonic()
        fault.begin()
        try:
            seconds = fault.seconds()
            wait_supervised(run, lambda end=began + seconds: time.monotonic() >= end)
        finally:
            fault.end()
        spans.append(Span(name, began, time.monotonic()))
    return spans


def wait_supervised(run: Run, condition: Callable[[], bool], *, seconds: float = 1200.0) -> None:
    """Wait for a condition while processes that end are started again."""

    def is_met() -> bool:
        if run.supervised:
            run.supervised.restart_ended(run.restart_delay)
        return condition()

    wait_for(is_met, seconds=seconds)


def wait_at_most(condition: Callable[[], bool], seconds: float) -> None:
    """Wait for a condition, or for the seconds: a comparison then finds what is missing."""
    deadline = time.monotonic() + seconds
    wait_for(lambda: condition() or time.monotonic() > deadline, seconds=2 * seconds)


@contextmanager
def servers(directory: Path, *, is_valkey_durable: bool = True) -> Iterator[tuple[OwnPostgres, OwnServer]]:
    """Yield a PostgreSQL and a Valkey that recover their data after a kill if they are durable."""
    # Root's servers run under another id, which must reach its directories.
    directory.chmod(0o711)
    (directory / "postgres").mkdir(exist_ok=True)
    (directory / "valkey").mkdir(exist_ok=True)
    postgres = OwnPostgres(directory / "postgres")
    try:
        valkey = OwnServer(directory / "valkey", durable=is_valkey_durable)
        try:
            yield postgres, valkey
        finally:
            valkey.stop()
    finally:
        postgres.stop()


def settings_of(**settings: str) -> dict[str, str]:
    """Return the environment of a run's processes, with these settings."""
    return dict(os.environ) | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SECRET_KEY": secrets.token_urlsafe(50),
        "WEB_HOST": HOST,
        "LOG_LEVEL": os.environ.get("LOG_LEVEL", "ERROR"),
        "PYTHONWARNINGS": "ignore:You're running the worker with superuser",
        **settings,
    }


def chain_settings(rpc_url: str, *registry_files: Path) -> dict[str, str]:
    """Return the settings of a development chain that is followed from its first block and that wallets deploy on."""
    return {
        "CHAINS_FILE": ",".join(map(str, registry_files)),
        f"RPC_URLS_{CHAIN_ID}": rpc_url,
        f"FOLLOW_FROM_{CHAIN_ID}": "0",
        f"DEPLOYER_KEYS_{CHAIN_ID}": ",".join(WALLETS.values()),
    }


def run_python(environment: Mapping[str, str], *words: str, directory: Path = BASE_DIR) -> str:
    """Run Python of the version in a directory; return its output, or fail with its errors."""
    done = subprocess.run(
        [python_of(directory), *words],
        cwd=directory,
        env=dict(environment),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def manage(environment: Mapping[str, str], *words: str, directory: Path = BASE_DIR) -> str:
    """Run a manage.py command by the version in a directory; return its output, or fail with its errors."""
    return run_python(environment, "manage.py", *words, directory=directory)


def migrate(environment: Mapping[str, str], source: str = "") -> None:
    """Make all tables. With a migrated database's URL they are copied, which takes a tenth of the time."""
    if source:
        load_dump(environment["DATABASE_URL"], dump_database(source))
    else:
        manage(environment, "migrate", "--verbosity", "0")


def dump_database(url: str) -> bytes:
    """Return statements that make a database's public schema with its rows."""
    return _run_postgres("pg_dump", "--no-owner", "--schema=public", "--extension=*", url, statements=b"")


def load_dump(url: str, dump: bytes) -> None:
    """Run a dump's statements in an empty database."""
    _run_postgres("psql", "--quiet", "--set=ON_ERROR_STOP=1", url, statements=b"DROP SCHEMA public;" + dump)


def _run_postgres(name: str, *words: str, statements: bytes) -> bytes:
    programs = postgresql_programs()
    assert programs, "the bundled PostgreSQL is missing"
    return subprocess.run([programs / name, *words], input=statements, stdout=subprocess.PIPE, check=True).stdout


def create_accounts(
    environment: Mapping[str, str],
    partners: Sequence[str],
    endpoints: Sequence[Mapping[str, Any]] = (),
    *,
    directory: Path = BASE_DIR,
) -> tuple[list[str], list[tuple[int, str, int | None]]]:
    """Return partners' keys, and webhook endpoints as (id, secret, partner id), by the version in this directory.

    An endpoint's "partner" is an index in the partners; without it the endpoint is an operator's.
    """
    environment = dict(environment) | {"DJANGO_SETTINGS_MODULE": "config.settings"}
    words = ("-c", _ACCOUNTS, json.dumps([list(partners), list(endpoints)]))
    keys, rows = json.loads(run_python(environment, *words, directory=directory).splitlines()[-1])
    return keys, [tuple(row) for row in rows]


@dataclass
class Processes:
    """Processes by the Procfile's lines, by name; each can be killed and started again."""

    environment: Mapping[str, str]
    running: dict[str, Service] = field(default_factory=dict)
    # Processes that ended without a fault and were started again.
    ended: int = 0
    _ended_at: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def at_work(self, *lines: str) -> Iterator["Processes"]:
        """Run processes while the block runs; the second and later ones of a line are numbered."""
        try:
            for line in lines:
                count = sum(running.name == line for running in self.running.values())
                self.running[f"{line} {count + 1}" if count else line] = Service(line, self.environment)
            yield self
        finally:
            for running in self.running.values():
                running.kill()

    def of(self, line: str) -> list[Service]:
        """Return the processes of a Procfile line."""
        return [running for running in self.running.values() if running.name == line]

    def restart_ended(self, delay: float = 0.0) -> None:
        """Start the processes that ended at least `delay` seconds ago, as a supervisor does."""
        now = time.monotonic()
        for name, running in self.running.items():
            if running.process.poll() is None:
                self._ended_at.pop(name, None)
            elif now - self._ended_at.setdefault(name, now) >= delay:
                self.ended += 1
                running.start()


def restart(*services: Service) -> None:
    """Kill processes, and then start them."""
    for running in services:
        running.kill()
    for running in services:
        running.start()


@contextmanager
def helper_process(target: Callable[..., None], *arguments: object) -> Iterator["Connection[Any, Any]"]:
    """Run `target(pipe, *arguments)` in its own interpreter while the block runs, and yield the pipe's other end."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run_helper, args=(target, theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours
    finally:
        process.kill()
        process.join()


def _run_helper(target: Callable[..., None], *arguments: object) -> None:
    # It ends with its parent process.
    with suppress(EOFError, KeyboardInterrupt):
        target(*arguments)


def receive(pipe: "Connection[Any, Any]") -> Any:
    """Return what a helper process sends next; fail without it."""
    assert pipe.poll(_HELPER_SECONDS), "the helper process does not respond"
    return pipe.recv()


@contextmanager
def repeatedly(action: Callable[[], object], *, seconds: float) -> Iterator[None]:
    """Call a function every so many seconds, in a thread, while the block runs."""
    is_over = threading.Event()

    def repeat() -> None:
        while not is_over.wait(seconds):
            action()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
