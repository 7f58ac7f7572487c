"""Registry of this installation: the built-in chains with those of the operator's files, without their nodes."""

from collections.abc import Collection, Iterable
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
    """Return the ids of all chains in the registry, with a node or without, and Solana's."""
    return registry().chains.keys()


def evm_chain_ids() -> tuple[int, ...]:
    """Return the EVM chains that have a node, in the order of the settings."""
    return tuple(chain_id for chain_id in settings.RPC_URLS if chain_id != settings.SOLANA_CHAIN_ID)


def launching_chains() -> dict[int, ChainInfo]:
    """Return chain id -> registry entry of each chain for deployments: those with a node and a factory."""
    return {
        chain_id: chain
        for chain_id, chain in registry().chains.items()
        if chain_id in settings.RPC_URLS and chain.deploying("factory")
    }


def provider_networks() -> dict[int, str]:
    """Return chain id -> the provider's network, of the chains of MARKET_PROVIDER_CHAINS that it covers."""
    found = {chain_id: registry().chains.get(chain_id) for chain_id in settings.MARKET_PROVIDER_CHAINS}
    return {chain_id: chain.market_network for chain_id, chain in found.items() if chain and chain.market_network}


def has_market_source(chain_id: int) -> bool:
    """Return whether the chain's market data has a source: its own trades, or the provider."""
    return has_own_trades(chain_id) or chain_id in provider_networks()


def default_chain() -> ChainInfo:
    """Return the chain of requests that name none: that of EVM addresses, or Solana if only it has a node."""
    return _first_with_node(sorted(registry().chains.values(), key=lambda chain: chain.is_solana))


def default_evm_chain() -> ChainInfo:
    """Return the chain of an EVM address in requests that name none: the registry's first EVM chain with a node."""
    return _first_with_node(chain for chain in registry().chains.values() if not chain.is_solana)


def default_market_chain() -> ChainInfo:
    """Return the chain of market endpoints without a chain parameter: one with a source of market data."""
    # The built-in chains, which no file removes, include some that the provider covers.
    return _first_with_node(chain for chain in registry().chains.values() if has_market_source(chain.chain_id))


def _first_with_node(chains: Iterable[ChainInfo]) -> ChainInfo:
    """Return the first chain with a node, since nothing is indexed on others; the first one if none has a node."""
    known = list(chains)
    return next((chain for chain in known if chain.chain_id in settings.RPC_URLS), known[0])


def chain_name(chain_id: int) -> str:
    """Return the chain's name in the registry, or a name made of its id if the registry no longer has it."""
    chain = registry().chains.get(chain_id)
    return chain.name if chain else f"Chain {chain_id}"


def generation_label(name: str) -> str:
    """Return a generation's label in the API; its own name if the registry no longer has it."""
    generation = registry().generations.get(name)
    return generation.type if generation else name


def generation_version(name: str) -> str | None:
    """Return the launchpad's number of a generation, such as 3.1; None if it has none or is not in the registry."""
    generation = registry().generations.get(name)
    return generation.version if generation else None


def quote_symbol(address: str, *, chain_id: int | None) -> str | None:
    """Return the symbol of the quote token at an address, on one chain or on any; None if there is none."""
    quotes = (
        chain.quote_tokens.get(address_key(address))
        for chain in registry().chains.values()
        if chain_id in (None, chain.chain_id)
    )
    return next((quote.symbol for quote in quotes if quote), None)


def explorer_token_page(chain_id: int, address: str) -> str | None:
    """Return the block explorer's URL of a token; None if the chain has no explorer."""
    return _explorer_page(chain_id, "token", address)


def explorer_transaction_page(chain_id: int, tx_hash: str) -> str | None:
    """Return the block explorer's URL of a transaction; None if the chain has no explorer."""
    return _explorer_page(chain_id, "tx", tx_hash)


def explorer_address_page(chain_id: int, address: str) -> str | None:
    """Return the block explorer's URL of a wallet or contract; None if the chain has no explorer."""
    chain = registry().chains.get(chain_id)
    # Solana's explorers have accounts only.
    return _explorer_page(chain_id, "account" if chain and chain.is_solana else "address", address)


def _explorer_page(chain_id: int, kind: str, name: str) -> str | None:
    chain = registry().chains.get(chain_id)
    return f"{chain.explorer.rstrip('/')}/{kind}/{name}" if chain and chain.explorer else None
