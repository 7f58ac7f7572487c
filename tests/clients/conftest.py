"""The tests' clients."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.typescript_package import NodeClient, install_package, node_client


@pytest.fixture(scope="session")
def typescript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the compiled client for TypeScript in its `node_modules`."""
    return install_package(tmp_path_factory.mktemp("typescript"))


@pytest.fixture(scope="session")
def node(typescript: Path) -> Iterator[NodeClient]:
    with node_client(typescript) as running:
        yield running
