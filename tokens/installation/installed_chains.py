"""Chains of this installation: the registry with the operator's files, and the nodes of the settings."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from django.conf import settings

from config.http import json_client
from config.http.errors import PermanentError
from tokens.chains.addresses import address_key
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.registry.chains import ChainInfo, Registry, load_registry
from tokens.chains.rpc.batch import ChainIdentity
from tokens.chains.rpc.block_ranges import RangeSize
from tokens.chains.rpc.client import RpcClient
from tokens.chains.solana.solana_chain import MAX_RESPONSE_BYTES, SolanaChain, network_identity

# A chain of any kind.
LaunchChain = Chain | SolanaChain


class UnsupportedChainError(PermanentError):
    """Raised for a chain that is not in the registry or has no node in the settings."""


@cache
def registry() -> Registry:
    """Return the built-in registry merged with the operator's files, which take precedence. Raises RegistryError."""
    return load_registry(*map(Path, settings.CHAINS_FILES), solana_chain_id=settings.SOLANA_CHAIN_ID)


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


def default_market_chain() -> ChainInfo:
    """Return the chain of market endpoints without a chain parameter: the first with a market-data network.

    Chains with a node go first: on others nothing is indexed, and all pools would be unknown.
    """
    # Files add chains to the built-in ones, some of which have a network, and remove none.
    known = [chain for chain in registry().chains.values() if chain.market_network]
    return next((chain for chain in known if chain.chain_id in settings.RPC_URLS), known[0])


def generation_label(name: str) -> str:
    """Return a generation's label in the API; its own name if the registry no longer has it."""
    generation = registry().generations.get(name)
    return generation.type if generation else name


def quote_symbol(address: str, *, chain_id: int | None) -> str | None:
    """Return the symbol of the quote token at an address, on one chain or on any; None if there is none."""
    quotes = (
        chain.quote_tokens.get(address_key(address))
        for chain in registry().chains.values()
        if chain_id in (None, chain.chain_id)
    )
    return next((quote.symbol for quote in quotes if quote), None)


def installed_launch_chain(chain_id: int) -> LaunchChain:
    """Return the chain with its nodes, EVM or Solana. Raises UnsupportedChainError."""
    return installed_solana() if chain_id == settings.SOLANA_CHAIN_ID else installed_chain(chain_id)


@cache
def installed_solana() -> SolanaChain:
    """Return Solana with its nodes, created once per process. Raises UnsupportedChainError."""
    info, urls = registry().solana, _urls(settings.SOLANA_CHAIN_ID)
    positions = range(1, len(urls) + 1)
    client = _build_client(
        info, urls, positions, identity=network_identity(info), max_response_bytes=MAX_RESPONSE_BYTES
    )
    return SolanaChain(info=info, rpc=client)


@cache
def installed_chain(chain_id: int) -> Chain:
    """Return the EVM chain with its nodes, created once per process. Raises UnsupportedChainError."""
    urls = _evm_urls(chain_id)
    return _build_chain(chain_id, urls, positions=range(1, len(urls) + 1))


@cache
def installed_chain_second_node_first(chain_id: int) -> Chain:
    """Return the chain as `installed_chain` does, with the second node first and the first one last.

    Used to verify a response by another node; a single node is queried again. Raises UnsupportedChainError.
    """
    first, *others = _evm_urls(chain_id)
    # Logs name a node by its position in the setting, which must not change with the order here.
    return _build_chain(chain_id, (*others, first), positions=(*range(2, len(others) + 2), 1))


def _evm_urls(chain_id: int) -> tuple[str, ...]:
    if chain_id == settings.SOLANA_CHAIN_ID:
        raise UnsupportedChainError(f"chain {chain_id} is Solana; only EVM chains are supported here")
    return _urls(chain_id)


def _urls(chain_id: int) -> tuple[str, ...]:
    if chain_id not in registry().chains:
        raise UnsupportedChainError(f"chain {chain_id} is not in the registry")
    urls: tuple[str, ...] = settings.RPC_URLS.get(chain_id, ())
    if not urls:
        raise UnsupportedChainError(f"RPC_URLS_{chain_id} is not set")
    return urls


def _build_chain(chain_id: int, urls: tuple[str, ...], *, positions: Iterable[int]) -> Chain:
    info = registry().chain(chain_id)
    ranges = RangeSize(settings.FOLLOW_RANGE_BLOCKS, longest=settings.FOLLOW_LONGEST_RANGE_BLOCKS)
    return Chain(info=info, rpc=_build_client(info, urls, positions), ranges=ranges)


def _build_client(
    info: ChainInfo,
    urls: tuple[str, ...],
    positions: Iterable[int],
    *,
    identity: ChainIdentity | None = None,
    max_response_bytes: int = json_client.MAX_RESPONSE_BYTES,
) -> RpcClient:
    return RpcClient(
        chain_id=info.chain_id,
        identity=identity,
        max_response_bytes=max_response_bytes,
        urls=urls,
        places=tuple(positions),
        timeout=settings.RPC_TIMEOUT_SECONDS,
        batch_size=settings.RPC_BATCH_SIZE,
        attempts=settings.RPC_ATTEMPTS,
        total_timeout=settings.RPC_PATIENCE_SECONDS,
    )


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
