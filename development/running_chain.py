"""Discovery for `manage.py`: the running development chain, and its stand-ins that commands need."""

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
    """Store the running development chain's settings (environment variables)."""
    _path().write_text(json.dumps(dict(settings)), encoding="utf-8")


def remove_settings() -> None:
    """Remove the stored settings: the development chain has ended."""
    _path().unlink(missing_ok=True)


def apply_settings() -> None:
    """Add the development chain's settings to this process's environment, if no node is configured.

    Settings in the environment win. Files in CHAINS_FILE win because they follow the chain's own file, which its nodes
    need.
    """
    variables = read_variables(Environment)
    if variables.RPC_URLS or not (published := published_settings()):
        return
    files = dict.fromkeys((*kinds.split_list(published.get("CHAINS_FILE", "")), *variables.CHAINS_FILE))
    in_environment = {name: text for name, text in os.environ.items() if text.strip()}
    os.environ.update(published | in_environment)
    os.environ["CHAINS_FILE"] = kinds.join_list(sorted(files, key=variables.CHAINS_FILE.__contains__))


def published_settings() -> dict[str, str]:
    """Return the running development chain's settings; empty if none runs."""
    # A killed `make run` leaves its settings file behind, but not its lock.
    if not (_path().exists() and is_locked(run_lock())):
        return {}
    settings: dict[str, str] = json.loads(_path().read_text(encoding="utf-8"))
    return settings


def _path() -> Path:
    return bundled.local_directory() / "development-chain.json"
