"""Pinned packages: every entry has a version and hashes, and every install checks them."""

import ast
import json
import re
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from config.environment.variables import BASE_DIR
from development.licences import LOCKS

FILES = sorted(path.name for path in BASE_DIR.glob("requirements*.txt"))


# What production and development run, each with the files that name its packages.
INPUTS = ("requirements.in", "requirements-watching.in", "requirements-dev.in", "requirements-deploy.in")
PRODUCTION = ("config", "accounts", "tokens", "pretokens", "leaderboard", "development")
SOURCES = dict.fromkeys(PRODUCTION, INPUTS[:2]) | {"tests": INPUTS, "benchmarks": INPUTS}


def named(names: tuple[str, ...]) -> set[str]:
    """Return the distributions that input files name."""
    lines = [line for name in names for line in (BASE_DIR / name).read_text().splitlines()]
    return {canonicalize_name(re.split(r"[=\[<> ]", line)[0]) for line in lines if line[:1].isalnum()}


def imported(file: Path) -> Iterator[str]:
    """Yield the top-level packages that a module imports."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


@pytest.mark.parametrize("source", SOURCES)
def test_every_imported_package_is_named_and_not_only_what_another_one_needs(source):
    distributions, known = packages_distributions(), named(SOURCES[source])
    unnamed = {
        f"{file.relative_to(BASE_DIR)} imports {name}"
        for file in (BASE_DIR / source).rglob("*.py")
        if "node_modules" not in file.parts
        for name in imported(file)
        # Packages that only slow tests need may be missing. A module that needs another missing one can't be imported.
        if name in distributions
        and not (BASE_DIR / name).exists()
        and known.isdisjoint(map(canonicalize_name, distributions[name]))
    }
    assert unnamed == set()


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


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.parent.name)
def test_every_npm_package_is_pinned_with_its_digest(lock):
    manifest = json.loads((lock.with_name("package.json")).read_text())
    kinds = ("dependencies", "devDependencies", "optionalDependencies")
    direct = [entry for kind in kinds for entry in manifest.get(kind, {}).items()]
    assert [name for name, version in direct if not re.fullmatch(r"(npm:[\w-]+@)?\d+\.\d+\.\d+", version)] == []
    packages = json.loads(lock.read_text())["packages"]
    root = packages.pop("")
    assert [root.get(kind) for kind in kinds] == [manifest.get(kind) for kind in kinds]
    assert [path for path, entry in packages.items() if not entry["integrity"].startswith("sha512-")] == []
    # Without a registry's address: the client's configuration has it.
    assert [path for path, entry in packages.items() if "resolved" in entry] == []


def test_an_audit_fails_for_packages_that_it_could_not_look_up():
    makefile = (BASE_DIR / "Makefile").read_text()
    assert re.findall(r"pip-audit (.*?) --requirement", makefile) == ["--strict --disable-pip"]
