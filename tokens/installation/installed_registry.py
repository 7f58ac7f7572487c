"""This installation's registry: the built-in chains and the chains in the operator's files, without their nodes."""

from collections.abc import Collection
from enum import Enum
from functools import cache
from pathlib import Path

from django.conf import settings

from tokens.chains.addresses import address_key
from tokens.chains.registry.chains import ChainInfo, Registry, load_registry
from tokens.installation.market_sources import has_own_trades


def registry() -> Registry:
    """Return the built-in registry merged with the operator's files, which take precedence. Raises RegistryError."""
    launchpads = tuple(sorted(settings.LAUNCHPADS.items()))
    return _load_once(settings.CHAINS_FILES, settings.SOLANA_CHAIN_ID, launchpads)


@cache
def _load_once(
    files: tuple[str, ...], solana_chain_id: int, launchpads: tuple[tuple[int, tuple[str, ...]], ...]
) -> Registry:
    return load_registry(*map(Path, files), solana_chain_id=solana_chain_id, launchpads=dict(launchpads))


def known_chain_ids() -> Collection[int]:
    """Return all chain ids in the registry, with a node or without, and Solana's."""
    return registry().chains.keys()


def evm_chain_ids() -> tuple[int, ...]:
    """Return the EVM chains that have a node, in the settings' order."""
    return tuple(chain_id for chain_id in settings.RPC_URLS if chain_id != settings.SOLANA_CHAIN_ID)


def launching_chains() -> dict[int, ChainInfo]:
    """Return chain id -> registry entry for each chain that can launch: it has a node and a factory."""
    return {
        chain_id: chain
        for chain_id, chain in registry().chains.items()
        if chain_id in settings.RPC_URLS and chain.deploying("factory")
    }


def provider_networks() -> dict[int, str]:
    """Return chain id -> the provider's network, for chains in MARKET_PROVIDER_CHAINS that the provider covers."""
    chains = {chain_id: registry().chains.get(chain_id) for chain_id in settings.MARKET_PROVIDER_CHAINS}
    return {chain_id: chain.market_network for chain_id, chain in chains.items() if chain and chain.market_network}


def has_market_source(chain_id: int) -> bool:
    """Return whether the chain's market data has a source: its own trades, or the provider."""
    return has_own_trades(chain_id) or chain_id in provider_networks()


class DefaultFor(Enum):
    """Purposes for requests that may name no chain."""

    # A transaction or a token on any chain; Solana only if no EVM chain has a node.
    INDEXING = "indexing"
    EVM_ADDRESS = "EVM address"
    # Market data, which a chain without a source lacks.
    MARKET_DATA = "market data"
    LAUNCH = "launch"


def default_chain(purpose: DefaultFor) -> ChainInfo:
    """Return the chain for a request that names none: the registry's first fitting chain that has a node.

    Nothing is indexed on a chain without a node; the first fitting one counts if none has a node. A launch takes the
    registry's first chain, with a node or without: it spends money and is permanent, so that changed nodes must not
    send the same body to another chain. Without a node it is refused.
    """
    chains = list(registry().chains.values())
    match purpose:
        case DefaultFor.LAUNCH:
            return chains[0]
        case DefaultFor.INDEXING:
            chains.sort(key=lambda chain: chain.is_solana)
        case DefaultFor.EVM_ADDRESS:
            chains = [chain for chain in chains if not chain.is_solana]
        case DefaultFor.MARKET_DATA:
            # The built-in chains, which no file removes, include some that the provider covers.
            chains = [chain for chain in chains if has_market_source(chain.chain_id)]
    return next((chain for chain in chains if chain.chain_id in settings.RPC_URLS), chains[0])


def chain_name(chain_id: int) -> str:
    """Return the chain's name in the registry, or a name with its id if the registry no longer has it."""
    chain = registry().chains.get(chain_id)
    return chain.name if chain else f"Chain {chain_id}"


def generation_label(name: str) -> str:
    """Return a generation's label in the API; its own name if the registry no longer has it."""
    generation = registry().generations.get(name)
    return generation.type if generation else name


def generation_version(name: str) -> str | None:
    """Return the launchpad's number for a generation, such as 3.1; None if it has none or is not in the registry."""
    generation = registry().generations.get(name)
    return generation.version if generation else None


def quote_symbol(address: str, *, chain_id: int | None) -> str | None:
    """Return the quote token's symbol at an address, on one chain or on any; None if there is none."""
    quotes = (
        chain.quote_tokens.get(address_key(address))
        for chain in registry().chains.values()
        if chain_id in (None, chain.chain_id)
    )
    return next((quote.symbol for quote in quotes if quote), None)


def explorer_token_page(chain_id: int, address: str) -> str | None:
    """Return the block explorer's URL for a token; None if the chain has no explorer."""
    return _explorer_page(chain_id, "token", address)


def explorer_transaction_page(chain_id: int, tx_hash: str) -> str | None:
    """Return the block explorer's URL for a transaction; None if the chain has no explorer."""
    return _explorer_page(chain_id, "tx", tx_hash)


def explorer_address_page(chain_id: int, address: str) -> str | None:
    """Return the block explorer's URL for a wallet or contract; None if the chain has no explorer."""
    chain = registry().chains.get(chain_id)
    # Solana's explorers have accounts only.
    return _explorer_page(chain_id, "account" if chain and chain.is_solana else "address", address)


def _explorer_page(chain_id: int, kind: str, name: str) -> str | None:
    chain = registry().chains.get(chain_id)
    return f"{chain.explorer.rstrip('/')}/{kind}/{name}" if chain and chain.explorer else None
