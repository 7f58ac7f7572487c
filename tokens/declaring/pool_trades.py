"""Swaps of a transaction in a launch's pool, as trades would be stored: by the rows of every other reading."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tokens.chains.abi.codec import Log
from tokens.chains.addresses import ZERO_ADDRESS, address_key
from tokens.chains.evm.generations.mined_transactions import MinedTransaction
from tokens.chains.evm.logs.pool_logs import V4_POOL_TOPICS, PoolLogs, decode_pool_logs, pool_topics
from tokens.chains.evm.logs.swap_fees import attach_reports, report_topics
from tokens.chains.pool_types import Swap, is_v4_pool
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.registry.launchpads import Launchpad
from tokens.chains.rpc.quantities import MalformedResponseError
from tokens.chains.types import Launch, Pool
from tokens.declaring.declared_sources import source_of
from tokens.trades.pool_prices import is_exchange
from tokens.trades.pool_tokens import PoolToken, select_declared
from tokens.trades.quote_rates import QuoteRates
from tokens.trades.trade_rows import make_trade_rows


@dataclass(frozen=True, kw_only=True, slots=True)
class TriedLog:
    """A log about a launch's token: a swap, a part of one, a change or a claim."""

    tx_hash: str
    log_index: int
    text: str


def try_swaps(mined: MinedTransaction, launch: Launch, launchpad: Launchpad) -> Iterator[TriedLog]:
    """Yield the swaps of the transaction in the launch's pools, and the parts that hooks report beside them."""
    if launch.pool is None:
        return
    try:
        yield from _in_pool(mined, launch, launch.pool, launchpad, is_curve=bool(launch.curve_config))
        if launch.next_pool:
            pair = replace(launch.pool, address=launch.next_pool)
            yield from _in_pool(mined, launch, pair, launchpad, is_curve=False)
    except MalformedResponseError as error:
        yield TriedLog(tx_hash=mined.hash, log_index=0, text=f"trades can't be decoded: {error}")
    for log in mined.logs:
        for part in mined.chain.swap_parts.get(source_of(log), ())[:1]:
            text = f"{part.event.signature.partition('(')[0]}: part of a swap, no trade of its own"
            yield TriedLog(tx_hash=mined.hash, log_index=int(log["logIndex"], 16), text=text)


def _in_pool(
    mined: MinedTransaction, launch: Launch, pool: Pool, launchpad: Launchpad, *, is_curve: bool
) -> Iterator[TriedLog]:
    token = _pool_token(mined.chain, launch, pool, launchpad, is_curve=is_curve)
    found, without_parts = _read(mined, pool)
    for log in found.undecodable:
        yield TriedLog(tx_hash=mined.hash, log_index=log.log_index, text=f"can't be decoded: {log.reason}")
    of_pool = {token.pool: token}
    with_parts, bare_swaps = (select_declared(each.swaps, of_pool) for each in (found, without_parts))
    for swap, bare in zip(with_parts, bare_swaps, strict=True):
        if swap.pool == pool.address:
            filled = "" if (swap.amount0, swap.amount1) == (bare.amount0, bare.amount1) else ", with parts by the hook"
            text = f"{_swap_text(swap, token)}{filled}"
            yield TriedLog(tx_hash=mined.hash, log_index=swap.log_index, text=text)


def _read(mined: MinedTransaction, pool: Pool) -> tuple[PoolLogs, PoolLogs]:
    """Return the transaction's swaps in v4 pools or the launch's own v3 pool, with parts and without."""
    of_pools = [log for log in mined.logs if _is_of_pool(mined.chain, log, pool)]
    beside = [log for log in mined.logs if source_of(log)[1] in report_topics(mined.chain)]
    senders = {mined.hash: mined.call.sender.lower()}
    found = decode_pool_logs(of_pools, chain=mined.chain, times={}, senders=senders, any_v3=False)
    return attach_reports(found, beside, chain=mined.chain), found


def _is_of_pool(chain: ChainInfo, log: Log, pool: Pool) -> bool:
    """Return whether the log is of the pool, of a v4 pool, or of a curve of all tokens."""
    emitter, topic0 = source_of(log)
    if topic0 in V4_POOL_TOPICS:
        return emitter == (chain.v4_pool_manager or "").lower()
    is_own = topic0 in pool_topics(chain) and emitter == (pool.address or "").lower()
    return is_own or (emitter, topic0) in chain.curve_trades


def _swap_text(swap: Swap, token: PoolToken) -> str:
    rows = make_trade_rows([swap], {token.pool: token}, QuoteRates({}))
    if not rows:
        reason = "the quote token's decimals are unknown" if is_exchange(swap) else "it exchanges nothing"
        return f"no trade: {reason}"
    (row,) = rows
    side = "buy" if row.is_buy else "sell"
    amounts = f"{row.amount_token} of the token for {row.amount_quote} of the quote, in smallest units"
    if row.protocol_fee is not None:
        amounts += f", and fees of {row.protocol_fee} and {row.token_fee or 0} beside them"
    if row.is_conversion:
        return f"internal swap by {swap.sender}, price and no trade: {side}, {amounts}"
    return f"trade of {swap.trader} by {swap.sender}: {side}, {amounts}"


def _pool_token(chain: ChainInfo, launch: Launch, pool: Pool, launchpad: Launchpad, *, is_curve: bool) -> PoolToken:
    # Only pools of v4 hold the native coin itself.
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
        is_currency0=is_curve or address_key(launch.token) < address_key(currency),
        internal_senders=launchpad.senders_in(pool.hook),
        generation=launchpad.name,
    )
