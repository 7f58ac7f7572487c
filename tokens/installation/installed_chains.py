"""This installation's chains, with the nodes in its settings."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from django.conf import settings

from config.http import json_client
from config.http.errors import PermanentError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.batch import ChainIdentity
from tokens.chains.rpc.block_ranges import RangeSize
from tokens.chains.rpc.client import RpcClient
from tokens.chains.solana.solana_chain import MAX_RESPONSE_BYTES, SolanaChain, network_identity
from tokens.installation.installed_registry import registry

# Any kind of chain.
LaunchChain = Chain | SolanaChain


class UnsupportedChainError(PermanentError):
    """Raised for a chain that is not in the registry or has no node in the settings."""


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


def find_evm_nodes(chain_id: int) -> RpcClient | None:
    """Return an EVM chain's nodes; None for Solana, and for a chain that is not in the registry or has no node."""
    try:
        return installed_chain(chain_id).rpc
    except UnsupportedChainError:
        return None


@cache
def installed_chain_second_node_first(chain_id: int) -> Chain:
    """Return the chain as `installed_chain` does, with the second node first and the first one last.

    Used to verify a response by another node; a single node is queried again. Raises UnsupportedChainError.
    """
    first, *others = _evm_urls(chain_id)
    # Logs name a node by its position in the setting, which must not change with the order here.
    return _build_chain(chain_id, (*others, first), positions=(*range(2, len(others) + 2), 1))


def single_node_chains(chain_id: int) -> list[LaunchChain]:
    """Return the chain once for each node by itself, which is queried once. Raises UnsupportedChainError."""
    chain = installed_launch_chain(chain_id)
    return [replace(chain, rpc=node) for node in chain.rpc.single_nodes()]


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
