"""The trending score: distinct traders' net demand, which decays (docs/market.md)."""

from collections import defaultdict
from datetime import timedelta
from math import log2, sqrt
from random import Random

import pytest

from tests.tokens.trades.pool_rows import CHAIN, NOW, make_partitions, make_pool_token, trade_row, write_trades
from tokens.models import RollingClock, RollingSum, Token
from tokens.trades import rolling_sums

pytestmark = pytest.mark.django_db
HALF_LIFE = timedelta(hours=6)


@pytest.fixture(autouse=True)
def clock(db: None) -> None:
    make_partitions()
    RollingClock.objects.create(chain_id=CHAIN, rolled_to=NOW)


def trades_of(token: Token, values: list[float], *, traders: int = 1, at=NOW, first_position: int = 1):
    """Return trades for these USD, sells below zero, by so many traders in turn."""
    return [
        trade_row(
            token.pk,
            at,
            position=(int(at.timestamp()) << 20) + first_position + index,
            trader=bytes([index % traders + 1]) * 20,
            is_buy=usd > 0,
            amount_quote=round(abs(usd) * 10**18),
            quote_usd="1",
        )
        for index, usd in enumerate(values)
    ]


def trending(*worlds) -> list[float | None]:
    """Return the stored numbers for tokens with these trades, each a list that a function makes from the token."""
    found = []
    for make in worlds:
        token = make_pool_token()
        rows = make(token)
        write_trades(rows)
        rolling_sums.add_trades(CHAIN, rows)
        found.append(RollingSum.objects.get(token=token, seconds=86_400).trending)
    return found


def test_four_times_the_net_is_twice_the_score():
    one, four = trending(lambda token: trades_of(token, [100]), lambda token: trades_of(token, [400]))
    assert four - one == pytest.approx(1)


def test_the_same_money_of_four_traders_is_twice_the_score():
    one, four = trending(lambda token: trades_of(token, [400]), lambda token: trades_of(token, [100] * 4, traders=4))
    assert four - one == pytest.approx(1)


def test_a_trader_who_buys_and_sells_scores_nothing():
    (wash,) = trending(lambda token: trades_of(token, [10_000, -10_000] * 50))
    assert wash is None


def test_selling_scores_nothing():
    """A launcher who sells through many wallets has paid for no place."""
    sold, bought = trending(
        lambda token: trades_of(token, [-1000] * 20, traders=20),
        lambda token: trades_of(token, [-1000] * 20 + [100], traders=21),
    )
    (once,) = trending(lambda token: trades_of(token, [100]))
    assert sold is None
    assert bought == pytest.approx(once)


def test_selling_and_buying_again_adds_nothing_to_one_purchase():
    once, again = trending(
        lambda token: trades_of(token, [100]), lambda token: trades_of(token, [100, -100, 100, -100, 100])
    )
    assert again == pytest.approx(once)


def test_tokens_sort_alike_at_any_later_time():
    """The score halves in two half-lives: so much older is as good as half the score."""
    later = NOW + 2 * HALF_LIFE
    old, new = trending(
        lambda token: trades_of(token, [400]),
        lambda token: trades_of(token, [100], at=later),
    )
    assert new == pytest.approx(old)


def test_the_stored_number_does_not_change_when_minutes_pass():
    (before,) = trending(lambda token: trades_of(token, [400]))
    rolling_sums.roll(CHAIN, NOW + timedelta(minutes=9))
    assert RollingSum.objects.get(seconds=86_400).trending == before


def test_the_order_of_additions_does_not_matter():
    random = Random(7)
    values = [random.uniform(-500, 500) for _ in range(40)]

    def shuffled(token):
        rows = trades_of(token, values, traders=9)
        random.shuffle(rows)
        return rows

    one, other = trending(lambda token: trades_of(token, values, traders=9), shuffled)
    assert one == pytest.approx(other, rel=1e-12)


def test_trades_of_a_day_have_the_score_of_the_formula():
    random = Random(7)
    minutes = sorted((random.randrange(1, 1_200) for _ in range(60)), reverse=True)
    net_by_trader = defaultdict(float)

    def random_trades(token):
        rows = []
        for index, minute in enumerate(minutes):
            trader, usd, age = random.randrange(9), random.uniform(-300, 500), timedelta(minutes=minute)
            (row,) = trades_of(token, [usd], at=NOW - age, first_position=index)
            rows.append(row._replace(trader=bytes([trader + 1]) * 20))
            net_by_trader[trader] += usd * 2 ** -(age / HALF_LIFE)
        return rows

    (stored,) = trending(random_trades)
    score = sum(sqrt(max(0, net)) for net in net_by_trader.values())
    assert stored == pytest.approx(log2(score) + NOW.timestamp() / (2 * HALF_LIFE).total_seconds())


def test_a_token_without_prices_in_usd_has_no_score():
    (unknown,) = trending(lambda token: [trade_row(token.pk, NOW, quote_usd=None)])
    assert unknown is None
