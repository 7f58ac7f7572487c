"""A chain in memory with Base's id and contracts, which tests grow, reorganise and serve through nodes that misbehave.

    chain = SimulatedChain(seed=1)
    chain.mine(200)
    with serve(chain, seed=7, faults=Faults(errors=0.05)) as node:
        ...  # node.url, node.websocket_url
        chain.reorg(5)
    chain.truth()  # what it holds for us, known from having put it there

`python -m tests.simulator --help` runs one as a process of its own.
"""

from tests.simulator.chain import SimulatedChain
from tests.simulator.faults import ALL, Faults, Limits
from tests.simulator.node import Node
from tests.simulator.server import serve
from tests.simulator.transactions import Traffic

__all__ = ["ALL", "Faults", "Limits", "Node", "SimulatedChain", "Traffic", "serve"]
