"""Origins of a declared launch's values: the first declared value that equals the decoder's result counts."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from math import log10
from typing import Any

from tokens.chains.abi.paths import Path
from tokens.chains.addresses import ZERO_ADDRESS
from tokens.chains.evm.generations.declared_launches import LaunchScope
from tokens.chains.evm.generations.launch_views import is_usable, missing_values
from tokens.chains.registry.launchpads import (
    RESERVES,
    Argument,
    Constant,
    LaunchDeclaration,
    OtherLog,
    Sender,
    Value,
    View,
)
from tokens.chains.types import Launch, MissingValue, Pool
from tokens.declaring.made_pools import find_made_pools, first_price_text
from tokens.declaring.recorded_calls import RecordingClient, call_text

# Field in a declaration -> field in `Launch`.
_STORED = {"name": "name", "symbol": "symbol", "uri": "uri", "image": "image", "creator": "admin"}


@dataclass(frozen=True, kw_only=True, slots=True)
class TriedValue:
    """A launch field; `value` is None if it is missing, and `origin` then has the reason."""

    field: str
    value: Any
    origin: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Source:
    """One place that a value may come from, and the value there."""

    text: str
    value: Any
    problem: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ValueTracer:
    """Tracer for one launch: `decoded` from logs, and completed by views (`launch`)."""

    scope: LaunchScope
    declaration: LaunchDeclaration
    decoded: Launch
    launch: Launch
    rpc: RecordingClient

    def values(self) -> Iterator[TriedValue]:
        """Yield each stored value with its origin."""
        launch = self.launch
        yield TriedValue(field="token", value=launch.token, origin=f"argument {path_text(self.declaration.token)}")
        for field, stored in _STORED.items():
            yield self._trace(field, getattr(launch, stored))
        for field in ("supply", "decimals"):
            yield self._trace(field, getattr(launch, field))
        if launch.pool is None:
            yield TriedValue(field="pool", value=None, origin=f"no pool of the token is made in {launch.tx_hash}")
        else:
            yield from self._pool_values(launch.pool)

    def _trace(self, field: str, stored: Any) -> TriedValue:
        sources = list(self._sources(field))
        for source in sources:
            if is_usable(field, source.value) and source.value == stored:
                return TriedValue(field=field, value=stored, origin=source.text)
        reasons = "; ".join(f"{source.text}: {source.problem or 'empty'}" for source in sources) or "not declared"
        if is_usable(field, stored):
            return TriedValue(field=field, value=stored, origin=f"the default ({reasons})")
        return TriedValue(field=field, value=None, origin=reasons)

    def _sources(self, field: str) -> Iterator[_Source]:
        """Yield a field's declared places, and the contract's own views that the decoder adds."""
        views = []
        for value in self.declaration.fields.get(field, ()):
            result = self.scope.read(value)
            if isinstance(result, MissingValue):
                views.append(result._replace(field=field))
                yield from self._view(result)
            else:
                problem = "" if is_usable(field, result) else "empty"
                yield _Source(text=value_text(value, self.scope), value=result, problem=problem)
        for missing in missing_values(self.decoded):
            if missing.field == field and missing not in views:
                yield from self._view(missing)

    def _view(self, missing: MissingValue) -> Iterator[_Source]:
        # A view after a usable argument is not called.
        if answer := self.rpc.answer(missing):
            path = f"{path_text(missing.result)} in " if len(missing.function.outputs.names) > 1 else ""
            text = f"{path}{call_text(missing, answer.block)}"
            yield _Source(text=text, value=answer.value, problem=answer.problem)

    def _pool_values(self, pool: Pool) -> Iterator[TriedValue]:
        mined, fees = self.scope.mined, self.launch.fees
        trusted = (each for each in find_made_pools(mined) if each.is_trusted)
        new_pool = next((each for each in trusted if each.id == pool.address), None)
        if new_pool is None:
            # A curve: the declaration has both values, or all tokens share the curve and it has no address.
            declared = self._trace("pool_id", pool.address)
            curve = declared if declared.value else TriedValue(field="pool", value=pool.address, origin="the token")
            yield replace(curve, field="curve")
            yield self._trace("quote", pool.paired_token or None)
        else:
            yield TriedValue(field="pool", value=pool.address, origin=new_pool.text)
            quote_origin = f"the pool's other currency, {new_pool.text}"
            yield TriedValue(field="quote", value=pool.paired_token, origin=quote_origin)
        yield self._pair("pair_symbol", "quote symbol", pool.pair_symbol)
        yield self._pair("pair_decimals", "quote decimals", pool.pair_decimals)
        if new_pool is None:
            yield self._start_price(pool)
            if pair := self.launch.next_pool:
                origin = "PairCreated of the token: the curve graduates into it"
                yield TriedValue(field="next pool", value=pair, origin=origin)
            return
        tick_origin = f"{first_price_text(mined, new_pool)}, as if the token were token0"
        yield TriedValue(field="tick", value=pool.tick, origin=tick_origin)
        yield TriedValue(field="tick spacing", value=pool.tick_spacing, origin=new_pool.text)
        yield TriedValue(field="hook", value=pool.hook, origin=new_pool.text if pool.hook else "the pool has none")
        fee_origin = new_pool.text if fees else "the hook sets the fee of each swap"
        yield TriedValue(field="fee in bps", value=None if fees is None else fees.clanker_fee, origin=fee_origin)

    def _start_price(self, pool: Pool) -> TriedValue:
        """Return a curve's price at its launch, and the places of both reserves."""
        if RESERVES[0] not in self.declaration.fields:
            return TriedValue(field="price", value=None, origin="not declared")
        origin = " / ".join(", ".join(map(_reserve_text, self._sources(field))) for field in RESERVES)
        price = start_price(self.launch)
        if pool.tick is not None and price is None:
            origin = f"the quote token's decimals are unknown; {origin}"
        return TriedValue(field="price", value=price and float(f"{price:.6g}"), origin=origin)

    def _pair(self, missing: str, field: str, stored: Any) -> TriedValue:
        pool = self.launch.pool
        if pool and self.scope.mined.chain.quote_tokens.get(pool.paired_token.lower()):
            return TriedValue(field=field, value=stored, origin="quote token of the registry")
        if pool and pool.paired_token == ZERO_ADDRESS:
            return TriedValue(field=field, value=stored, origin="the chain's coin")
        traced = self._trace(missing, stored)
        return TriedValue(field=field, value=traced.value, origin=traced.origin)


def start_price(launch: Launch) -> Decimal | None:
    """Return a launch's price in whole quote token units for a whole token; None where a part of it is unknown."""
    pool = launch.pool
    if pool is None or pool.tick is None or pool.pair_decimals is None:
        return None
    return Decimal(10 ** (pool.tick * log10(1.0001) + launch.decimals - pool.pair_decimals))


def _reserve_text(source: _Source) -> str:
    return f"{source.text} {source.problem or source.value}"


def value_text(value: Value, scope: LaunchScope) -> str:
    """Return a declared value in words, without a view's result."""
    match value:
        case Argument():
            return f"argument {path_text(value.path)}"
        case Sender():
            return "the transaction's sender"
        case Constant():
            return "the declaration"
        case OtherLog():
            having = f", of which {path_text(value.having)} is the token" if value.having else ""
            return f"{path_text(value.result)} of {value.event.signature} by {scope.target(value.emitter)}{having}"
        case View():
            return f"{path_text(value.result)} in {value.function.signature} of {scope.target(value.contract)}"


def path_text(path: Path) -> str:
    """Return a path as declarations write it."""
    return ".".join(map(str, path))
