"""This installation's launchpads: names and titles, contracts by chain, and whether they are indexed."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from django.conf import settings

from tokens.chains.registry.chains import ChainInfo, Registry
from tokens.chains.registry.launchpads import Launchpad
from tokens.installation.installed_registry import registry

# The most names in a filter.
MAX_LAUNCHPADS = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class ChainLaunchpad:
    """A launchpad on a chain where it has contracts."""

    launchpad: Launchpad
    chain: ChainInfo
    # EIP-55 addresses that launches are read from; on Solana accounts.
    contracts: tuple[str, ...]
    # Whether LAUNCHPADS_<chain> names it, and the chain has a node.
    is_indexed: bool


def launchpad_of(generation: str) -> Launchpad:
    """Return the launchpad by its tokens' stored generation; its name is its title if the registry has none."""
    return registry().launchpad_of(generation)


def is_declared(generation: str) -> bool:
    """Return whether a declared launchpad launched the tokens with this stored generation.

    Its contracts are no Clanker's: lockers, vaults, airdrops, sniper taxes and usual starting prices are not known.
    """
    return bool(launchpad_of(generation).launches)


def read_generations(chain: ChainInfo) -> frozenset[str]:
    """Return the stored generations whose tokens' events and curves are read: compiled, or declared and indexed.

    Other tokens' rows belong to a launchpad that is switched off, or that the registry no longer has.
    """
    return frozenset(registry().generations).union(pad.name for pad in chain.launchpads)


def parse_launchpads(text: str) -> tuple[str, ...]:
    """Return the launchpad names between commas, each once and sorted. Raises ValueError for an unknown one."""
    launchpads, names = registry().launchpads, text.split(",", MAX_LAUNCHPADS)
    if len(names) > MAX_LAUNCHPADS or not launchpads.keys() >= set(names):
        rule = f"must be 1 to {MAX_LAUNCHPADS} launchpads of this service, separated by commas"
        raise ValueError(f"{rule}: {', '.join(sorted(launchpads))}")
    return tuple(sorted(set(names)))


def list_launchpads() -> tuple[ChainLaunchpad, ...]:
    """Return each chain's launchpads in the registry, including those that are not indexed."""
    return _list(registry(), frozenset(settings.RPC_URLS))


def find_factory(chain_id: int, address: str) -> Launchpad | None:
    """Return the launchpad whose launches are read from this contract, in stored form, on a chain; None without one."""
    matches = (each for each in list_launchpads() if each.chain.chain_id == chain_id and address in each.contracts)
    return next((each.launchpad for each in matches if each.chain.indexes(each.launchpad.name)), None)


def indexed_launchpads() -> dict[str, Launchpad]:
    """Return name -> launchpad for launchpads that are indexed on any chain."""
    return {each.launchpad.name: each.launchpad for each in list_launchpads() if each.is_indexed}


def launchpad_badge(generation: str) -> str:
    """Return the launchpad title that pages show beside a token; empty if no other launchpad is indexed."""
    launchpad = launchpad_of(generation)
    return launchpad.title if indexed_launchpads().keys() - {launchpad.name} else ""


@cache
def _list(known: Registry, with_node: frozenset[int]) -> tuple[ChainLaunchpad, ...]:
    return tuple(
        ChainLaunchpad(
            launchpad=launchpad,
            chain=chain,
            contracts=contracts,
            is_indexed=chain.chain_id in with_node and chain.indexes(launchpad.name),
        )
        for chain in known.chains.values()
        for launchpad in known.launchpads.values()
        if (contracts := tuple(dict.fromkeys(_contracts(launchpad, chain))))
    )


def _contracts(launchpad: Launchpad, chain: ChainInfo) -> Iterator[str]:
    for launch in launchpad.launches:
        yield from launch.contracts.get(chain.chain_id, ())
    for contract in chain.registered.values():
        generation = contract.generation
        if generation and generation.launchpad == launchpad.name and (chain.is_solana or contract.role == "factory"):
            yield contract.address
