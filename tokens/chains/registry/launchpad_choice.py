"""Rules for the setting LAUNCHPADS_<chainId>, which names a chain's indexed launchpads."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any

from tokens.chains.registry.launchpads import LaunchDeclaration, Launchpad, PoolKind
from tokens.chains.registry.toml_files import SETTINGS, RegistryMistake

# Pool kind -> the chain's contract that creates such pools, by its key in a registry file.
_CREATORS: Mapping[PoolKind, str] = {"v2": "v2_factory", "v3": "v3_factory", "v4": "v4_pool_manager"}


def find_mistakes(
    chosen: Mapping[int, Sequence[str]],
    *,
    chains: Mapping[int, Mapping[str, Any]],
    launchpad_of: Mapping[str, str],
    declared: Mapping[str, Launchpad],
) -> Iterator[RegistryMistake]:
    """Yield mistakes in the setting by chain, and declared launchpads with a generation's or its launchpad's name.

    `chains` has the EVM chains' merged tables, `launchpad_of` each generation's launchpad.
    """
    for name, launchpad in declared.items():
        key, rule = f"launchpads.{name}", ""
        if launchpad.launches and name in launchpad_of.values():
            rule = "generations are of this launchpad: only its title may be declared"
        elif launchpad.launches and name in launchpad_of:
            # Tokens store either name in one column.
            rule = "a generation has this name"
        elif not launchpad.launches and name not in launchpad_of.values():
            key, rule = f"{key}.launch", f"missing: tables [[launchpads.{name}.launch]]; no generation is of it"
        if rule:
            yield RegistryMistake(file="all files together", key_path=key, rule=rule)
    for chain_id, names in chosen.items():
        for rule in _broken_rules(chain_id, names, chains.get(chain_id), launchpad_of, declared):
            yield RegistryMistake(file=SETTINGS, key_path=f"LAUNCHPADS_{chain_id}", rule=rule)


def _broken_rules(
    chain_id: int,
    names: Sequence[str],
    chain: Mapping[str, Any] | None,
    launchpad_of: Mapping[str, str],
    declared: Mapping[str, Launchpad],
) -> Iterator[str]:
    if chain is None:
        yield f"chain {chain_id} is not in the registry"
        return
    contracts: Collection[Mapping[str, Any]] = chain.get("contracts", {}).values()
    chain_names = {launchpad_of[each["generation"]] for each in contracts if each["role"] == "factory"}
    chain_names |= {name for name, launchpad in declared.items() if launchpad.is_on(chain_id)}
    for name in names:
        if name not in chain_names:
            expected = ", ".join(sorted(chain_names)) or "none"
            yield f"{name} is no launchpad of chain {chain_id}: expected one of {expected}"
        elif name in declared:
            for kind in sorted(declared[name].pool_kinds(chain_id)):
                if kind in _CREATORS and _CREATORS[kind] not in chain:
                    yield f"{name} has {kind} pools, and chain {chain_id} has no {_CREATORS[kind]}"
    for one, other in combinations([declared[name] for name in dict.fromkeys(names) if name in declared], 2):
        for launch, rival in product(one.launches, other.launches):
            for contract in sorted(_tied_contracts(launch, rival, chain_id)):
                event = f"{launch.event.signature} of {contract}"
                yield f"{one.name} and {other.name} both declare {event}: one of them needs more conditions in `when`"


def _tied_contracts(launch: LaunchDeclaration, rival: LaunchDeclaration, chain_id: int) -> set[str]:
    """Return the contracts whose logs may match both: with unequal conditions, the one with more gets the log."""
    if launch.event.topic0 != rival.event.topic0 or len(launch.conditions) != len(rival.conditions):
        return set()
    if any(
        one.value == other.value and one.expected.isdisjoint(other.expected)
        for one, other in product(launch.conditions, rival.conditions)
    ):
        return set()
    return set(launch.contracts.get(chain_id, ())) & set(rival.contracts.get(chain_id, ()))
