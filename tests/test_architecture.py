"""Who may import whom, and how large a module grows: read from the sources, so that no one has to remember it."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
APPS = ("accounts", "tokens", "pretokens", "leaderboard")
PACKAGES = ("config", *APPS, "devchain", "standins", "local")
MAX_LINES = 320

# Which packages of ours each package may import; itself always.
DOWNHILL = {
    "config": set[str](),
    "accounts": {"config"},
    "tokens": {"accounts", "config"},
    "pretokens": {"tokens", "accounts", "config"},
    "leaderboard": {"tokens", "accounts", "config"},
    "devchain": {"config"},
    # They are other people's services: all they share with ours is HTTP.
    "standins": set[str](),
    "local": {"devchain", "standins", "config"},
}
# Modules that Django, Celery, DRF or a command line calls. Nothing that they call imports them.
DOORS = {"views", "tasks", "admin", "management", "urls", "page_urls", "apps"}
DRAWERS = {"utils", "util", "helpers", "helper", "common", "misc", "services", "service", "manager", "managers", "lib"}
SIGNALS = ("django.dispatch", "django.db.models.signals", "django.core.signals", "django.contrib.auth.signals")
# What the chain library needs of config, which knows no more of the service than the library does.
UNWORLDLY = ("tokens.chains.base58", "config.http.json_client")
# It raises the signal that error trackers and Django's test client listen for, and receives none.
RAISES_A_SIGNAL = "config.api.error_handling"


@dataclass(frozen=True)
class Module:
    """A module's name, its text, and the dotted names that it imports when it runs."""

    name: str
    text: str
    imports: frozenset[str]
    nested_imports: int

    @property
    def package(self) -> str:
        return self.name.partition(".")[0]

    @property
    def parts(self) -> list[str]:
        return self.name.split(".")


def read_sources(sources: Mapping[str, str]) -> dict[str, Module]:
    """Modules by dotted name, from their texts."""
    return {name: _read(name, text) for name, text in sources.items()}


def _read(name: str, text: str) -> Module:
    imports, nested = set(), 0
    for statement, inside in _run_time_imports(ast.parse(text)):
        nested += inside
        if isinstance(statement, ast.Import):
            imports |= {alias.name for alias in statement.names}
        else:
            assert statement.level == 0 and statement.module, f"{name} has a relative import"
            # `from a import b` may name a module b or something in a.
            imports |= {statement.module} | {f"{statement.module}.{alias.name}" for alias in statement.names}
    return Module(name, text, frozenset(imports), nested)


def _run_time_imports(node: ast.AST, inside: bool = False) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Each import, and whether it stands in a function; those for type checkers alone are left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, inside
        elif not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            yield from _run_time_imports(child, inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef))


def begins(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def uphill(modules: Mapping[str, Module]) -> set[str]:
    """Imports of a package of ours that lies above."""
    return {
        f"{module.name} imports {name}"
        for module in modules.values()
        for name in module.imports
        if begins(name, *PACKAGES) and not begins(name, module.package, *DOWNHILL[module.package])
    }


def worldly_chains(modules: Mapping[str, Module]) -> set[str]:
    """Imports by which the chain library, or a module of ours that it needs, would know the service."""
    found = set()
    for module in modules.values():
        chain = begins(module.name, "tokens.chains")
        if not chain and module.name not in UNWORLDLY:
            continue
        for name in module.imports:
            ours = begins(name, *PACKAGES) and not begins(name, *UNWORLDLY, "tokens.chains") and name != "config"
            if begins(name, "django", "rest_framework", "celery") or ours:
                found.add(f"{module.name} imports {name}")
    return found


def through_doors(modules: Mapping[str, Module]) -> set[str]:
    """Imports of a door by what is no door; views and tasks also by other doors' packages alone."""
    return {
        f"{module.name} imports {name}"
        for module in modules.values()
        if not DOORS & set(module.parts)
        for name in module.imports
        if begins(name, *APPS) and DOORS & set(name.split(".")[1:])
    }


def nested_imports(modules: Mapping[str, Module]) -> set[str]:
    return {module.name for module in modules.values() if module.nested_imports}


def signals(modules: Mapping[str, Module]) -> set[str]:
    return {
        module.name
        for module in modules.values()
        if module.name != RAISES_A_SIGNAL and any(begins(name, *SIGNALS) for name in module.imports)
    }


def drawers(modules: Mapping[str, Module]) -> set[str]:
    return {module.name for module in modules.values() if DRAWERS & set(module.parts)}


def too_long(modules: Mapping[str, Module]) -> set[str]:
    return {
        module.name
        for module in modules.values()
        if "migrations" not in module.parts and module.text.count("\n") > MAX_LINES
    }


def circles(modules: Mapping[str, Module]) -> set[str]:
    """Modules that import themselves, by whatever way."""
    direct = {
        module.name: {name for name in module.imports if name in modules and name != module.name}
        for module in modules.values()
    }
    reached = {name: set(targets) for name, targets in direct.items()}
    grown = True
    while grown:
        grown = False
        for targets in reached.values():
            further = set().union(*(direct[target] for target in targets)) - targets
            grown = grown or bool(further)
            targets |= further
    return {name for name, targets in reached.items() if name in targets}


@pytest.fixture(scope="module")
def modules() -> dict[str, Module]:
    files = [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    return read_sources({_dotted(file): file.read_text(encoding="utf-8") for file in files})


def _dotted(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# Each rule with sources that break it, and what it says of them.
BAD = [
    (uphill, {"config.api.page": "from tokens.models import Token"}, "config.api.page imports tokens.models"),
    (uphill, {"config.urls": "import tokens.urls"}, "config.urls imports tokens.urls"),
    (uphill, {"accounts.keys.credentials": "from tokens import models"}, "accounts.keys.credentials imports tokens"),
    (uphill, {"tokens.models": "import leaderboard.models"}, "tokens.models imports leaderboard.models"),
    (uphill, {"pretokens.models": "import leaderboard.models"}, "pretokens.models imports leaderboard.models"),
    (worldly_chains, {"tokens.chains.evm.evm_chain": "import django.conf"}, "tokens.chains.evm.evm_chain imports django.conf"),
    (worldly_chains, {"tokens.chains.evm.evm_chain": "from config import settings"}, "tokens.chains.evm.evm_chain imports config.settings"),
    (worldly_chains, {"tokens.chains.evm.evm_chain": "import tokens.models"}, "tokens.chains.evm.evm_chain imports tokens.models"),
    (worldly_chains, {"config.http.json_client": "from django.conf import settings"}, "config.http.json_client imports django.conf"),
    (worldly_chains, {"tokens.chains.base58": "from config.api import fields"}, "tokens.chains.base58 imports config.api"),
    (through_doors, {"tokens.indexing.index_requests": "from tokens import tasks"}, "tokens.indexing.index_requests imports tokens.tasks"),
    (through_doors, {"tokens.models": "import tokens.catalogue.views"}, "tokens.models imports tokens.catalogue.views"),
    (nested_imports, {"tokens.models": "def find():\n    import json"}, "tokens.models"),
    (nested_imports, {"tokens.models": "class A:\n async def b(self):\n  import json"}, "tokens.models"),
    (signals, {"tokens.apps": "from django.db.models.signals import post_save"}, "tokens.apps"),
    (signals, {"tokens.apps": "from django.dispatch import receiver"}, "tokens.apps"),
    (drawers, {"tokens.utils": ""}, "tokens.utils"),
    (drawers, {"tokens.services.index": ""}, "tokens.services.index"),
    (too_long, {"tokens.models": "\n" * (MAX_LINES + 1)}, "tokens.models"),
    (circles, {"a": "import b", "b": "from c import x", "c": "if x:\n    import a"}, "a"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "sources", "finding"), BAD)
def test_the_rule_finds_what_breaks_it(rule, sources, finding):
    assert finding in rule(read_sources(sources))


def test_an_import_for_type_checkers_alone_closes_no_circle():
    sources = {"a": "import b", "b": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a"}
    assert circles(read_sources(sources)) == set()


@pytest.mark.parametrize(
    "rule", [uphill, worldly_chains, through_doors, nested_imports, signals, drawers, too_long, circles]
)
def test_the_sources_keep_the_rule(rule, modules):
    assert rule(modules) == set()


def test_all_sources_are_read(modules):
    assert {
        "config.urls",
        "config.http.json_client",
        "accounts.models",
        "tokens.indexing.index_requests",
        "tokens.chains.evm.evm_chain",
    } <= set(modules)
    assert "tokens.models" in modules["tokens.indexing.index_requests"].imports
