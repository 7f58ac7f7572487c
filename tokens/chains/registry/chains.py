"""Chain registry: chains, generations, contracts, quote tokens and position presets that the service supports.

The data is `table.toml` beside this module. An operator's own TOML files are merged over it, so that a chain, a factory
or an address is added without a code change. docs/chains.md describes the files, entry_rules.py their rules.

Logs carry addresses in lower case, so every mapping here is keyed by `addresses.address_key` (hex in LOWER CASE, base58
unchanged), and the values hold the form to show. The same address is another contract on another chain: never look one
up without its chain.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tokens.chains.addresses import address_key
from tokens.chains.registry.entry_rules import EMITTING_ROLES, SOLANA
from tokens.chains.registry.toml_files import RegistryError, RegistryFile, RegistryMistake, read_registry_files

# No public standard gives Solana a number; no EVM chain of the built-in file has this one.
DEFAULT_SOLANA_CHAIN_ID = 101

BUILT_IN_FILE = Path(__file__).with_name("table.toml")

__all__ = [
    "BUILT_IN_FILE",
    "DEFAULT_SOLANA_CHAIN_ID",
    "ChainInfo",
    "Contract",
    "Generation",
    "Position",
    "Preset",
    "QuoteToken",
    "ReferencePool",
    "Registry",
    "RegistryError",
    "UnknownChainError",
    "load_registry",
]


class UnknownChainError(LookupError):
    """No chain with this id in the registry; a retry gives the same result."""


@dataclass(frozen=True, kw_only=True)
class Generation:
    """A generation of launchpad contracts."""

    # The key in the file: v0 ... v4, or an operator's own.
    name: str
    # The label that the API shows as a token's `type`.
    type: str
    # The layout of its launches, one of entry_rules.EVENTS or, on Solana, of entry_rules.PROGRAMS.
    event: str
    # The launchpad's number of it, which the public site shows: "3.1". None if it has none.
    version: str | None = None


@dataclass(frozen=True, kw_only=True)
class Contract:
    """A contract of a launchpad; `generation` is None where several generations share it.

    `deploy` is set where our own launches use the contract in its role: the layout of its data, one of
    entry_rules.DEPLOY_LAYOUTS.
    """

    chain_id: int
    address: str
    role: str
    generation: Generation | None
    deploy: str | None = None


@dataclass(frozen=True, kw_only=True)
class QuoteToken:
    """A token that launches are usually paired with.

    `tick` is the usual starting tick, as if the launched token were token0; None where there is none to compare with.
    A `stable` one counts as 1 USD: see `ChainInfo.stable_tokens`.
    """

    address: str
    symbol: str
    decimals: int
    tick: int | None = None
    stable: bool = False


@dataclass(frozen=True, kw_only=True)
class ReferencePool:
    """A pool of a quote token with a stable one, which has the quote token's price in USD."""

    # Lower case: a v3 pool's address, or a v4 pool's id of 32 bytes.
    pool: str
    # The quote token that is priced; wrapped_native also where the pool holds the native coin itself.
    currency: str
    currency_decimals: int
    stable: str
    stable_decimals: int
    is_currency0: bool


@dataclass(frozen=True, kw_only=True)
class Position:
    """One range of a launch's liquidity, in ticks as if the launched token were token0; 10,000 bps are all of it."""

    tick_lower: int
    tick_upper: int
    bps: int


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A named list of positions that launches are usually made with."""

    name: str
    starting_tick: int
    positions: tuple[Position, ...]


# Compared by identity: one registry is loaded at start-up, and a chain of it can be the key of a cached function.
@dataclass(frozen=True, kw_only=True, eq=False)
class ChainInfo:
    """A chain's entry in the registry. `contracts`, `quote_tokens` and `known_deployers` are keyed by `address_key`."""

    chain_id: int
    is_solana: bool
    name: str
    # Symbol of the coin that pays for gas.
    native: str
    # Blocks on top of a block before it counts as confirmed; table.toml gives each chain's reason. 0 on Solana, where
    # only finalized slots are read.
    finality_depth: int = 0
    # The highest priority fee that deployments offer of their own accord.
    max_priority_fee_gwei: Decimal = Decimal(10)
    explorer: str | None = None
    # The market-data provider's name of the chain; None where the provider has no data for it.
    market_network: str | None = None
    wrapped_native: str | None = None
    v3_factory: str | None = None
    v3_position_manager: str | None = None
    v4_pool_manager: str | None = None
    v4_position_manager: str | None = None
    v4_state_view: str | None = None
    # Solana: distinguishes mainnet nodes from those of its test networks.
    genesis_hash: str | None = None
    known_deployers: frozenset[str]
    quote_tokens: Mapping[str, QuoteToken]
    # In the file's order: the first pool of a currency sets its price, the others are compared with it.
    reference_pools: tuple[ReferencePool, ...] = ()
    contracts: Mapping[str, Contract]

    @property
    def priority_fee_cap(self) -> int:
        """The highest priority fee of a new transaction, in wei per gas."""
        return int(self.max_priority_fee_gwei * 10**9)

    @cached_property
    def factories(self) -> Mapping[str, Generation]:
        """Lower-case factory address -> the generation that it launches."""
        return MappingProxyType(
            {
                key: contract.generation
                for key, contract in self.contracts.items()
                if contract.role == "factory" and contract.generation
            }
        )

    @cached_property
    def emitters(self) -> frozenset[str]:
        """Lower-case addresses of the contracts that emit launches and events after launch."""
        return frozenset(key for key, contract in self.contracts.items() if contract.role in EMITTING_ROLES)

    @cached_property
    def stable_tokens(self) -> frozenset[str]:
        """Lower-case addresses of quote tokens that count as 1 USD: marked so, or of a reference pool."""
        marked = (key for key, token in self.quote_tokens.items() if token.stable)
        return frozenset((*marked, *(address_key(pool.stable) for pool in self.reference_pools)))

    def factory_generation(self, address_lower: str) -> Generation | None:
        """Return the generation of the factory at this lower-case address; None if it is no factory of this chain."""
        return self.factories.get(address_lower)

    def role(self, address_lower: str) -> str | None:
        """Return the role of the contract at this lower-case address; None if it is not in the registry."""
        contract = self.contracts.get(address_lower)
        return contract.role if contract else None

    def has_contract(self, address: str) -> bool:
        """Return whether the registry has the contract, in any role; its code is then known."""
        return address.lower() in self.contracts

    def deploying(self, role: str) -> Contract | None:
        """Return the contract that our own launches use in this role; None if the registry names none."""
        found = (contract for contract in self.contracts.values() if contract.role == role and contract.deploy)
        return next(found, None)

    def addresses(self, role: str, generation: str | None = None) -> tuple[str, ...]:
        """Return the EIP-55 addresses of a role, of all generations or of one by name, in the file's order."""
        return tuple(
            contract.address
            for contract in self.contracts.values()
            if contract.role == role
            and (generation is None or (contract.generation is not None and contract.generation.name == generation))
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Registry:
    """All chains by id, generations and presets by name, in the order of the files; the first chain is the default."""

    chains: Mapping[int, ChainInfo]
    generations: Mapping[str, Generation]
    presets: Mapping[str, Preset]

    @property
    def default_chain(self) -> ChainInfo:
        """The first chain of the registry: the default where a request names none."""
        return next(iter(self.chains.values()))

    @property
    def solana(self) -> ChainInfo:
        """Solana's entry, which the built-in file contains."""
        return next(chain for chain in self.chains.values() if chain.is_solana)

    def chain(self, chain_id: int) -> ChainInfo:
        """Return the chain of this id. Raises UnknownChainError."""
        try:
            return self.chains[chain_id]
        except KeyError as error:
            raise UnknownChainError(f"chain {chain_id} is not in the registry") from error


def load_registry(*files: Path, solana_chain_id: int = DEFAULT_SOLANA_CHAIN_ID) -> Registry:
    """Load the built-in registry with the operator's files merged over it, in the order given.

    A chain's scalars and `reference_pools` replace the earlier ones. Its entries of `contracts` and `quote_tokens` are
    added, or replace the entry with the same address; its `known_deployers` are added. A generation or preset of the
    same name is replaced. New entries are appended. A contract marked for launches takes its role over from an earlier
    file's. Solana gets the given id. Raises RegistryError, which lists every mistake of every file.
    """
    merged = _merge(read_registry_files(BUILT_IN_FILE, *files))
    if str(solana_chain_id) in merged.chains:
        rule = f"{solana_chain_id} is the id of another chain in the registry"
        raise RegistryError([RegistryMistake(file="settings", place="SOLANA_CHAIN_ID", rule=rule)])
    generations = {name: Generation(name=name, **fields) for name, fields in merged.generations.items()}
    presets = {name: _build_preset(name, fields) for name, fields in merged.presets.items()}
    chains = {
        chain_id: _build_chain(chain_id, fields, generations, is_solana=key == SOLANA)
        for key, fields in merged.chains.items()
        for chain_id in [solana_chain_id if key == SOLANA else int(key)]
    }
    return Registry(
        chains=MappingProxyType(chains),
        generations=MappingProxyType(generations),
        presets=MappingProxyType(presets),
    )


def _merge(files: list[RegistryFile]) -> RegistryFile:
    merged = RegistryFile(chains={}, generations={}, presets={})
    for file in files:
        merged.generations.update(file.generations)
        merged.presets.update(file.presets)
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


def _build_preset(name: str, fields: dict[str, Any]) -> Preset:
    positions = tuple(Position(**position) for position in fields["positions"])
    return Preset(name=name, starting_tick=fields["starting_tick"], positions=positions)


def _build_chain(
    chain_id: int, fields: dict[str, Any], generations: Mapping[str, Generation], *, is_solana: bool
) -> ChainInfo:
    contracts = {
        key: Contract(
            chain_id=chain_id,
            address=entry["address"],
            role=entry["role"],
            generation=generations[entry["generation"]] if "generation" in entry else None,
            deploy=entry.get("deploy"),
        )
        for key, entry in fields.get("contracts", {}).items()
    }
    quote_tokens = {key: QuoteToken(**entry) for key, entry in fields.get("quote_tokens", {}).items()}
    lists = ("contracts", "quote_tokens", "known_deployers", "reference_pools")
    return ChainInfo(
        chain_id=chain_id,
        is_solana=is_solana,
        known_deployers=frozenset(fields.get("known_deployers", {})),
        quote_tokens=MappingProxyType(quote_tokens),
        reference_pools=_build_reference_pools(chain_id, fields, quote_tokens),
        contracts=MappingProxyType(contracts),
        **{name: value for name, value in fields.items() if name not in lists},
    )


def _build_reference_pools(
    chain_id: int, fields: dict[str, Any], quote_tokens: Mapping[str, QuoteToken]
) -> tuple[ReferencePool, ...]:
    """Build the reference pools of a chain, of quote tokens that any of the files may have. Raises RegistryError."""
    pools, mistakes = [], []
    for index, entry in enumerate(fields.get("reference_pools", ())):
        given = {"currency": entry.get("currency") or fields.get("wrapped_native", ""), "stable": entry["stable"]}
        found = {key: quote_tokens.get(address_key(address)) for key, address in given.items()}
        for key in (key for key, token in found.items() if token is None):
            place = f"chains.{chain_id}.reference_pools[{index}].{key}"
            rule = "expected a quote token of this chain; without `currency` it is wrapped_native"
            mistakes.append(RegistryMistake(file="all files together", place=place, rule=rule))
        currency, stable = found.values()
        if currency and stable:
            pools.append(_build_reference_pool(entry, currency, stable))
    if mistakes:
        raise RegistryError(mistakes)
    return tuple(pools)


def _build_reference_pool(entry: dict[str, Any], currency: QuoteToken, stable: QuoteToken) -> ReferencePool:
    # A pool's currencies are sorted by address, and v4 has the native coin under the address zero.
    is_currency0 = entry.get("native", False) or address_key(currency.address) < address_key(stable.address)
    return ReferencePool(
        pool=entry["pool"],
        currency=currency.address,
        currency_decimals=currency.decimals,
        stable=stable.address,
        stable_decimals=stable.decimals,
        is_currency0=is_currency0,
    )
