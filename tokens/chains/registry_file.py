"""Reading and checking registry files: which tables and keys there are, and the rule that each value keeps.

Every mistake of every file is collected before anything is refused, so that an operator mends a file in one go.
"""

import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eth_utils.address import to_checksum_address

# Layouts of TokenCreated that the decoder knows; v1 is shared by the generations v1 and v2.
EVENTS = ("v0", "v1", "v3", "v3_1", "v4")

ROLES = (
    "factory",
    "locker",
    "locker_factory",
    "fee_locker",
    "fee_spender",
    "vault",
    "airdrop",
    "dev_buy",
    "static_hook",
    "dynamic_hook",
    "mev_module",
    "presale",
    "presale_allowlist",
    "pool_extension_allowlist",
)

# Uniswap's TickMath.MAX_TICK: prices beyond it don't exist.
MAX_TICK = 887272
# Uniswap's fixed-point prices make more decimals than this meaningless, and no token of note has them.
MAX_DECIMALS = 36
# The v4 locker takes at most this many positions.
MAX_POSITIONS = 7
ALL_BPS = 10_000


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """One broken rule: the file, the place such as `chains.8453.contracts[3].address` (counted from 0), the rule."""

    file: str
    place: str
    rule: str

    def __str__(self) -> str:
        return f"{self.file}: {self.place}: {self.rule}" if self.place else f"{self.file}: {self.rule}"


class RegistryError(ValueError):
    """Registry files that can't be used; `mistakes` lists all of them, in the order of the files."""

    def __init__(self, mistakes: Collection[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(str(mistake) for mistake in self.mistakes))


@dataclass(frozen=True, kw_only=True)
class RegistryFile:
    """The checked content of a file, with only those keys that stand in it.

    `contracts`, `quote_tokens` and `known_deployers` of a chain are keyed by lower-case address; every address in a
    value has its EIP-55 form.
    """

    chains: dict[int, dict[str, Any]]
    generations: dict[str, dict[str, Any]]
    presets: dict[str, dict[str, Any]]


def read_files(*paths: Path) -> list[RegistryFile]:
    """The content of the files. Raises RegistryError with the mistakes of all of them.

    An entry may be incomplete where an earlier file has it, and a contract may name a generation of any of the files.
    """
    mistakes: list[Mistake] = []
    documents = [(path, _parse(path, mistakes)) for path in paths]
    generations = {name for _, document in documents for name in _keys(document, "generations")}
    files, earlier = [], _Earlier(chains=set(), generations=set(), presets=set())
    for path, document in documents:
        reader = _Reader(path, mistakes, generations, earlier)
        files.append(reader.read(document))
        earlier.chains.update(_keys(document, "chains"))
        earlier.generations.update(_keys(document, "generations"))
        earlier.presets.update(_keys(document, "presets"))
    if mistakes:
        raise RegistryError(mistakes)
    return files


def _parse(path: Path, mistakes: list[Mistake]) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        mistakes.append(Mistake(file=str(path), place="", rule=f"can't be read ({reason})"))
    except tomllib.TOMLDecodeError as error:
        mistakes.append(Mistake(file=str(path), place="", rule=f"is not TOML: {error}"))
    return {}


def _keys(document: Mapping[str, Any], table: str) -> Collection[str]:
    value = document.get(table)
    return value.keys() if isinstance(value, dict) else ()


class _Broken(Exception):
    """A value breaks its rule; the text is the rule."""


_Rule = Callable[[Any], Any]


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _Broken("expected a text that is not empty")
    return value


def _url(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"https?://[^\s/]+(/\S*)?", value):
        raise _Broken("expected an address that starts with https:// or http://")
    return value.rstrip("/")


def _address(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"0x[0-9a-fA-F]{40}", value):
        raise _Broken("expected 0x and 40 hexadecimal digits, in quotes")
    if int(value, 16) == 0:
        raise _Broken("the zero address is no contract: leave the entry out")
    checksummed = to_checksum_address(value)
    # The right form isn't shown on purpose: with a mistyped digit it would be a wrong address that looks checked.
    if value not in (checksummed, value.lower()):
        raise _Broken("the EIP-55 checksum is wrong: copy it anew from its source (all lower case is accepted)")
    return checksummed


def _whole(minimum: int, maximum: int) -> _Rule:
    def check(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
            raise _Broken(f"expected a whole number from {minimum} to {maximum}")
        return value

    return check


def _choice(kind: str, choices: Collection[str]) -> _Rule:
    def check(value: object) -> str:
        if value not in choices:
            raise _Broken(f"unknown {kind}: expected one of {', '.join(sorted(choices))}")
        return str(value)

    return check


_tick = _whole(-MAX_TICK, MAX_TICK)

_GENERATION: Mapping[str, _Rule] = {"type": _text, "event": _choice("event", EVENTS)}
_POSITION: Mapping[str, _Rule] = {"tick_lower": _tick, "tick_upper": _tick, "bps": _whole(1, ALL_BPS)}
_QUOTE_TOKEN: Mapping[str, _Rule] = {"symbol": _text, "address": _address, "decimals": _whole(0, MAX_DECIMALS)}
_CHAIN: Mapping[str, _Rule] = {"name": _text, "native": _text, "finality_depth": _whole(1, 10_000_000)}
_CHAIN_OPTIONAL: Mapping[str, _Rule] = {
    "explorer": _url,
    "wrapped_native": _address,
    "v3_factory": _address,
    "v3_position_manager": _address,
    "v4_pool_manager": _address,
    "v4_position_manager": _address,
    "v4_state_view": _address,
}


@dataclass(frozen=True, kw_only=True)
class _Earlier:
    """Which entries the files before this one have: those need not be complete here."""

    chains: set[str]
    generations: set[str]
    presets: set[str]


class _Reader:
    """Checks one parsed file, notes its mistakes, and keeps what is right."""

    def __init__(self, path: Path, mistakes: list[Mistake], generations: Collection[str], earlier: _Earlier) -> None:
        self._file = str(path)
        self._mistakes = mistakes
        self._earlier = earlier
        self._contract: Mapping[str, _Rule] = {"role": _choice("role", ROLES), "address": _address}
        self._contract_optional: Mapping[str, _Rule] = {
            "generation": _choice("generation", generations),
            "note": _text,
        }

    def read(self, document: dict[str, Any]) -> RegistryFile:
        for key in document.keys() - {"chains", "generations", "presets"}:
            self._refuse(key, "unknown table: expected chains, generations or presets")
        return RegistryFile(
            generations={
                name: self._fields(fields, place, {} if name in self._earlier.generations else _GENERATION, _GENERATION)
                for name, fields, place in self._tables(document, "generations")
            },
            presets={
                name: self._preset(fields, place, new=name not in self._earlier.presets)
                for name, fields, place in self._tables(document, "presets")
            },
            chains={
                int(key): self._chain(fields, place, new=key not in self._earlier.chains)
                for key, fields, place in self._tables(document, "chains")
                if self._is_chain_id(key, place)
            },
        )

    def _refuse(self, place: str, rule: str) -> None:
        self._mistakes.append(Mistake(file=self._file, place=place, rule=rule))

    def _tables(self, document: dict[str, Any], name: str) -> list[tuple[str, dict[str, Any], str]]:
        table = document.get(name, {})
        if not isinstance(table, dict):
            self._refuse(name, f"expected tables such as [{name}.<name>]")
            return []
        found = []
        for key, fields in table.items():
            if isinstance(fields, dict):
                found.append((key, fields, f"{name}.{key}"))
            else:
                self._refuse(f"{name}.{key}", f"expected a table [{name}.{key}]")
        return found

    def _is_chain_id(self, key: str, place: str) -> bool:
        if re.fullmatch(r"[1-9][0-9]{0,17}", key):
            return True
        self._refuse(place, "expected a chain id: a whole number above 0, written plainly")
        return False

    def _chain(self, fields: dict[str, Any], place: str, *, new: bool) -> dict[str, Any]:
        scalars = dict(fields)
        lists = {key: scalars.pop(key) for key in ("contracts", "quote_tokens", "known_deployers") if key in scalars}
        chain = self._fields(scalars, place, _CHAIN if new else {}, {**_CHAIN, **_CHAIN_OPTIONAL})
        if "contracts" in lists:
            chain["contracts"] = self._contracts(lists["contracts"], f"{place}.contracts")
        if "quote_tokens" in lists:
            entries = self._entries(lists["quote_tokens"], f"{place}.quote_tokens", _QUOTE_TOKEN, {"tick": _tick})
            chain["quote_tokens"] = self._by_address(entries)
        if "known_deployers" in lists:
            chain["known_deployers"] = self._deployers(lists["known_deployers"], f"{place}.known_deployers")
        return chain

    def _contracts(self, value: Any, place: str) -> dict[str, dict[str, Any]]:
        entries = self._entries(value, place, self._contract, self._contract_optional)
        for entry_place, entry in entries:
            if entry.get("role") == "factory" and "generation" not in entry:
                self._refuse(f"{entry_place}.generation", "missing: a factory belongs to a generation")
        return self._by_address(entries)

    def _deployers(self, value: Any, place: str) -> dict[str, dict[str, Any]]:
        listed = [{"address": address} for address in value] if isinstance(value, list) else value
        return self._by_address(self._entries(listed, place, {"address": _address}, {}))

    def _preset(self, fields: dict[str, Any], place: str, *, new: bool) -> dict[str, Any]:
        scalars = dict(fields)
        listed = scalars.pop("positions", None)
        preset = self._fields(scalars, place, {"starting_tick": _tick} if new else {}, {"starting_tick": _tick})
        if listed is None:
            if new:
                self._refuse(f"{place}.positions", "missing")
            return preset
        entries = self._entries(listed, f"{place}.positions", _POSITION, {})
        preset["positions"] = [entry for _, entry in entries]
        self._check_positions(entries, preset.get("starting_tick"), f"{place}.positions")
        return preset

    def _check_positions(self, entries: list[tuple[str, dict[str, Any]]], start: int | None, place: str) -> None:
        if any(len(entry) < len(_POSITION) for _, entry in entries):
            return
        if not 1 <= len(entries) <= MAX_POSITIONS:
            self._refuse(place, f"expected 1 to {MAX_POSITIONS} positions")
        elif sum(entry["bps"] for _, entry in entries) != ALL_BPS:
            self._refuse(place, f"the bps of all positions must add up to {ALL_BPS}")
        elif start is not None and all(entry["tick_lower"] != start for _, entry in entries):
            self._refuse(place, "one position must begin at the starting tick")
        for entry_place, entry in entries:
            if entry["tick_lower"] >= entry["tick_upper"]:
                self._refuse(entry_place, "tick_lower must be below tick_upper")

    def _entries(
        self, value: Any, place: str, required: Mapping[str, _Rule], optional: Mapping[str, _Rule]
    ) -> list[tuple[str, dict[str, Any]]]:
        """The entries of a list with their places; a second one with the same address is refused."""
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            self._refuse(place, "expected a list of entries, each between { and }")
            return []
        entries, seen = [], set()
        for index, entry in enumerate(value):
            entry_place = f"{place}[{index}]"
            fields = self._fields(entry, entry_place, required, optional)
            address = fields.get("address")
            if address in seen:
                self._refuse(f"{entry_place}.address", f"{address} is listed twice")
            if address is not None:
                seen.add(address)
            entries.append((entry_place, fields))
        return entries

    def _by_address(self, entries: list[tuple[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
        return {entry["address"].lower(): entry for _, entry in entries if "address" in entry}

    def _fields(
        self, fields: dict[str, Any], place: str, required: Mapping[str, _Rule], optional: Mapping[str, _Rule]
    ) -> dict[str, Any]:
        """The values that keep their rules; what is unknown, missing or wrong is noted."""
        rules = {**optional, **required}
        checked = {}
        for key in required.keys() - fields.keys():
            self._refuse(f"{place}.{key}", "missing")
        for key, value in fields.items():
            if key not in rules:
                self._refuse(f"{place}.{key}", f"unknown key: expected one of {', '.join(sorted(rules))}")
                continue
            try:
                checked[key] = rules[key](value)
            except _Broken as broken:
                self._refuse(f"{place}.{key}", str(broken))
        return checked
