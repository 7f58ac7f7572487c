"""Rules for the source tree: what imports what, how large rooms and modules grow, and which words they use.

Read from the sources, so that no reviewer has to remember them. README has a map of the rooms, docs/words.md the words.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.prose import frequencies, grammar, noun_chains, replaced_words

ROOT = Path(__file__).resolve().parent.parent
APPS = ("accounts", "tokens", "pretokens", "leaderboard")
PACKAGES = ("config", *APPS, "development")
ROOT_FOLDERS = (*PACKAGES, "tests", "benchmarks", "docs", "clients", "templates", "deploy")
MAX_LINES = 400
MAX_MODULES = 20
# Comments that silence a linter or the type checker. The number only falls: remove the cause instead.
MAX_SUPPRESSIONS = 3
DECISIONS = ROOT / "docs" / "decisions"
# Limits for decision records, which only fall: all records, and the words in one. A word is text between blanks with a
# letter or digit; heading and labels count.
MAX_RECORDS, MAX_RECORD_WORDS = 120, 80
RECORD = re.compile(r"^## (\d+)\. .*?(?=^## |\Z)", re.M | re.S)
SUPPRESSION = re.compile(r"# (?:noqa|type: ignore)|pragma: no")
# The most for each room, per 1,000 words and per 1,000 assigned names, as `tests.prose.grammar` counts them.
MAX_GRAMMAR = {"of": 25, "relatives": 0.5, "vague names": 10}

# Our packages that each package may import, besides itself and the libraries.
DOWNHILL = {
    "config": set[str](),
    "accounts": {"config"},
    "tokens": {"accounts", "config"},
    "pretokens": {"tokens", "accounts", "config"},
    "leaderboard": {"tokens", "accounts", "config"},
    "development": {"tokens", "accounts", "config"},
}
# Packages below all others, each with what it may import from us: no settings, no models and no Django.
LIBRARIES = {
    "tokens.chains": ("tokens.chains", "config.http", "config.parsing"),
    "config.http": ("config.http",),
    "config.parsing": ("config.parsing",),
}
# The bundled servers are found by the settings, before Django is set up.
BUNDLED_SERVERS = "development.servers"
SETTINGS = ("config.settings",)
# Outside services are not ours: all that their stand-ins share with the service is HTTP.
STANDINS = "development.standins"
# Each package's rooms, with the rooms that their modules besides doors may import. Models are below all rooms.
ROOMS = {
    "config.http": set[str](),
    "config.parsing": set[str](),
    "config.environment": {"config.http", "config.parsing"},
    "config.processes": {"config.http"},
    "config.postgresql": {"config.http"},
    "config.redis": {"config.http", "config.environment", "config.processes"},
    "config.workers": {"config.processes", "config.redis"},
    # What is shared by the programs that serve HTTP.
    "config.web": set[str](),
    "config.edge": {"config.http", "config.processes", "config.redis", "config.web"},
    "config.events": {"config.http", "config.parsing", "config.processes", "config.postgresql", "config.web"},
    "config.site": {"config.environment", "config.parsing", "config.redis", "config.web"},
    "config.operators": {"config.postgresql", "config.workers", "config.web", "config.site"},
    "config.api": {
        "config.http",
        "config.parsing",
        "config.processes",
        "config.postgresql",
        "config.redis",
        "config.web",
        "config.events",
        # Errors outside the API's addresses are pages.
        "config.site",
    },
    "config.mcp": {"config.parsing", "config.processes", "config.web", "config.api"},
    # Probes and scrapes respond with the API's errors.
    "config.watching": {
        "config.http",
        "config.postgresql",
        "config.redis",
        "config.workers",
        "config.web",
        "config.api",
    },
    "config.backups": {"config.postgresql"},
    "config.doctor": {
        "config.http",
        "config.environment",
        "config.processes",
        "config.postgresql",
        "config.redis",
        "config.workers",
        "config.operators",
        "config.backups",
    },
    "tokens.chains": set[str](),
    "tokens.installation": {"tokens.chains"},
    "tokens.trades": {"tokens.chains", "tokens.installation"},
    "tokens.indexing": {"tokens.chains", "tokens.installation", "tokens.trades"},
    "tokens.following": {"tokens.chains", "tokens.installation", "tokens.trades", "tokens.indexing"},
    "tokens.catalogue": {"tokens.chains", "tokens.installation", "tokens.trades", "tokens.indexing"},
    "tokens.fees": {"tokens.chains", "tokens.installation", "tokens.indexing"},
    "tokens.market": {
        "tokens.chains",
        "tokens.installation",
        "tokens.trades",
        "tokens.indexing",
        "tokens.catalogue",
    },
    "tokens.feeds": {
        "tokens.chains",
        "tokens.installation",
        "tokens.trades",
        "tokens.indexing",
        "tokens.following",
        "tokens.catalogue",
        "tokens.market",
    },
    "tokens.integrity": {
        "tokens.chains",
        "tokens.installation",
        "tokens.trades",
        "tokens.indexing",
        # Whether the launch's blocks were read for trades.
        "tokens.following",
        "tokens.catalogue",
        "tokens.market",
    },
    "tokens.deploying": {"tokens.chains", "tokens.installation", "tokens.indexing"},
    # Trials of declared launchpads show what would be trades.
    "tokens.declaring": {"tokens.chains", "tokens.installation", "tokens.trades"},
    # The rules and bytes of launches, and stored proofs.
    "tokens.transactions": {"tokens.chains", "tokens.installation", "tokens.deploying"},
    # The rules for a deployment's texts.
    "tokens.uploads": {"tokens.deploying"},
    "tokens.ledger": {
        "tokens.chains",
        "tokens.installation",
        "tokens.trades",
        "tokens.indexing",
        "tokens.following",
        "tokens.catalogue",
        "tokens.fees",
    },
    "tokens.site": {
        "tokens.chains",
        "tokens.installation",
        "tokens.trades",
        "tokens.indexing",
        "tokens.following",
        "tokens.catalogue",
        "tokens.fees",
        "tokens.market",
        "tokens.ledger",
        "tokens.integrity",
        # Proofs of airdrops that this service deployed.
        "tokens.deploying",
    },
    "accounts.keys": set[str](),
    "accounts.profiles": set[str](),
    "accounts.operators": set[str](),
    "accounts.subscriptions": set[str](),
    "accounts.users": set[str](),
    "accounts.administrators": {"accounts.users", "accounts.operators"},
    "leaderboard.facts": set[str](),
    "leaderboard.events": {"leaderboard.facts"},
    "leaderboard.hub": {"leaderboard.facts", "leaderboard.events"},
    "leaderboard.ranking": {"leaderboard.facts"},
}
# Modules that Django, Celery, Django REST framework or a command line calls: no other module imports them.
DOORS = {
    "views", "tasks", "admin", "management", "urls", "page_urls", "picture_urls", "apps", "migrations", "dashboard",
}  # fmt: skip
# Doors that share DRF's classes among each other and know HTTP.
HTTP_DOORS = DOORS | {
    "serializers",
    "authentication",
    "permissions",
    "api_errors",
    "chain_fields",
    "list_parameters",
    "lockout",
    "login_limits",
    "metrics",
}
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "services", "service", "manager", "managers", "lib"}
SIGNALS = ("django.dispatch", "django.db.models.signals", "django.core.signals", "django.contrib.auth.signals")
# Modules that use signals, each with the reason.
USES_SIGNALS = {
    "accounts.apps": "Django's only way to act after `migrate`",
    "config.api.error_handling": "it sends the signal that error trackers and Django's test client listen for",
}
# It loads eth-abi, and with it pydantic, on first use (decision 134).
LOADS_LATE = {"tokens.chains.abi.codec"}
# File names that frameworks or conventions give, so that several packages have them.
CONVENTIONAL = {
    "__init__", "__main__", "admin", "apps", "dashboard", "diagnostics", "errors", "formats", "metrics", "models",
    "page_urls", "picture_urls", "responses", "serializers", "tasks", "types", "urls", "views",
}  # fmt: skip
# Modules with under SMALL lines that no framework or convention requires, each with the reason to be separate.
SMALL = 40
ALONE = {
    "accounts.operators.login_form": "the admin site loads it, in processes without Redis",
    "accounts.operators.second_factor_middleware": "settings name it",
    "config.web.metrics_access": "shared by the web server and the stream, without Django REST framework",
    "config.api.replica_reads": "shared by the public reads of two packages",
    "config.environment.secret": "imported by settings of all subjects",
    "config.http.backoff": "delays of rows and loops that have no circuit",
    "config.http.compute_lock": "shared by the HTTP client and the readers of history",
    "config.processes.heartbeats": "shared by the loops of four processes",
    "config.postgresql.case_folding": "shared by the models of two packages",
    "config.processes.open_files": "shared by the web server and the stream",
    "config.operators.row_links": "templates name it, in processes without the admin site",
    "config.site.sections": "shared by the pages of two packages",
    "config.parsing.timestamps": "shared by API, pages and providers' responses",
    "config.web.body_limits": "shared by the web server and the API",
    "config.wsgi": "the web server names it",
    "development.local_accounts": "called by a management command only",
    "development.setting_overrides": "named by processes that tests and `make run` start",
    "tokens.admin.list_filters": "shared by the admin's lists",
    "tokens.chains.abi.paths": "shared by the registry's declarations and the decoders of three rooms",
    "tokens.chains.evm.logs.blooms": "shared by readers and checks of logs",
    "tokens.chains.evm.unsigned_calls": "shared by the builders of unsigned transactions",
    "tokens.chains.registry.presets": "the registry's presets, beside the chains",
    "tokens.deploying.enqueueing": "imported without the signers",
    "tokens.indexing.launch_lookup": "a read of chains; index requests have a transaction",
    "tokens.market.pool_statistics": "shared by both sources of market data",
    "tokens.installation.market_sources": "a rule of settings, without a chain or a signer",
    "tokens.trades.retention": "settings name it",
    "tokens.fees.claimed": "one of the room's three subjects",
    "tokens.indexing.chain_lock": "shared by indexing, following and deploying",
    "tokens.site.pictures.picture_tags": "settings name it",
}
CONVENTIONAL_CLASSES = {"Command", "Meta", "Migration"}
# Modules that may compare a text's beginning, since the text is no state, each with the reason.
READS_PREFIXES = {
    "accounts.operators.passwords": "a password's digest begins with its algorithm, as Django stores it",
    "config.backups.backing_up": "names of PostgreSQL's own schemas",
    "config.edge.cached_responses": "a status line of HTTP",
    "config.watching.log_lines": "names of loggers are a tree",
    "tokens.declaring.later_drafts": "types of Solidity",
    "tokens.admin.token_fields": "Django's audit log has one text for each change",
    "tokens.indexing.documents.fetching": "a URI begins with its scheme",
    "tokens.ledger.creator_search": "a search by the beginning of a name",
}
# Dotted names in documents that begin as a module's and are none.
NO_MODULES = {
    "tokens.W004": "a system check",
    "tokens.W005": "a system check",
    "tokens.tasks.index_transaction": "the name of a Celery task",
    "tokens.view_token": "a permission",
    "web3.py": "a library",
}
# A public function with such a name says nothing where it is imported by itself.
BARE_VERBS = {
    "add", "apply", "ask", "call", "change", "check", "claim", "count", "delete", "drop", "end", "fetch", "find",
    "get", "give", "hold", "keep", "look", "make", "move", "note", "open", "pull", "put", "read", "refresh", "run",
    "save", "say", "send", "set", "show", "start", "stop", "store", "take", "tell", "try", "wait", "walk", "watch",
    "write",
}  # fmt: skip


# Methods that parse a stored text.
PARSING = {"startswith", "endswith", "removeprefix", "splitlines"}
COMPARES_START = re.compile(r"\bstarts_with\(|\bI?LIKE '")
FILE_NAMES = re.compile(r"(?<![\w/.<{*:-])(?:[\w-]+/)*[\w-]+\.(?:py|sql)\b(?![\w{<*])")
FOLDER_NAMES = re.compile(rf"(?<![\w/.<{{*:-])((?:{'|'.join(ROOT_FOLDERS)})(?:/[\w-]+)*)/(?![\w{{<*.-])")
DOTTED_NAMES = re.compile(
    rf"(?<![\w/.<{{*:-])(?:{'|'.join(PACKAGES)}|tests|benchmarks)(?:\.(?!md\b|py\b|cjs\b)\w+)+(?![\w{{<*(/])"
)


@dataclass(frozen=True)
class Module:
    """A module's name, its source, and the dotted names that it imports when it runs."""

    name: str
    text: str
    imports: frozenset[str]
    hidden_imports: int
    classes: tuple[str, ...]
    # Names: the text columns that it defines, and the attributes whose text it reads by prefix or line.
    text_fields: frozenset[str]
    parsed_texts: frozenset[str]

    @property
    def package(self) -> str:
        return self.name.partition(".")[0]

    @property
    def parts(self) -> list[str]:
        return self.name.split(".")

    @property
    def is_door(self) -> bool:
        return bool(DOORS & set(self.parts))


def read_sources(sources: Mapping[str, str]) -> dict[str, Module]:
    """Return modules by dotted name, from their sources."""
    return {name: _read(name, text) for name, text in sources.items()}


def _read(name: str, text: str) -> Module:
    imports, hidden = set(), 0
    tree = ast.parse(text)
    for statement, inside in _run_time_imports(tree):
        hidden += inside
        if isinstance(statement, ast.Import):
            imports |= {alias.name for alias in statement.names}
        else:
            assert statement.level == 0 and statement.module, f"{name} has a relative import"
            # `from a import b` may name a module b or a definition in a.
            imports |= {statement.module} | {f"{statement.module}.{alias.name}" for alias in statement.names}
    nodes = list(ast.walk(tree))
    hidden += sum(_calls_import(node) for node in nodes)
    classes = tuple(node.name for node in nodes if isinstance(node, ast.ClassDef))
    fields = (_text_fields(node) for node in nodes if isinstance(node, ast.Assign))
    parsed = frozenset(filter(None, map(_parsed_text, nodes)))
    return Module(name, text, frozenset(imports), hidden, classes, frozenset().union(*fields), parsed)


def _run_time_imports(node: ast.AST, inside: bool = False) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Yield each import, and whether it is in a function; those for type checkers only are left out."""
    for child in ast.iter_child_nodes(node):
        for_types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, inside
        elif not for_types and not isinstance(child, ast.expr):
            yield from _run_time_imports(child, inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef))


def _calls_import(node: ast.AST) -> bool:
    called = getattr(node, "func", None)
    return getattr(called, "attr", getattr(called, "id", "")) in ("import_module", "__import__")


def _text_fields(node: ast.Assign) -> set[str]:
    """Return the names that an assignment gives to a text column."""
    called = ast.unparse(node.value.func) if isinstance(node.value, ast.Call) else ""
    is_text = called in ("models.TextField", "models.CharField")
    return {target.id for target in node.targets if isinstance(target, ast.Name) and is_text}


def _parsed_text(node: ast.AST) -> str:
    """Return the attribute whose text a method parses, or the look-up or SQL function that compares a beginning."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute) and node.attr in PARSING:
        return node.value.attr
    if isinstance(node, ast.keyword) and node.arg and node.arg.endswith(("__startswith", "__istartswith")):
        return "a look-up"
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and COMPARES_START.search(node.value):
        return "SQL"
    return ""


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def room_of(name: str) -> str:
    """Return a module's room: the longest key in ROOMS that contains it, or an empty string."""
    return max((room for room in ROOMS if within(name, room)), key=len, default="")


def uphill(modules: Mapping[str, Module]) -> set[str]:
    """Return imports from our packages above."""
    return {
        f"{module.name} imports {name}"
        for module in modules.values()
        for name in module.imports
        if within(name, *PACKAGES)
        and not within(name, module.package, *DOWNHILL[module.package], *LIBRARIES)
        and not (within(module.name, *SETTINGS) and within(name, BUNDLED_SERVERS))
    }


def uphill_rooms(modules: Mapping[str, Module]) -> set[str]:
    """Return a package's imports between rooms that do not go downhill, and rooms that the models below them import."""
    found = set()
    for module in modules.values():
        room = room_of(module.name)
        below = ROOMS.get(room, set[str]()) | {room}
        if module.parts[1:2] == ["models"]:
            below = {"tokens.chains"}
        elif not room or module.is_door:
            continue
        for name in module.imports:
            target = room_of(name)
            if target and target not in below and within(name, module.package) and not within(name, "tokens.chains"):
                found.add(f"{module.name} imports {name}")
    return found


def worldly_libraries(modules: Mapping[str, Module]) -> set[str]:
    """Return a library's imports from Django or the service."""
    return {
        f"{module.name} imports {name}"
        for module in modules.values()
        for library, allowed in LIBRARIES.items()
        if within(module.name, library)
        for name in module.imports
        if within(name, "django", "rest_framework", "celery")
        or (within(name, *PACKAGES) and not within(name, *allowed) and name != "config")
    }


def standins_that_know_us(modules: Mapping[str, Module]) -> set[str]:
    """Return imports from the service in the stand-ins for outside services."""
    return {
        f"{module.name} imports {name}"
        for module in modules.values()
        if within(module.name, STANDINS)
        for name in module.imports
        if within(name, *PACKAGES) and not within(name, STANDINS)
    }


def http_in_domain(modules: Mapping[str, Module]) -> set[str]:
    """Return imports from DRF, or from the rooms that serve HTTP, in app modules that are no doors."""
    return {
        f"{module.name} imports {name}"
        for module in modules.values()
        if module.package in APPS and not HTTP_DOORS & set(module.parts)
        for name in module.imports
        if within(name, "rest_framework", "config.api", "config.web", "drf_spectacular")
    }


def through_doors(modules: Mapping[str, Module]) -> set[str]:
    """Return imports from doors in modules that are no doors."""
    return {
        f"{module.name} imports {name}"
        for module in modules.values()
        if not module.is_door
        for name in module.imports
        if within(name, *APPS) and DOORS & set(name.split(".")[1:])
    }


def hidden_imports(modules: Mapping[str, Module]) -> set[str]:
    """Return modules that import in a function, or by a module's name as text."""
    return {module.name for module in modules.values() if module.hidden_imports and module.name not in LOADS_LATE}


def signals(modules: Mapping[str, Module]) -> set[str]:
    return {
        module.name
        for module in modules.values()
        if module.name not in USES_SIGNALS and any(within(name, *SIGNALS) for name in module.imports)
    }


def vague_names(modules: Mapping[str, Module]) -> set[str]:
    return {module.name for module in modules.values() if VAGUE & set(module.parts)}


def repeated_names(modules: Mapping[str, Module]) -> set[str]:
    """Return modules whose name another module has, or repeats their folder's name."""
    packages = {name.rpartition(".")[0] for name in modules}
    leaves = defaultdict(set)
    for name, module in modules.items():
        outside = {"migrations", "management"} & set(module.parts)
        if name not in packages and not outside and module.parts[-1] not in CONVENTIONAL:
            leaves[module.parts[-1]].add(name)
    # A module in `models` has a subject's rows; the room or module that works on them has the same name.
    shared = {leaf: {name for name in names if ".models." not in name} for leaf, names in leaves.items()}
    return {name for names in shared.values() if len(names) > 1 for name in names} | {
        name for name, module in modules.items() if module.parts[-2:-1] == module.parts[-1:]
    }


def repeated_classes(modules: Mapping[str, Module]) -> set[str]:
    """Return class names that are defined more than once."""
    names = Counter(name for module in modules.values() for name in module.classes)
    return {name for name, count in names.items() if count > 1} - CONVENTIONAL_CLASSES


def bare_verbs(modules: Mapping[str, Module]) -> set[str]:
    """Return functions named by a bare verb that are imported without their module's name."""
    return {
        name
        for module in modules.values()
        for name in module.imports
        if within(name, *PACKAGES) and name not in modules and name.rpartition(".")[2] in BARE_VERBS
    }


def parsed_state(modules: Mapping[str, Module]) -> set[str]:
    """Return modules that read a text column by its beginning or its lines: state needs its own column."""
    fields = {"a look-up", "SQL"}.union(*(module.text_fields for module in modules.values()))
    return {
        f"{module.name} parses {name}"
        for module in modules.values()
        if module.name not in READS_PREFIXES and "migrations" not in module.parts
        for name in module.parsed_texts & fields
    }


def missing_paths(documents: Mapping[str, str], files: Collection[str]) -> set[str]:
    """Return module and folder names in documents that the tree lacks; `files` are its paths."""
    folders = {folder.as_posix() for file in files for folder in Path(file).parents}
    ends = {"/".join(parts[start:]) for file in files for parts in [file.split("/")] for start in range(len(parts))}
    modules = {_dotted_path(file) for file in files if file.endswith(".py")}
    packages = {folder.replace("/", ".") for folder in folders}
    found = set()
    for document, text in documents.items():
        beside = Path(document).parent.as_posix()
        found |= {f"{document}: {name}" for name in FILE_NAMES.findall(text) if name not in ends}
        for folder in FOLDER_NAMES.findall(text):
            if not {folder, f"tests/{folder}", f"{beside}/{folder}"} & folders:
                found.add(f"{document}: {folder}/")
        for name in DOTTED_NAMES.findall(text):
            # A module, or a definition in one; the apps themselves define nothing.
            owner = name.rpartition(".")[0]
            if name not in modules | packages and not ("." in owner and owner in modules):
                found.add(f"{document}: {name}")
    return {finding for finding in found if finding.rpartition(" ")[2] not in NO_MODULES}


def too_long(modules: Mapping[str, Module]) -> set[str]:
    return {
        module.name
        for module in modules.values()
        if "migrations" not in module.parts and module.text.count("\n") > MAX_LINES
    }


def too_short(modules: Mapping[str, Module]) -> set[str]:
    """Return modules that belong in another one, and reasons that nothing needs any more."""
    packages = {name.rpartition(".")[0] for name in modules}
    short = {
        name
        for name, module in modules.items()
        if name not in packages and not {"migrations", "commands"} & set(module.parts)
        if module.text.count("\n") < SMALL and module.parts[-1] not in CONVENTIONAL
    }
    return {f"{name} has under {SMALL} lines" for name in short - set(ALONE)} | {
        f"{name} needs no reason" for name in set(ALONE) & set(modules) - short
    }


def replaced(modules: Mapping[str, Module]) -> set[str]:
    """Return words that docs/words.md replaces, each with its module and what to write instead."""
    return {
        f"{name}: {word} (write: {instead})"
        for name, module in modules.items()
        if "migrations" not in module.parts
        for _, word, instead in replaced_words(module.text)
    }


def heavy_grammar(modules: Mapping[str, Module]) -> set[str]:
    """Return the rooms, and the packages without their rooms, whose prose or local names exceed MAX_GRAMMAR."""
    sources = defaultdict(list)
    for module in modules.values():
        if "migrations" not in module.parts:
            sources[room_of(module.name) or module.package].append(module.text)
    return {
        f"{room} has too many: {name}"
        for room, texts in sources.items()
        for name, rate in grammar(texts).items()
        if rate > MAX_GRAMMAR[name]
    }


def describing_serializers(modules: Mapping[str, Module]) -> set[str]:
    """Return serializers that only the API's description uses: the type that code returns describes a response."""
    classes: dict[str, ast.ClassDef] = {}
    uses = set[str]()
    for module in modules.values():
        for node in ast.parse(module.text).body:
            if isinstance(node, ast.ClassDef):
                classes[node.name] = node
            elif not isinstance(node, ast.Import | ast.ImportFrom):
                uses.update(_names_without_decorators(node))
    serializers = _grown({"Serializer"}, lambda names: {n for n, c in classes.items() if names & _base_names(c)})
    for name in set(classes) - serializers:
        uses.update(_names_without_decorators(classes[name]))
    serializers &= set(classes)
    used = _grown(uses, lambda names: {n for s in names & serializers for n in _names_without_decorators(classes[s])})
    inline = {
        f"{module.name} has an inline serializer" for module in modules.values() if "inline_serializer(" in module.text
    }
    return (serializers - used) | inline


def _grown(names: set[str], grow: Callable[[set[str]], set[str]]) -> set[str]:
    """Return the names with those that `grow` adds, until it adds no more."""
    while further := grow(names) - names:
        names = names | further
    return names


def _base_names(node: ast.ClassDef) -> set[str]:
    return {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases}


def _names_without_decorators(node: ast.AST) -> Iterator[str]:
    """Yield the names that a definition uses, without those in decorators and annotations."""
    if isinstance(node, ast.Name):
        yield node.id
    if isinstance(node, ast.Attribute):
        yield node.attr
    skipped = {"decorator_list", "annotation", "returns"}
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if name not in skipped and isinstance(child, ast.AST):
                yield from _names_without_decorators(child)


def circles(modules: Mapping[str, Module]) -> set[str]:
    """Return modules that import themselves, directly or through others."""
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


def crowded(folders: Mapping[str, int]) -> set[str]:
    """Return folders with more than MAX_MODULES modules directly in them."""
    return {folder for folder, count in folders.items() if count > MAX_MODULES}


@pytest.fixture(scope="module")
def modules() -> dict[str, Module]:
    files = [
        file for package in PACKAGES for file in (ROOT / package).rglob("*.py") if "node_modules" not in file.parts
    ]
    return read_sources({_dotted(file): file.read_text(encoding="utf-8") for file in files})


@pytest.fixture(scope="module")
def records() -> list[tuple[str, int, str]]:
    """Return each decision record's file name, number and text."""
    return [
        (path.name, int(match[1]), match[0])
        for path in DECISIONS.glob("*.md")
        if path.name != "README.md"
        for match in RECORD.finditer(path.read_text())
    ]


def _dotted(file: Path) -> str:
    return _dotted_path(file.relative_to(ROOT).as_posix())


def _dotted_path(path: str) -> str:
    """Return a module's dotted name by its path."""
    parts = path.removesuffix(".py").split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# Each rule with sources that break it, and the finding.
BAD = [
    (uphill, {"config.api.page": "from tokens.models import Token"}, "config.api.page imports tokens.models"),
    (uphill, {"config.urls": "import tokens.urls"}, "config.urls imports tokens.urls"),
    (uphill, {"config.celery": "import development.servers"}, "config.celery imports development.servers"),
    (uphill, {"accounts.keys": "from tokens import models"}, "accounts.keys imports tokens"),
    (uphill, {"tokens.models": "import leaderboard.models"}, "tokens.models imports leaderboard.models"),
    (uphill, {"tokens.models": "import development.run"}, "tokens.models imports development.run"),
    (uphill_rooms, {"tokens.indexing.a": "import tokens.market.b"}, "tokens.indexing.a imports tokens.market.b"),
    (uphill_rooms, {"tokens.fees.a": "from tokens.following import b"}, "tokens.fees.a imports tokens.following"),
    (uphill_rooms, {"tokens.models.a": "import tokens.indexing.b"}, "tokens.models.a imports tokens.indexing.b"),
    (uphill_rooms, {"tokens.market.a": "import tokens.fees.b"}, "tokens.market.a imports tokens.fees.b"),
    (worldly_libraries, {"tokens.chains.evm": "import django.conf"}, "tokens.chains.evm imports django.conf"),
    (worldly_libraries, {"tokens.chains.evm": "from config import redis"}, "tokens.chains.evm imports config.redis"),
    (worldly_libraries, {"tokens.chains.evm": "import tokens.models"}, "tokens.chains.evm imports tokens.models"),
    (worldly_libraries, {"config.http.a": "from django.conf import settings"}, "config.http.a imports django.conf"),
    (standins_that_know_us, {f"{STANDINS}.a": "import config.http"}, f"{STANDINS}.a imports config.http"),
    (http_in_domain, {"tokens.fees.a": "import rest_framework"}, "tokens.fees.a imports rest_framework"),
    (http_in_domain, {"pretokens.body": "from config.api import errors"}, "pretokens.body imports config.api"),
    (http_in_domain, {"pretokens.body": "import config.web.routing"}, "pretokens.body imports config.web.routing"),
    (through_doors, {"tokens.fees.a": "from tokens.fees import tasks"}, "tokens.fees.a imports tokens.fees.tasks"),
    (through_doors, {"tokens.models": "import tokens.fees.views"}, "tokens.models imports tokens.fees.views"),
    (hidden_imports, {"tokens.models": "def find():\n    import json"}, "tokens.models"),
    (hidden_imports, {"tokens.models": "class A:\n async def b(self):\n  import json"}, "tokens.models"),
    (hidden_imports, {"tokens.models": "import importlib\nimportlib.import_module('json')"}, "tokens.models"),
    (hidden_imports, {"tokens.models": "__import__('json')"}, "tokens.models"),
    (signals, {"tokens.apps": "from django.db.models.signals import post_save"}, "tokens.apps"),
    (signals, {"tokens.apps": "from django.dispatch import receiver"}, "tokens.apps"),
    (vague_names, {"tokens.utils": ""}, "tokens.utils"),
    (vague_names, {"tokens.services.index": ""}, "tokens.services.index"),
    (repeated_names, {"tokens.fees.log": "", "accounts.log": ""}, "tokens.fees.log"),
    (repeated_names, {"tokens.fees.fees": ""}, "tokens.fees.fees"),
    (repeated_classes, {"a": "class Page: pass", "b.responses": "class Page: pass"}, "Page"),
    (bare_verbs, {"tokens.fees.a": "from tokens.models import take"}, "tokens.models.take"),
    (too_long, {"tokens.models": "\n" * (MAX_LINES + 1)}, "tokens.models"),
    (too_short, {"a.b": "\n" * (SMALL - 1)}, "a.b has under 40 lines"),
    (too_short, {"config.parsing.timestamps": "\n" * SMALL}, "config.parsing.timestamps needs no reason"),
    (replaced, {"a": "# Nodes are asked."}, "a: asked (write: request, query, poll, fetch, call)"),
    (replaced, {"a": '"""Tell the tip."""'}, "a: Tell (write: return, report, respond with)"),
    (replaced, {"a": "logger.info('a node is asked')"}, "a: asked (write: request, query, poll, fetch, call)"),
    (parsed_state, {"a": "x = models.TextField()\ny.x.startswith('b')"}, "a parses x"),
    (parsed_state, {"a": "x = models.CharField()", "b": "y.x.splitlines()"}, "b parses x"),
    (parsed_state, {"a": "rows.filter(x__startswith='b')"}, "a parses a look-up"),
    (parsed_state, {"a": "SQL = \"WHERE x LIKE 'b%'\""}, "a parses SQL"),
    (parsed_state, {"a": "SQL = 'WHERE starts_with(x, %s)'"}, "a parses SQL"),
    (heavy_grammar, {"tokens.fees.a": "# The state of the tokens of a launch."}, "tokens.fees has too many: of"),
    (heavy_grammar, {"a": "# A price and that of the pool."}, "a has too many: relatives"),
    (heavy_grammar, {"a": "found = 1"}, "a has too many: vague names"),
    (describing_serializers, {"a": "class A(Serializer): pass\n@shown(A)\ndef b(): pass"}, "A"),
    (describing_serializers, {"a": "class A(Serializer): pass\nclass B(Serializer): a = A()"}, "A"),
    (describing_serializers, {"a": "A = inline_serializer('A', {})"}, "a has an inline serializer"),
    (circles, {"a": "import b", "b": "from c import x", "c": "if x:\n    import a"}, "a"),
]


@pytest.mark.parametrize(("rule", "sources", "finding"), BAD)
def test_the_rule_finds_what_breaks_it(rule, sources, finding):
    assert finding in rule(read_sources(sources))


def test_an_import_for_type_checkers_only_closes_no_circle():
    sources = {"a": "import b", "b": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a"}
    assert circles(read_sources(sources)) == set()


@pytest.mark.parametrize(
    "name", ["gone.py", "fees/gone.py", "tokens/fees/gone.py", "tokens/gone/", "tokens.gone.a.take", "tokens.gone"]
)
def test_a_document_that_names_what_is_gone_is_found(name):
    files = ["tokens/fees/claimed.py", "tests/fees/test_claimed.py"]
    assert missing_paths({"docs/a.md": f"See `{name}`."}, files) == {f"docs/a.md: {name}"}


def test_a_document_may_name_a_module_by_its_end_and_a_folder_beside_it():
    files = ["tokens/fees/claimed.py", "tests/fees/test_claimed.py", "benchmarks/tokens/a.py"]
    names = "`claimed.py`, fees/claimed.py, tokens/fees/, tests/fees/test_claimed.py, tokens.fees.claimed.read_fees"
    assert missing_paths({"benchmarks/a.md": f"{names}, tokens/, web3.py"}, files) == set()


def test_a_folder_with_too_many_modules_is_found():
    assert crowded({"tokens": MAX_MODULES + 1, "accounts": MAX_MODULES}) == {"tokens"}


RULES = [
    uphill, uphill_rooms, worldly_libraries, standins_that_know_us, http_in_domain, through_doors, hidden_imports,
    signals, vague_names, repeated_names, repeated_classes, bare_verbs, parsed_state, too_long, too_short, replaced,
    heavy_grammar, describing_serializers, circles,
]  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_the_sources_keep_the_rule(rule, modules):
    assert rule(modules) == set()


def test_documents_name_what_exists():
    paths = list(_paths(ROOT))
    # The changelog also names what former versions had.
    documents = {path: (ROOT / path).read_text() for path in paths if path.endswith(".md") and path != "CHANGELOG.md"}
    sources = [path for path in paths if path.endswith(".py") and "/migrations/" not in path]
    documents |= {path: _docstrings((ROOT / path).read_text()) for path in sources}
    assert missing_paths(documents, paths) == set()


def _paths(folder: Path) -> Iterator[str]:
    """Yield file paths, without tools' and hidden folders."""
    for path in folder.iterdir():
        if path.is_dir() and not path.name.startswith(".") and path.name not in ("node_modules", "__pycache__"):
            yield from _paths(path)
        elif path.is_file():
            yield path.relative_to(ROOT).as_posix()


def _docstrings(source: str) -> str:
    nodes = ast.walk(ast.parse(source))
    defined = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return "\n".join(ast.get_docstring(node) or "" for node in nodes if isinstance(node, defined))


def test_decision_records_are_few_and_short(records):
    assert len(records) <= MAX_RECORDS
    words = {number: len(re.findall(r"\S*\w\S*", text)) for _, number, text in records}
    assert {number: count for number, count in words.items() if count > MAX_RECORD_WORDS} == {}


def test_the_table_of_decisions_has_each_record_once(records):
    rows = re.findall(r"\]\(([\w-]+\.md)\) \| (\d.*) \|$", (DECISIONS / "README.md").read_text(), re.M)
    listed = [
        (name, number)
        for name, numbers in rows
        for first, last in re.findall(r"(\d+)(?:–(\d+))?", numbers)
        for number in range(int(first), int(last or first) + 1)
    ]
    assert sorted(listed) == sorted((name, number) for name, number, _ in records)
    assert len({number for _, number in listed}) == len(listed)


def test_references_to_decisions_lead_to_records(records):
    texts = [(ROOT / path).read_text() for path in _paths(ROOT) if path.endswith((".md", ".py", ".sql", ".in"))]
    references = {int(number) for text in texts for number in re.findall(r"\bdecision (\d+)", text)}
    assert references <= {number for _, number, _ in records}


def test_a_folder_fits_on_a_screen():
    folders = Counter(
        str(file.parent.relative_to(ROOT))
        for package in (*PACKAGES, "tests", "benchmarks")
        for file in (ROOT / package).rglob("*.py")
        if file.stem != "__init__" and not {"node_modules", "migrations"} & set(file.parts)
    )
    assert crowded(folders) == set()


def test_few_findings_are_suppressed(modules):
    lines = [f"{name}: {line}" for name, module in modules.items() for line in module.text.splitlines()]
    suppressed = [line for line in lines if SUPPRESSION.search(line)]
    assert len(suppressed) <= MAX_SUPPRESSIONS, suppressed


def test_the_prose_is_in_the_words_of_the_field(modules):
    figures = frequencies([module.text for module in modules.values() if "migrations" not in module.parts])
    assert figures["persons"] <= 1.5 and figures["speech"] <= 3 and figures["field"] >= 8, figures


@pytest.mark.parametrize("folder", ["benchmarks", "tests"])
def test_prose_beside_the_product_has_few_noun_chains(folder):
    figures = noun_chains([(ROOT / path).read_text() for path in _paths(ROOT / folder) if path.endswith(".py")])
    assert figures["of"] <= MAX_GRAMMAR["of"] and figures["relatives"] <= MAX_GRAMMAR["relatives"], figures


def test_all_sources_are_read(modules):
    assert {"config.urls", "config.http", "accounts.models", "tokens.chains.evm", "development.run"} <= set(modules)
    assert "tokens.models" in modules["tokens.indexing.index_requests"].imports
