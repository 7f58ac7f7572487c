"""A day's volume and fees: the endpoint, beside sums over the followed trades on a chain with a block each hour."""

from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest
from django.test import Client

from tests.nodes.following_chain import final
from tests.rows.factories import TokenEventFactory
from tests.simulator import Traffic
from tests.simulator.chain import GENESIS_TIME
from tests.tokens.feeds.feed_worlds import CHAIN, WETH, add_swap, make_pair
from tests.tokens.market.stored_trades import WEEK
from tokens.feeds.daily_sums import sum_up_blocks
from tokens.models import Coverage, LaunchFacts, PoolTrade

pytestmark = pytest.mark.django_db

# The simulated chain's first block's day.
DAY = "2025-01-01"


@pytest.fixture(scope="module")
def chain(follow_hours):
    """Follow a 70-hour chain, whose first two days are verified."""
    followed, _ = follow_hours(Traffic(launches=0.8, swaps=3, legacy=0.3), hours=70, verified=50)
    return followed


def fetch(**parameters):
    return Client().get(f"/api/feeds/daily/{CHAIN}", parameters)


def fee_of(trade):
    """Return a trade's fee in parts per million: the event's, or the launch's."""
    if trade.fee is not None:
        return trade.fee
    fees = LaunchFacts.objects.get(token_id=trade.token_id).facts["fees"]
    return int(Decimal(str(fees["clanker_fee"])) * 100) if fees and fees["type"] == "static" else None


def expected(first, end):
    """Return quote token -> volume, fees and counts for the trades at these times, as fractions."""
    sums = defaultdict(lambda: defaultdict(Fraction))
    for trade in PoolTrade.objects.filter(at__gte=first, at__lt=end, is_conversion=False).select_related("token"):
        quote = sums[trade.token.paired_token]
        decimals = int(LaunchFacts.objects.get(token_id=trade.token_id).facts["pool"]["pair_decimals"])
        fee, amount = fee_of(trade), int(trade.amount_quote)
        quote["unit"] = Fraction(1, 10**decimals)
        quote["trades"] += 1
        quote["volume"] += Fraction(amount, 10**decimals)
        quote["tradesWithoutFee"] += fee is None
        quote["tradesWithoutUsd"] += trade.quote_usd is None
        quote["fees"] += Fraction(amount * (fee or 0), 10 ** (decimals + 6))
        quote["volumeUsd"] += Fraction(amount, 10**decimals) * Fraction(trade.quote_usd or 0)
    return {quote: dict(values) for quote, values in sums.items()}


def test_a_day_has_the_sums_of_its_trades_and_its_blocks(chain):
    for number, day in enumerate((DAY, "2025-01-02")):
        answer = fetch(day=day)
        assert answer.status_code == 200, answer.content
        body = answer.json()
        of_day = [block.number for block in chain.blocks if body["start"] <= block.time < body["end"]]
        assert (body["firstBlock"], body["lastBlock"]) == (of_day[0], of_day[-1])
        assert (body["start"], body["end"]) == tuple(GENESIS_TIME + 86_400 * (number + more) for more in (0, 1))
        start = datetime.fromtimestamp(body["start"], UTC)
        sums = expected(start, start + timedelta(days=1))
        assert {quote["quote"] for quote in body["quotes"]} == sums.keys()
        for quote in body["quotes"]:
            wanted = sums[quote["quote"]]
            for name in ("trades", "tradesWithoutFee", "tradesWithoutUsd", "volume"):
                assert Fraction(quote[name]) == wanted[name]
            # Only the sum is rounded down, to the smallest unit.
            assert 0 <= wanted["fees"] - Fraction(quote["fees"]) < wanted["unit"]
            # Each trade is rounded to millionths.
            assert abs(Fraction(quote["volumeUsd"]) - wanted["volumeUsd"]) <= wanted["trades"] / 10**6
        totals = Counter()
        for quote in body["quotes"]:
            totals.update({name: Decimal(quote[name]) for name in ("trades", "volumeUsd", "feesUsd")})
        assert {name: Decimal(body[name]) for name in totals} == dict(totals)
        assert body["trades"] > 10
        assert Decimal(body["feesUsd"]) > 0
    assert answer.headers["Cache-Control"] == "public, s-maxage=3600"


def test_a_day_is_served_once_all_its_blocks_are_verified(chain):
    # The third day has no final block after it.
    assert final(chain) == 62
    assert fetch(day="2025-01-03").status_code == 404
    Coverage.objects.update(verified_to=40)
    rule = "must end at block 40 or earlier, the last that is final and verified"
    assert fetch(day="2025-01-02").json()["details"] == [{"field": "day", "message": rule}]
    assert fetch(day=DAY).status_code == 200


def test_a_day_before_the_first_indexed_block_is_refused(chain):
    Coverage.objects.update(first_block=5)
    rule = "must begin at block 5 or later, the first with trades"
    assert fetch(day=DAY).json()["details"] == [{"field": "day", "message": rule}]
    assert fetch(day="2025-01-02").status_code == 200


def test_a_day_that_has_not_ended_is_refused(chain):
    today = datetime.now(UTC).date()
    for day in (today, today + timedelta(days=9)):
        message = "must be a day that has ended in UTC"
        assert fetch(day=day.isoformat()).json()["details"] == [{"field": "day", "message": message}]


@pytest.mark.parametrize("day", ["", "2025-02-30", "2025-1-1", "20250101", "1999-01-01", "2025-W01-1", "x"])
def test_a_malformed_day_is_refused(day):
    details = fetch(day=day).json()["details"]
    assert [entry["field"] for entry in details] == ["day"]


def test_fees_are_those_of_the_event_and_else_of_a_launch_without_a_hook():
    token = make_pair()
    add_swap(token, block=110, fee=3000)
    add_swap(token, block=111, fee=None)
    add_swap(token, block=112, is_conversion=True)

    def row():
        (found,) = sum_up_blocks(CHAIN, WEEK, WEEK + timedelta(days=1), 100, 200)
        return found

    # Quote, symbol, decimals, trades, without a fee, without USD, volume and fees.
    assert row()[:8] == (WETH, "WETH", 18, 2, 1, 2, 4 * 10**11, 2 * 10**11 * 3000 // 10**6)
    facts = LaunchFacts.objects.get(token=token).facts
    fees = {"type": "static", "clanker_fee": "100", "paired_fee": "100", "hook": None}
    LaunchFacts.objects.update(facts=facts | {"fees": fees})
    assert row()[4:8] == (0, 2, 4 * 10**11, 2 * 10**11 * 13_000 // 10**6)
    # Afterwards the token is in another pool, whose fee is not the launch's.
    TokenEventFactory(token=token, kind="pool_changed", block_number=111, log_index=99)
    assert row()[4] == 0
    token.events.update(log_index=0)
    assert row()[4:8] == (1, 2, 4 * 10**11, 2 * 10**11 * 3_000 // 10**6)
    token.events.all().delete()
    LaunchFacts.objects.update(facts=facts | {"fees": fees | {"hook": "0x" + "22" * 20}})
    assert row()[4] == 1
    PoolTrade.objects.update(quote_usd=3000)
    assert row()[8:] == (Decimal("0.0012"), Decimal("0.0000018"))
