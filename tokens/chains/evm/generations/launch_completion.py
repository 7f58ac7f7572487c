"""Launch fields that neither logs nor calldata contain, fetched from contracts at the launch's block."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from tokens.chains.abi.paths import find_part
from tokens.chains.evm.eth_calls import ViewCall, ViewResult, call_views, call_views_at_blocks, lacks_code
from tokens.chains.evm.generations.launch_views import (
    PAIR_VIEWS,
    is_usable,
    missing_values,
    with_known_quote,
    with_reserves,
)
from tokens.chains.pool_types import UndecodableLog
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import RpcClient
from tokens.chains.types import Launch, MissingValue, Pool, TransactionFacts

logger = logging.getLogger(__name__)

_LAUNCH_FIELDS = frozenset(field.name for field in fields(Launch))
# A 256-bit number has no more digits; with more decimals, a token's prices exceed the range of doubles.
MAX_DECIMALS = 77


def complete_launches(
    rpc: RpcClient, chain: ChainInfo, transactions: Sequence[TransactionFacts]
) -> list[TransactionFacts]:
    """Return the transactions with their launches' missing fields; a field that no contract returns stays None.

    Calls are made at each launch's block: later changes are events, which are folded over the launch. A launch is left
    out if a condition fails, if its token has more than MAX_DECIMALS, or if its log has an earlier launch. A launch
    whose token has no code becomes an undecodable log. Raises NodeUnavailableError.
    """
    launches = [(launch, missing_values(launch)) for facts in transactions for launch in facts.launches]
    calls = [
        (ViewCall(contract=value.contract, function=value.function, arguments=value.arguments), launch.block_number)
        for launch, missing in launches
        for value in missing
    ]
    if not calls:
        return list(transactions)
    # Launches in one block often share their quote token.
    distinct = list(dict.fromkeys(calls))
    result_of = dict(zip(distinct, call_views_at_blocks(rpc, distinct), strict=True))
    results = map(result_of.__getitem__, calls)
    completed = [
        _complete(launch, [(value, next(results)) for value in missing], chain) for launch, missing in launches
    ]
    with_pairs = iter(_with_pairs(rpc, completed))
    return [_with_launches(rpc, facts, [next(with_pairs) for _ in facts.launches]) for facts in transactions]


def _complete(launch: Launch, results: Sequence[tuple[MissingValue, ViewResult]], chain: ChainInfo) -> Launch | None:
    """Return the launch with its missing values; None if a condition fails or the token has too many decimals."""
    fetched: dict[str, Any] = {}
    for missing, result in results:
        value = view_value(missing, result)
        if missing.expected is not None:
            if value not in missing.expected:
                return None
        elif value is not None and not is_usable(missing.field, fetched.get(missing.field)):
            fetched[missing.field] = value
    launch_values = {
        field: value
        for field, value in fetched.items()
        if field in _LAUNCH_FIELDS and (is_usable(field, value) or getattr(launch, field) is None)
    }
    if (decimals := launch_values.get("decimals", 0)) > MAX_DECIMALS:
        logger.warning("chain %s: token %s is left out: it has %s decimals", launch.chain_id, launch.token, decimals)
        return None
    return replace(launch, missing=(), pool=launch.pool and _with_quote(launch.pool, fetched, chain), **launch_values)


def _with_quote(pool: Pool, fetched: Mapping[str, Any], chain: ChainInfo) -> Pool:
    """Return the pool with its starting price from views, and with its quote token from views where no log has it."""
    pool = replace(pool, **{key: fetched[key] for key in PAIR_VIEWS if key in fetched})
    pool = with_reserves(pool, fetched)
    if pool.paired_token or not isinstance(fetched.get("quote"), str):
        return pool
    return with_known_quote(replace(pool, paired_token=fetched["quote"]), chain)


def view_value(missing: MissingValue, result: ViewResult) -> Any:
    """Return the missing value in a view's result; None where the result lacks it."""
    if not result:
        return None
    return find_part(result, missing.result) if missing.result else next(iter(result.values()))


def _with_launches(rpc: RpcClient, facts: TransactionFacts, completed: Iterable[Launch | None]) -> TransactionFacts:
    """Return the transaction with each log's first launch whose token has code; other logs are undecodable."""
    launches = [launch for launch in completed if launch]
    codeless = [launch for launch in launches if _lacks_token(rpc, launch)]
    launch_by_log = {launch.log_index: launch for launch in reversed(launches) if launch not in codeless}
    undecodable = {each.log_index: _undecodable(each) for each in codeless if each.log_index not in launch_by_log}
    return replace(
        facts,
        launches=tuple(launch_by_log.values())[::-1],
        undecodable=(*facts.undecodable, *undecodable.values()),
    )


def _lacks_token(rpc: RpcClient, launch: Launch) -> bool:
    """Return whether the declared address has no token: only such an address, or an odd token, reports no supply."""
    if not launch.is_declared or launch.supply is not None:
        return False
    return lacks_code(rpc, launch.token, block=launch.block_number, witness=launch.factory)


def _undecodable(launch: Launch) -> UndecodableLog:
    return UndecodableLog(
        block_number=launch.block_number,
        tx_hash=launch.tx_hash,
        log_index=launch.log_index,
        emitter=launch.factory,
        launchpad=launch.generation,
        reason=f"its token {launch.token} has no code in block {launch.block_number}",
    )


def _with_pairs(rpc: RpcClient, launches: Sequence[Launch | None]) -> list[Launch | None]:
    """Return the launches with their quote tokens' symbol and decimals as of the newest block, where still unknown.

    Neither changes. But a proxy may get its code later, a call may fail once, and only a view may have the quote token.
    """
    pools = [launch.pool for launch in launches if launch and launch.pool and launch.pool.pair_decimals is None]
    quotes = sorted({pool.paired_token for pool in pools if pool.paired_token})
    if not quotes:
        return list(launches)
    calls = [ViewCall(contract=quote, function=function) for quote in quotes for function in PAIR_VIEWS.values()]
    results = iter(call_views(rpc, calls))
    fields_by_quote = {
        quote: {field: next(iter(values.values())) for field in PAIR_VIEWS if (values := next(results))}
        for quote in quotes
    }
    return [
        replace(launch, pool=replace(launch.pool, **fields_by_quote.get(launch.pool.paired_token, {})))
        if launch and launch.pool and launch.pool.pair_decimals is None
        else launch
        for launch in launches
    ]
