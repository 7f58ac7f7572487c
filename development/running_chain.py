"""How `manage.py` beside `make run` finds the development chain, and who issues made-up users' tokens there."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from config.environment.chain_variables import env_rpc_urls
from development.servers import bundled
from development.servers.processes import is_locked


def run_lock() -> Path:
    """The file that `make run` keeps locked while it runs."""
    return bundled.local_directory() / "run.lock"


def announce(settings: Mapping[str, str]) -> None:
    """Write down the settings (environment variables) of the development chain that runs now."""
    _path().write_text(json.dumps(dict(settings)), encoding="utf-8")


def withdraw() -> None:
    """Forget the development chain: it runs no longer."""
    _path().unlink(missing_ok=True)


def join() -> None:
    """Take the settings of the development chain into this process's environment, where no node is set."""
    if not env_rpc_urls():
        os.environ.update(announced())


def announced() -> dict[str, str]:
    """The settings of the development chain that runs now; empty where none does."""
    # A `make run` that was killed leaves its settings behind, and its lock not.
    if not (_path().exists() and is_locked(run_lock())):
        return {}
    settings: dict[str, str] = json.loads(_path().read_text(encoding="utf-8"))
    return settings


def _path() -> Path:
    return bundled.local_directory() / "development-chain.json"
