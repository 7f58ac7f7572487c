"""Strict type check for a program that uses the Python client."""

import os
import subprocess
import sys
from pathlib import Path

from development.clients import CLIENTS


def check_types(code: str, directory: Path) -> str:
    """Return mypy's output for a program."""
    (directory / "program.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "program.py"],
        cwd=directory,
        env=os.environ | {"MYPYPATH": str(CLIENTS / "python")},
        capture_output=True,
        text=True,
    )
    return done.stdout
