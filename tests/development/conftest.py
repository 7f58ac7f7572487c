"""Directories for bundled servers."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def make_directory() -> Iterator[Callable[[], Path]]:
    """Return a function that makes a directory that every user can enter, unlike pytest's."""
    made: list[Path] = []

    def make() -> Path:
        made.append(Path(tempfile.mkdtemp()))
        made[-1].chmod(0o711)
        return made[-1]

    yield make
    for directory in made:
        shutil.rmtree(directory)
