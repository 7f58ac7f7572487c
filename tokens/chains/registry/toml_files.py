"""Parsing and validation for registry files: they are rejected together, with every mistake in every file.

An operator can so fix a file in one pass. The rules for single values are in entry_rules.py.
"""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokens.chains.addresses import address_key
from tokens.chains.registry import entry_rules
from tokens.chains.registry.entry_rules import SOLANA, ChainRules, Rule
from tokens.chains.registry.launchpad_rules import read_launchpad
from tokens.chains.registry.launchpads import Launchpad

# In place of a file: a mistake in a setting, whose name is the place.
SETTINGS = "settings"
_TABLES = ("chains", "generations", "presets", "launchpads")


@dataclass(frozen=True, kw_only=True)
class RegistryMistake:
    """A broken rule: the file, the place such as `chains.8453.contracts[3].address` (counted from 0), the rule."""

    file: str
    key_path: str
    rule: str

    def __str__(self) -> str:
        return f"{self.file}: {self.key_path}: {self.rule}" if self.key_path else f"{self.file}: {self.rule}"


class RegistryError(ValueError):
    """Unusable registry files; `mistakes` lists all mistakes in the files' order."""

    def __init__(self, mistakes: Collection[RegistryMistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(str(mistake) for mistake in self.mistakes))


@dataclass(frozen=True, kw_only=True)
class RegistryFile:
    """A file's validated content, with only the keys that it contains.

    In a chain, `contracts`, `quote_tokens` and `known_deployers` are keyed by `address_key`; every address in a value
    has its display form. `reference_pools` is a list. A chain's key is its id in digits, or `solana`.
    """

    chains: dict[str, dict[str, Any]]
    generations: dict[str, dict[str, Any]]
    presets: dict[str, dict[str, Any]]
    launchpads: dict[str, Launchpad]


def read_registry_files(*paths: Path) -> list[RegistryFile]:
    """Parse the files. Raises RegistryError with all their mistakes.

    A chain may be incomplete if an earlier file has it, and a contract may name a generation from any file.
    """
    mistakes: list[RegistryMistake] = []
    documents = [(path, _parse(path, mistakes)) for path in paths]
    generations = {name: event for _, document in documents for name, event in _events(document)}
    files, known_chains = [], set[str]()
    for path, document in documents:
        reader = _FileReader(path, mistakes, generations=generations, known_chains=frozenset(known_chains))
        files.append(reader.read(document))
        known_chains.update(_keys(document, "chains"))
    if mistakes:
        raise RegistryError(mistakes)
    return files


def _parse(path: Path, mistakes: list[RegistryMistake]) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        mistakes.append(RegistryMistake(file=str(path), key_path="", rule=f"can't be read: {error.strerror}"))
    except UnicodeDecodeError:
        mistakes.append(RegistryMistake(file=str(path), key_path="", rule="can't be read: it is not UTF-8"))
    except tomllib.TOMLDecodeError as error:
        mistakes.append(RegistryMistake(file=str(path), key_path="", rule=f"is not TOML: {error}"))
    except RecursionError:
        mistakes.append(RegistryMistake(file=str(path), key_path="", rule="is nested too deeply"))
    except ValueError:
        # Python converts no text with over 4,300 digits.
        mistakes.append(RegistryMistake(file=str(path), key_path="", rule="has a number with too many digits"))
    return {}


def _keys(document: Mapping[str, Any], table: str) -> Collection[str]:
    value = document.get(table)
    return value.keys() if isinstance(value, dict) else ()


def _events(document: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield each generation's name and event, which may still be invalid."""
    for name in _keys(document, "generations"):
        fields = document["generations"][name]
        yield name, fields.get("event") if isinstance(fields, dict) else None


def merge_files(files: list[RegistryFile]) -> RegistryFile:
    """Merge the files' tables; a later file's tables replace or complete an earlier file's."""
    merged = RegistryFile(chains={}, generations={}, presets={}, launchpads={})
    for file in files:
        merged.generations.update(file.generations)
        merged.presets.update(file.presets)
        merged.launchpads.update(file.launchpads)
        for key, fields in file.chains.items():
            _merge_chain(merged.chains.setdefault(key, {}), fields)
    return merged


def _merge_chain(chain: dict[str, Any], fields: dict[str, Any]) -> None:
    launching = {entry["role"] for entry in fields.get("contracts", {}).values() if "deploy" in entry}
    for entry in chain.get("contracts", {}).values():
        if entry["role"] in launching:
            entry.pop("deploy", None)
    for key, value in fields.items():
        # Lists of entries are keyed by lower-case address here, so that adding and replacing are the same step.
        if isinstance(value, dict):
            chain.setdefault(key, {}).update(value)
        else:
            chain[key] = value


class _FileReader:
    """Validator for one parsed file: records its mistakes and keeps the valid entries."""

    def __init__(
        self,
        path: Path,
        mistakes: list[RegistryMistake],
        *,
        generations: Mapping[str, object],
        known_chains: Collection[str],
    ) -> None:
        self._file = str(path)
        self._mistakes = mistakes
        self._known_chains = known_chains
        self._generations = generations

    def read(self, document: dict[str, Any]) -> RegistryFile:
        for key in document:
            if key not in _TABLES:
                self._refuse(key, f"unknown table: expected one of {', '.join(_TABLES)}")
        return RegistryFile(
            generations={
                name: self._fields(fields, path, entry_rules.GENERATION, entry_rules.GENERATION_OPTIONAL)
                for name, fields, path in self._tables(document, "generations")
                if self._is_generation_name(name, path)
            },
            presets={name: self._preset(fields, path) for name, fields, path in self._tables(document, "presets")},
            launchpads={
                name: launchpad
                for name, fields, path in self._tables(document, "launchpads")
                if (launchpad := read_launchpad(name, fields, path, self._refuse))
            },
            chains={
                key: self._chain(fields, path, kind=entry_rules.chain_rules(key), new=key not in self._known_chains)
                for key, fields, path in self._tables(document, "chains")
                if self._is_chain_id(key, path)
            },
        )

    def _refuse(self, key_path: str, rule: str) -> None:
        self._mistakes.append(RegistryMistake(file=self._file, key_path=key_path, rule=rule))

    def _tables(self, document: dict[str, Any], name: str) -> list[tuple[str, dict[str, Any], str]]:
        table = document.get(name, {})
        if not isinstance(table, dict):
            self._refuse(name, f"expected tables such as [{name}.<name>]")
            return []
        tables = []
        for key, fields in table.items():
            if isinstance(fields, dict):
                tables.append((key, fields, f"{name}.{key}"))
            else:
                self._refuse(f"{name}.{key}", f"expected a table [{name}.{key}]")
        return tables

    def _is_generation_name(self, name: str, key_path: str) -> bool:
        if 0 < len(name) <= entry_rules.LONGEST_GENERATION_NAME:
            return True
        self._refuse(key_path, f"expected a name of at most {entry_rules.LONGEST_GENERATION_NAME} characters")
        return False

    def _is_chain_id(self, key: str, key_path: str) -> bool:
        if key == SOLANA or re.fullmatch(r"[1-9][0-9]{0,17}", key):
            return True
        self._refuse(key_path, "expected a chain id: a whole number above 0, in decimal digits, or solana")
        return False

    def _chain(self, fields: dict[str, Any], key_path: str, *, kind: ChainRules, new: bool) -> dict[str, Any]:
        scalars = dict(fields)
        lists = {key: scalars.pop(key) for key in kind.lists if key in scalars}
        chain = self._fields(scalars, key_path, kind.required if new else {}, {**kind.required, **kind.optional})
        if "contracts" in lists:
            chain["contracts"] = self._contracts(lists["contracts"], f"{key_path}.contracts", kind)
        if "quote_tokens" in lists:
            quote_tokens = self._entries(
                lists["quote_tokens"], f"{key_path}.quote_tokens", kind.quote_token, kind.quote_token_optional
            )
            chain["quote_tokens"] = self._by_address(quote_tokens)
        if "known_deployers" in lists:
            chain["known_deployers"] = self._deployers(lists["known_deployers"], f"{key_path}.known_deployers", kind)
        if "reference_pools" in lists:
            # A list, which replaces an earlier file's: a currency's first pool sets its price.
            chain["reference_pools"] = self._reference_pools(lists["reference_pools"], f"{key_path}.reference_pools")
        return chain

    def _contracts(self, value: Any, key_path: str, kind: ChainRules) -> dict[str, dict[str, Any]]:
        entries = self._entries(value, key_path, kind.contract, entry_rules.contract_optional(self._generations, kind))
        if isinstance(value, list):
            for index, entry in enumerate(value):
                if isinstance(entry, dict) and entry.get("role") in kind.generation_roles and "generation" not in entry:
                    self._refuse(
                        f"{key_path}[{index}].generation", f"missing: a {entry['role']} belongs to a generation"
                    )
        self._check_deploying(entries)
        return self._by_address(entries)

    def _check_deploying(self, entries: list[tuple[str, dict[str, Any]]]) -> None:
        deploying = set[str]()
        for path, entry in entries:
            role = entry.get("role")
            if "deploy" not in entry or role is None:
                continue
            layouts = entry_rules.DEPLOY_LAYOUTS.get(role, ())
            if entry["deploy"] not in layouts:
                expected = f"expected one of {', '.join(layouts)}" if layouts else "this role takes no part in launches"
                self._refuse(f"{path}.deploy", f"unknown layout of a {role}: {expected}")
            if role in deploying:
                self._refuse(f"{path}.deploy", f"launches use one {role}, and this list has another one before")
            deploying.add(role)

    def _reference_pools(self, value: Any, key_path: str) -> list[dict[str, Any]]:
        entries = self._entries(
            value, key_path, entry_rules.REFERENCE_POOL, entry_rules.REFERENCE_POOL_OPTIONAL, unique="pool"
        )
        for entry_path, entry in entries:
            if entry.get("native") and "currency" in entry:
                self._refuse(f"{entry_path}.currency", "a pool of the native coin prices wrapped_native: leave it out")
        return [entry for _, entry in entries]

    def _deployers(self, value: Any, key_path: str, kind: ChainRules) -> dict[str, str]:
        if not isinstance(value, list):
            self._refuse(key_path, "expected a list of addresses between [ and ]")
            return {}
        checked = [self._value(kind.address, entry, f"{key_path}[{index}]") for index, entry in enumerate(value)]
        return {address_key(address): address for address in checked if address is not None}

    def _preset(self, fields: dict[str, Any], key_path: str) -> dict[str, Any]:
        scalars = dict(fields)
        listed = scalars.pop("positions", [])
        preset = self._fields(scalars, key_path, {"starting_tick": entry_rules.tick_rule}, {})
        entries = self._entries(listed, f"{key_path}.positions", entry_rules.POSITION, {})
        # Rules over several values apply only if each value is valid.
        if "starting_tick" in preset and all(len(entry) == len(entry_rules.POSITION) for _, entry in entries):
            self._check_positions(entries, preset["starting_tick"], f"{key_path}.positions")
        return {**preset, "positions": [entry for _, entry in entries]}

    def _check_positions(self, entries: list[tuple[str, dict[str, Any]]], start: int, key_path: str) -> None:
        if not 1 <= len(entries) <= entry_rules.MAX_POSITIONS:
            self._refuse(key_path, f"expected 1 to {entry_rules.MAX_POSITIONS} positions")
        elif sum(entry["bps"] for _, entry in entries) != entry_rules.ALL_BPS:
            self._refuse(key_path, f"the bps of all positions must add up to {entry_rules.ALL_BPS}")
        elif all(entry["tick_lower"] != start for _, entry in entries):
            self._refuse(key_path, "one position must begin at the starting tick")
        for entry_path, entry in entries:
            if entry["tick_lower"] >= entry["tick_upper"]:
                self._refuse(entry_path, "tick_lower must be below tick_upper")

    def _entries(
        self,
        value: Any,
        key_path: str,
        required: Mapping[str, Rule],
        optional: Mapping[str, Rule],
        unique: str = "address",
    ) -> list[tuple[str, dict[str, Any]]]:
        """Return a list's entries with their places; a second one with the same `unique` key is rejected."""
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            self._refuse(key_path, "expected a list of entries, each between { and }")
            return []
        entries, identifiers = [], set[str]()
        for index, entry in enumerate(value):
            entry_path = f"{key_path}[{index}]"
            fields = self._fields(entry, entry_path, required, optional)
            identifier = fields.get(unique)
            if identifier is not None:
                if identifier in identifiers:
                    self._refuse(f"{entry_path}.{unique}", f"{identifier} is listed twice in this list")
                identifiers.add(identifier)
            entries.append((entry_path, fields))
        return entries

    def _by_address(self, entries: list[tuple[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
        return {address_key(entry["address"]): entry for _, entry in entries if "address" in entry}

    def _fields(
        self, fields: dict[str, Any], key_path: str, required: Mapping[str, Rule], optional: Mapping[str, Rule]
    ) -> dict[str, Any]:
        """Return the valid values; unknown, missing and invalid keys are recorded as mistakes."""
        rules = {**required, **optional}
        for key in required:
            if key not in fields:
                self._refuse(f"{key_path}.{key}", "missing")
        checked = {}
        for key, value in fields.items():
            if key not in rules:
                self._refuse(f"{key_path}.{key}", f"unknown key: expected one of {', '.join(sorted(rules))}")
                continue
            valid_value = self._value(rules[key], value, f"{key_path}.{key}")
            if valid_value is not None:
                checked[key] = valid_value
        return checked

    def _value(self, rule: Rule, value: Any, key_path: str) -> Any:
        """Return the rule's result for the value, None if the rule rejects it."""
        try:
            return rule(value)
        except ValueError as broken:
            self._refuse(key_path, str(broken))
            return None
