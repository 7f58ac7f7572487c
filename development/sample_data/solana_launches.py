"""Invented launches on Solana: a few of those that were drawn for other chains, moved to pools of the bonding curve."""

import hashlib

from solders.pubkey import Pubkey
from solders.signature import Signature

from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import Launch, Pool

# Of all launches one in so many, told by their addresses: so that the others are as they would be without these.
_ONE_IN = 64
_SUPPLY, _DECIMALS = 10**15, 6


def move_some(launch: Launch, solana: ChainInfo) -> Launch:
    """The launch, or one on Solana in its place: by wallets that are the same wherever they launch."""
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
