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
# A number of 256 bits has no more digits; prices of a token with more are beyond the range of doubles.
MAX_DECIMALS = 77


def complete_launches(
    rpc: RpcClient, chain: ChainInfo, transactions: Sequence[TransactionFacts]
) -> list[TransactionFacts]:
    """Return the transactions with the missing fields of their launches, as far as contracts return them; else None.

    Calls are made at each launch's block: later changes are events, which are folded over the launch. Launches of which
    a condition does not hold are left out, those of tokens with more than MAX_DECIMALS, and of several by one log all
    but the first. A launch of a token that has no code is an undecodable log. Raises NodeUnavailableError.
    """
    launches = [(launch, missing_values(launch)) for facts in transactions for launch in facts.launches]
    calls = [
        (ViewCall(contract=value.contract, function=value.function, arguments=value.arguments), launch.block_number)
        for launch, missing in launches
        for value in missing
    ]
    if not calls:
        return list(transactions)
    # Launches of a block often share their quote token.
    distinct = list(dict.fromkeys(calls))
    result_of = dict(zip(distinct, call_views_at_blocks(rpc, distinct), strict=True))
    results = map(result_of.__getitem__, calls)
    completed = [
        _complete(launch, [(value, next(results)) for value in missing], chain) for launch, missing in launches
    ]
    rest = iter(_with_pairs(rpc, completed))
    return [_with_launches(rpc, facts, [next(rest) for _ in facts.launches]) for facts in transactions]


def _complete(launch: Launch, results: Sequence[tuple[MissingValue, ViewResult]], chain: ChainInfo) -> Launch | None:
    """Return the launch with the results of its missing values; None if a condition does not hold."""
    fetched: dict[str, Any] = {}
    for missing, result in results:
        value = view_value(missing, result)
        if missing.expected is not None:
            if value not in missing.expected:
                return None
        elif value is not None and not is_usable(missing.field, fetched.get(missing.field)):
            fetched[missing.field] = value
    known = {
        field: value
        for field, value in fetched.items()
        if field in _LAUNCH_FIELDS and (is_usable(field, value) or getattr(launch, field) is None)
    }
    if (decimals := known.get("decimals", 0)) > MAX_DECIMALS:
        logger.warning("chain %s: token %s is left out: it has %s decimals", launch.chain_id, launch.token, decimals)
        return None
    return replace(launch, missing=(), pool=launch.pool and _with_quote(launch.pool, fetched, chain), **known)


def _with_quote(pool: Pool, fetched: Mapping[str, Any], chain: ChainInfo) -> Pool:
    """Return the pool with what views returned of it: its starting price, and its quote token where no log has it."""
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
    """Return the transaction with the first launch of each log whose token has code; the others are undecodable."""
    launches = [launch for launch in completed if launch]
    codeless = [launch for launch in launches if _lacks_token(rpc, launch)]
    found = {launch.log_index: launch for launch in reversed(launches) if launch not in codeless}
    undecodable = {each.log_index: _undecodable(each) for each in codeless if each.log_index not in found}
    return replace(
        facts,
        launches=tuple(found.values())[::-1],
        undecodable=(*facts.undecodable, *undecodable.values()),
    )


def _lacks_token(rpc: RpcClient, launch: Launch) -> bool:
    """Return whether the declared argument has no token: only such an address, or an odd token, has no supply."""
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

    Neither changes, but a proxy may get its code later, a call may fail once, and a view may return the quote token.
    """
    pools = [launch.pool for launch in launches if launch and launch.pool and launch.pool.pair_decimals is None]
    quotes = sorted({pool.paired_token for pool in pools if pool.paired_token})
    if not quotes:
        return list(launches)
    calls = [ViewCall(contract=quote, function=function) for quote in quotes for function in PAIR_VIEWS.values()]
    results = iter(call_views(rpc, calls))
    found = {
        quote: {field: next(iter(values.values())) for field in PAIR_VIEWS if (values := next(results))}
        for quote in quotes
    }
    return [
        replace(launch, pool=replace(launch.pool, **found.get(launch.pool.paired_token, {})))
        if launch and launch.pool and launch.pool.pair_decimals is None
        else launch
        for launch in launches
    ]
