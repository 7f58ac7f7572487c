"""Pinned packages: every entry has a version and hashes, and every install checks them."""

import json
import re

import pytest

from config.environment.variables import BASE_DIR
from development.licences import LOCK

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


def test_every_npm_package_is_pinned_with_its_digest():
    manifest = json.loads((LOCK.with_name("package.json")).read_text())
    direct = manifest["devDependencies"] | manifest["optionalDependencies"]
    assert [name for name, version in direct.items() if not re.fullmatch(r"\d+\.\d+\.\d+", version)] == []
    packages = json.loads(LOCK.read_text())["packages"]
    assert packages.pop("")["optionalDependencies"] == manifest["optionalDependencies"]
    assert [path for path, entry in packages.items() if not entry["integrity"].startswith("sha512-")] == []


def test_an_audit_fails_for_packages_that_it_could_not_look_up():
    makefile = (BASE_DIR / "Makefile").read_text()
    assert re.findall(r"pip-audit (.*?) --requirement", makefile) == ["--strict --disable-pip"]
