"""Programs in the clients' documents, as written."""

import os
import re
import subprocess
import sys
from pathlib import Path

from development.clients import CLIENTS
from tests.clients.typescript_package import run_program


def read_quick_start(package: str) -> str:
    """Return the program in a package's README."""
    [program] = re.findall(r"^```\w+\n(.*?)^```$", (CLIENTS / package / "README.md").read_text(), re.M | re.S)
    return str(program)


def read_guide_samples(language: str, *, guide: str = "clients.md") -> list[str]:
    """Return a guide's samples in a language. Samples for clients show streams and webhooks."""
    return re.findall(rf"^```{language}\n(.*?)^```$", (CLIENTS.parent / "docs" / guide).read_text(), re.M | re.S)


def run_quick_starts(url: str, key: str, typescript: Path) -> list[str]:
    """Return each package's quick start output, against a service."""
    variables = {"LAUNCHBOARD_URL": url, "LAUNCHBOARD_KEY": key}
    by_python = subprocess.run(
        [sys.executable, "-c", read_quick_start("python")],
        env=os.environ | {"PYTHONPATH": str(CLIENTS / "python")} | variables,
        capture_output=True,
        text=True,
    )
    assert by_python.returncode == 0, by_python.stderr
    return [by_python.stdout, run_program(read_quick_start("typescript"), typescript, **variables)]
