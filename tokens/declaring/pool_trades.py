"""A transaction's swaps in a launch's pool, as trades would be stored: rows are computed as in live sync."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

from tokens.chains.abi.codec import Log
from tokens.chains.abi.paths import part_at
from tokens.chains.addresses import ZERO_ADDRESS, address_key
from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.generations.mined_transactions import MinedTransaction
from tokens.chains.evm.logs.pool_logs import V4_POOL_TOPICS, PoolLogs, decode_pool_logs, pool_topics
from tokens.chains.evm.logs.swap_fees import attach_reports, report_topics
from tokens.chains.pool_types import Swap, is_v4_pool
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.registry.launchpads import Launchpad
from tokens.chains.rpc.quantities import MalformedResponseError
from tokens.chains.types import Launch, Pool
from tokens.declaring.declared_sources import source_of
from tokens.trades.pool_prices import PRICE, is_exchange
from tokens.trades.pool_tokens import PoolToken, select_declared
from tokens.trades.quote_rates import QuoteRates
from tokens.trades.trade_rows import TradeRow, make_trade_rows


class TriedTrade(NamedTuple):
    """A trade as it would be stored."""

    swap: Swap
    row: TradeRow
    # From its own amounts: whole quote token units for a whole token, as `row.price`.
    average: Decimal


@dataclass(frozen=True, kw_only=True, slots=True)
class TriedLog:
    """A log about a launch's token: a swap, a swap's part, a change or a claim."""

    tx_hash: str
    log_index: int
    text: str
    # None if it is no trade, or would not be stored.
    trade: TriedTrade | None = None
    # Why a decoded swap would not be stored as a trade.
    why_none: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class TriedPool:
    """A pool with a launch's token."""

    pool: Pool
    # Whether the token is currency 0; None if the address sort decides.
    is_currency0: bool | None = None


def try_swaps(
    mined: MinedTransaction, launch: Launch, launchpad: Launchpad, *, moved: Sequence[TriedPool]
) -> Iterator[TriedLog]:
    """Yield the transaction's swaps in the launch's pools, and the parts that hooks report beside them.

    `moved` are pools that the token moves to after its launch.
    """
    if launch.pool is None:
        return
    # In a curve the token is currency 0.
    pools = [TriedPool(pool=launch.pool, is_currency0=True if launch.curve_config else None), *moved]
    if launch.next_pool:
        pools.append(TriedPool(pool=replace(launch.pool, address=launch.next_pool)))
    try:
        for pool in pools:
            yield from _in_pool(mined, pool.pool, _pool_token(mined.chain, launch, pool, launchpad))
    except MalformedResponseError as error:
        yield TriedLog(tx_hash=mined.hash, log_index=0, text=f"trades can't be decoded: {error}")
    for log in mined.logs:
        parts = mined.chain.swap_parts.get(source_of(log), ())
        try:
            in_pool = (each for each in parts if part_at(each.event.decode(log), each.pool) == launch.pool.address)
            swap_part = next(in_pool, None)
        except LogDecodingError:
            # Reported as a layout mistake.
            continue
        if swap_part:
            text = f"{swap_part.event.signature.partition('(')[0]}: part of a swap, no trade of its own"
            yield TriedLog(tx_hash=mined.hash, log_index=int(log["logIndex"], 16), text=text)


def _in_pool(mined: MinedTransaction, pool: Pool, token: PoolToken) -> Iterator[TriedLog]:
    with_parts, without_parts = _read(mined, pool)
    for log in with_parts.undecodable:
        yield TriedLog(tx_hash=mined.hash, log_index=log.log_index, text=f"can't be decoded: {log.reason}")
    token_by_pool = {token.pool: token}
    swaps, bare_swaps = (select_declared(logs.swaps, token_by_pool) for logs in (with_parts, without_parts))
    for swap, bare in zip(swaps, bare_swaps, strict=True):
        if swap.pool == pool.address:
            filled = "" if (swap.amount0, swap.amount1) == (bare.amount0, bare.amount1) else ", with parts by the hook"
            trade = _trade(swap, token)
            why_none = "" if trade else _why_none(swap, token)
            text = f"{_trade_text(trade) if trade else why_none}{filled}"
            yield TriedLog(tx_hash=mined.hash, log_index=swap.log_index, text=text, trade=trade, why_none=why_none)


def _read(mined: MinedTransaction, pool: Pool) -> tuple[PoolLogs, PoolLogs]:
    """Return the transaction's swaps in v4 pools or the launch's own v3 pool, with parts and without."""
    logs = [log for log in mined.logs if _is_in_pool(mined.chain, log, pool)]
    reports = [log for log in mined.logs if source_of(log)[1] in report_topics(mined.chain)]
    senders = {mined.hash: mined.call.sender.lower()}
    without_parts = decode_pool_logs(logs, chain=mined.chain, times={}, senders=senders, any_v3=False)
    return attach_reports(without_parts, reports, chain=mined.chain), without_parts


def _is_in_pool(chain: ChainInfo, log: Log, pool: Pool) -> bool:
    """Return whether the log belongs to the pool, to a v4 pool, or to a curve that all tokens share."""
    emitter, topic0 = source_of(log)
    if topic0 in V4_POOL_TOPICS:
        return emitter == (chain.v4_pool_manager or "").lower()
    is_own = topic0 in pool_topics(chain) and emitter == (pool.address or "").lower()
    return is_own or (emitter, topic0) in chain.curve_trades


def _trade(swap: Swap, token: PoolToken) -> TriedTrade | None:
    for row in make_trade_rows([swap], {token.pool: token}, QuoteRates({})):
        quote, sold = Decimal(row.amount_quote), Decimal(row.amount_token)
        average = PRICE.divide(quote.scaleb(token.decimals - (token.quote_decimals or 0), PRICE), sold)
        return TriedTrade(swap, row, average)
    return None


def _trade_text(trade: TriedTrade) -> str:
    swap, row, average = trade
    side = "buy" if row.is_buy else "sell"
    amounts = f"{row.amount_token} of the token for {row.amount_quote} of the quote, in smallest units"
    if row.protocol_fee is not None:
        amounts += f", and fees of {row.protocol_fee} and {row.token_fee or 0} beside them"
    amounts += f"; price {row.price:.6g} after it, {average:.6g} on average"
    if row.is_conversion:
        return f"internal swap by {swap.sender}, price and no trade: {side}, {amounts}"
    return f"trade of {swap.trader} by {swap.sender}: {side}, {amounts}"


def _why_none(swap: Swap, token: PoolToken) -> str:
    if not is_exchange(swap):
        return "no trade: it exchanges nothing"
    if token.quote_decimals is None:
        return "no trade: the quote token's decimals are unknown"
    return "no trade: it has no price; declare `price`, or trade more than 10,000 smallest units"


def _pool_token(chain: ChainInfo, launch: Launch, tried: TriedPool, launchpad: Launchpad) -> PoolToken:
    pool, is_currency0 = tried.pool, tried.is_currency0
    # Only v4 pools hold the native coin itself.
    is_wrapped = pool.paired_token == ZERO_ADDRESS and not is_v4_pool(pool.address or "")
    currency = chain.wrapped_native or "" if is_wrapped else pool.paired_token
    return PoolToken(
        token_id=0,
        address=launch.token,
        decimals=launch.decimals,
        pool=pool.address or "",
        quote=pool.paired_token,
        quote_decimals=pool.pair_decimals,
        locker=launch.locker or "",
        is_currency0=address_key(launch.token) < address_key(currency) if is_currency0 is None else is_currency0,
        internal_senders=launchpad.senders_in(pool.hook),
        generation=launchpad.name,
    )
