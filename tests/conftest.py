"""Fixtures that several test modules use."""

from collections.abc import Iterator

import pytest

from devchain.anvil import start
from devchain.deploy import Deployment, prepare


@pytest.fixture(scope="session")
def anvil() -> Iterator[str]:
    """The URL of a development node, one per test process. A test that moves its clock starts one of its own."""
    with start() as url:
        yield url


@pytest.fixture(scope="session")
def deployment(anvil: str, tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    """The development contracts on that node. Launch with a salt of your own: others launch there too."""
    return prepare(anvil, chains_file=tmp_path_factory.mktemp("chain") / "chains.toml")
