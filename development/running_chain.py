"""Discovery of the running development chain for `manage.py`, and of its stand-ins that commands need."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from config.environment import kinds
from config.environment.model import Environment
from config.environment.variables import read_variables
from development.servers import bundled
from development.servers.processes import is_locked


def run_lock() -> Path:
    """Return the file that `make run` keeps locked while it runs."""
    return bundled.local_directory() / "run.lock"


def publish_settings(settings: Mapping[str, str]) -> None:
    """Store the settings (environment variables) of the running development chain."""
    _path().write_text(json.dumps(dict(settings)), encoding="utf-8")


def remove_settings() -> None:
    """Remove the stored settings: the development chain has ended."""
    _path().unlink(missing_ok=True)


def apply_settings() -> None:
    """Add the development chain's settings to this process's environment, if no node is configured.

    Settings of the environment win. Files of CHAINS_FILE do so by following the chain's own one, which its nodes need.
    """
    given = read_variables(Environment)
    if given.RPC_URLS or not (published := published_settings()):
        return
    files = dict.fromkeys((*kinds.split_list(published.get("CHAINS_FILE", "")), *given.CHAINS_FILE))
    in_environment = {name: text for name, text in os.environ.items() if text.strip()}
    os.environ.update(published | in_environment)
    os.environ["CHAINS_FILE"] = kinds.join_list(sorted(files, key=given.CHAINS_FILE.__contains__))


def published_settings() -> dict[str, str]:
    """Return the settings of the running development chain; empty if none runs."""
    # A killed `make run` leaves its settings file behind, but not its lock.
    if not (_path().exists() and is_locked(run_lock())):
        return {}
    settings: dict[str, str] = json.loads(_path().read_text(encoding="utf-8"))
    return settings


def _path() -> Path:
    return bundled.local_directory() / "development-chain.json"
