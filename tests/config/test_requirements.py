"""Pinned requirements: every entry has a version and hashes, and every install checks them."""

import re

import pytest

from config.environment.variables import BASE_DIR

FILES = sorted(path.name for path in BASE_DIR.glob("requirements*.txt"))


def test_every_input_has_a_pinned_file():
    assert sorted(path.with_suffix(".txt").name for path in BASE_DIR.glob("requirements*.in")) == FILES


@pytest.mark.parametrize("name", FILES)
def test_every_entry_is_pinned_with_hashes(name):
    lines = (BASE_DIR / name).read_text().replace("\\\n", " ").splitlines()
    entries = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    assert entries
    assert [entry for entry in entries if not re.match(r"[\w.\[\],-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", entry)] == []


@pytest.mark.parametrize("name", ["Makefile", "docs/installing.md", ".ci/run"])
def test_every_install_of_a_file_checks_hashes(name):
    lines = (BASE_DIR / name).read_text().splitlines()
    installs = [line for line in lines if re.search(r"pip install .*(--requirement|-r)\b", line)]
    assert [line for line in installs if "--require-hashes" not in line] == []
    assert installs or name == ".ci/run"
