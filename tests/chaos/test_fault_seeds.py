"""Fault seeds: faulty nodes, reorganisations and killed followers; in the end the rows match the chain.

`make fault-seeds SEEDS=500` runs as many seeds, from FIRST on.
"""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.chaos import fault_seed
from tests.processes.fork_server import fork_server

pytestmark = pytest.mark.slow

# So many seeds run at a time: each mostly waits.
AT_ONCE = 10
# These ten have every kind of node, lie, limit, verification, kill and reorganisation that the first twenty have.
FIRST, COUNT = int(os.environ.get("FIRST") or 48), int(os.environ.get("SEEDS") or 10)
GROUPS = [
    range(first, min(first + AT_ONCE, FIRST + COUNT)) for first in range(FIRST, FIRST + COUNT, AT_ONCE)
]  # fmt: skip


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seeds", GROUPS, ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")
def test_the_rows_are_the_truth_in_the_end(seeds, service_environment, tmp_path):
    registry = tmp_path / "chains.toml"
    fault_seed.write_registry(registry, seeds)
    environment = (
        service_environment
        | fault_seed.launchpad_settings(seeds)
        | {
            "CHAINS_FILE": str(registry),
            "LOG_LEVEL": os.environ.get("LOG_LEVEL", "ERROR"),
        }
    )
    with (
        fork_server(environment) as processes,
        ThreadPoolExecutor(AT_ONCE) as threads,
    ):
        wrong = dict(zip(seeds, threads.map(lambda seed: fault_seed.run(seed, processes), seeds), strict=True))
    failed = [
        f"seed {seed} (make fault-seeds FIRST={seed} SEEDS=1), {fault_seed.plan(seed)}:\n  " + "\n  ".join(lines[:20])
        for seed, lines in wrong.items()
        if lines
    ]
    assert not failed, "\n".join(failed)
