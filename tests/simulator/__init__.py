"""A chain in memory with Base's id and contracts. Tests extend it, reorg it and serve it through faulty nodes.

An example:

    chain = SimulatedChain(seed=1)
    chain.mine(200)
    with serve(chain, seed=7, faults=Faults(errors=0.05)) as node:
        ...  # node.url, node.websocket_url
        chain.reorg(5)
    chain.truth()  # the expected rows, recorded while the blocks were built
"""

from tests.simulator.chain import SimulatedChain
from tests.simulator.faults import ALL, Faults, Limits
from tests.simulator.node import Node
from tests.simulator.server import serve
from tests.simulator.transactions import Traffic

__all__ = ["ALL", "Faults", "Limits", "Node", "SimulatedChain", "Traffic", "serve"]
