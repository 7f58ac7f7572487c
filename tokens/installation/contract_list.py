"""The registry's contracts as public responses show them, with launchpad, role and launch topics."""

from collections.abc import Iterator

from django.conf import settings

from tokens.chains.evm.generations.launch_layouts import created_event
from tokens.chains.registry.chains import ChainInfo, Contract
from tokens.chains.registry.launchpads import Launchpad
from tokens.installation import responses
from tokens.installation.installed_launchpads import launchpad_of, list_launchpads
from tokens.installation.installed_registry import registry

FACTORY = "factory"


def list_contracts(*, chain_id: int | None = None, role: str | None = None) -> list[responses.ContractJson]:
    """Return the contracts on one chain or on all, in one role or in all, in the sequence of the registry's files."""
    chains = (chain for chain in registry().chains.values() if chain_id in (None, chain.chain_id))
    return [contract for chain in chains for contract in _list_chain(chain) if role in (None, contract["role"])]


def _list_chain(chain: ChainInfo) -> Iterator[responses.ContractJson]:
    has_node = chain.chain_id in settings.RPC_URLS
    for contract in chain.registered.values():
        generation = contract.generation
        launchpad = launchpad_of(generation.name) if generation else None
        yield responses.ContractJson(
            name=f"{generation.type} {contract.role}" if generation else contract.role,
            chainId=chain.chain_id,
            chain=chain.name,
            indexed=has_node and (launchpad is None or chain.indexes(launchpad.name)),
            address=contract.address,
            role=contract.role,
            launchpad=launchpad.name if launchpad else None,
            launchpadTitle=launchpad.title if launchpad else None,
            generation=generation.name if generation else None,
            version=generation.version if generation else None,
            type=generation.type if generation else None,
            events=_topics(contract),
        )
    for declared in list_launchpads():
        if declared.chain is chain and declared.launchpad.launches:
            for address in declared.contracts:
                yield _declared_factory(declared.launchpad, chain, address, is_indexed=declared.is_indexed)


def _declared_factory(
    launchpad: Launchpad, chain: ChainInfo, address: str, *, is_indexed: bool
) -> responses.ContractJson:
    launches = [launch for launch in launchpad.launches if address in launch.contracts.get(chain.chain_id, ())]
    return responses.ContractJson(
        name=f"{launchpad.name} {FACTORY}",
        chainId=chain.chain_id,
        chain=chain.name,
        indexed=is_indexed,
        address=address,
        role=FACTORY,
        launchpad=launchpad.name,
        launchpadTitle=launchpad.title,
        generation=None,
        version=None,
        type=launchpad.name,
        events={"launches": list(dict.fromkeys(launch.event.topic0 for launch in launches))},
    )


def _topics(contract: Contract) -> responses.ContractEventsShape:
    if contract.role != FACTORY or contract.generation is None:
        return {}
    topic = created_event(contract.generation).topic0
    return {"tokenCreated": topic, "launches": [topic]}
