"""Deployment chaos run: partners send requests while processes are killed at random, and broadcasts get lost."""

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from config.environment.server_urls import is_web_server_up
from development.devchain.anvil import run_anvil
from development.devchain.deploy_contracts import deploy_contracts
from development.servers.processes import free_port
from tests.chaos import harness
from tests.chaos.deploy_check import judge, read_chain, read_rows
from tests.nodes.faulty_node import FaultyNode, Losses
from tests.processes.own_postgresql import OwnPostgres
from tests.processes.own_valkey import OwnServer
from tests.processes.service_processes import HOST
from tests.processes.waiting import wait_for
from tests.servers.deploy_clients import Answer, Answers, Partner, order

# How many tasks one Celery process group does at a time.
_TASKS = 2
# How long a killed server stays down, at most.
_AWAY_SECONDS = 1.0
_UNFINISHED = "SELECT FROM tokens_deployment WHERE status NOT IN ('indexed', 'failed') LIMIT 1"
# Nonces after the last request may still have to be filled.
_OPEN = "SELECT FROM tokens_deployattempt WHERE state = 'open' LIMIT 1"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A run's quantities; `repeated` is the share of requests that are sent again, `lost` and `late` of calls."""

    orders: int = 1000
    partners: int = 3
    workers: int = 8
    kills: int = 60
    clients: int = 12
    repeated: float = 0.1
    lost: float = 0.05
    late: float = 0.05
    late_seconds: float = 4.0
    # After so long a transaction without a receipt is replaced.
    stuck_seconds: float = 15.0
    block_time: float = 0.5
    seed: int = 1
    # Timeout from the last request until all deployments have ended.
    timeout: float = 600.0


def run(directory: Path, plan: Plan, *, source: str = "") -> harness.Result:
    """Send the planned requests while the planned kills happen, and check that each became exactly one token.

    `source` is the URL of a migrated database to copy, if there is one.
    """
    losses = Losses(seed=plan.seed, lost=plan.lost, late=plan.late, late_seconds=plan.late_seconds)
    with (
        _chain(directory, plan.block_time) as (rpc_url, factory),
        harness.servers(directory) as (postgres, valkey),
        FaultyNode(rpc_url, losses).running() as node,
    ):
        environment = harness.settings_of(
            **harness.chain_settings(node.url, directory / "chains.toml"),
            DATABASE_URL=postgres.url,
            REDIS_URL=valkey.url,
            PORT=str(free_port()),
            WORKER_PROCESSES=str(min(_TASKS, plan.workers)),
            DEPLOY_STUCK_SECONDS=str(plan.stuck_seconds),
            # Late calls time out now and then, though the node has accepted them.
            RPC_TIMEOUT_SECONDS="2",
            RATE_LIMIT_KEYED="0",
        )
        harness.migrate(environment, source)
        lines = ("web", *["worker"] * max(1, plan.workers // _TASKS), "beat")
        with harness.Processes(environment).at_work(*lines) as processes:
            deploying = _DeployRun(plan, processes, postgres, valkey, node, factory)
            return harness.kill_and_compare(deploying, faults=plan.kills)


@contextmanager
def _chain(directory: Path, block_time: float) -> Iterator[tuple[str, str]]:
    """Run a node with a fixed block time; yield its URL and the factory."""
    state = directory / "chain.json"
    # A node with a block time once kept such a transaction pending until the timeout.
    with run_anvil(state=state) as rpc_url:
        factory = deploy_contracts(rpc_url, chains_file=directory / "chains.toml").factory
    with run_anvil(state=state, block_time=block_time) as rpc_url:
        yield rpc_url, factory


class _DeployRun(harness.Run):
    def __init__(
        self,
        plan: Plan,
        processes: harness.Processes,
        postgres: OwnPostgres,
        valkey: OwnServer,
        node: FaultyNode,
        factory: str,
    ) -> None:
        self._plan, self._processes, self._node, self._factory = plan, processes, node, factory
        self._database_url, self._answers = postgres.url, Answers()
        self._tasks = list[Future[Answer]]()
        rng = random.Random(plan.seed)
        workers, web, beat = processes.of("worker"), processes.of("web"), processes.of("beat")
        kinds = {
            "worker": harness.Fault(lambda: harness.restart(rng.choice(workers))),
            "child of a worker": harness.Fault(lambda: rng.choice(workers).kill_child(rng)),
            "web server": harness.Fault(lambda: harness.restart(*web)),
            "Valkey": harness.Fault(valkey.kill, valkey.start, lambda: rng.uniform(0.0, _AWAY_SECONDS)),
            "PostgreSQL": harness.Fault(postgres.kill, postgres.start, lambda: rng.uniform(0.0, _AWAY_SECONDS)),
            "beat": harness.Fault(lambda: harness.restart(*beat)),
        }
        self.faults = {kind: kinds[kind] for kind in rng.sample(list(kinds), len(kinds))}

    @contextmanager
    def load(self) -> Iterator[None]:
        plan, environment = self._plan, self._processes.environment
        names, port = [f"Partner {number}" for number in range(plan.partners)], int(environment["PORT"])
        keys, _ = harness.create_accounts(environment, names)
        self._partners = [Partner(name, key, port, self._answers) for name, key in zip(names, keys, strict=True)]
        wait_for(lambda: is_web_server_up(HOST, port))
        with ThreadPoolExecutor(plan.clients) as pool:
            self._tasks = [
                pool.submit(self._partners[number].request_until_final, body, seconds=plan.timeout)
                for number, body in _bodies(plan)
            ]
            yield
            for task in self._tasks:
                task.result()

    def done(self) -> float:
        return sum(task.done() for task in self._tasks) / len(self._tasks)

    def wait_until_quiet(self) -> None:
        wait_for_deployments(self._partners, self._database_url, seconds=self._plan.timeout)

    def compare(self) -> list[str]:
        self._chain = read_chain(self._node.rpc_url, factory=self._factory, wallets=tuple(harness.WALLETS))
        return judge(self._answers, self._chain, read_rows(self._database_url))

    def figures(self, spans: Sequence[harness.Span]) -> dict[str, Any]:
        return {
            "orders": len(self._answers.orders),
            "answers": sum(map(len, self._answers.orders.values())),
            "tokens": len(self._chain.launches),
            "transactions": len(self._chain.sent),
            "empty ones": sum(sent.to_itself for sent in self._chain.sent),
            "broadcasts dropped": self._node.losses.lost_count,
            "requests delayed": self._node.losses.late_count,
        }


def _bodies(plan: Plan) -> list[tuple[int, dict[str, object]]]:
    """Return (partner number, body) for the requests, in that order; repetitions may come at any time."""
    rng = random.Random(plan.seed)
    orders = [
        (rng.randrange(plan.partners), order(f"Chaos {number}", request_key=f"{rng.getrandbits(128):032x}"))
        for number in range(plan.orders)
    ]
    bodies = [*orders]
    for entry in rng.sample(orders, round(plan.orders * plan.repeated)):
        # Some right behind the first, so that two are on their way at once.
        following = bodies.index(entry) + 1
        bodies.insert(rng.choice((following, rng.randrange(following, len(bodies) + 1))), entry)
    return bodies


def wait_for_deployments(partners: Sequence[Partner], database_url: str, *, seconds: float) -> None:
    """Wait until all deployments have an end, or for the seconds, and have the partners request their statuses."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        for rows in (_UNFINISHED, _OPEN):
            harness.wait_at_most(lambda rows=rows: not connection.execute(rows).rowcount, seconds)
    by_name = {partner.name: partner for partner in partners}
    for name, request_key in list(partners[0].answers.orders):
        by_name[name].status(request_key)
