"""What the nodes tell of the mints of launches, and of those that launches are sold for."""

from collections.abc import Collection, Sequence
from typing import Any

from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import RpcClient
from tokens.chains.solana.account_reading import read_accounts
from tokens.chains.solana.launch_decoding import Decoded, KnownMint
from tokens.chains.solana.token_accounts import metadata_address, read_metadata, read_mint

# Nodes take 100 accounts in one call, and a mint has two.
_MOST_MINTS = 50


def read_mints(rpc: RpcClient, chain: ChainInfo, decoded: Sequence[Decoded]) -> dict[str, KnownMint]:
    """Mint -> what it is, for each that was launched, and each that the registry doesn't know and a launch is sold for.

    Nodes that have not come to the newest of the transactions are passed over. Raises NodeUnavailable.
    """
    pools = [made.pool for entry in decoded for made in entry.launches]
    mints = {pool.base_mint for pool in pools} | {pool.quote_mint for pool in pools} - chain.quote_tokens.keys()
    return read_known(rpc, mints, slot=max((entry.transaction.slot for entry in decoded), default=0))


def read_known(rpc: RpcClient, mints: Collection[str], *, slot: int = 0) -> dict[str, KnownMint]:
    """Mint -> what it is at that slot or later. Raises NodeUnavailable."""
    wanted = sorted(mints)
    found: dict[str, KnownMint] = {}
    for start in range(0, len(wanted), _MOST_MINTS):
        found |= _read_part(rpc, wanted[start : start + _MOST_MINTS], slot=slot)
    return found


def _read_part(rpc: RpcClient, mints: Collection[str], *, slot: int) -> dict[str, KnownMint]:
    addresses = [address for mint in mints for address in (mint, metadata_address(mint))]

    def read(accounts: list[Any]) -> dict[str, KnownMint]:
        pairs = zip(accounts[::2], accounts[1::2], strict=True)
        return {mint: _known(mint, own, metadata) for mint, (own, metadata) in zip(mints, pairs, strict=True)}

    return read_accounts(rpc, addresses, read=read, slot=slot)


def _known(mint: str, own: Any, metadata: Any) -> KnownMint:
    state, described = read_mint(own, mint=mint), read_metadata(metadata, mint=mint)
    within = state.description if state else None
    return KnownMint(state=state, description=within or described)
