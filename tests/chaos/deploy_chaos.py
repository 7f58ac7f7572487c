"""Deployment chaos run: partners send requests while processes are killed at random, and broadcasts get lost."""

import os
import random
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from config.environment.server_urls import is_web_server_up
from config.environment.variables import BASE_DIR
from development.devchain.anvil import CHAIN_ID, run_anvil
from development.devchain.deploy_contracts import deploy_contracts
from development.servers.processes import free_port
from tests.chaos.deploy_check import judge, read_chain, read_rows
from tests.chaos.deploy_clients import Answers, Partner, issue_keys, order
from tests.chaos.deploy_service import WALLETS
from tests.nodes.faulty_node import FaultyNode, Losses
from tests.processes.own_postgresql import OwnPostgres
from tests.processes.own_valkey import OwnServer
from tests.processes.service_processes import HOST, Service
from tests.processes.waiting import wait_for

# How many tasks one Celery process group does at a time.
_TASKS = 2
# How long a killed server stays down, at most.
_AWAY_SECONDS = 1.0
# Timeout for the web server's first response.
_START_SECONDS = 90.0


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A run's quantities; `repeated` is the share of requests that are sent again, `lost` and `late` of calls."""

    orders: int
    partners: int = 3
    workers: int = 8
    kills: int
    clients: int = 6
    repeated: float = 0.1
    lost: float = 0.05
    late: float = 0.05
    late_seconds: float = 4.0
    seed: int = 1
    # Timeout from the last request until all deployments have ended.
    timeout: float = 120.0


@dataclass
class Outcome:
    """A run's outcome."""

    answers: Answers = field(default_factory=Answers)
    kills: dict[str, int] = field(default_factory=dict)
    lost: int = 0
    late: int = 0
    launched: int = 0
    sent: int = 0
    fillers: int = 0
    seconds: float = 0.0
    # What the check found wrong.
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Ground:
    """The service's environment: its own servers, a node, its contracts and wallets."""

    postgres: OwnPostgres
    valkey: OwnServer
    rpc_url: str
    factory: str
    wallets: Sequence[str]
    # Settings, but for the servers' and the node's addresses.
    environment: Mapping[str, str]


@contextmanager
def ground(place: Path, *, block_time: float) -> Iterator[Ground]:
    """Yield servers in a directory, a node with a fixed block time, contracts, and an empty database."""
    chain = place / "chain.json"
    # A node with a block time once kept such a transaction pending until the timeout.
    with run_anvil(state=chain) as rpc_url:
        deployment = deploy_contracts(rpc_url, chains_file=place / "chains.toml")
    with servers(place) as (postgres, valkey), run_anvil(state=chain, block_time=block_time) as rpc_url:
        environment = dict(os.environ) | {
            "CHAINS_FILE": str(place / "chains.toml"),
            "SECRET_KEY": secrets.token_urlsafe(50),
            f"DEPLOYER_KEYS_{CHAIN_ID}": ",".join(WALLETS.values()),
            "LOG_LEVEL": "ERROR",
            # Late calls time out now and then, though the node has accepted them.
            "RPC_TIMEOUT_SECONDS": "2",
            "RATE_LIMIT_KEYED": "0",
            "PYTHONWARNINGS": "ignore:You're running the worker with superuser",
        }
        yield Ground(
            postgres=postgres,
            valkey=valkey,
            rpc_url=rpc_url,
            factory=deployment.factory,
            wallets=tuple(WALLETS),
            environment=environment,
        )


@contextmanager
def servers(place: Path, *, is_valkey_durable: bool = True) -> Iterator[tuple[OwnPostgres, OwnServer]]:
    """Yield a PostgreSQL and a Valkey that recover their data after a kill if they are durable."""
    # Root's servers run under another id, which must reach its directories.
    place.chmod(0o711)
    (place / "postgres").mkdir(exist_ok=True)
    (place / "valkey").mkdir(exist_ok=True)
    postgres = OwnPostgres(place / "postgres")
    try:
        valkey = OwnServer(place / "valkey", durable=is_valkey_durable)
        try:
            yield postgres, valkey
        finally:
            valkey.stop()
    finally:
        postgres.stop()


def run(ground: Ground, plan: Plan) -> Outcome:
    """Send the planned requests and kills, wait until every request has an end, and check the result."""
    outcome, started = Outcome(), time.monotonic()
    losses = Losses(seed=plan.seed, lost=plan.lost, late=plan.late, late_seconds=plan.late_seconds)
    with FaultyNode(ground.rpc_url, losses).running() as node, ExitStack() as stack:
        processes = _Processes(ground, node.url, plan)
        processes.start(stack)
        keys = issue_keys(processes.environment, [f"Partner {number}" for number in range(plan.partners)])
        partners = [
            Partner(f"Partner {number}", key, processes.port, outcome.answers) for number, key in enumerate(keys)
        ]
        bodies = _bodies(plan)
        processes.wait()
        with ThreadPoolExecutor(plan.clients) as pool:
            tasks = [
                pool.submit(partners[number].request_until_final, body, seconds=plan.timeout) for number, body in bodies
            ]
            # Here, and not in a thread: what a thread has started ends with it.
            outcome.kills = processes.kill_at_random(lambda: sum(task.done() for task in tasks) / len(tasks))
            for task in tasks:
                task.result()
        wait_for_deployments(partners, ground.postgres.url, seconds=plan.timeout)
        outcome.lost, outcome.late = losses.lost_count, losses.late_count
    outcome.seconds = time.monotonic() - started
    chain = read_chain(ground.rpc_url, factory=ground.factory, wallets=ground.wallets)
    outcome.launched, outcome.sent = len(chain.launches), len(chain.sent)
    outcome.fillers = sum(sent.to_itself for sent in chain.sent)
    outcome.wrong = judge(outcome.answers, chain, read_rows(ground.postgres.url))
    return outcome


def _bodies(plan: Plan) -> list[tuple[int, dict[str, object]]]:
    """Return (partner number, body) for the requests, in that order; repetitions may come at any time."""
    rng = random.Random(plan.seed)
    first = [
        (rng.randrange(plan.partners), order(f"Chaos {number}", request_key=f"{rng.getrandbits(128):032x}"))
        for number in range(plan.orders)
    ]
    again = rng.sample(first, round(plan.orders * plan.repeated))
    everything = [*first]
    for entry in again:
        # Some right behind the first, so that two are on their way at once.
        at = everything.index(entry) + 1
        everything.insert(rng.choice((at, rng.randrange(at, len(everything) + 1))), entry)
    return everything


def wait_for_deployments(partners: Sequence[Partner], database_url: str, *, seconds: float) -> None:
    """Wait until all deployments have an end, or for the seconds, and have the partners request their statuses."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        left = "SELECT FROM tokens_deployment WHERE status NOT IN ('indexed', 'failed') LIMIT 1"
        deadline = time.monotonic() + seconds
        while connection.execute(left).rowcount and time.monotonic() < deadline:
            time.sleep(0.2)
        # Nonces after the last request may still have to be filled.
        attempts = "SELECT FROM tokens_deployattempt WHERE state = 'open' LIMIT 1"
        while connection.execute(attempts).rowcount and time.monotonic() < deadline:
            time.sleep(0.2)
    by_name = {partner.name: partner for partner in partners}
    for name, request_key in list(partners[0].answers.orders):
        by_name[name].status(request_key)


class _Processes:
    """The service's processes and its servers; a kill may hit each."""

    def __init__(self, ground: Ground, node_url: str, plan: Plan) -> None:
        self._ground, self._plan, self._rng = ground, plan, random.Random(plan.seed)
        self.port = free_port()
        self.environment = dict(ground.environment) | {
            "DATABASE_URL": ground.postgres.url,
            "REDIS_URL": ground.valkey.url,
            f"RPC_URLS_{CHAIN_ID}": node_url,
            "PORT": str(self.port),
            "WEB_HOST": HOST,
            "WORKER_PROCESSES": str(min(_TASKS, plan.workers)),
        }

    def start(self, stack: ExitStack) -> None:
        """Make the tables, and start everything."""
        command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(command, cwd=BASE_DIR, env=self.environment, check=True)
        self._web = self._start("web", stack)
        self._workers = [self._start("worker", stack) for _ in range(max(1, self._plan.workers // _TASKS))]
        self._beat = self._start("beat", stack)

    def wait(self) -> None:
        """Wait until the web server responds."""
        wait_for(lambda: is_web_server_up(HOST, self.port))

    def _start(self, name: str, stack: ExitStack) -> Service:
        running = Service(name, self.environment)
        stack.callback(running.kill)
        return running

    def kill_at_random(self, done: Callable[[], float]) -> dict[str, int]:
        """Kill and restart, evenly over the requests, `done` being their share; count the kills by target."""
        kinds = {
            "worker": lambda: _restart(self._rng.choice(self._workers)),
            "child of a worker": lambda: self._rng.choice(self._workers).kill_child(self._rng),
            "web server": lambda: _restart(self._web),
            "Valkey": lambda: self._kill_server(self._ground.valkey),
            "PostgreSQL": lambda: self._kill_server(self._ground.postgres),
            "beat": lambda: _restart(self._beat),
        }
        # Each kind in turn, so that few kills meet all, each kind shuffled.
        order_of_kinds = self._rng.sample(list(kinds), len(kinds))
        counts = dict.fromkeys(kinds, 0)
        for number in range(self._plan.kills):
            wait_for(lambda at=number / self._plan.kills: done() >= at)
            kind = order_of_kinds[number % len(kinds)]
            kinds[kind]()
            counts[kind] += 1
        return counts

    def _kill_server(self, server: OwnPostgres | OwnServer) -> None:
        server.kill()
        time.sleep(self._rng.uniform(0.0, _AWAY_SECONDS))
        server.start()


def _restart(running: Service) -> None:
    running.kill()
    running.start()
