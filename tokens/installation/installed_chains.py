"""The chains as this installation has them: the registry with the operator's file, and the nodes of the settings."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from django.conf import settings

from config.http.json_client import MAX_ANSWER_BYTES, Permanent
from tokens.chains.addresses import address_key
from tokens.chains.evm.evm_chain import EvmChain
from tokens.chains.protocols import Chain, LaunchChain
from tokens.chains.registry.chains import ChainInfo, Registry, load
from tokens.chains.rpc.batch import Identity
from tokens.chains.rpc.block_ranges import RangeSize
from tokens.chains.rpc.client import RpcClient
from tokens.chains.solana.solana_chain import ANSWER_BYTES, SolanaChain, genesis_of


class UnsupportedChain(Permanent):
    """This installation does not know the chain, or has no node of it."""


@cache
def registry() -> Registry:
    """The built-in registry with the operator's files merged over it. Raises RegistryError."""
    return load(*map(Path, settings.CHAINS_FILES), solana_chain_id=settings.SOLANA_CHAIN_ID)


def evm_chain_ids() -> tuple[int, ...]:
    """The EVM chains that have a node, in the order of the settings."""
    return tuple(chain_id for chain_id in settings.RPC_URLS if chain_id != settings.SOLANA_CHAIN_ID)


def launching_chains() -> dict[int, ChainInfo]:
    """Chain id -> what is known of each chain where we can launch tokens: it has a node and a factory."""
    return {
        chain_id: chain
        for chain_id, chain in registry().chains.items()
        if chain_id in settings.RPC_URLS and chain.deploying("factory")
    }


def default_market_chain() -> ChainInfo:
    """The chain whose market is meant where a caller names none: the first that the market-data provider knows.

    A chain with a node goes before those without: nothing is indexed there, and all pools would be strangers'.
    """
    # Files add chains to the built-in ones, of which it knows some, and take nothing away.
    known = [chain for chain in registry().chains.values() if chain.market_network]
    return next((chain for chain in known if chain.chain_id in settings.RPC_URLS), known[0])


def generation_label(name: str) -> str:
    """What answers call a generation; its own name where the registry has lost it."""
    generation = registry().generations.get(name)
    return generation.type if generation else name


def quote_symbol(address: str, *, chain_id: int | None) -> str | None:
    """The symbol of the quote token at an address, on one chain or on any; None where there is none."""
    quotes = (
        chain.quote_tokens.get(address_key(address))
        for chain in registry().chains.values()
        if chain_id in (None, chain.chain_id)
    )
    return next((quote.symbol for quote in quotes if quote), None)


def installed_launch_chain(chain_id: int) -> LaunchChain:
    """The chain with its nodes, whatever its kind. Raises UnsupportedChain."""
    return installed_solana() if chain_id == settings.SOLANA_CHAIN_ID else installed_chain(chain_id)


@cache
def installed_solana() -> SolanaChain:
    """Solana with its nodes, made once per process. Raises UnsupportedChain."""
    info, urls = registry().solana, _urls(settings.SOLANA_CHAIN_ID)
    places = range(1, len(urls) + 1)
    client = _build_client(info, urls, places, identity=genesis_of(info), answer_bytes=ANSWER_BYTES)
    return SolanaChain(info=info, rpc=client)


@cache
def installed_chain(chain_id: int) -> Chain:
    """The EVM chain with its nodes, made once per process. Raises UnsupportedChain."""
    urls = _evm_urls(chain_id)
    return _build_chain(chain_id, urls, places=range(1, len(urls) + 1))


@cache
def installed_chain_otherwise(chain_id: int) -> Chain:
    """As `installed_chain`, with the second node first and the first one last: for a second opinion.

    Where there is one node alone, it is asked again. Raises UnsupportedChain.
    """
    first, *others = _evm_urls(chain_id)
    # Each is named by its place in the setting here too: a log that blames the second one for the first helps nobody.
    return _build_chain(chain_id, (*others, first), places=(*range(2, len(others) + 2), 1))


def _evm_urls(chain_id: int) -> tuple[str, ...]:
    if chain_id == settings.SOLANA_CHAIN_ID:
        raise UnsupportedChain(f"chain {chain_id} is Solana, and this is of EVM chains alone")
    return _urls(chain_id)


def _urls(chain_id: int) -> tuple[str, ...]:
    if chain_id not in registry().chains:
        raise UnsupportedChain(f"chain {chain_id} is not in the registry")
    urls: tuple[str, ...] = settings.RPC_URLS.get(chain_id, ())
    if not urls:
        raise UnsupportedChain(f"RPC_URLS_{chain_id} is not set")
    return urls


def _build_chain(chain_id: int, urls: tuple[str, ...], *, places: Iterable[int]) -> Chain:
    info = registry().chain(chain_id)
    ranges = RangeSize(settings.FOLLOW_RANGE_BLOCKS, longest=settings.FOLLOW_LONGEST_RANGE_BLOCKS)
    return EvmChain(info=info, rpc=_build_client(info, urls, places), ranges=ranges)


def _build_client(
    info: ChainInfo,
    urls: tuple[str, ...],
    places: Iterable[int],
    *,
    identity: Identity | None = None,
    answer_bytes: int = MAX_ANSWER_BYTES,
) -> RpcClient:
    return RpcClient(
        chain_id=info.chain_id,
        identity=identity,
        answer_bytes=answer_bytes,
        urls=urls,
        places=tuple(places),
        timeout=settings.RPC_TIMEOUT_SECONDS,
        batch_size=settings.RPC_BATCH_SIZE,
        attempts=settings.RPC_ATTEMPTS,
        patience=settings.RPC_PATIENCE_SECONDS,
    )


# Pages of block explorers, by the addresses that the registry has of them.
def token_page(chain_id: int, address: str) -> str | None:
    """The explorer's page of a token; None where the chain has no explorer."""
    return _page(chain_id, "token", address)


def transaction_page(chain_id: int, tx_hash: str) -> str | None:
    """The explorer's page of a transaction; None where the chain has no explorer."""
    return _page(chain_id, "tx", tx_hash)


def address_page(chain_id: int, address: str) -> str | None:
    """The explorer's page of a wallet or contract; None where the chain has no explorer."""
    chain = registry().chains.get(chain_id)
    # Solana's explorers have accounts alone.
    return _page(chain_id, "account" if chain and chain.is_solana else "address", address)


def _page(chain_id: int, kind: str, name: str) -> str | None:
    chain = registry().chains.get(chain_id)
    return f"{chain.explorer.rstrip('/')}/{kind}/{name}" if chain and chain.explorer else None
