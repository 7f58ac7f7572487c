"""development/running_chain.py: discovery of the development chain by commands beside `make run`."""

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from config.environment.variables import BASE_DIR

ANNOUNCED = {"RPC_URLS_31337": "http://127.0.0.1:8545", "CHAINS_FILE": "/there/chains.toml"}
SHOW = """
import json, os
from development import running_chain
running_chain.apply_settings()
print(json.dumps({name: os.environ.get(name, "") for name in ("RPC_URLS_31337", "CHAINS_FILE")}))
"""


@pytest.fixture
def local(tmp_path: Path) -> Path:
    """Return the directory of a `make run` that has announced its chain."""
    (tmp_path / "development-chain.json").write_text(json.dumps(ANNOUNCED), encoding="utf-8")
    return tmp_path


def joined(local: Path, **settings: str) -> dict[str, str]:
    """Return the environment of a command that joins the chain."""
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(("RPC_URLS_", "CHAINS_FILE"))}
    environment = inherited | {"LAUNCHBOARD_LOCAL": str(local)} | settings
    answer = subprocess.run(
        [sys.executable, "-c", SHOW], cwd=BASE_DIR, env=environment, capture_output=True, check=True
    )
    found: dict[str, str] = json.loads(answer.stdout)
    return found


def test_nodes_of_ones_own_come_first(local: Path) -> None:
    with (local / "run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert joined(local, RPC_URLS_8453="http://127.0.0.1:9") == {"RPC_URLS_31337": "", "CHAINS_FILE": ""}


def test_a_command_beside_a_run_has_its_chain(local: Path) -> None:
    with (local / "run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert joined(local) == ANNOUNCED
