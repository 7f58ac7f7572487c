"""TradingView's UDF endpoints."""

from datetime import datetime, timedelta

import pytest
from django.test import Client

from tests.rows.factories import TokenFactory
from tests.rows.token_lists import price
from tests.tokens.feeds.feed_worlds import CHAIN, TICK, TOKEN, make_pair
from tests.tokens.market.stored_trades import WEEK, make_candle
from tokens.models import Candle, Token

pytestmark = pytest.mark.django_db

SYMBOL = f"{CHAIN}:{TOKEN}"
START = int(WEEK.timestamp())


def fetch(path, **parameters):
    return Client().get(f"/api/feeds/udf/{path}", parameters)


def answer_of(path, **parameters):
    answer = fetch(path, **parameters)
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.fixture
def token():
    return make_pair()


def test_the_configuration_names_chains_with_nodes_and_own_trades(settings):
    settings.RPC_URLS = {8453: ("http://127.0.0.1:1",), 101: ("http://127.0.0.1:1",), 1: ("http://127.0.0.1:1",)}
    settings.MARKET_PROVIDER_CHAINS = (1,)
    config = answer_of("config")
    assert [entry["value"] for entry in config["exchanges"]] == ["", "8453"]
    assert config["supports_search"] and config["supports_time"] and not config["supports_group_request"]
    assert config["supported_resolutions"] == ["1", "5", "15", "60", "240", "1D"]


def test_the_time_is_a_number_of_seconds():
    answer = fetch("time")
    assert int(answer.content) > START
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("text", [SYMBOL, SYMBOL.upper()])
def test_a_symbol_is_a_token_in_usd(token, text):
    price(token, price_usd=0.0000123)
    symbol = answer_of("symbols", symbol=text)
    assert (symbol["ticker"], symbol["name"], symbol["description"]) == (SYMBOL, "DOGE/USD", "Doge")
    assert (symbol["session"], symbol["timezone"], symbol["type"]) == ("24x7", "Etc/UTC", "crypto")
    # Five price digits.
    assert symbol["pricescale"] == 10**9


@pytest.mark.parametrize(("newest", "scale"), [(None, 10**16), (0, 10**16), (12.5, 10**3), (1e6, 100), (1e-30, 10**16)])
def test_the_price_scale_fits_the_price(token, newest, scale):
    price(token, price_usd=newest)
    assert answer_of("symbols", symbol=SYMBOL)["pricescale"] == scale


def test_a_symbol_in_the_quote_token_is_one_of_its_own(token):
    symbol = answer_of("symbols", symbol=f"{SYMBOL}.quote")
    assert (symbol["ticker"], symbol["name"], symbol["currency_code"]) == (f"{SYMBOL}.QUOTE", "DOGE/WETH", "WETH")


def test_a_search_finds_listed_tokens_of_the_chains(token, settings):
    settings.RPC_URLS = {CHAIN: ("http://127.0.0.1:1",)}
    TokenFactory(chain_id=1, name="Dogecoin", symbol="DOGE")
    entry = {
        "symbol": "DOGE/USD",
        "full_name": SYMBOL,
        "ticker": SYMBOL,
        "description": "Doge",
        "exchange": "Base",
        "type": "crypto",
    }
    for parameters in ({"query": "dog"}, {}, {"query": "", "type": "", "exchange": ""}, {"query": TOKEN}):
        assert answer_of("search", **parameters) == [entry]
    assert answer_of("search", query="dog", exchange=CHAIN, type="crypto", limit=1) == [entry]
    assert answer_of("search", exchange=1) == []
    Token.objects.filter(pk=token.pk).update(blocked=True)
    assert answer_of("search", query="dog") == []


def test_a_refused_search_names_its_parameter(token):
    refused = fetch("search", query="x" * 101).json()
    assert refused["error"] == refused["errmsg"] == "query must have at most 100 characters"
    assert fetch("search", limit=0).json()["details"][0]["field"] == "limit"


def bars(**parameters):
    return answer_of("history", **{"symbol": SYMBOL, "resolution": "60", "to": START + 86_400} | parameters)


@pytest.fixture
def candles(token):
    for hour in (1, 2, 5):
        at = WEEK + timedelta(hours=hour)
        make_candle(token, at, hour, hour + 3, hour - 1, hour + 2, seconds=3600, volume_quote=hour * 10**18)
    make_candle(token, WEEK, 1, 8, 0, 7, seconds=86_400)
    make_candle(token, WEEK, 1, 2, 1, 2)


def test_bars_are_columns_oldest_first_in_usd(candles):
    found = bars(**{"from": START})
    assert found["s"] == "ok"
    assert found["t"] == [START + 3600 * hour for hour in (1, 2, 5)]
    # The first bar opens at the starting price, and each later one at the close before.
    start = pytest.approx(2 * 1.0001**TICK)
    assert [found[name] for name in "ohlc"] == [[start, 6, 8], [8, 10, 16], [0, 2, 8], [6, 8, 14]]
    assert found["v"] == [20.5] * 3


def test_bars_in_the_quote_token_have_its_prices_and_volume(candles):
    found = bars(symbol=f"{SYMBOL}.QUOTE")
    assert (found["o"], found["v"]) == ([pytest.approx(1.0001**TICK), 3, 4], [1, 2, 5])


@pytest.mark.parametrize(("suffix", "currency"), [("", "usd"), (".QUOTE", "quote")])
@pytest.mark.parametrize(("resolution", "interval"), [("1", "1m"), ("60", "1h"), ("1D", "1d")])
# Seconds in the day; the last range is empty.
@pytest.mark.parametrize("bounds", [(0, 86_400), (3600, 18_001), (7201, 18_000), (3600, 3600)])
def test_bars_are_the_candles_of_the_api(candles, suffix, currency, resolution, interval, bounds):
    span = {"from": START + bounds[0], "to": START + bounds[1]}
    history = bars(symbol=f"{SYMBOL}{suffix}", resolution=resolution, **span)
    answer = Client().get(f"/api/tokens/{CHAIN}/{TOKEN}/candles", span | {"interval": interval, "currency": currency})
    expected = [
        (int(datetime.fromisoformat(candle["t"]).timestamp()), *(candle[name] for name in "ohlc"))
        for candle in answer.json()["data"]
    ]
    assert list(zip(*(history.get(name, ()) for name in "tohlc"), strict=True)) == expected
    assert (history["s"] == "ok") is bool(expected)


def test_the_range_includes_from_and_excludes_to(candles):
    hours = {"from": START + 2 * 3600, "to": START + 5 * 3600}
    assert bars(**hours)["t"] == [START + 2 * 3600]
    assert bars(**hours | {"to": START + 5 * 3600 + 1})["t"][-1] == START + 5 * 3600


def test_countback_asks_for_bars_before_to_wherever_they_are(candles):
    assert bars(countback=2, **{"from": START + 86_000})["t"] == [START + 2 * 3600, START + 5 * 3600]
    assert len(bars(countback=100_000)["t"]) == 3


def test_without_bars_the_next_older_one_is_named(candles):
    later = {"from": START + 6 * 3600, "to": START + 9 * 3600}
    assert bars(**later) == {"s": "no_data", "nextTime": START + 5 * 3600}
    assert bars(**{"from": START, "to": START + 1}) == {"s": "no_data"}
    assert bars(countback=5, to=START) == {"s": "no_data"}


def test_a_range_that_ends_before_it_begins_is_refused(candles):
    answer = fetch("history", symbol=SYMBOL, resolution="60", to=START, **{"from": START + 86_400})
    assert answer.status_code == 400
    rule = "must be at most to, unless countback is given"
    assert answer.json()["details"] == [{"field": "from", "message": rule}]
    assert answer.json()["s"] == "error"
    assert bars(**{"from": START + 3601, "to": START + 3601})["s"] == "no_data"


def test_a_range_may_begin_before_1970(candles):
    assert len(bars(**{"from": -(10**9)})["t"]) == 3
    assert bars(**{"from": -5}, to=START) == {"s": "no_data"}


@pytest.mark.parametrize(("resolution", "known"), [("60", 2 * 3600), ("240", 0), ("1D", None)])
def test_without_prices_in_usd_the_newest_older_bar_is_named(candles, resolution, known):
    # All newer bars lack a price: the library stops where no other one is named.
    without = {"open_usd": None, "high_usd": None, "low_usd": None, "close_usd": None}
    Candle.objects.filter(at__gte=WEEK + timedelta(hours=5)).update(**without)
    Candle.objects.filter(seconds=86_400).update(**without)
    named = {"s": "no_data"} | ({} if known is None else {"nextTime": START + known})
    assert bars(resolution=resolution, countback=1) == named
    assert bars(resolution=resolution, **{"from": START + 80_000}) == named
    if known is not None:
        assert bars(resolution=resolution, to=START + known + 1, countback=1)["t"] == [START + known]


@pytest.mark.parametrize("resolution", ["1D", "D", "1"])
def test_other_resolutions_have_bars_of_their_own(candles, resolution):
    assert bars(resolution=resolution)["t"] == [START]


@pytest.mark.parametrize("since", ["1.5", "-253402300800"])
def test_the_rule_of_the_first_time_includes_negative_ones(token, since):
    answer = fetch("history", **{"symbol": SYMBOL, "resolution": "60", "to": 1, "from": since})
    rule = "must be Unix seconds, a whole number from -253402300799 to 253402300799"
    assert answer.json()["details"] == [{"field": "from", "message": rule}]
