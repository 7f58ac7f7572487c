"""Fixtures of the tests of declarations: a recorded launchpad behind a node, and commands on a file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from tests.nodes.launchpad_recordings import CHAIN
from tests.nodes.recorded_launchpad import RecordedLaunchpad
from tests.nodes.recorded_node import Node


@pytest.fixture
def serve_launchpad(
    node: Node, settings: Any, tmp_path: Path, forget_chains: Callable[[], None]
) -> Callable[[str], RecordedLaunchpad]:
    """Return a function that installs the chain of a recording, on a node that serves it."""

    def serve(name: str) -> RecordedLaunchpad:
        pad = RecordedLaunchpad(name, node)
        (tmp_path / "chains.toml").write_text(pad.chain())
        settings.CHAINS_FILES = (str(tmp_path / "chains.toml"),)
        settings.RPC_URLS, settings.RPC_ATTEMPTS = {CHAIN: (node.url,)}, 1
        forget_chains()
        return pad

    return serve


@pytest.fixture
def try_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., str]:
    """Return a function that runs `try_launchpad` on a file with this text, and returns what it prints."""

    def command(text: str, *arguments: str) -> str:
        (tmp_path / "own.toml").write_text(text)
        call_command("try_launchpad", str(tmp_path / "own.toml"), *arguments, skip_checks=False)
        return str(capsys.readouterr().out)

    return command
