"""Simulated chains with nodes, and an empty database in which service processes index them."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from benchmarks.lists import dataset
from development.servers import bundled
from tests.simulator import SimulatedChain, Traffic, serve
from tests.simulator.registry_file import write_registry_file

FIRST_CHAIN_ID = 910_000
FINALITY_DEPTH = 20
_DATABASE = "scaling"


@contextmanager
def run_chains(count: int, *, blocks: int, traffic: Traffic) -> Iterator[Sequence[SimulatedChain]]:
    """Run chains with so many blocks each; processes with this environment know their nodes and an empty database."""
    chains = [SimulatedChain(seed, chain_id=FIRST_CHAIN_ID + seed, traffic=traffic) for seed in range(count)]
    path = bundled.local_directory() / "scaling.toml"
    write_registry_file(path, (chain.chain_id for chain in chains), finality_depth=FINALITY_DEPTH)
    os.environ.update({"CHAINS_FILE": str(path), "DATABASE_URL": database_url("own")})
    dataset.make_migrated(_DATABASE)
    with ExitStack() as stack:
        for chain in chains:
            chain.mine(blocks)
            node = stack.enter_context(serve(chain))
            own = {"RPC_URLS": node.url, "RPC_WS_URL": node.websocket_url, "FOLLOW_FROM": "0"}
            os.environ.update({f"{name}_{chain.chain_id}": value for name, value in own.items()})
        yield chains


def database_url(application: str) -> str:
    """Return the database URL with a name for a process's sessions."""
    return f"{dataset.database_url(_DATABASE)}?application_name={application}"


def missing_launches(chains: Sequence[SimulatedChain], *, up_to: Sequence[int]) -> int:
    """Return how many launches in blocks up to these are not stored, or stored and not on the chain."""
    wrong = 0
    with dataset.connect(_DATABASE) as connection:
        for chain, last in zip(chains, up_to, strict=True):
            expected = {token.lower() for token in chain.truth(blocks=chain.blocks[: last + 1]).tokens}
            statement = "SELECT contract_address FROM tokens_token WHERE chain_id = %s AND block_number <= %s"
            rows = connection.execute(statement, [chain.chain_id, last])
            wrong += len(expected ^ {str(address).lower() for (address,) in rows})
    return wrong


def fetch_rows(statement: str, *values: object) -> list[tuple[object, ...]]:
    """Return a query's rows."""
    with dataset.connect(_DATABASE) as connection:
        return connection.execute(statement, values).fetchall()
