"""What trading fees wait in a pool of Meteora's Dynamic Bonding Curve, and for whom.

Layouts, of fields without gaps after the eight bytes that name the account:
https://github.com/MeteoraAg/dynamic-bonding-curve (state/virtual_pool.rs, state/config.rs).
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import RpcClient
from tokens.chains.solana.account_reading import read_accounts, read_accounts_at
from tokens.chains.solana.borsh import BorshReader
from tokens.chains.solana.launch_decoding import KnownMint
from tokens.chains.solana.mints import read_known
from tokens.chains.solana.token_accounts import read_account
from tokens.chains.token_fees import Currency, FeeShare, TokenFees
from tokens.chains.types import FeesUnreadable

Found = TypeVar("Found")

# Before the keys of a pool: what its account is, and how its price moved.
_POOL_BEFORE_KEYS = 8 + 64
# Between the amounts that wait for the partner, and the sums of all trading fees: the price, the time of the start,
# eight flags, and the sums of the protocol's own fees. Then, before what waits for the creator, the time of the end.
_POOL_BEFORE_SUMS = 16 + 8 + 8 + 16
_POOL_BEFORE_CREATOR = 8


_MARK_SIZE = 8


def _account_mark(name: str) -> bytes:
    return hashlib.sha256(f"account:{name}".encode()).digest()[:_MARK_SIZE]


# Mark -> bytes of the account. Those of mints with a transfer hook begin alike, and the config names the hook besides.
_POOLS = {_account_mark("VirtualPool"): 424, _account_mark("TransferHookPool"): 424}
_CONFIGS = {_account_mark("PoolConfig"): 1_048, _account_mark("ConfigWithTransferHook"): 1_128}


@dataclass(frozen=True, kw_only=True, slots=True)
class _PoolState:
    config: str
    creator: str
    base_mint: str
    # Base and quote.
    partner_fees: tuple[int, int]
    creator_fees: tuple[int, int]
    # What both of them have ever earned.
    trading_fees: tuple[int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class _ConfigState:
    quote_mint: str
    fee_claimer: str


def read_pool_fees(rpc: RpcClient, chain: ChainInfo, pool: str) -> TokenFees:
    """As `SolanaChain.read_pool_fees`."""
    programs = chain.addresses("launch_program")
    slot, state = _read_one(rpc, pool, lambda account: _read_pool(account, programs))
    # What a config and a mint are told of here, no later transaction changes.
    _, config = _read_one(rpc, state.config, lambda account: _read_config(account, programs))
    owed = {state.creator: state.creator_fees}
    # Launchpads may launch tokens of their own.
    waits = owed.get(config.fee_claimer, (0, 0))
    owed[config.fee_claimer] = (waits[0] + state.partner_fees[0], waits[1] + state.partner_fees[1])
    return TokenFees(
        block_number=slot,
        currencies=_read_currencies(rpc, chain, (state.base_mint, config.quote_mint)),
        shares=tuple(
            # A claim pays out of the pool at once: nothing waits anywhere else.
            FeeShare(recipient=who, harvested=(0, 0), pending=amounts)
            for who, amounts in owed.items()
        ),
        conversion="none",
    )


def read_claimed(rpc: RpcClient, chain: ChainInfo, pools: Sequence[str]) -> dict[str, tuple[int, int]]:
    """As `SolanaChain.read_claimed`."""
    programs = chain.addresses("launch_program")

    def read(accounts: list[Any]) -> dict[str, tuple[int, int]]:
        found = {}
        for pool, account in zip(pools, accounts, strict=True):
            with suppress(FeesUnreadable):
                found[pool] = _claimed(_read_pool(account, programs))
        return found

    return read_accounts(rpc, pools, read=read) if pools else {}


def _claimed(state: _PoolState) -> tuple[int, int]:
    """What was earned and waits no longer."""
    base, quote = (
        earned - partner - creator
        for earned, partner, creator in zip(state.trading_fees, state.partner_fees, state.creator_fees, strict=True)
    )
    return base, quote


def _read_currencies(rpc: RpcClient, chain: ChainInfo, mints: Sequence[str]) -> tuple[Currency, ...]:
    """What the mints are: by the registry, else by their own word. Raises NodeUnavailable, FeesUnreadable."""
    known = read_known(rpc, set(mints) - chain.quote_tokens.keys())
    return tuple(
        Currency(address=mint, symbol=quote.symbol, decimals=quote.decimals)
        if (quote := chain.quote_tokens.get(mint))
        else _currency(mint, known[mint])
        for mint in mints
    )


def _currency(mint: str, known: KnownMint) -> Currency:
    if known.state is None:
        raise FeesUnreadable("a mint of the pool is gone")
    symbol = known.description.symbol if known.description else None
    return Currency(address=mint, symbol=symbol or None, decimals=known.state.decimals)


def _read_one(rpc: RpcClient, address: str, read: Callable[[Any], Found]) -> tuple[int, Found]:
    """The slot at which a node looked, and what `read` makes of the account. Raises NodeUnavailable."""

    def read_whole(accounts: list[Any]) -> Any:
        read_account(accounts[0])
        return accounts[0]

    # That an account is something else is no fault of the node's, so it isn't asked about in there.
    slot, account = read_accounts_at(rpc, [address], read=read_whole)
    return slot, read(account)


def _read_pool(account: Any, programs: tuple[str, ...]) -> _PoolState:
    reader = _reader(account, programs, sizes=_POOLS, kind="pool")
    reader.take(_POOL_BEFORE_KEYS)
    config, creator, base_mint = reader.key(), reader.key(), reader.key()
    # Two vaults; the reserves and the protocol's fees, of both mints.
    reader.take(2 * 32 + 4 * 8)
    partner_fees = reader.number(8), reader.number(8)
    reader.take(_POOL_BEFORE_SUMS)
    trading_fees = reader.number(8), reader.number(8)
    reader.take(_POOL_BEFORE_CREATOR)
    creator_fees = reader.number(8), reader.number(8)
    return _PoolState(
        config=config,
        creator=creator,
        base_mint=base_mint,
        partner_fees=partner_fees,
        creator_fees=creator_fees,
        trading_fees=trading_fees,
    )


def _read_config(account: Any, programs: tuple[str, ...]) -> _ConfigState:
    reader = _reader(account, programs, sizes=_CONFIGS, kind="config")
    reader.take(8)
    return _ConfigState(quote_mint=reader.key(), fee_claimer=reader.key())


def _reader(account: Any, programs: tuple[str, ...], *, sizes: Mapping[bytes, int], kind: str) -> BorshReader:
    """The bytes of an account of this kind. Raises FeesUnreadable."""
    owner, data = read_account(account)
    if owner is None:
        raise FeesUnreadable(f"there is no {kind} at this address")
    if owner not in programs:
        raise FeesUnreadable(f"the account is of another program, and no {kind}")
    if sizes.get(data[:_MARK_SIZE]) != len(data):
        raise FeesUnreadable(f"the account is no {kind}, or one of an unknown layout")
    return BorshReader(data)
