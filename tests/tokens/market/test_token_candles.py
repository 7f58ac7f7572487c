"""GET /api/tokens/{chainId}/{address}/candles."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.rows.factories import TokenFactory
from tests.rows.refusals import assert_refused
from tests.tokens.market.stored_trades import WEEK, candle_row, make_candle, make_traded_token, make_weeks
from tokens.models import Candle, Coverage, LaunchFacts, MinuteCandle, Token

pytestmark = pytest.mark.django_db

START = int(WEEK.timestamp())
# Seconds from START to a time that is over.
PAST = 100 * 86_400
# Seconds: each interval's, and the stored candles' that make it up.
INTERVALS = {
    "1m": (60, 60),
    "5m": (300, 60),
    "15m": (900, 60),
    "1h": (3600, 3600),
    "4h": (14_400, 3600),
    "1d": (86_400, 86_400),
}


@pytest.fixture
def token():
    make_weeks(3)
    return TokenFactory()


@pytest.fixture
def other():
    return TokenFactory()


def fetch(token, **parameters):
    return Client().get(f"/api/tokens/{token.chain_id}/{token.contract_address}/candles", parameters)


def candles_of(answer):
    assert answer.status_code == 200, answer.content
    return answer.json()["data"]


def seconds_of(candle):
    return int(datetime.fromisoformat(candle["t"]).timestamp()) - START


def at(seconds):
    return WEEK + timedelta(seconds=seconds)


def test_a_candle_has_exactly_the_contracts_fields(token, django_assert_num_queries):
    make_candle(token, at(7200), 1.5, 4, 0.1, 3, seconds=3600, volume_quote=10**30, volume_usd=Decimal("0.000001"))
    with django_assert_num_queries(2):
        answer = fetch(token, page=1)
    candle = {"t": "2026-01-05T02:00:00.000Z", "o": 3.0, "h": 8.0, "l": 0.2, "c": 6.0}
    volume = {"volumeQuote": "1" + "0" * 30, "volumeUsd": 1e-6, "trades": 3, "buys": 2, "sells": 1}
    assert answer.json() == {"data": [candle | volume]}
    assert answer.headers["Cache-Control"] == "public, s-maxage=2"
    assert answer.headers["X-Ignored-Params"] == "page"
    in_quote = {"o": 1.5, "h": 4.0, "l": 0.1, "c": 3.0}
    assert fetch(token, currency="quote").json() == {"data": [candle | in_quote | volume]}


def test_a_conversion_moves_the_price_and_is_no_trade(token):
    make_candle(token, at(0), 1, 1, 1, 1, seconds=3600, buys=0, sells=0, volume_quote=0, volume_usd=0)
    (candle,) = candles_of(fetch(token))
    assert (candle["trades"], candle["volumeQuote"], candle["c"]) == (0, "0", 2.0)


UNKNOWN = dict.fromkeys(("open_usd", "high_usd", "low_usd", "close_usd"))


def test_a_candle_without_a_price_in_usd_is_in_quote_only(token):
    make_candle(token, at(0), 1, 1, 1, 1)
    make_candle(token, at(60), 3, 3, 3, 3, **UNKNOWN)
    make_candle(token, at(300), 5, 5, 5, 5)
    assert [(seconds_of(candle), candle["c"]) for candle in candles_of(fetch(token, interval="1m"))] == [
        (0, 2),
        (300, 10),
    ]
    assert [seconds_of(candle) for candle in candles_of(fetch(token, interval="5m"))] == [300]
    first, second = candles_of(fetch(token, interval="5m", currency="quote"))
    assert (first["o"], first["c"], first["volumeQuote"], first["volumeUsd"]) == (1, 3, "20", None)
    assert second["volumeUsd"] == 20.5


def test_a_folded_candle_with_an_unknown_price_between_known_ones_is_in_quote_only(token):
    for minute, usd in enumerate(({}, UNKNOWN, {})):
        make_candle(token, at(60 * minute), 1, 1, 1, 1, **usd)
    assert candles_of(fetch(token, interval="5m")) == []
    assert candles_of(fetch(token, interval="5m", fill=1)) == []
    (candle,) = candles_of(fetch(token, interval="5m", currency="quote"))
    assert (candle["trades"], candle["volumeUsd"]) == (9, None)


def test_a_gap_after_a_candle_without_a_price_in_usd_is_not_filled(token):
    make_candle(token, at(0), 1, 1, 1, 1)
    make_candle(token, at(120), 3, 3, 3, 3, **UNKNOWN)
    make_candle(token, at(300), 5, 5, 5, 5)
    found = candles_of(fetch(token, interval="1m", fill=1, to=START + 420))
    assert [seconds_of(candle) for candle in found] == [0, 60, 300, 360]


@pytest.mark.parametrize(
    ("bounds", "shown"),
    [
        ({}, [0, 300, 600]),
        ({"from": 300}, [300, 600]),
        ({"from": 301}, [600]),
        ({"to": 300}, [0]),
        ({"to": 301}, [0, 300]),
        ({"from": 300, "to": 600}, [300]),
        ({"from": 600, "to": 600}, []),
        ({"from": 601}, []),
    ],
)
def test_a_candle_is_in_the_range_that_it_begins_in(token, bounds, shown):
    for second in (0, 240, 300, 600, 660):
        make_candle(token, at(second), 1, 1, 1, 1)
    parameters = {name: START + second for name, second in bounds.items()}
    assert [seconds_of(candle) for candle in candles_of(fetch(token, interval="5m", **parameters))] == shown


def test_the_newest_are_returned_and_to_leads_to_earlier_ones(token):
    for number in range(501):
        make_candle(token, at(number * 60), 1, 1, 1, 1)
    page = candles_of(fetch(token, interval="1m"))
    assert [seconds_of(candle) for candle in page] == [60 * number for number in range(1, 501)]
    (earlier,) = candles_of(fetch(token, interval="1m", to=START + seconds_of(page[0])))
    assert seconds_of(earlier) == 0


@pytest.mark.parametrize("interval", INTERVALS)
def test_fill_ends_with_the_current_interval(token, interval):
    seconds, stored = INTERVALS[interval]
    now = int(timezone.now().timestamp())
    newest = datetime.fromtimestamp(now // seconds * seconds - 2 * seconds, UTC)
    make_weeks(2, first=newest.replace(hour=0, minute=0, second=0) - timedelta(days=newest.weekday()))
    make_candle(token, newest, 1, 4, 1, 3, seconds=stored)
    found = candles_of(fetch(token, interval=interval, fill=1, currency="quote"))
    # An interval may end during the test.
    assert len(found) in (3, 4)
    assert found[0]["trades"] == 3
    flat = {"o": 3, "h": 3, "l": 3, "c": 3, "volumeQuote": "0", "volumeUsd": 0, "trades": 0, "buys": 0, "sells": 0}
    assert [{**candle, "t": None} for candle in found[1:]] == [{"t": None} | flat] * (len(found) - 1)


def test_fill_continues_to_a_candle_after_now(token):
    # A development chain's clock may be ahead.
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    for hours in (0, 30):
        make_candle(token, hour + timedelta(hours=hours), 1, 1, 1, 1, seconds=3600)
    assert len(candles_of(fetch(token, fill=1))) == 31


@pytest.mark.parametrize("fill", [0, 1])
def test_a_folded_candle_is_whole_whatever_the_limit(token, fill):
    for minute in range(20):
        make_candle(token, at(60 * minute), minute, minute, minute, minute)
    (candle,) = candles_of(fetch(token, interval="15m", limit=1, to=START + 900, currency="quote", fill=fill))
    assert (candle["o"], candle["h"], candle["l"], candle["c"], candle["trades"]) == (0, 14, 0, 14, 45)


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_fill_begins_with_the_price_before_the_range(token, limit):
    for minute in range(5):
        make_candle(token, at(60 * minute), minute, minute, minute, minute)
    make_candle(token, at(60 * 30), 30, 30, 30, 30)
    found = candles_of(
        fetch(token, interval="5m", limit=limit, to=START + 1500, currency="quote", fill=1, **{"from": START + 600})
    )
    assert [(seconds_of(candle), candle["c"]) for candle in found] == [(600, 4), (900, 4), (1200, 4)][-limit:]


def test_fill_costs_no_more_than_the_limit(token):
    make_candle(token, datetime(1970, 1, 1, tzinfo=UTC), 1, 1, 1, 1, seconds=3600)
    found = candles_of(fetch(token, fill=1, limit=1000, **{"from": 0}))
    assert len(found) == 1000
    assert {candle["c"] for candle in found} == {2.0}


def test_nothing_is_filled_before_the_first_candle_or_without_one(token):
    assert candles_of(fetch(token, interval="1m", fill=1)) == []
    make_candle(token, at(600), 1, 1, 1, 1)
    assert candles_of(fetch(token, interval="1m", fill=1, to=START + 600)) == []
    found = candles_of(fetch(token, interval="1m", fill=1, to=START + 660, **{"from": START}))
    assert [seconds_of(candle) for candle in found] == [600]


stored = st.dictionaries(
    # Dense, so that folded candles have several, and across day and week bounds.
    st.one_of(st.integers(0, 40), st.integers(10_070, 10_090), st.sampled_from([1439, 1440, 20_000])),
    # Most prices in USD are known.
    st.tuples(st.integers(1, 50), st.sampled_from([True] * 9 + [False])),
    min_size=10,
    max_size=40,
)
# In stored candles, and seconds more.
bound = st.tuples(
    st.one_of(st.integers(-2, 45), st.integers(10_060, 10_100), st.sampled_from([0, 25_000])),
    st.sampled_from([-1, 0, 1, 30]),
)


def fold(rows, seconds, *, in_usd):
    """Return start -> candle for rows (second, price, known) in ascending sequence, by a plain Python model."""
    folded, close = {}, None
    for second, price, known in rows:
        own = price * (2 if in_usd else 1)
        # The close before, where it is known.
        opening = own if close is None else close
        close = own + 0.25 if known or not in_usd else None
        folded.setdefault(second // seconds * seconds, []).append((own, known, opening))
    return {
        start: None
        if in_usd and not all(known for _, known, _ in values)
        else (
            float(values[0][2]),
            max(max(price + 1.0, opening) for price, _, opening in values),
            min(min(price - 0.5, opening) for price, _, opening in values),
            values[-1][0] + 0.25,
            3 * len(values),
        )
        for start, values in folded.items()
    }


def fill_gaps(folded, seconds, stop):
    """Return the candles with filled gaps, up to `stop`; an unknown price stays unknown."""
    whole, close = {}, None
    for moment in range(min(folded), stop, seconds) if folded else ():
        if moment in folded:
            whole[moment] = folded[moment]
            close = folded[moment] and folded[moment][3]
        else:
            whole[moment] = None if close is None else (close, close, close, close, 0)
    return whole


# A failure is reported unshrunk: shrinking took requests for five minutes.
@settings(max_examples=60, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    rows=stored,
    interval=st.sampled_from(list(INTERVALS)),
    limit=st.integers(1, 30),
    bounds=st.tuples(bound, bound),
    fill=st.booleans(),
    in_usd=st.booleans(),
)
def test_candles_are_those_of_the_model(token, other, rows, interval, limit, bounds, fill, in_usd):
    seconds, source = INTERVALS[interval]
    model = MinuteCandle if source == 60 else Candle
    # The candle before a page may be in either table.
    MinuteCandle.objects.all().delete()
    Candle.objects.all().delete()
    made = [(number * source, price, known) for number, (price, known) in sorted(rows.items())]
    candles = []
    for second, price, known in made:
        prices = price, price + 1, price - 0.5, price + 0.25
        names = ("open_usd", "high_usd", "low_usd", "close_usd")
        usd = dict(zip(names, (2 * price, 2 * price + 1, 2 * price - 0.5, 2 * price + 0.25), strict=True))
        candles.append(candle_row(token, at(second), *prices, seconds=source, **(usd if known else UNKNOWN)))
        candles.append(candle_row(other, at(second), 100, 100, 100, 100, seconds=source))
    model.objects.bulk_create(candles)
    start, end = (number * source + more for number, more in bounds)
    # Nothing is filled after now.
    end = min(end, PAST) if fill else end
    start = min(start, end)
    parameters = {"interval": interval, "limit": limit, "from": START + start, "to": START + end, "fill": int(fill)}
    found = candles_of(fetch(token, **parameters, currency="usd" if in_usd else "quote"))

    folded = fold([row for row in made if row[0] < -(-end // seconds) * seconds], seconds, in_usd=in_usd)
    if fill:
        folded = fill_gaps(folded, seconds, end)
    shown = sorted(moment for moment in folded if start <= moment < end)[-limit:]
    wanted = [(moment, *folded[moment]) for moment in shown if folded[moment] is not None]
    assert [
        (seconds_of(candle), *(candle[name] for name in ("o", "h", "l", "c", "trades"))) for candle in found
    ] == wanted


def opens(token, **parameters):
    return [(bar["o"], bar["h"], bar["l"], bar["c"]) for bar in candles_of(fetch(token, **parameters))]


def test_the_first_candle_opens_at_the_starting_price():
    make_weeks(2, first=WEEK - timedelta(weeks=1))
    # The tick 0 is a price of 1: token and quote have as many decimals.
    launched = make_traded_token(deployed_at=WEEK)
    LaunchFacts.objects.filter(token=launched).update(facts={"pool": {"pair_decimals": 18, "tick": 0}})
    for minute, prices in enumerate([(2, 3, 2, 3), (4, 4, 4, 4)]):
        make_candle(launched, at(60 * minute), *prices)
    # In USD by the first trade's rate, 2.
    assert opens(launched, interval="1m") == [(2, 6, 2, 6), (6, 8, 6, 8)]
    assert opens(launched, interval="1m", currency="quote") == [(1, 3, 1, 3), (3, 4, 3, 4)]
    assert opens(launched, interval="5m", currency="quote") == [(1, 4, 1, 4)]
    # A range that begins later, and a trade before all others that is read later.
    assert opens(launched, interval="1m", currency="quote", **{"from": START + 60}) == [(3, 4, 3, 4)]
    make_candle(launched, at(-60), 9, 9, 9, 9)
    assert opens(launched, interval="1m", currency="quote")[1:] == [(9, 9, 2, 3), (3, 4, 3, 4)]


@pytest.mark.parametrize(("first_block", "opened"), [(7, 1), (8, 2)])
def test_a_token_that_was_launched_before_the_followed_blocks_opens_with_its_first_trade(first_block, opened):
    make_weeks(1)
    launched = make_traded_token(block_number=7)
    LaunchFacts.objects.filter(token=launched).update(facts={"pool": {"pair_decimals": 18, "tick": 0}})
    make_candle(launched, at(0), 2, 2, 2, 2)
    for chain_id, block in ((launched.chain_id, first_block), (1, 0)):
        Coverage.objects.create(
            chain_id=chain_id, addresses=[], address_set="0" * 64, first_block=block, followed_to=9, verified_to=9
        )
    assert opens(launched, interval="1m", currency="quote") == [(opened, 2, opened, 2)]


def test_a_minute_after_dropped_ones_opens_at_the_close_of_the_last_hour(token):
    make_candle(token, at(-7200), 1, 5, 1, 5, seconds=3600)
    make_candle(token, at(0), 2, 8, 2, 8, seconds=3600)
    make_candle(token, at(120), 2, 2, 2, 2)
    assert opens(token, interval="1m", currency="quote") == [(5, 5, 2, 2)]


@pytest.mark.parametrize("interval", INTERVALS)
def test_any_second_is_a_bound(token, interval):
    make_candle(token, at(0), 1, 1, 1, 1, seconds=INTERVALS[interval][1])
    for fill in (0, 1):
        for bounds in ({"from": 0, "to": 0}, {"from": 253_402_300_799}, {"to": 253_402_300_799}):
            candles = candles_of(fetch(token, interval=interval, fill=fill, **bounds))
            assert bool(candles) == (bounds == {"to": 253_402_300_799})


def test_a_blocked_tokens_candles_are_listed_and_an_unknown_tokens_are_not_found(token):
    make_candle(token, at(0), 1, 1, 1, 1, seconds=3600)
    Token.objects.update(blocked=True)
    assert len(candles_of(fetch(token))) == 1
    Token.objects.update(unindexed=True)
    assert_refused(fetch(token), 404, "Token not found")
