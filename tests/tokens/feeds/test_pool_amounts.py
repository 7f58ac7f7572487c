"""Tests for tokens/feeds/pool_amounts.py: liquidity amounts and reserves, beside fractions."""

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from tokens.feeds.pool_amounts import MOST_TICKS, PoolReserves, liquidity_amounts
from tokens.trades.pool_prices import pool_price, price_root, tick_root

# TickMath.MIN_SQRT_PRICE and MAX_SQRT_PRICE in Uniswap v4.
EXTREMES = {-887_272: 4295128739, 887_272: 1461446703485210103287273052203988822378723970342}
Q96 = 2**96


@pytest.mark.parametrize(("tick", "root"), [*EXTREMES.items(), (0, Q96)])
def test_the_root_at_a_tick_is_that_of_the_contract(tick, root):
    assert tick_root(tick) == root


def test_the_root_at_any_tick_is_that_of_the_power():
    # Fractions of such powers have millions of digits.
    with localcontext(prec=60):
        for tick in range(-887_271, 887_272, 1_009):
            exact = Decimal("1.0001") ** tick
            assert abs((Decimal(tick_root(tick)) / Q96) ** 2 / exact - 1) < Decimal("1e-9")


@pytest.mark.parametrize("is_currency0", [True, False])
@pytest.mark.parametrize("decimals", [6, 18])
def test_the_root_of_a_price_is_the_one_that_the_price_was_made_of(is_currency0, decimals):
    for root in (3**44, 3**60, 3**81):
        price = pool_price(root, decimals=18, quote_decimals=decimals, is_currency0=is_currency0)
        again = price_root(price, decimals=18, quote_decimals=decimals, is_currency0=is_currency0)
        assert abs(Fraction(again, root) - 1) < Fraction(1, 10**20)


def exact_amounts(liquidity, root, lower, upper):
    """Return what a range holds, by equations 6.29 and 6.30 in the whitepaper."""
    low, high = Fraction(tick_root(lower), Q96), Fraction(tick_root(upper), Q96)
    here = min(max(Fraction(root, Q96), low), high)
    return liquidity * (1 / here - 1 / high), liquidity * (here - low)


@pytest.mark.parametrize("tick", [-3000, -1000, 0, 999, 1000, 5000])
def test_added_liquidity_is_rounded_up_and_removed_liquidity_down(tick):
    root = tick_root(tick) + 12345
    exact = exact_amounts(10**21 + 7, root, -1000, 1000)
    added = liquidity_amounts(10**21 + 7, root, -1000, 1000)
    removed = liquidity_amounts(-(10**21 + 7), root, -1000, 1000)
    for paid_in, paid_out, amount in zip(added, removed, exact, strict=True):
        # Currency 0 is divided twice, and so rounded twice.
        assert amount <= paid_in <= amount + 2
        assert amount - 2 <= paid_out <= amount


def test_reserves_are_the_sum_of_all_ranges_whatever_their_sequence():
    reserves, ranges = PoolReserves(), []
    assert reserves.at(Q96) == (0, 0)
    for number in range(40):
        # Ranges that overlap, adjoin, and are alike.
        lower = 200 * (number * 7 % 20) - 4000
        upper, liquidity = lower + 200 * (1 + number * 3 % 11), 10**20 * 7 ** (number % 5) + number
        ranges.append((liquidity, lower, upper))
        reserves.add(lower, upper, liquidity)
        for tick in (-9000, lower, upper, 137 * number - 4000, 9000):
            held = reserves.at(tick_root(tick))
            exact = [exact_amounts(amount, tick_root(tick), *ticks) for amount, *ticks in ranges]
            for kept, sums in zip(held, map(sum, zip(*exact, strict=True)), strict=True):
                assert sums - 100 <= kept <= sums
    for liquidity, lower, upper in ranges:
        reserves.add(lower, upper, -liquidity)
    assert reserves.at(Q96) == (0, 0)


def test_a_pool_of_too_many_ticks_has_no_reserves():
    reserves = PoolReserves()
    for tick in range(MOST_TICKS):
        reserves.add(tick, tick + 1, 1 + tick)
    assert reserves.at(Q96) is None
