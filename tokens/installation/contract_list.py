"""The registry's contracts as public responses show them, with generation, role and the topic of launches."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings

from tokens.chains.evm.generations.transaction_decoding import LAYOUTS
from tokens.chains.registry.chains import ChainInfo, Contract
from tokens.installation.installed_registry import registry

FACTORY = "factory"


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedContract:
    """A contract of a chain; on Solana an account. `generation` and what follows from it are None if it has none."""

    name: str
    chain_id: int
    chain: str
    # Whether this service has a node of the chain.
    indexed: bool
    address: str
    role: str
    generation: str | None
    version: str | None
    # The API's `type` of the tokens that the generation launches.
    type: str | None
    # Event name -> topic0; only of factories.
    events: dict[str, str]


def list_contracts(*, chain_id: int | None = None, role: str | None = None) -> list[ListedContract]:
    """Return the contracts of one chain or of all, of one role or of all, in the sequence of the registry's files."""
    chains = (chain for chain in registry().chains.values() if chain_id in (None, chain.chain_id))
    return [contract for chain in chains for contract in _of_chain(chain) if role in (None, contract.role)]


def _of_chain(chain: ChainInfo) -> Iterator[ListedContract]:
    for contract in chain.contracts.values():
        generation = contract.generation
        yield ListedContract(
            name=f"{generation.type} {contract.role}" if generation else contract.role,
            chain_id=chain.chain_id,
            chain=chain.name,
            indexed=chain.chain_id in settings.RPC_URLS,
            address=contract.address,
            role=contract.role,
            generation=generation.name if generation else None,
            version=generation.version if generation else None,
            type=generation.type if generation else None,
            events=_topics(contract),
        )


def _topics(contract: Contract) -> dict[str, str]:
    if contract.role != FACTORY or contract.generation is None:
        return {}
    event, _ = LAYOUTS[contract.generation.event]
    return {"tokenCreated": event.topic0}
