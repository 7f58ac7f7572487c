"""tokens/chains/launching/launch_ticks.py: a market cap's starting tick, its inverse, and moving positions."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import pytest

from tokens.chains.launching.launch_config import TOKEN_SUPPLY
from tokens.chains.launching.launch_ticks import TickOutOfRangeError, shifted_positions, starting_tick
from tokens.chains.registry.chains import Position, load_registry
from tokens.chains.types import starting_market_cap

# More digits than any number in a body has.
DIGITS = 60
LAST_TICK = 887_200


def market_cap(tick: int, *, decimals: int, rounding: str) -> Decimal:
    """Return the market cap at a tick in whole paired tokens, to 60 digits, rounded this way."""
    # Rounded once: the power is computed with extra digits.
    price = Context(prec=DIGITS + 20).power(Decimal("1.0001"), tick)
    return Context(prec=DIGITS, rounding=rounding).multiply(price, Decimal(10) ** (29 - decimals))


@pytest.mark.parametrize("decimals", [0, 6, 18])
def test_it_refuses_a_market_cap_for_which_uniswap_has_no_tick(decimals):
    above = market_cap(LAST_TICK + 200, decimals=decimals, rounding=ROUND_CEILING)
    below = market_cap(-LAST_TICK, decimals=decimals, rounding=ROUND_FLOOR)
    for beyond in (above, below):
        with pytest.raises(TickOutOfRangeError, match="no pool can start"):
            starting_tick(beyond, decimals=decimals)


def test_it_works_out_no_logarithm_of_a_number_of_any_length():
    # It would take hours.
    with pytest.raises(TickOutOfRangeError, match="no pool can start"):
        starting_tick(Decimal("9" * 200_000), decimals=18)


def test_it_refuses_positions_that_would_reach_beyond_all_prices():
    standard = load_registry().presets["standard"]
    (highest,) = shifted_positions(standard, tick=LAST_TICK - 110_400)
    assert highest.tick_upper == LAST_TICK
    with pytest.raises(TickOutOfRangeError, match="beyond all prices"):
        shifted_positions(standard, tick=LAST_TICK - 110_200)


@pytest.mark.parametrize(
    ("given", "decimals", "tick"),
    [
        # The launchpad's own figures for its starting ticks, which are within the step that begins there.
        ("10", 18, -230_400),
        ("37108.5", 6, -424_400),
        ("9.87", 18, -230_600),
        ("9.871", 18, -230_400),
        ("20", 18, -223_400),
        # Price 1: the only border that a short number hits.
        ("100000000000", 18, 0),
        ("99999999999.999999999999999999", 18, -200),
        ("100000000000.000000000000000001", 18, 0),
        ("0.1", 18, -276_400),
        ("0.000000000000000001", 18, -667_800),
    ],
)
def test_a_market_cap_starts_at_the_step_that_it_reaches(given, decimals, tick):
    assert starting_tick(Decimal(given), decimals=decimals) == tick


@pytest.mark.parametrize("decimals", [0, 6, 8, 18, 36])
def test_a_tick_is_that_of_its_own_market_cap_and_of_none_less(decimals):
    # Every 89th step, from another one for each decimals value. Tick 0 would be no border that is rounded.
    first = -LAST_TICK + 200 * (1 + decimals)
    for tick in range(first, LAST_TICK, 89 * 200):
        assert tick
        at_least = market_cap(tick, decimals=decimals, rounding=ROUND_CEILING)
        less = market_cap(tick, decimals=decimals, rounding=ROUND_FLOOR)
        assert starting_tick(at_least, decimals=decimals) == tick
        assert starting_tick(less, decimals=decimals) == tick - 200


def test_what_a_launch_shows_as_its_market_cap_starts_at_its_tick_again():
    for tick in (-887_000, -424_400, -230_400, -200, 200, 400_000):
        shown = starting_market_cap(tick, supply=TOKEN_SUPPLY, quote_decimals=18)
        # A double is not exact; a millionth above it is within the same step.
        assert starting_tick(Decimal(shown) * Decimal("1.000001"), decimals=18) == tick


def test_positions_move_with_the_tick_and_keep_their_shares():
    project = load_registry().presets["project"]
    assert shifted_positions(project, tick=-230_400) == project.positions

    moved = shifted_positions(project, tick=-424_400)
    assert moved[0] == Position(tick_lower=-424_400, tick_upper=-408_000, bps=1_000)
    assert [position.bps for position in moved] == [1_000, 5_000, 1_500, 2_000, 500]
    widths = [(position.tick_upper - position.tick_lower) for position in moved]
    assert widths == [(position.tick_upper - position.tick_lower) for position in project.positions]
    assert all(position.tick_lower % 200 == position.tick_upper % 200 == 0 for position in moved)
