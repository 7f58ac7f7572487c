"""Contracts of the development chain on a node of their own."""

from collections.abc import Iterator

import pytest

from development.devchain import anvil
from development.devchain.deploy_contracts import DevelopmentContracts, deploy_contracts


@pytest.fixture(scope="module")
def own_contracts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevelopmentContracts]:
    """Deploy contracts on a separate node, so that tests may move its clock."""
    with anvil.run_anvil() as url:
        yield deploy_contracts(url, chains_file=tmp_path_factory.mktemp("moving") / "chains.toml")
