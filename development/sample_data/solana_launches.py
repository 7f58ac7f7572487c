"""Invented Solana launches: a few EVM launches converted to bonding curve pools."""

import hashlib

from solders.pubkey import Pubkey
from solders.signature import Signature

from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import Launch, Pool

# One in this many launches is converted, chosen by address: the others are the same with or without them.
_ONE_IN = 64
_SUPPLY, _DECIMALS = 10**15, 6


def convert_some(launch: Launch, solana: ChainInfo) -> Launch:
    """Return the launch, or a Solana launch in its place, from wallets derived from the EVM ones."""
    if int(launch.token[-4:], 16) % _ONE_IN or launch.pool is None:
        return launch
    quote = next(iter(solana.quote_tokens.values()))
    pool = Pool(
        address=_account(launch.pool.address or launch.tx_hash),
        paired_token=quote.address,
        pair_symbol=quote.symbol,
        pair_decimals=quote.decimals,
        tick=None,
        tick_spacing=None,
        hook=None,
    )
    creator = _account(launch.admin or "")
    return Launch(
        chain_id=solana.chain_id,
        generation="solana",
        token=_account(launch.token),
        tx_hash=str(Signature(hashlib.sha512(launch.tx_hash.encode()).digest())),
        log_index=launch.log_index % 8,
        block_number=launch.block_number,
        block_hash="",
        block_time=launch.block_time,
        factory=solana.addresses("launch_program")[0],
        name=launch.name,
        symbol=launch.symbol,
        supply=_SUPPLY,
        decimals=_DECIMALS,
        admin=creator,
        msg_sender=_account(launch.msg_sender or ""),
        requestor_address=creator,
        image=launch.image,
        metadata=launch.metadata,
        pool=pool,
    )


def _account(address: str) -> str:
    return str(Pubkey(hashlib.sha256(address.encode()).digest()))
