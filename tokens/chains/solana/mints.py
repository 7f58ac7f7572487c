"""Mint accounts for launched tokens and their quote currencies, fetched from nodes."""

from collections.abc import Collection, Sequence
from typing import Any

from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import RpcClient
from tokens.chains.solana.account_reading import read_accounts
from tokens.chains.solana.launch_decoding import DecodedTransaction, MintInfo
from tokens.chains.solana.token_accounts import metadata_address, read_metadata, read_mint

# Nodes accept 100 accounts per call, and a mint has two.
_MAX_MINTS = 50


def fetch_launch_mints(rpc: RpcClient, chain: ChainInfo, decoded: Sequence[DecodedTransaction]) -> dict[str, MintInfo]:
    """Fetch each launched mint, and each quote mint that the registry lacks; return mint -> state.

    Nodes that have not reached the newest transaction are skipped. Raises NodeUnavailableError.
    """
    pools = [launch.pool for entry in decoded for launch in entry.launches]
    mints = {pool.base_mint for pool in pools} | {pool.quote_mint for pool in pools} - chain.quote_tokens.keys()
    return fetch_mints(rpc, mints, slot=max((entry.transaction.slot for entry in decoded), default=0))


def fetch_mints(rpc: RpcClient, mints: Collection[str], *, slot: int = 0) -> dict[str, MintInfo]:
    """Fetch mints at this slot or later; return mint -> state. Raises NodeUnavailableError."""
    ordered = sorted(mints)
    mint_info: dict[str, MintInfo] = {}
    for start in range(0, len(ordered), _MAX_MINTS):
        mint_info |= _read_batch(rpc, ordered[start : start + _MAX_MINTS], slot=slot)
    return mint_info


def _read_batch(rpc: RpcClient, mints: Collection[str], *, slot: int) -> dict[str, MintInfo]:
    addresses = [address for mint in mints for address in (mint, metadata_address(mint))]

    def read(accounts: list[Any]) -> dict[str, MintInfo]:
        pairs = zip(accounts[::2], accounts[1::2], strict=True)
        return {mint: _mint_info(mint, own, metadata) for mint, (own, metadata) in zip(mints, pairs, strict=True)}

    return read_accounts(rpc, addresses, read=read, slot=slot)


def _mint_info(mint: str, own: Any, metadata: Any) -> MintInfo:
    state, described = read_mint(own, mint=mint), read_metadata(metadata, mint=mint)
    within = state.description if state else None
    return MintInfo(state=state, description=within or described)
