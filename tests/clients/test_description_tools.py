"""Third-party linters and client generators, run over the description with their own default rules."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from config.api.openapi_views import openapi_document
from development.clients import NODE_PROGRAMS

pytestmark = pytest.mark.slow

_IMPORT_ALL = """
import importlib, pkgutil, sys
client = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(client.__path__, f"{client.__name__}."):
    print(importlib.import_module(module.name).__name__)
"""


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("description") / "openapi.json"
    path.write_bytes(openapi_document())
    return path


def run(*command: str | Path, directory: Path) -> str:
    """Run a program without reports to its maker; return what it prints. Raises CalledProcessError."""
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "DO_NOT_TRACK": "1"}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=directory,
        env=os.environ | quiet,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def test_redocly_finds_nothing(description: Path) -> None:
    found = json.loads(
        run(NODE_PROGRAMS / "redocly", "lint", description, "--format", "json", directory=description.parent)
    )
    assert found["problems"] == []


def test_spectral_finds_nothing(description: Path, tmp_path: Path) -> None:
    (tmp_path / ".spectral.yaml").write_text('extends: ["spectral:oas"]\n')
    options = ["--fail-severity", "hint", "--format", "json", "--quiet"]
    assert json.loads(run(NODE_PROGRAMS / "spectral", "lint", description, *options, directory=tmp_path)) == []


def test_a_client_by_openapi_python_client_can_be_imported(description: Path, tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("openapi-python-client")
    run(program, "generate", "--meta", "none", "--path", description, "--output-path", "made", directory=tmp_path)
    imported = run(sys.executable, "-c", _IMPORT_ALL, "made", directory=tmp_path).splitlines()
    assert {"made.api.tokens.list_tokens", "made.models.error", "made.models.token_record"} <= set(imported)


def test_a_client_by_hey_api_compiles(description: Path, tmp_path: Path) -> None:
    run(NODE_PROGRAMS / "openapi-ts", "-i", description, "-o", "made", "--no-log-file", directory=tmp_path)
    options = ["--strict", "--noEmit", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom,dom.iterable"]
    run(NODE_PROGRAMS / "tsc", *options, "made/index.ts", directory=tmp_path)
    assert "listTokens" in (tmp_path / "made" / "sdk.gen.ts").read_text()
