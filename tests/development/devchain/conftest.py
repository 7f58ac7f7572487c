"""Contracts of the development chain on a node of their own."""

from collections.abc import Iterator

import pytest
from web3.types import RPCEndpoint

from development.devchain import anvil, node_client
from development.devchain.deploy_contracts import DevelopmentContracts, deploy_contracts


@pytest.fixture(scope="module")
def deployed_contracts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevelopmentContracts]:
    """Deploy contracts on a separate node, so that tests may move its clock."""
    with anvil.run_anvil() as url:
        yield deploy_contracts(url, chains_file=tmp_path_factory.mktemp("moving") / "chains.toml")


@pytest.fixture
def own_contracts(deployed_contracts: DevelopmentContracts) -> Iterator[DevelopmentContracts]:
    """Return contracts on a node that no other test has used: its state and its mining are restored."""
    request = node_client.connect(deployed_contracts.rpc_url).manager.request_blocking
    mark = request(RPCEndpoint("evm_snapshot"), [])
    yield deployed_contracts
    request(RPCEndpoint("evm_revert"), [mark])
    request(RPCEndpoint("evm_setAutomine"), [True])
