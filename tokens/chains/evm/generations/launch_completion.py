"""Launch fields that neither logs nor calldata contain, fetched from the token contracts at the launch's block."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.evm.eth_calls import ViewCall, call_views, call_views_at_blocks
from tokens.chains.rpc.client import RpcClient
from tokens.chains.types import Launch, Pool, TransactionFacts

_TOKEN = codec.load_abi("token")

# The token's view functions by generation: v3.1 and v4 name the image `imageUrl`, v1 to v3.0 `image`.
_IMAGES = (_TOKEN.function("imageUrl"), _TOKEN.function("image"))


@dataclass(frozen=True, kw_only=True, slots=True)
class _MissingField:
    """A missing field of a launch, and the view function that returns it. The first result of several is used."""

    field: str
    call: ViewCall


def complete_launches(rpc: RpcClient, transactions: Sequence[TransactionFacts]) -> list[TransactionFacts]:
    """Return the transactions with the missing fields of their launches, as far as contracts return them; else None.

    Calls are made at each launch's block: later changes are events, which are folded over the launch.
    Raises NodeUnavailableError.
    """
    launches = [launch for facts in transactions for launch in facts.launches]
    missing = [_missing_fields(launch) for launch in launches]
    calls = [
        (part.call, launch.block_number)
        for launch, parts in zip(launches, missing, strict=True)
        for part in parts
    ]  # fmt: skip
    if not calls:
        return list(transactions)
    results = iter(call_views_at_blocks(rpc, calls))
    completed = []
    for launch, parts in zip(launches, missing, strict=True):
        fetched: dict[str, Any] = {}
        for part in parts:
            if values := next(results):
                fetched.setdefault(part.field, *values.values())
        completed.append(_with_fields(launch, fetched))
    rest = iter(_with_decimals(rpc, completed))
    return [replace(facts, launches=tuple(next(rest) for _ in facts.launches)) for facts in transactions]


def _with_decimals(rpc: RpcClient, launches: Sequence[Launch]) -> list[Launch]:
    """Return the launches with their quote tokens' decimals as of the newest block, where the launch's returned none.

    Decimals never change, but a proxy may get its code later, and a call may fail once.
    """
    lacking = sorted({each.pool.paired_token for each in launches if each.pool and each.pool.pair_decimals is None})
    if not lacking:
        return list(launches)
    results = call_views(rpc, [ViewCall(contract=quote, function=_TOKEN.function("decimals")) for quote in lacking])
    decimals = {quote: next(iter(values.values())) for quote, values in zip(lacking, results, strict=True) if values}
    return [
        replace(launch, pool=replace(launch.pool, pair_decimals=decimals[launch.pool.paired_token]))
        if launch.pool and launch.pool.pair_decimals is None and launch.pool.paired_token in decimals
        else launch
        for launch in launches
    ]


def _missing_fields(launch: Launch) -> list[_MissingField]:
    fields = []
    if launch.supply is None:
        fields.append(("supply", launch.token, _TOKEN.function("totalSupply")))
    if launch.image is None:
        fields += [("image", launch.token, function) for function in _IMAGES]
    if launch.metadata is None:
        fields.append(("metadata", launch.token, _TOKEN.function("metadata")))
    if launch.context is None:
        fields.append(("context", launch.token, _TOKEN.function("context")))
    if launch.pool and launch.pool.pair_symbol is None:
        fields.append(("pair_symbol", launch.pool.paired_token, _TOKEN.function("symbol")))
        fields.append(("pair_decimals", launch.pool.paired_token, _TOKEN.function("decimals")))
    return [
        _MissingField(field=field, call=ViewCall(contract=contract, function=function))
        for field, contract, function in fields
    ]


def _with_fields(launch: Launch, fetched: dict[str, Any]) -> Launch:
    if not fetched:
        return launch
    return replace(
        launch,
        supply=fetched.get("supply", launch.supply),
        image=fetched.get("image", launch.image),
        metadata=fetched.get("metadata", launch.metadata),
        context=fetched.get("context", launch.context),
        pool=_with_pair(launch.pool, fetched),
    )


def _with_pair(pool: Pool | None, fetched: dict[str, Any]) -> Pool | None:
    if pool is None or pool.pair_symbol is not None:
        return pool
    return replace(pool, pair_symbol=fetched.get("pair_symbol"), pair_decimals=fetched.get("pair_decimals"))
