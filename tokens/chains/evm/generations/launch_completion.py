"""Launch fields that neither logs nor calldata contain, fetched from contracts at the launch's block."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from tokens.chains.abi.paths import find_part
from tokens.chains.evm.eth_calls import ViewCall, ViewResult, call_views, call_views_at_blocks
from tokens.chains.evm.generations.launch_views import (
    PAIR_VIEWS,
    is_usable,
    missing_values,
    with_known_quote,
    with_reserves,
)
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
    but the first. Raises NodeUnavailableError.
    """
    launches = [(launch, missing_values(launch)) for facts in transactions for launch in facts.launches]
    calls = [
        (ViewCall(contract=value.contract, function=value.function, arguments=value.arguments), launch.block_number)
        for launch, missing in launches
        for value in missing
    ]
    if not calls:
        return list(transactions)
    results = iter(call_views_at_blocks(rpc, calls))
    completed = [
        _complete(launch, [(value, next(results)) for value in missing], chain) for launch, missing in launches
    ]
    rest = iter(_with_pairs(rpc, completed))
    return [replace(facts, launches=_first_of_each_log([next(rest) for _ in facts.launches])) for facts in transactions]


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


def _first_of_each_log(launches: Sequence[Launch | None]) -> tuple[Launch, ...]:
    return tuple({launch.log_index: launch for launch in reversed(launches) if launch}.values())[::-1]


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
