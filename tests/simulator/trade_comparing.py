"""Comparison between trades, liquidity changes and candles and a simulated chain's truth, computed anew from it.

Nothing here is shared with the service's own arithmetic: prices are fractions, and candles are made in chain order.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from math import isclose
from typing import Any

from tests.nodes.launch_builder import USDC
from tests.simulator.reached_prices import reached_logs
from tests.simulator.truth import Json, LiquidityTruth, PoolLogTruth, SwapTruth, Truth
from tokens.models import Candle, MinuteCandle, PoolLiquidityChange, PoolTrade

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
# Stored prices have 24 significant digits.
_PRECISION = Fraction(1, 10**23)
# Columns with rounded numbers: compared by their distance.
_ROUNDED = ("price", "open", "high", "low", "close")
_BRIEF = ("kind", "generation", "block_number", "tx_hash")
_FLOATS = ("open_usd", "high_usd", "low_usd", "close_usd")
# USD for a whole unit. Other quote tokens have no price, except launched ones, for which it depends on their trades.
_USD = {USDC: Fraction(1)}


def trade_differences(truth: Truth, *, chain_id: int, above: int = -1) -> list[str]:
    """Return the missing, superfluous and different rows as `comparing.differences`."""
    logs = list(reached_logs(truth))
    swaps = [entry for entry in logs if isinstance(entry.log, SwapTruth)]
    trades = PoolTrade.objects.filter(token__chain_id=chain_id, token__unindexed=False).select_related("token")
    rows = {_trade_key(trade): _trade_row(trade) for trade in trades if trade.block_number > above}
    compare = partial(compare_rows, is_equal=_is_equal)
    found = list(compare("trade", {_key(swap): _trade_truth(swap, truth) for swap in swaps}, rows))
    changes = PoolLiquidityChange.objects.filter(token__chain_id=chain_id, token__unindexed=False)
    found += compare(
        "liquidity",
        {_key(entry): _liquidity_truth(entry) for entry in logs if isinstance(entry.log, LiquidityTruth)},
        {
            (change.token.contract_address, *divmod(change.position, 2**20)): _liquidity_row(change)
            for change in changes.select_related("token")
            if change.position >= (above + 1) * 2**20
        },
    )
    return (
        found if above >= 0 else found + list(compare("candle", _candle_truths(truth, swaps), _candle_rows(chain_id)))
    )


def compare_rows(
    kind: str,
    expected: Mapping[Any, Json],
    rows: Mapping[Any, Json],
    *,
    is_equal: Callable[[str, Any, Any], bool] = lambda name, value, stored: value == stored,
) -> Iterator[str]:
    """Yield a line for each missing, superfluous and different row."""
    for key in expected.keys() ^ rows.keys():
        fate, row = ("missing", expected[key]) if key in expected else ("invented", rows[key])
        yield f"{kind} {key} is {fate}: { {name: row.get(name) for name in _BRIEF if name in row} }"
    for key in expected.keys() & rows.keys():
        for name, value in expected[key].items():
            if not is_equal(name, value, rows[key][name]):
                yield f"{kind} {key} has {name} {rows[key][name]!r} and should have {value!r}"


def _is_equal(name: str, expected: Any, stored: Any) -> bool:
    if expected is None or stored is None:
        return expected is stored
    if name in _ROUNDED:
        return bool(abs(Fraction(stored) - expected) <= expected * _PRECISION)
    if name in _FLOATS:
        return isclose(stored, expected, rel_tol=1e-12)
    if name == "trader":
        # History is read from logs, which lack the trader.
        return stored in ("", expected)
    return bool(stored == expected)


def _key(entry: PoolLogTruth) -> tuple[str, int, int]:
    return entry.log.token, entry.at.block_number, entry.at.log_index


def _trade_key(trade: PoolTrade) -> tuple[str, int, int]:
    return trade.token.contract_address, trade.block_number, trade.log_index


def _trade_truth(swap: PoolLogTruth, truth: Truth) -> Json:
    log = _swap(swap)
    usd = {} if log.quote in truth.tokens else {"quote_usd": _USD.get(log.quote)}
    return usd | {
        "at": datetime.fromtimestamp(swap.at.block_time, UTC),
        "tx_hash": swap.at.tx_hash,
        "tx_index": swap.at.tx_index,
        "trader": swap.trader.lower(),
        "is_buy": log.is_buy,
        "is_conversion": log.is_conversion,
        "amount_token": log.amount_token,
        "amount_quote": log.amount_quote,
        "protocol_fee": log.protocol_fee,
        "price": _price(log),
    }


def _trade_row(trade: PoolTrade) -> Json:
    names = (
        "at", "tx_index", "is_buy", "is_conversion", "amount_token", "amount_quote", "protocol_fee", "price",
        "quote_usd",
    )  # fmt: skip
    return {name: getattr(trade, name) for name in names} | _transaction_row(trade)


def _liquidity_truth(entry: PoolLogTruth) -> Json:
    log = entry.log
    assert isinstance(log, LiquidityTruth)
    return {
        "at": datetime.fromtimestamp(entry.at.block_time, UTC),
        "tx_hash": entry.at.tx_hash,
        "tx_index": entry.at.tx_index,
        "trader": entry.trader.lower(),
        "tick_lower": log.tick_lower,
        "tick_upper": log.tick_upper,
        "liquidity": log.liquidity,
        "amount0": log.amounts[0],
        "amount1": log.amounts[1],
    }


def _liquidity_row(change: PoolLiquidityChange) -> Json:
    names = ("at", "tx_index", "tick_lower", "tick_upper", "liquidity", "amount0", "amount1")
    return {name: getattr(change, name) for name in names} | _transaction_row(change)


def _transaction_row(log: PoolTrade | PoolLiquidityChange) -> Json:
    trader = "" if log.trader is None else "0x" + bytes(log.trader).hex()
    return {"tx_hash": None if log.tx_hash is None else "0x" + bytes(log.tx_hash).hex(), "trader": trader}


def _candle_truths(truth: Truth, swaps: Sequence[PoolLogTruth]) -> dict[tuple[str, int, int], Json]:
    """Return (token, seconds, beginning) -> candle."""
    by_period = defaultdict[tuple[str, int, int], list[PoolLogTruth]](list)
    for swap in swaps:
        for seconds in (_MINUTE, _HOUR, _DAY):
            by_period[swap.log.token, seconds, swap.at.block_time // seconds * seconds].append(swap)
    return {key: _candle(entries, truth) | _net(entries, seconds=key[1]) for key, entries in by_period.items()}


def _net(entries: Sequence[PoolLogTruth], *, seconds: int) -> Json:
    """Return what a day's purchases paid less what sales got; other candles have none."""
    logs = map(_swap, entries)
    paid = sum(log.amount_quote if log.is_buy else -log.amount_quote for log in logs)
    return {"net_quote": paid if seconds == _DAY else None}


def _candle(entries: Sequence[PoolLogTruth], truth: Truth) -> Json:
    """Return a candle from a period's swaps in chain order; without USD where their quote's price is not known here."""
    logs = [_swap(entry) for entry in entries]
    prices = [_price(log) for log in logs]
    demand = [log for log in logs if not log.is_conversion]
    candle: Json = {
        "first_position": entries[0].at.block_number * 2**20 + entries[0].at.log_index,
        "last_position": entries[-1].at.block_number * 2**20 + entries[-1].at.log_index,
        "open": prices[0],
        "high": max(prices),
        "low": min(prices),
        "close": prices[-1],
        "volume_quote": sum(log.amount_quote for log in demand),
        "buys": sum(log.is_buy for log in demand),
        "sells": sum(not log.is_buy for log in demand),
    }
    if logs[0].quote in truth.tokens:
        return candle
    usd = _USD.get(logs[0].quote)
    values = [] if usd is None else [_micro_usd(log, usd) for log in demand]
    in_usd = {f"{name}_usd": usd and float(candle[name] * usd) for name in ("open", "high", "low", "close")}
    return candle | in_usd | {"volume_usd": Fraction(sum(values), 10**6)}


def _micro_usd(log: SwapTruth, usd: Fraction) -> int:
    """Return a swap's value in millionths of a dollar, rounded half up."""
    exact = Fraction(log.amount_quote, 10**log.quote_decimals) * usd * 10**6
    return (2 * exact.numerator + exact.denominator) // (2 * exact.denominator)


def _candle_rows(chain_id: int) -> dict[tuple[str, int, int], Json]:
    mine = {"token__chain_id": chain_id, "token__unindexed": False}
    names = (
        "first_position", "last_position", "open", "high", "low", "close", "open_usd", "high_usd", "low_usd",
        "close_usd", "volume_quote", "volume_usd", "buys", "sells",
    )  # fmt: skip
    stored: Iterable[tuple[int, Any]] = (
        *((_MINUTE, row) for row in MinuteCandle.objects.filter(**mine).select_related("token")),
        *((row.seconds, row) for row in Candle.objects.filter(**mine).select_related("token")),
    )
    return {
        (row.token.contract_address, seconds, int(row.at.timestamp())): {name: getattr(row, name) for name in names}
        | {"net_quote": getattr(row, "net_quote", None)}
        for seconds, row in stored
    }


def _price(log: SwapTruth) -> Fraction:
    """Return whole quote units for a whole token, which has 18 decimals."""
    ratio = Fraction(log.sqrt_price, 2**96) ** 2
    return (ratio if log.is_currency0 else 1 / ratio) * Fraction(10) ** (18 - log.quote_decimals)


def _swap(entry: PoolLogTruth) -> SwapTruth:
    assert isinstance(entry.log, SwapTruth)
    return entry.log
