"""A few tokens' trades at minute, day and week edges, and their candles computed without SQL."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests.rows.factories import TokenFactory
from tokens.chains.pool_types import chain_position
from tokens.models import Candle, LaunchFacts, MinuteCandle, PoolTrade, Token
from tokens.trades.trade_rows import TradeRow

QUOTE_DECIMALS = 18
FIRST_BLOCK = 1_000
# A trade week ends and the next one begins, in the middle.
_MONDAY = datetime(2026, 11, 16, tzinfo=UTC)
NOW = _MONDAY + timedelta(days=3)
_SECONDS = [0, 1, 59, 60, 61, 3599, 3600, 7200, 86_399, 86_400, 90_000]

_prices = st.builds(
    lambda digits, exponent: Decimal(digits).scaleb(exponent), st.integers(1, 10**24 - 1), st.integers(-45, 10)
)
_rates = st.one_of(st.none(), st.builds(lambda digits: Decimal(digits).scaleb(-11), st.integers(1, 10**15 - 1)))
_sketches = st.tuples(
    # Token, side of the week's edge, seconds from it, and whether the block is the previous trade's.
    st.integers(0, 1),
    st.sampled_from([-1, 1]),
    st.sampled_from(_SECONDS),
    _prices,
    _rates,
    st.integers(1, 10**24),
    st.booleans(),
    st.booleans(),
)


def launched_token(**columns: Any) -> Token:
    """Create a token with the launch facts that trades need."""
    token = TokenFactory(**columns)
    LaunchFacts.objects.create(token=token, facts={"pool": {"pair_decimals": QUOTE_DECIMALS, "tick": -230_400}})
    return token


def trade_worlds(**limits: int) -> st.SearchStrategy[list[TradeRow]]:
    """Draw trades in chain order, in blocks from FIRST_BLOCK on, in the tokens 0 and 1."""
    return st.lists(_sketches, **limits).map(_in_chain_order)


def _in_chain_order(sketches: list[Any]) -> list[TradeRow]:
    edge = int(_MONDAY.timestamp())
    sketches = sorted(sketches, key=lambda sketch: sketch[1] * sketch[2])
    return [
        trade_row(
            token_id=token,
            at=edge + side * seconds,
            position=chain_position(FIRST_BLOCK + number // 2, number),
            price=price,
            quote_usd=rate,
            amount_quote=amount,
            is_buy=is_buy,
            is_conversion=is_conversion,
        )
        for number, (token, side, seconds, price, rate, amount, is_buy, is_conversion) in enumerate(sketches)
    ]


def trade_row(**columns: Any) -> TradeRow:
    """Return a trade with these columns; its value follows from them."""
    plain = {
        "tx_hash": columns["position"].to_bytes(32),
        "trader": None,
        "is_buy": True,
        "is_conversion": False,
        "amount_token": 10**18,
        "amount_quote": 10**18,
        "price": Decimal(1),
        "quote_usd": None,
    }
    row = TradeRow(**plain | {"value_usd": None} | columns)
    if row.quote_usd is None:
        return row
    micros = Fraction(row.amount_quote) * Fraction(row.quote_usd) / 10 ** (QUOTE_DECIMALS - 6)
    return row._replace(value_usd=Decimal(f"{int(micros + Fraction(1, 2))}e-6"))


def expected_candles(rows: Iterable[TradeRow]) -> dict[tuple[int, int, int], dict[str, Any]]:
    """Return (token, seconds, beginning) -> columns, for candles in three sizes."""
    groups = defaultdict(list)
    for row in rows:
        for seconds in (60, 3600, 86_400):
            groups[row.token_id, seconds, row.at - row.at % seconds].append(row)
    folded = {key: _fold(sorted(group, key=lambda row: row.position)) for key, group in groups.items()}
    for key, group in groups.items():
        if key[1] > 60:
            paid = sum(row.amount_quote if row.is_buy else -row.amount_quote for row in group)
            folded[key]["net_quote"] = paid if key[1] == 86_400 else None
    return folded


def _fold(rows: list[TradeRow]) -> dict[str, Any]:
    prices = [row.price for row in rows]
    folded = {"first_position": rows[0].position, "last_position": rows[-1].position}
    folded |= {"open": prices[0], "high": max(prices), "low": min(prices), "close": prices[-1]}
    usd: list[float] | None = None
    if all(row.quote_usd is not None for row in rows):
        usd = [float(Fraction(row.price) * Fraction(row.quote_usd or 0)) for row in rows]
    for name, pick in {"open": lambda of: of[0], "high": max, "low": min, "close": lambda of: of[-1]}.items():
        folded[f"{name}_usd"] = pick(usd) if usd else None
    demand = [row for row in rows if not row.is_conversion]
    return folded | {
        "volume_quote": sum(row.amount_quote for row in demand),
        "volume_usd": sum(row.value_usd or 0 for row in demand),
        "buys": sum(row.is_buy for row in demand),
        "sells": sum(not row.is_buy for row in demand),
    }


def stored_candles() -> dict[tuple[int, int, int], dict[str, Any]]:
    """Return the stored candles as `expected_candles`."""
    found = {}
    for model in (MinuteCandle, Candle):
        for columns in model.objects.values():
            seconds = columns.pop("seconds", 60)
            key = columns.pop("token_id"), seconds, int(columns.pop("at").timestamp())
            found[key] = {name: value for name, value in columns.items() if name != "pk"}
    return found


def stored_trades() -> list[TradeRow]:
    """Return the stored trades in chain order, without their values."""
    return [
        TradeRow(
            trade.token_id,
            int(trade.at.timestamp()),
            trade.position,
            bytes(trade.tx_hash),
            None if trade.trader is None else bytes(trade.trader),
            trade.is_buy,
            trade.is_conversion,
            int(trade.amount_token),
            int(trade.amount_quote),
            trade.price,
            trade.quote_usd,
            None,
        )
        for trade in PoolTrade.objects.order_by("position")
    ]
