"""Strict check of the types of a program that uses the client for Python."""

import os
import subprocess
import sys
from pathlib import Path

from development.clients import CLIENTS


def check_types(code: str, directory: Path) -> str:
    """Return the output of mypy for a program."""
    (directory / "program.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "program.py"],
        cwd=directory,
        env=os.environ | {"MYPYPATH": str(CLIENTS / "python")},
        capture_output=True,
        text=True,
    )
    return done.stdout
