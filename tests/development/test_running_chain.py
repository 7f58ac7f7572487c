"""development/running_chain.py: discovery of the development chain by commands beside `make run`."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from development import running_chain

ANNOUNCED = {"RPC_URLS_31337": "http://127.0.0.1:8545", "CHAINS_FILE": "/there/chains.toml"}


@pytest.fixture
def local(tmp_path: Path) -> Path:
    """Return the directory of a `make run` that has announced its chain."""
    (tmp_path / "development-chain.json").write_text(json.dumps(ANNOUNCED), encoding="utf-8")
    return tmp_path


@contextmanager
def environment_beside_run(local: Path, **settings: str) -> Iterator[None]:
    """Give this process the environment of a command beside a running `make run`."""
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(("RPC_URLS_", "CHAINS_FILE"))}
    environment = inherited | {"LAUNCHBOARD_LOCAL": str(local)} | settings
    with (local / "run.lock").open("w") as lock, patch.dict(os.environ, environment, clear=True):
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def test_nodes_of_ones_own_come_first(local: Path) -> None:
    with environment_beside_run(local, RPC_URLS_8453="http://127.0.0.1:9"):
        running_chain.apply_settings()
        assert not ANNOUNCED.keys() & os.environ.keys()


def test_a_command_beside_a_run_has_its_chain(local: Path) -> None:
    with environment_beside_run(local):
        running_chain.apply_settings()
        assert ANNOUNCED.items() <= os.environ.items()


def test_settings_of_ones_own_win_over_those_of_the_run(local: Path) -> None:
    own = {"CHAINS_FILE": "/mine.toml", "RPC_WS_URL_31337": "ws://mine"}
    (local / "development-chain.json").write_text(
        json.dumps(ANNOUNCED | {"CHAINS_FILE": "/mine.toml,/there/chains.toml", "RPC_WS_URL_31337": "ws://there"})
    )
    with environment_beside_run(local, **own):
        running_chain.apply_settings()
        assert os.environ["RPC_WS_URL_31337"] == "ws://mine"
        # Later files override earlier ones; without the chain's own file its nodes would be refused.
        assert os.environ["CHAINS_FILE"] == "/there/chains.toml,/mine.toml"
