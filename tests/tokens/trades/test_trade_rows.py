"""Tests for tokens/trades/trade_rows.py: swaps become trades with exact prices, sides and values."""

from decimal import Decimal
from fractions import Fraction

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st
from solders.pubkey import Pubkey
from solders.signature import Signature

from tokens.chains.pool_types import Conversion, Swap, chain_position
from tokens.trades.pool_tokens import PoolToken
from tokens.trades.quote_rates import QuoteRates
from tokens.trades.trade_rows import make_trade_rows, trade_value

POOL, LOCKER, ROUTER = "0x" + "ab" * 32, "0x" + "Cd" * 20, "0x" + "Ef" * 20
TOKEN = "0x" + "11" * 20
WETH = "0x4200000000000000000000000000000000000006"
NO_RATES = QuoteRates({})
# sqrtPriceX96 for a price of 1.
EVEN = 1 << 96
# Uniswap's price limits.
SQRT_PRICES = st.integers(4_295_128_739, 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342)


def pool_token(**facts):
    plain = {
        "token_id": 5,
        "address": TOKEN,
        "decimals": 18,
        "pool": POOL,
        "quote": WETH,
        "quote_decimals": 18,
        "locker": LOCKER,
        "is_currency0": True,
    }
    return PoolToken(**plain | facts)


def swap(**facts):
    plain = {
        "pool": POOL,
        "block_number": 100,
        "block_time": 1_700_000_000,
        "tx_hash": "0x" + "0f" * 32,
        "log_index": 7,
        "amount0": -3,
        "amount1": 5,
        "sqrt_price": EVEN,
        "sender": ROUTER,
        "trader": None,
    }
    return Swap(**plain | facts)


def rows_of(*swaps, rates=NO_RATES, **facts):
    return make_trade_rows(swaps, {POOL: pool_token(**facts)}, rates)


def test_a_row_has_the_facts_of_its_swap():
    (row,) = rows_of(swap(trader="0x" + "Ab" * 20))
    assert (row.token_id, row.at, row.position) == (5, 1_700_000_000, chain_position(100, 7))
    assert (row.tx_hash, row.trader) == (b"\x0f" * 32, b"\xab" * 20)
    assert (row.price, row.quote_usd, row.value_usd) == (1, None, None)


def test_hashes_and_traders_of_solana_are_stored_as_bytes():
    trader, signature = Pubkey(bytes(range(32))), Signature.from_bytes(bytes(range(64)))
    (row,) = rows_of(swap(tx_hash=str(signature), trader=str(trader)))
    assert (row.tx_hash, row.trader) == (bytes(signature), bytes(trader))


@pytest.mark.parametrize("is_currency0", [True, False])
@pytest.mark.parametrize(("token", "quote", "is_buy"), [(-3, 5, True), (3, -5, False)])
def test_a_buy_is_what_the_pool_pays_tokens_in(is_currency0, token, quote, is_buy):
    amount0, amount1 = (token, quote) if is_currency0 else (quote, token)
    (row,) = rows_of(swap(amount0=amount0, amount1=amount1), is_currency0=is_currency0)
    assert (row.is_buy, row.amount_token, row.amount_quote) == (is_buy, 3, 5)


@pytest.mark.parametrize("sender", [LOCKER, ROUTER])
@pytest.mark.parametrize(
    ("reports", "is_conversion"),
    [
        ([], False),
        ([Conversion(LOCKER, TOKEN)], True),
        ([Conversion(ROUTER, TOKEN)], False),
        ([Conversion(LOCKER, ROUTER)], False),
        ([Conversion(ROUTER, TOKEN), Conversion(LOCKER, TOKEN)], True),
    ],
    ids=["none", "of the token by its locker", "by another", "of another token", "by both"],
)
def test_a_swap_is_a_conversion_if_the_tokens_locker_reports_it(sender, reports, is_conversion):
    (row,) = rows_of(swap(sender=sender, conversions=tuple(reports)))
    assert row.is_conversion is is_conversion


@pytest.mark.parametrize(
    "facts",
    [
        {"amount0": 0},
        {"amount1": 0},
        {"amount0": 3},
        {"amount0": -3, "amount1": -5},
        {"sqrt_price": 0},
        {"pool": "0x" + "cd" * 32},
    ],
)
def test_a_swap_that_exchanges_nothing_or_is_in_another_pool_is_no_trade(facts):
    assert rows_of(swap(**facts)) == []


def test_a_pool_with_a_quote_of_unknown_decimals_has_no_trades():
    assert rows_of(swap(), quote_decimals=None) == []


@given(
    sqrt_price=SQRT_PRICES,
    is_currency0=st.booleans(),
    decimals=st.integers(0, 24),
    quote_decimals=st.integers(0, 24),
)
def test_a_price_is_that_of_the_pool_to_24_digits(sqrt_price, is_currency0, decimals, quote_decimals):
    (row,) = rows_of(
        swap(sqrt_price=sqrt_price, amount0=-1 if is_currency0 else 1, amount1=1 if is_currency0 else -1),
        is_currency0=is_currency0,
        decimals=decimals,
        quote_decimals=quote_decimals,
    )
    exact = Fraction(sqrt_price, EVEN) ** 2
    exact = (exact if is_currency0 else 1 / exact) * Fraction(10) ** (decimals - quote_decimals)
    assert len(row.price.as_tuple().digits) <= 24
    assert abs(Fraction(row.price) - exact) * 2 <= Fraction(10) ** (row.price.adjusted() - 23)


def test_the_rate_is_that_of_the_trades_position():
    before, after = Decimal("3000.5"), Decimal("3001.25")
    rates = QuoteRates({WETH: ([chain_position(90, 0), chain_position(100, 7)], [before, after])})
    swaps = [swap(block_number=80), swap(log_index=6), swap(log_index=7)]
    assert [row.quote_usd for row in rows_of(*swaps, rates=rates)] == [None, before, after]
    (row,) = rows_of(swap(amount1=2 * 10**18), rates=rates)
    assert row.value_usd == Decimal("6002.5")


@pytest.mark.django_db
@given(
    amount=st.integers(1, 2**128),
    decimals=st.integers(0, 24),
    rate=st.builds(
        lambda digits, exponent: Decimal(digits).scaleb(exponent), st.integers(1, 10**15), st.integers(-20, 5)
    ),
)
def test_a_value_is_rounded_half_up_as_by_postgresql(amount, decimals, rate):
    micros = Fraction(amount) * Fraction(rate) / Fraction(10) ** (decimals - 6)
    value = trade_value(amount, decimals, rate)
    assert value == Decimal(f"{int(micros + Fraction(1, 2))}e-6")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT round(%s::numeric * %s::numeric * %s::numeric, 6)", [Decimal(amount), rate, f"1e-{decimals}"]
        )
        assert cursor.fetchone() == (value,)


@pytest.mark.parametrize(("rate", "value"), [("1.5", "0.000002"), ("1.4", "0.000001"), ("2.5", "0.000003")])
def test_a_half_is_rounded_up(rate, value):
    assert trade_value(1, 6, Decimal(rate)) == Decimal(value)
