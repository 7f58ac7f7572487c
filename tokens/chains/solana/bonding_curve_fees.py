"""Unclaimed and claimed trading fees in the pools of Meteora's Dynamic Bonding Curve.

Source for the layouts: https://github.com/MeteoraAg/dynamic-bonding-curve (state/virtual_pool.rs, state/config.rs).
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from tokens.chains.errors import FeesUnavailableError
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.quantities import validate_block_time
from tokens.chains.solana.account_reading import read_accounts, read_accounts_at
from tokens.chains.solana.launch_decoding import MintInfo
from tokens.chains.solana.mints import fetch_mints
from tokens.chains.solana.program_accounts import CONFIGS, POOLS, account_reader
from tokens.chains.solana.token_accounts import read_account
from tokens.chains.token_fees import Currency, FeeShare, TokenFees

Found = TypeVar("Found")

# Bytes before a pool's keys: the discriminator, and the volatility tracker's state.
_POOL_BEFORE_KEYS = 8 + 64
# Bytes between the price and the trading fee totals: the activation time, eight flags, and totals for the protocol's
# own fees.
_POOL_BEFORE_SUMS = 8 + 8 + 16


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolTotals:
    """Totals over all transactions in a pool, from its account."""

    config: str
    # Fees that were earned and are no longer in the pool: base mint and quote mint, in smallest units.
    claimed: tuple[int, int]
    # After the last swap, as in `Swap`; None before the first one.
    sqrt_price: int | None
    # Unix seconds at which a swap completed the curve; None before.
    completed_at: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class _PoolState:
    config: str
    creator: str
    base_mint: str
    # Base and quote.
    partner_fees: tuple[int, int]
    # Square root of quote per base mint, both in smallest units, times 2^64.
    sqrt_price: int
    creator_fees: tuple[int, int]
    # The total that both have ever earned.
    trading_fees: tuple[int, int]
    # 0 on a curve.
    completed_at: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _ConfigState:
    quote_mint: str
    fee_claimer: str


def read_pool_fees(rpc: RpcClient, chain: ChainInfo, pool: str) -> TokenFees:
    """Return unclaimed fees as `SolanaChain.read_pool_fees` does."""
    programs = chain.addresses("launch_program")
    slot, state = _read_one(rpc, pool, lambda account: _read_pool(account, programs))
    # The config and mint fields that are used here are immutable.
    _, config = _read_one(rpc, state.config, lambda account: _read_config(account, programs))
    owed = {state.creator: state.creator_fees}
    # A launchpad may launch tokens of its own.
    waits = owed.get(config.fee_claimer, (0, 0))
    owed[config.fee_claimer] = (waits[0] + state.partner_fees[0], waits[1] + state.partner_fees[1])
    return TokenFees(
        block_number=slot,
        currencies=_read_currencies(rpc, chain, (state.base_mint, config.quote_mint)),
        shares=tuple(
            # A claim pays out of the pool at once: nothing is held elsewhere.
            FeeShare(recipient=recipient, harvested=(0, 0), pending=amounts)
            for recipient, amounts in owed.items()
        ),
        conversion="none",
    )


def read_pool_totals(rpc: RpcClient, chain: ChainInfo, pools: Sequence[str]) -> dict[str, PoolTotals]:
    """Return totals as `SolanaChain.read_pool_totals` does."""
    programs = chain.addresses("launch_program")

    def read(accounts: list[Any]) -> dict[str, PoolTotals]:
        totals = {}
        for pool, account in zip(pools, accounts, strict=True):
            with suppress(FeesUnavailableError):
                totals[pool] = _totals(_read_pool(account, programs))
        return totals

    return read_accounts(rpc, pools, read=read) if pools else {}


def _totals(state: _PoolState) -> PoolTotals:
    """Return a pool's totals. Raises MalformedResponseError for a completion at a time that no block has."""
    base, quote = (
        earned - partner - creator
        for earned, partner, creator in zip(state.trading_fees, state.partner_fees, state.creator_fees, strict=True)
    )
    return PoolTotals(
        config=state.config,
        claimed=(base, quote),
        sqrt_price=state.sqrt_price << 32 if any(state.trading_fees) else None,
        # Only the first slot may have the time 0.
        completed_at=validate_block_time(state.completed_at, block=1) if state.completed_at else None,
    )


def _read_currencies(rpc: RpcClient, chain: ChainInfo, mints: Sequence[str]) -> tuple[Currency, ...]:
    """Describe the mints by the registry, else by their accounts. Raises NodeUnavailableError, FeesUnavailableError."""
    mint_info = fetch_mints(rpc, set(mints) - chain.quote_tokens.keys())
    return tuple(
        Currency(address=mint, symbol=quote.symbol, decimals=quote.decimals)
        if (quote := chain.quote_tokens.get(mint))
        else _currency(mint, mint_info[mint])
        for mint in mints
    )


def _currency(mint: str, mint_info: MintInfo) -> Currency:
    if mint_info.state is None:
        raise FeesUnavailableError("a mint of the pool no longer exists")
    symbol = mint_info.description.symbol if mint_info.description else None
    return Currency(address=mint, symbol=symbol or None, decimals=mint_info.state.decimals)


def _read_one(rpc: RpcClient, address: str, read: Callable[[Any], Found]) -> tuple[int, Found]:
    """Fetch an account; return the slot at which the node read it, and `read(account)`. Raises NodeUnavailableError."""

    def read_whole(accounts: list[Any]) -> Any:
        read_account(accounts[0])
        return accounts[0]

    # Another kind of account is not the node's fault, so it is rejected only after the call.
    slot, account = read_accounts_at(rpc, [address], read=read_whole)
    return slot, read(account)


def _read_pool(account: Any, programs: tuple[str, ...]) -> _PoolState:
    reader = account_reader(account, programs, sizes=POOLS, kind="pool")
    reader.read_bytes(_POOL_BEFORE_KEYS)
    config, creator, base_mint = reader.read_key(), reader.read_key(), reader.read_key()
    # Two vaults; the reserves and the protocol's fees, for both mints.
    reader.read_bytes(2 * 32 + 4 * 8)
    partner_fees = reader.read_integer(8), reader.read_integer(8)
    sqrt_price = reader.read_integer(16)
    reader.read_bytes(_POOL_BEFORE_SUMS)
    trading_fees = reader.read_integer(8), reader.read_integer(8)
    completed_at = reader.read_integer(8)
    creator_fees = reader.read_integer(8), reader.read_integer(8)
    return _PoolState(
        config=config,
        creator=creator,
        base_mint=base_mint,
        partner_fees=partner_fees,
        sqrt_price=sqrt_price,
        creator_fees=creator_fees,
        trading_fees=trading_fees,
        completed_at=completed_at,
    )


def _read_config(account: Any, programs: tuple[str, ...]) -> _ConfigState:
    reader = account_reader(account, programs, sizes=CONFIGS, kind="config")
    reader.read_bytes(8)
    return _ConfigState(quote_mint=reader.read_key(), fee_claimer=reader.read_key())
