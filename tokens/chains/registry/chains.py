"""Chain registry: chains, generations, contracts, quote tokens and position presets that the service supports.

The data is `table.toml` beside this module. An operator's own TOML files are merged over it, so that a chain, a factory
or an address is added without a code change. docs/chains.md describes the files, entry_rules.py their rules.

Logs carry addresses in lower case, so every mapping here is keyed by `addresses.address_key` (hex in LOWER CASE, base58
unchanged), and the values hold the form to show. The same address is another contract on another chain: never look one
up without its chain.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tokens.chains.addresses import ZERO_ADDRESS, address_key
from tokens.chains.registry import launchpad_choice
from tokens.chains.registry.entry_rules import EMITTING_ROLES, SOLANA
from tokens.chains.registry.launchpads import (
    CurveTrade,
    Launchpad,
    PoolKind,
    SwapPart,
    TokenEventDeclaration,
    by_source,
)
from tokens.chains.registry.presets import Position, Preset, build_preset
from tokens.chains.registry.quote_tokens import QuoteToken, ReferencePool, build_reference_pools
from tokens.chains.registry.toml_files import (
    SETTINGS,
    RegistryError,
    RegistryMistake,
    merge_files,
    read_registry_files,
)

# Launchpad for generations that name none. It is indexed unless LAUNCHPADS_<chain> is set.
DEFAULT_LAUNCHPAD = "clanker"

# No public standard gives Solana a number; no EVM chain of the built-in file has this one.
DEFAULT_SOLANA_CHAIN_ID = 101

BUILT_IN_FILE = Path(__file__).with_name("table.toml")
_LAUNCHPADS_FILE = Path(__file__).with_name("launchpads.toml")

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
    # Its launch layout: one from entry_rules.EVENTS or, on Solana, from entry_rules.PROGRAMS.
    event: str
    # The launchpad's own version number, which the public site shows: "3.1". None if it has none.
    version: str | None = None
    # Its launchpad, as LAUNCHPADS_<chain> names it.
    launchpad: str = DEFAULT_LAUNCHPAD


@dataclass(frozen=True, kw_only=True)
class Contract:
    """A launchpad's contract; `generation` is None if several generations share it.

    `deploy` is set if our own launches use the contract in its role. It is the layout for the contract's data, from
    entry_rules.DEPLOY_LAYOUTS.
    """

    chain_id: int
    address: str
    role: str
    generation: Generation | None
    deploy: str | None = None


# Compared by identity: one registry is loaded at start-up, and a cached function can have its chains as keys.
@dataclass(frozen=True, kw_only=True, eq=False)
class ChainInfo:
    """A chain's entry in the registry. Addresses are keyed by `address_key`."""

    chain_id: int
    is_solana: bool
    name: str
    # Symbol of the coin that pays for gas.
    native: str
    # Blocks on top of a block before it counts as confirmed; table.toml gives each chain's reason. 0 on Solana, where
    # only finalized slots are read.
    finality_depth: int = 0
    # The highest priority fee that deployments offer by themselves.
    max_priority_fee_gwei: Decimal = Decimal(10)
    explorer: str | None = None
    # The market-data provider's name for the chain; None if the provider has no data for it.
    market_network: str | None = None
    wrapped_native: str | None = None
    v2_factory: str | None = None
    v3_factory: str | None = None
    v3_position_manager: str | None = None
    v3_quoter: str | None = None
    v4_pool_manager: str | None = None
    v4_position_manager: str | None = None
    v4_state_view: str | None = None
    v4_quoter: str | None = None
    # Uniswap's, in release 2.0.
    universal_router: str | None = None
    permit2: str | None = None
    # Solana: distinguishes mainnet nodes from test network nodes.
    genesis_hash: str | None = None
    known_deployers: frozenset[str]
    quote_tokens: Mapping[str, QuoteToken]
    # In the file's order: a currency's first pool sets its price, the others are compared with it.
    reference_pools: tuple[ReferencePool, ...] = ()
    # All launchpads' contracts, indexed or not.
    registered: Mapping[str, Contract]
    # Declared launchpads with contracts on the chain by name, indexed or not: tokens of both have trades.
    declared: Mapping[str, Launchpad]
    # Names of the indexed launchpads: declared ones, and those with generations.
    indexed: tuple[str, ...] = (DEFAULT_LAUNCHPAD,)

    @property
    def priority_fee_cap(self) -> int:
        """The highest priority fee for a new transaction, in wei per gas."""
        return int(self.max_priority_fee_gwei * 10**9)

    def indexes(self, launchpad: str) -> bool:
        """Return whether this launchpad's launches are read from the chain; Solana has no setting for it."""
        return self.is_solana or launchpad in self.indexed

    @cached_property
    def launchpads(self) -> tuple[Launchpad, ...]:
        """The declared launchpads that are indexed, in the setting's order."""
        return tuple(self.declared[name] for name in self.indexed if name in self.declared)

    @cached_property
    def contracts(self) -> Mapping[str, Contract]:
        """Contracts of indexed launchpads, and contracts without a generation."""
        return MappingProxyType({key: each for key, each in self.registered.items() if self._is_indexed(each)})

    def _is_indexed(self, contract: Contract) -> bool:
        return contract.generation is None or self.indexes(contract.generation.launchpad)

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
    def launch_contracts(self) -> frozenset[str]:
        """Lower-case addresses of the contracts that emit launches."""
        return frozenset(self.factories).union(*(pad.launch_contracts(self.chain_id) for pad in self.launchpads))

    @cached_property
    def emitters(self) -> frozenset[str]:
        """Lower-case addresses of the contracts that emit launches and events after launch."""
        registered = (key for key, contract in self.contracts.items() if contract.role in EMITTING_ROLES)
        return frozenset(registered).union(*(pad.emitters(self.chain_id) for pad in self.launchpads))

    @cached_property
    def known_emitters(self) -> frozenset[str]:
        """Lower-case addresses for all contracts in the registry, including launchpads that are not indexed."""
        return frozenset(self.registered).union(*(pad.emitters(self.chain_id) for pad in self.declared.values()))

    @cached_property
    def pool_kinds(self) -> frozenset[PoolKind]:
        """The kinds of pools that declared launches begin in and move to."""
        return frozenset[PoolKind]().union(*(pad.pool_kinds(self.chain_id) for pad in self.launchpads))

    @cached_property
    def pools_of_launches(self) -> frozenset[str]:
        """The PoolManager, lower case, if declared launches have v4 pools; else nothing."""
        return frozenset({self.v4_pool_manager.lower()} if self.v4_pool_manager and "v4" in self.pool_kinds else ())

    @cached_property
    def swap_parts(self) -> Mapping[tuple[str, str], tuple[SwapPart, ...]]:
        """Lower-case address and topic0 -> declared events about swap parts, at most one per launchpad."""
        return by_source(
            (address, swap_part)
            for pad in self.declared.values()
            for swap_part in pad.swap_parts
            for address in pad.launch_contracts(self.chain_id)
        )

    def internal_senders(self, launchpad: str, hook: str | None) -> frozenset[str]:
        """Return the accounts whose swaps of a launchpad's token are no trades in a pool with this hook."""
        pad = self.declared.get(launchpad)
        return pad.senders_in(hook) if pad else frozenset()

    @cached_property
    def curve_trades(self) -> Mapping[tuple[str, str], tuple[CurveTrade, ...]]:
        """Lower-case address and topic0 -> declared events about curve trades, at most one per launchpad.

        The address is empty if each token's own curve emits the event.
        """
        return by_source(
            (address, trade)
            for pad in self.launchpads
            for trade in pad.trades
            for address in (pad.launch_contracts(self.chain_id) if trade.token else ("",))
        )

    @cached_property
    def token_events(self) -> Mapping[tuple[str, str], tuple[TokenEventDeclaration, ...]]:
        """Lower-case address and topic0 -> declared events after launch, at most one per launchpad.

        The address is empty if tokens, their pools or hooks emit the event.
        """
        return by_source(
            (address, declared)
            for pad in self.launchpads
            for declared in pad.later_events
            for address in pad.event_emitters(declared.subject, self.chain_id)
        )

    @cached_property
    def stable_tokens(self) -> frozenset[str]:
        """Lower-case addresses of quote tokens that count as 1 USD: marked so, or in a reference pool."""
        marked = (key for key, token in self.quote_tokens.items() if token.stable)
        return frozenset((*marked, *(address_key(pool.stable) for pool in self.reference_pools)))

    @cached_property
    def native_quotes(self) -> frozenset[str]:
        """Addresses of quote tokens at `wrapped_native`'s price: EIP-55, zero for the coin itself."""
        marked = (token.address for token in self.quote_tokens.values() if token.native)
        return frozenset() if self.is_solana else frozenset((ZERO_ADDRESS, *marked))

    def factory_generation(self, address_lower: str) -> Generation | None:
        """Return the generation that the factory at this lower-case address launches; None if it is no factory."""
        return self.factories.get(address_lower)

    def role(self, address_lower: str) -> str | None:
        """Return the contract's role at this lower-case address; None if it is not in the registry."""
        contract = self.contracts.get(address_lower)
        return contract.role if contract else None

    def has_contract(self, address: str) -> bool:
        """Return whether the registry has the contract, in any role; its code is then known."""
        return address.lower() in self.contracts

    def deploying(self, role: str) -> Contract | None:
        """Return the contract that our own launches use in this role; None if the registry names none."""
        contracts = (each for each in self.contracts.values() if each.role == role and each.deploy)
        return next(contracts, None)

    def addresses(self, role: str, generation: str | None = None) -> tuple[str, ...]:
        """Return a role's EIP-55 addresses for all generations or for one by name, in the file's order."""
        return tuple(
            contract.address
            for contract in self.contracts.values()
            if contract.role == role
            and (generation is None or (contract.generation is not None and contract.generation.name == generation))
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Registry:
    """All chains by id, generations and presets by name, in the files' order."""

    chains: Mapping[int, ChainInfo]
    generations: Mapping[str, Generation]
    presets: Mapping[str, Preset]
    # Declared launchpads, and the generations' launchpads, which have only a title.
    launchpads: Mapping[str, Launchpad]

    @property
    def solana(self) -> ChainInfo:
        """Solana's entry, which the built-in file contains."""
        return next(chain for chain in self.chains.values() if chain.is_solana)

    def chain(self, chain_id: int) -> ChainInfo:
        """Return the chain with this id. Raises UnknownChainError."""
        try:
            return self.chains[chain_id]
        except KeyError as error:
            raise UnknownChainError(f"chain {chain_id} is not in the registry") from error

    def launchpad_of(self, generation: str) -> Launchpad:
        """Return a token's launchpad by the name that is stored as the token's generation.

        A declared launchpad's tokens store its own name, also after the launchpad has left the registry.
        """
        entry = self.generations.get(generation)
        name = entry.launchpad if entry else generation
        return self.launchpads.get(name) or Launchpad(name=name, title=name)

    def generations_of(self, launchpad: str) -> tuple[str, ...]:
        """Return the names that a launchpad's tokens store as their generation."""
        names = [name for name, generation in self.generations.items() if generation.launchpad == launchpad]
        return tuple(names) or (launchpad,)


def load_registry(
    *files: Path,
    solana_chain_id: int = DEFAULT_SOLANA_CHAIN_ID,
    launchpads: Mapping[int, Sequence[str]] = MappingProxyType({}),
) -> Registry:
    """Load the built-in registry with the operator's files merged over it, in the order given.

    A chain's scalars and `reference_pools` replace the earlier ones. Its entries in `contracts` and `quote_tokens` are
    added, or replace the entry with the same address; its `known_deployers` are added. A generation or preset with the
    same name is replaced. New entries are appended. A contract marked for launches replaces an earlier file's contract
    in its role. Solana's id is `solana_chain_id`. `launchpads` has chain -> names of indexed launchpads, declared ones
    or those with generations; a chain without names has DEFAULT_LAUNCHPAD. Raises RegistryError, which lists every
    mistake in every file.
    """
    merged = merge_files(read_registry_files(BUILT_IN_FILE, _LAUNCHPADS_FILE, *files))
    if str(solana_chain_id) in merged.chains:
        rule = f"{solana_chain_id} is the id of another chain in the registry"
        raise RegistryError([RegistryMistake(file=SETTINGS, key_path="SOLANA_CHAIN_ID", rule=rule)])
    generations = {name: Generation(name=name, **fields) for name, fields in merged.generations.items()}
    mistakes = launchpad_choice.find_mistakes(
        {chain_id: names for chain_id, names in launchpads.items() if chain_id != solana_chain_id},
        chains={int(key): fields for key, fields in merged.chains.items() if key != SOLANA},
        launchpad_of={name: generation.launchpad for name, generation in generations.items()},
        declared=merged.launchpads,
    )
    if all_mistakes := list(mistakes):
        raise RegistryError(all_mistakes)
    named = {name: Launchpad(name=name, title=name) for name in _launchpads_of(generations)}
    presets = {name: build_preset(name, fields) for name, fields in merged.presets.items()}
    chains = {
        chain_id: replace(
            _build_chain(chain_id, fields, generations, merged.launchpads, is_solana=key == SOLANA),
            indexed=tuple(launchpads.get(chain_id, (DEFAULT_LAUNCHPAD,))),
        )
        for key, fields in merged.chains.items()
        for chain_id in [solana_chain_id if key == SOLANA else int(key)]
    }
    return Registry(
        chains=MappingProxyType(chains),
        generations=MappingProxyType(generations),
        presets=MappingProxyType(presets),
        launchpads=MappingProxyType(named | merged.launchpads),
    )


def _launchpads_of(generations: Mapping[str, Generation]) -> list[str]:
    return list(dict.fromkeys(generation.launchpad for generation in generations.values()))


def _build_chain(
    chain_id: int,
    fields: dict[str, Any],
    generations: Mapping[str, Generation],
    launchpads: Mapping[str, Launchpad],
    *,
    is_solana: bool,
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
        reference_pools=build_reference_pools(chain_id, fields, quote_tokens),
        registered=MappingProxyType(contracts),
        declared=MappingProxyType({name: pad for name, pad in launchpads.items() if pad.is_on(chain_id)}),
        **{name: value for name, value in fields.items() if name not in lists},
    )
