"""One fault seed: a chain grows and reorganises while its followers are killed and its nodes misbehave.

In the end the chain grows quietly until all blocks are final; then every row must match the simulator.
"""

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.db import connections
from django.db.models import Sum

from tests.processes.fork_server import Forked, ForkServer
from tests.processes.waiting import wait_for
from tests.simulator import ALL, Faults, Limits, Node, SimulatedChain, Traffic, serve
from tests.simulator.comparing import differences
from tests.simulator.declared_launches import LAUNCHPAD
from tests.simulator.registry_file import write_registry_file
from tokens.models import ChainHead, Coverage, CoverageAlarm

# Each seed has its own chain, so that several can run at a time.
FIRST_CHAIN_ID = 900_000
FINALITY_DEPTH = 80
# No reorganisation leaves less than this to finality: followers may have seen a newer head than the chain has now.
_MARGIN = 5
DEEPEST = 64
# No node lags by more blocks.
_FURTHEST_BEHIND = 12
_QUIET = Traffic(launches=0, events=0, noise=0.1, swaps=0)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A seed's parameters."""

    seed: int
    nodes: tuple[tuple[Faults, Limits], ...]
    blocks_before: int
    steps: int
    verify: str
    websocket: bool
    # The shares of steps in which a branch is dropped, the follower killed, a node stays on an orphaned branch.
    reorgs: float
    kills: float
    pins: float

    @property
    def chain_id(self) -> int:
        return FIRST_CHAIN_ID + self.seed


def plan(seed: int) -> Plan:
    """Return a seed's plan, deterministically."""
    rng = random.Random(f"plan {seed}")
    verify = rng.choice(("bloom", "bloom", "receipts", "logs"))
    return Plan(
        seed=seed,
        nodes=_with_lie(tuple(_nodes(rng, verify=verify)), random.Random(f"lies {seed}"), verify=verify),
        blocks_before=rng.choice((1, 60, 150)),
        steps=rng.randrange(50, 90),
        verify=verify,
        websocket=rng.random() < 0.4,
        reorgs=rng.choice((0.0, 0.05, 0.12)),
        kills=rng.choice((0.0, 0.03, 0.08)),
        pins=rng.choice((0.0, 0.3)),
    )


def _nodes(rng: random.Random, *, verify: str) -> Iterator[tuple[Faults, Limits]]:
    limits = Limits(
        blocks=rng.choice((None, 50, 20)),
        logs=rng.choice((None, 100)),
        batch=rng.choice((None, None, 10)),
        times=rng.random() < 0.6,
        beyond_head=rng.random() < 0.5,
    )
    forgetful = replace(ALL, omitted_for_good=rng.choice((0.0, 0.02)))
    if verify == "logs":
        # Querying twice finds most that nodes leave out, and no more than that.
        honest = replace(ALL, omitted=0.0)
        yield from ((honest, limits), (replace(honest, behind=rng.randrange(_FURTHEST_BEHIND)), limits))
        return
    lagging = replace(ALL, omitted=0.0, behind=rng.randrange(1, _FURTHEST_BEHIND))
    foreign = Faults(chain_id=1)
    lacking = replace(forgetful, lacking=frozenset({"eth_getBlockReceipts"}))
    setups: Sequence[Sequence[Faults]] = (
        (forgetful,),
        (forgetful, lagging),
        (lagging, forgetful),
        (foreign, forgetful, forgetful),
        (lacking, lagging),
        (lacking,),
    )
    for faults in rng.choice(setups):
        yield faults, limits


def _with_lie(
    nodes: tuple[tuple[Faults, Limits], ...], rng: random.Random, *, verify: str
) -> tuple[tuple[Faults, Limits], ...]:
    """Return the nodes, one of which may report logs with wrong times or indexes, or lack its first blocks' logs.

    What nothing disproves is not drawn: nodes that all lie alike, and wrong header times, which a node may return
    to both readings. Where `verify` is "logs", both readings may have one node's logs, whose headers disprove
    only the times. Wrong indexes and pruned logs need another node. Drawn from its own stream, so that the other
    nodes are as they were without lies.
    """
    usable = [place for place, (faults, _) in enumerate(nodes) if faults.chain_id is None]
    lies = ("times",) if verify == "logs" else ("times", "log indexes", "transaction indexes", "pruned")
    lie, place = rng.choice(("", *lies)), rng.choice(usable)
    faults, limits = nodes[place]
    if lie == "times":
        faults = replace(faults, log_time_shift=rng.choice((-3600, -1, 1, 3600)))
        limits = replace(limits, times=True)
    elif lie == "log indexes":
        faults = replace(faults, log_index_shift=rng.choice((1, 100)))
    elif lie == "transaction indexes":
        faults = replace(faults, tx_index_shift=1)
    elif lie == "pruned":
        faults = replace(faults, pruned_to=rng.randrange(100), prunes_receipts=rng.random() < 0.5)
    if lie and lie != "times" and len(usable) == 1:
        nodes = (*nodes, (replace(ALL, omitted=0.0), limits))
    return (*nodes[:place], (faults, limits), *nodes[place + 1 :])


def write_registry(path: Path, seeds: Sequence[int]) -> None:
    """Write a registry file with a chain for each seed and a small finality depth."""
    write_registry_file(path, (plan(seed).chain_id for seed in seeds), finality_depth=FINALITY_DEPTH)


def launchpad_settings(seeds: Sequence[int]) -> dict[str, str]:
    """Return the environment's variables by which the chains index v4 and the declared launchpad."""
    return {f"LAUNCHPADS_{plan(seed).chain_id}": f"clanker,{LAUNCHPAD}" for seed in seeds}


def run(seed: int, fork_server: ForkServer) -> list[str]:
    """Run a seed; return the errors in the end, one line each."""
    try:
        return list(_run(plan(seed), fork_server))
    finally:
        connections.close_all()


def _run(planned: Plan, fork_server: ForkServer) -> Iterator[str]:
    rng = random.Random(f"run {planned.seed}")
    chain = SimulatedChain(planned.seed, chain_id=planned.chain_id, traffic=Traffic(swaps=1.0, declared=0.3))
    chain.mine(planned.blocks_before)
    with _serve(chain, planned) as nodes, _followers(planned, fork_server, nodes) as followers:
        _grow(chain, planned, rng, nodes, followers)
        truth, last = chain.truth(), chain.head.number
        chain.traffic = _QUIET
        chain.mine(FINALITY_DEPTH + _FURTHEST_BEHIND)
        for node in nodes:
            node.pinned = None
        try:
            _wait_until_done(chain, nodes, last)
        except AssertionError:
            yield f"it does not end: {_progress(chain)}"
            return
    halted = ChainHead.objects.get(pk=chain.chain_id).halted
    if halted:
        yield f"halted: {halted}"
    yield from differences(truth, chain_id=chain.chain_id)
    yield from _needless_alarms(planned)
    # Visible with pytest's `-s`.
    alarms = CoverageAlarm.objects.filter(chain_id=chain.chain_id)
    corrected = alarms.aggregate(count=Sum("corrected", default=0))["count"]
    requests = sum(node.requests for node in nodes)
    kept = len(truth.tokens), len(truth.events), len(truth.pool_logs)
    declared = sum(token.columns["generation"] == LAUNCHPAD for token in truth.tokens.values())
    print(
        f"seed {planned.seed}: {chain.head.number} blocks, {len(chain.dropped)} reorgs, {followers.killed} kills,"
        f" {kept[0]} tokens ({declared} declared), {kept[1]} events, {kept[2]} pool logs, {requests} requests,"
        f" {len(alarms)} alarms, {corrected} corrected",
        flush=True,
    )


def _grow(
    chain: SimulatedChain, planned: Plan, rng: random.Random, nodes: Sequence[Node], followers: "_Followers"
) -> None:
    highest = chain.head.number
    for _ in range(planned.steps):
        if rng.random() < planned.reorgs:
            deepest = min(DEEPEST, chain.head.number - max(0, highest - FINALITY_DEPTH + _MARGIN))
            depth = min(deepest, rng.choice((1, 1, 2, 3, 5, 8, 13, 21, 34, DEEPEST)))
            if depth > 0:
                chain.reorg(depth, keep=rng.choice((0.0, 0.8, 1.0)), length=max(0, depth + rng.randrange(-2, 4)))
                _pin(rng, planned, nodes, chain)
        else:
            chain.mine(rng.choice((1, 1, 1, 2, 5)))
        highest = max(highest, chain.head.number)
        if rng.random() < 0.15:
            for node in nodes:
                node.pinned = None
        if rng.random() < planned.kills:
            followers.replace()
        # A chain grows at its own pace: followers are now at each block and now many behind.
        time.sleep(rng.choice((0.0, 0.02, 0.08)))


def _pin(rng: random.Random, planned: Plan, nodes: Sequence[Node], chain: SimulatedChain) -> None:
    """Leave one node, and never the only one, on the branch that the chain has dropped."""
    if len(nodes) > 1 and rng.random() < planned.pins:
        rng.choice(nodes).pinned = chain.dropped[-1]


@contextmanager
def _serve(chain: SimulatedChain, planned: Plan) -> Iterator[list[Node]]:
    with ExitStack() as stack:
        yield [
            stack.enter_context(serve(chain, seed=1000 * planned.seed + place, faults=faults, limits=limits))
            for place, (faults, limits) in enumerate(planned.nodes)
        ]


class _Followers:
    """A chain's followers: one, or one and a standby."""

    def __init__(self, planned: Plan, fork_server: ForkServer, nodes: Sequence[Node]) -> None:
        self._planned, self._fork_server, self._nodes = planned, fork_server, nodes
        self._rng = random.Random(f"followers {planned.seed}")
        self.running, self.killed = [self._start()], 0

    def replace(self) -> None:
        """Kill the leader; the next one starts now, or is its standby."""
        if self._rng.random() < 0.5:
            self.running.append(self._start())
        self.running.pop(0).kill()
        self.killed += 1
        if not self.running:
            self.running.append(self._start())

    def _start(self) -> Forked:
        settings: dict[str, Any] = {
            "RPC_URLS": {self._planned.chain_id: [node.url for node in self._nodes]},
            "RPC_WS_URLS": {},
            "RPC_TIMEOUT_SECONDS": 1.0,
            "RPC_PATIENCE_SECONDS": 3.0,
            # As an operator sets it for a provider with such a limit.
            "RPC_BATCH_SIZE": self._planned.nodes[0][1].batch or 50,
            "FOLLOW_FROM": {self._planned.chain_id: 0},
            "FOLLOW_VERIFY": self._planned.verify,
            "FOLLOW_POLL_SECONDS": 0.1,
            "FOLLOW_RANGE_BLOCKS": 40,
            # Simulated chains are old.
            "CANDLE_MINUTE_DAYS": 100_000,
        }
        if self._planned.websocket:
            settings["RPC_WS_URLS"] = {self._planned.chain_id: self._nodes[0].websocket_url}
        return self._fork_server.follow(self._planned.chain_id, settings=settings)


@contextmanager
def _followers(planned: Plan, fork_server: ForkServer, nodes: Sequence[Node]) -> Iterator[_Followers]:
    followers = _Followers(planned, fork_server, nodes)
    try:
        yield followers
    finally:
        for follower in followers.running:
            if follower.is_alive():
                follower.kill()


def _wait_until_done(chain: SimulatedChain, nodes: Sequence[Node], last: int) -> None:
    """Wait for the end as long as there is progress: on a busy machine all block runs take longer than one wait."""

    def positions() -> list[tuple[int, ...]]:
        rows = Coverage.objects.filter(chain_id=chain.chain_id)
        return list(rows.order_by("pk").values_list("pk", "followed_to", "verified_to", "summed_to"))

    while not _is_done(chain, nodes, last):
        before = positions()
        wait_for(lambda before=before: _is_done(chain, nodes, last) or positions() != before)


def _is_done(chain: SimulatedChain, nodes: Sequence[Node], last: int) -> bool:
    """Return whether all the nodes' blocks are followed and summed up, and verified up to the last one with logs."""
    head = chain.head.number - max(node.faults.behind for node in nodes)
    rows = list(Coverage.objects.filter(chain_id=chain.chain_id))
    return bool(rows) and all(min(row.followed_to, row.summed_to) >= head and row.verified_to >= last for row in rows)


def _needless_alarms(planned: Plan) -> Iterator[str]:
    """Return verification alarms about what no node had left out or changed: errors that it hid."""
    faults = [faults for faults, _ in planned.nodes]
    omits = any(node.omitted or node.omitted_for_good or node.pruned_to >= 0 for node in faults)
    moves = any(node.log_index_shift for node in faults)
    shifts = moves or any(node.log_time_shift or node.tx_index_shift for node in faults)
    for alarm in CoverageAlarm.objects.filter(chain_id=planned.chain_id):
        is_needless = (alarm.invented and not moves) or (alarm.missing and not (omits or moves))
        if is_needless or alarm.kept or not (omits or shifts):
            yield f"blocks {alarm.first_block} to {alarm.last_block} had to be put right:" + (
                f" {alarm.missing} missing, {alarm.invented} invented, {alarm.corrected} corrected, {alarm.kept} kept,"
                f" {alarm.tx_hashes[:5]}"
            )


def _progress(chain: SimulatedChain) -> str:
    head = ChainHead.objects.filter(pk=chain.chain_id).values().first()
    rows = list(Coverage.objects.filter(chain_id=chain.chain_id).values())
    alarms = CoverageAlarm.objects.filter(chain_id=chain.chain_id).count()
    return f"the chain's head is {chain.head.number}, {head}, {rows}, {alarms} alarms"
