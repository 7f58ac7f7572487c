"""Unsigned transactions for the fuzzed service: bodies that reach a simulation, and a recorded node that simulates."""

from collections.abc import Sequence

from config.api.openapi_examples import BODIES
from development.devchain.anvil import CHAIN_ID
from tests.nodes.recorded_node import Node
from tests.nodes.recordings import Json
from tests.rows.launch_requests import ADMIN
from tokens.models import Token
from tokens.transactions.actions import ACTIONS
from tokens.transactions.views import operation_id


def known_bodies(tokens: Sequence[Token], *, presale_id: int) -> dict[str, Sequence[Json]]:
    """Return path -> the description's example, with what the development chain has."""
    launched = [token.contract_address for token in tokens if token.chain_id == CHAIN_ID]
    values = {
        "from": ADMIN,
        "chainId": CHAIN_ID,
        "tokenAddress": launched[0],
        "tokenAddresses": launched,
        "presaleId": presale_id,
    }
    examples = {name: BODIES[operation_id(action)] for name, action in ACTIONS.items()}
    return {
        f"/api/transactions/{name}": [example | {key: values[key] for key in values.keys() & example.keys()}]
        for name, example in examples.items()
    }


def revert_simulations(node: Node) -> None:
    """Have the recorded node, whose contracts nobody can call, revert each simulated call."""
    reverted = {"status": "0x0", "returnData": "0x", "error": {"code": 3, "message": "execution reverted"}}
    node.answers["eth_simulateV1"] = lambda simulation, _block: [
        {"calls": [reverted for _ in block["calls"]]} for block in simulation["blockStateCalls"]
    ]
