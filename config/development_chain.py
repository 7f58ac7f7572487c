"""How `manage.py` beside `make run` finds the development chain: by the settings of the service's processes."""

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path

from config import embedded
from config.env import env_rpc_urls


def run_lock() -> Path:
    """The file that `make run` keeps locked while it runs."""
    return embedded.local_directory() / "run.lock"


def announce(settings: Mapping[str, str]) -> None:
    """Write down the settings (environment variables) of the development chain that runs now."""
    _path().write_text(json.dumps(dict(settings)), encoding="utf-8")


def withdraw() -> None:
    """Forget the development chain: it runs no longer."""
    _path().unlink(missing_ok=True)


def join() -> None:
    """Take the settings of the development chain into this process's environment, where no node is set."""
    if not env_rpc_urls() and _path().exists() and _runs():
        os.environ.update(json.loads(_path().read_text(encoding="utf-8")))


def _runs() -> bool:
    """Whether `make run` is there: one that was killed leaves its settings behind, and its lock not."""
    lock = os.open(run_lock(), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _path() -> Path:
    return embedded.local_directory() / "development-chain.json"
