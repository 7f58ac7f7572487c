"""Views for launch values that neither logs nor calldata contain; they are called at the launch's block."""

from collections.abc import Mapping
from dataclasses import replace
from math import log
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.abi.codec import AbiFunction
from tokens.chains.addresses import ZERO_ADDRESS
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.registry.entry_rules import MAX_TICK
from tokens.chains.registry.launchpads import RESERVES
from tokens.chains.types import Launch, MissingValue, Pool

_NATIVE_DECIMALS = 18
# Price ratio between neighbouring ticks.
_TICK_STEP = 1.0001
_TOKEN = codec.load_abi("token")
# The token's view functions by generation: v3.1 and v4 name the image `imageUrl`, v1 to v3.0 `image`.
_IMAGES = (_TOKEN.function("imageUrl"), _TOKEN.function("image"))
# Quote token views: `Pool` field -> view.
PAIR_VIEWS = {"pair_symbol": _TOKEN.function("symbol"), "pair_decimals": _TOKEN.function("decimals")}


def missing_values(launch: Launch) -> tuple[MissingValue, ...]:
    """Return a decoded launch's values that only views have."""
    own = _declared_views(launch) if launch.is_declared else _compiled_views(launch)
    supply = [_view("supply", launch.token, _TOKEN.function("totalSupply"))] if launch.supply is None else []
    return (*launch.missing, *supply, *own, *_pair_views(launch))


def _compiled_views(launch: Launch) -> list[MissingValue]:
    views = []
    if launch.image is None:
        views += [_view("image", launch.token, function) for function in _IMAGES]
    if launch.metadata is None:
        views.append(_view("metadata", launch.token, _TOKEN.function("metadata")))
    if launch.context is None:
        views.append(_view("context", launch.token, _TOKEN.function("context")))
    return views


def _declared_views(launch: Launch) -> list[MissingValue]:
    """Return the values that the declaration does not name. Supply and decimals always come from the contract."""
    declared_fields = {value.field for value in launch.missing}
    return [
        _view("decimals", launch.token, _TOKEN.function("decimals")),
        *(
            _view(field, launch.token, _TOKEN.function(field))
            for field, value in (("name", launch.name), ("symbol", launch.symbol))
            if not value and field not in declared_fields
        ),
    ]


def is_usable(field: str, value: object) -> bool:
    """Return whether a field's value counts: no None, no empty text, and no zero address except as the native coin."""
    return value not in (None, "") and (value != ZERO_ADDRESS or field == "quote")


def with_reserves(pool: Pool, values: Mapping[str, Any]) -> Pool:
    """Return a curve with its starting price as tick, where the launch's values have both reserves."""
    quote, token = (values.get(field) for field in RESERVES)
    if not quote or not token:
        return pool
    tick = round((log(quote) - log(token)) / log(_TICK_STEP))
    return replace(pool, tick=tick) if abs(tick) <= MAX_TICK else pool


def with_known_quote(pool: Pool, chain: ChainInfo) -> Pool:
    """Return the pool with its quote token's symbol and decimals, if it is the native coin or in the registry."""
    if pool.paired_token == ZERO_ADDRESS:
        return replace(pool, pair_symbol=chain.native, pair_decimals=_NATIVE_DECIMALS)
    quote = chain.quote_tokens.get(pool.paired_token.lower())
    return replace(pool, pair_symbol=quote.symbol, pair_decimals=quote.decimals) if quote else pool


def _pair_views(launch: Launch) -> list[MissingValue]:
    if launch.pool is None or not launch.pool.paired_token or launch.pool.pair_symbol is not None:
        return []
    return [_view(field, launch.pool.paired_token, function) for field, function in PAIR_VIEWS.items()]


def _view(field: str, contract: str, function: AbiFunction) -> MissingValue:
    return MissingValue(field=field, contract=contract, function=function, arguments=(), result=())
