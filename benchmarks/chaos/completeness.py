"""Completeness benchmark: all launches are stored in the end, although a node omits 2 % from eth_getLogs.

    python -m benchmarks.chaos.completeness [--launches 5000]

A simulated chain with a launch in each block, served by a node whose `eth_getLogs` omits one transaction in fifty at
every call: nothing shows which. `manage.py backfill` reads it, and then verifies it by each value of
FOLLOW_VERIFY. Exits with code 1 where a launch is missing at the end, or where none was missing before the check.
"""

import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from benchmarks.harness import parse_quantities
from benchmarks.lists import dataset
from tests.simulator import Faults, SimulatedChain, Traffic, serve
from tokens.chains.registry.chains import load_registry

_LEFT_OUT = 0.02
_DATABASE = "completeness"
# The verification kind, and whether there is a second node, which leaves nothing out.
_CASES = (("bloom", False), ("receipts", False), ("logs", True))


@dataclass(frozen=True, kw_only=True)
class Result:
    """Launches before and after the check, how many alarms it raised, and how long reading and checking took."""

    read: int
    checked: int
    alarms: int
    seconds: tuple[float, float]


def main() -> int:
    launches = parse_quantities(__doc__, launches=5000).launches
    chain = SimulatedChain(1, traffic=Traffic(launches=1.0, events=0.3, noise=0.1, several=0.0, reverted=0.0))
    while len(chain.truth().tokens) < launches:
        chain.mine(launches - len(chain.truth().tokens))
    last = chain.head.number
    chain.mine(load_registry().chain(chain.chain_id).finality_depth, transactions=())
    dataset.start_server()
    complete = True
    for how, second in _CASES:
        result = _run(chain, last, how=how, second=second)
        complete &= result.read < launches and result.checked == launches
        nodes = "2 nodes" if second else "1 node"
        print(
            f"{how:8}  {nodes:7}  read {result.read:5} of {launches} in {result.seconds[0]:5.1f} s,"
            f"  checked {result.checked:5} in {result.seconds[1]:5.1f} s, alarms {result.alarms}",
            flush=True,
        )
    return 0 if complete else 1


def _run(chain: SimulatedChain, last: int, *, how: str, second: bool) -> Result:
    dataset.make_migrated(_DATABASE)
    with ExitStack() as stack:
        nodes = [stack.enter_context(serve(chain, seed=1, faults=Faults(forgotten=_LEFT_OUT)))]
        if second:
            nodes.append(stack.enter_context(serve(chain, seed=2)))
        os.environ[f"RPC_URLS_{chain.chain_id}"] = ",".join(node.url for node in nodes)
        os.environ["FOLLOW_VERIFY"] = how
        words = ["backfill", f"--chain={chain.chain_id}", "--from=0", f"--to={last}"]
        reading, read = _timed(words), _count("tokens_token WHERE NOT unindexed")
        checking, checked = _timed([*words, "--verify"]), _count("tokens_token WHERE NOT unindexed")
    return Result(read=read, checked=checked, alarms=_count("tokens_coveragealarm"), seconds=(reading, checking))


def _timed(words: Sequence[str]) -> float:
    started = time.monotonic()
    dataset.manage(_DATABASE, *words)
    return time.monotonic() - started


def _count(rows: str) -> int:
    with dataset.connect(_DATABASE) as connection:
        (found,) = connection.execute(f"SELECT count(*) FROM {rows}").fetchone() or (0,)  # noqa: S608 - ours
    return int(str(found))


if __name__ == "__main__":
    sys.exit(main())
