"""The home page lists' filters: chips that are links, their state, and the lists that they leave."""

import re
from decimal import Decimal
from html import unescape
from urllib.parse import parse_qsl

import pytest

from tests.html_pages import HOSTILE, read_page
from tests.rows.factories import SolanaTokenFactory, TokenFactory
from tests.rows.token_lists import price
from tests.tokens.site.test_home_page import more_link, stream_of, symbols
from tokens.site.home_lists import PAGE_SIZE

pytestmark = pytest.mark.django_db

ALL = {
    "verified": "true",
    "warnings": "none",
    "minMarketCap": "100000",
    "minVolume24h": "1000",
    "socialInterface": "bankr",
}
GOOD = {"verified": True, "social_context": {"interface": "Bankr"}}


def chips(answer):
    """Return text -> (link parameters, whether the filter is set) for the chips."""
    (nav,) = re.findall(r'<nav class="filter-chips" id="filter-chips".*?</nav>', answer.text, re.DOTALL)
    found = re.findall(r'<a class="chip" rel="nofollow" href="\?([^"]*)"[^>]*?( aria-current="true")?>(.*?)</a>', nav)
    text = re.compile(r"<[^>]*>")
    return {
        unescape(text.sub("", label)): (dict(parse_qsl(unescape(query))), bool(current))
        for query, current, label in found
    }


def make_tokens():
    """Create a token that passes all filters, and one for each filter that fails it only."""
    for symbol, columns, market in (
        ("ALL", {}, {}),
        ("UNVERIFIED", {"verified": False}, {}),
        ("WARNED", {"launch_warnings": ["UNUSUAL_TICK"]}, {}),
        ("SMALL", {}, {"market_cap": 99_999.0}),
        ("QUIET", {}, {"volume_24h": None}),
        ("OTHER", {"social_context": {"interface": "CLI"}}, {}),
    ):
        token = TokenFactory(**{**GOOD, "symbol": symbol, "name": symbol, **columns})
        price(token, **{"market_cap": 100_000.0, "volume_24h": 1_000.0, "trending": 1.0, **market})


def test_each_filter_leaves_out_what_fails_it(client):
    make_tokens()
    failing = dict(zip(ALL, ("UNVERIFIED", "WARNED", "SMALL", "QUIET", "OTHER"), strict=True))
    for choices in ({}, {"sort": "volume"}, {"tab": "trending"}, {"chain": "8453"}):
        assert set(symbols(client.get("/", choices))) == {"ALL", *failing.values()}
        for name, fails in failing.items():
            listed = set(symbols(client.get("/", {name: ALL[name], **choices})))
            assert listed == {"ALL", *failing.values()} - {fails}
        assert symbols(client.get("/", ALL | choices)) == ["ALL"]


def test_a_search_has_the_filters(client):
    make_tokens()
    TokenFactory(**GOOD, symbol="L", name="ALL")
    price(TokenFactory(**{**GOOD, "verified": False}, symbol="L", name="ALL"), market_cap=1e6, volume_24h=1e6)
    for q, listed in (("l", []), ("al", ["ALL"]), ("ALL", ["ALL"])):
        assert len(symbols(client.get("/", {"q": q}))) >= 2
        assert symbols(client.get("/", {"q": q} | ALL)) == listed
    assert set(symbols(client.get("/", {"q": "l", "verified": "true"}))) == {"L"}


def test_graduating_tokens_have_the_filters(client):
    for symbol, verified in (("YES", True), ("NO", False)):
        price(SolanaTokenFactory(symbol=symbol, verified=verified), curve_progress=Decimal(50))
        SolanaTokenFactory(symbol=f"{symbol}NEW", verified=verified)
    assert symbols(client.get("/?tab=graduating&verified=true")) == ["YES", "YESNEW"]


def test_chips_set_and_remove_filters_and_keep_all_other_choices(client):
    make_tokens()
    choices = {"sort": "volume", "chain": "8453", "q": "al"}
    found = chips(client.get("/", choices | {"minMarketCap": "10000", "cursor": ""}))
    kept = choices | {"minMarketCap": "10000"}
    assert found["Verified"] == (kept | {"verified": "true"}, False)
    assert found["No warnings"] == (kept | {"warnings": "none"}, False)
    assert found["Market cap $10K+ remove filter"] == (choices, True)
    assert found["Market cap $1M+"] == (kept | {"minMarketCap": "1000000"}, False)
    assert found["Volume, 24 h $1K+"] == (kept | {"minVolume24h": "1000"}, False)
    assert found["Interface bankr"] == (kept | {"socialInterface": "bankr"}, False)
    found = chips(client.get("/", ALL | choices))
    assert [text for text, (_, is_set) in found.items() if is_set] == [
        "Verified remove filter",
        "No warnings remove filter",
        "Market cap $100K+ remove filter",
        "Volume, 24 h $1K+ remove filter",
        "Interface bankr remove filter",
    ]


def test_any_amount_and_interface_of_a_link_has_its_chip(client):
    found = chips(client.get("/", {"minMarketCap": "12345", "minVolume24h": "0", "socialInterface": HOSTILE[:60]}))
    assert {text.split()[-3] for text, (_, is_set) in found.items() if is_set} >= {"$12.3K+", "$0+"}
    assert sum(is_set for _, is_set in found.values()) == 3


def test_interfaces_are_those_of_the_rows(client):
    for name, number in (("CLI", 3), ("Bankr", 2), ("bankr", 2), ("SDK", 1), ("rare", 1), ("x" * 101, 5)):
        TokenFactory.create_batch(number, social_context={"interface": name})
    TokenFactory(social_context={"interface": None})
    TokenFactory(social_context={})
    answer = client.get("/")
    read_page(answer)
    names = [text.removeprefix("Interface ") for text in chips(answer) if text.startswith("Interface ")]
    assert names[:2] == ["bankr", "cli"] and len(names) == 3


def test_filters_stay_in_every_control_of_the_list(client):
    for _ in range(PAGE_SIZE + 1):
        price(TokenFactory(**GOOD), market_cap=1e6, volume_24h=1e6)
    answer = client.get("/", ALL)
    assert len(symbols(answer)) == PAGE_SIZE
    following = client.get(more_link(answer))
    assert len(symbols(following)) == 1 and more_link(following) is None
    for control in (
        r'<a href="\?([^"]*)"[^>]*>Trending</a>',
        r'<div id="list" hx-get="/\?([^"]*)"',
        r'rel="next" href="\?([^"]*)"',
    ):
        (query,) = re.findall(control, answer.text)
        assert ALL.items() <= dict(parse_qsl(unescape(query))).items()
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)" form="search">', answer.text)
    assert dict(hidden) == ALL
    # Not each new token passes the filters, so that none is counted.
    assert 'data-changed="Changes wait"' in answer.text and "data-one" not in answer.text
    assert "type=token.indexed," in stream_of(answer) and ",markets.changed" in stream_of(answer)
    assert f"{PAGE_SIZE + 1} tokens found" in answer.text
    trending = client.get("/", {"tab": "trending", "verified": "true"})
    assert ("Only tokens that pass all chosen filters are shown." in trending.text) == bool(symbols(trending))


def test_an_empty_list_offers_to_remove_the_filters(client):
    price(TokenFactory(symbol="TKN", name="Token"), trending=1.0)
    link = r'No token passes all chosen filters\. <a href="\?([^"]*)">Remove filters</a>'
    for choices in ({}, {"q": "token"}, {"tab": "trending"}, {"q": "k"}, {"chain": "42161"}):
        answer = client.get("/", choices | {"minMarketCap": "100000", "warnings": "none"})
        assert symbols(answer) == []
        (query,) = re.findall(link, answer.text)
        assert dict(parse_qsl(unescape(query))) == choices
        assert "Remove filters" not in client.get("/", choices).text


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("verified", "yes", "must be one of: true, false, 1, 0"),
        ("warnings", "some", "must be one of: none, any"),
        ("minMarketCap", "-1", "must be a whole number from 0 to 1000000000000000"),
        ("minMarketCap", "1e6", "must be a whole number from 0 to 1000000000000000"),
        ("minMarketCap", "٣", "must be a whole number from 0 to 1000000000000000"),
        ("minVolume24h", "1000000000000001", "must be a whole number from 0 to 1000000000000000"),
        ("minVolume24h", "9" * 3_000, "must be a whole number from 0 to 1000000000000000"),
        ("socialInterface", "x" * 101, "must have at most 100 characters"),
    ],
)
def test_a_filter_that_breaks_its_rule_is_refused(client, name, value, rule):
    answer = client.get("/", {name: value})
    assert answer.status_code == 400
    assert name in answer.text and rule in answer.text


@pytest.mark.parametrize("name", [*ALL, "q", "sort", "tab", "chain", "cursor"])
def test_a_parameter_that_is_given_twice_is_refused(client, name):
    answer = client.get(f"/?{name}=1&{name}=1")
    assert answer.status_code == 400
    assert name in answer.text and "must be given once" in answer.text
    assert client.get("/?utm=1&utm=2").status_code == 200


def test_filters_have_the_values_of_the_api(client):
    make_tokens()
    filters = ("verified=true", "verified=1", "verified=TRUE", "warnings=any", "minMarketCap=0005")
    for query in (*filters, "verified=false", "verified=0"):
        records = client.get(f"/api/tokens?{query}").json()["data"]
        answer = client.get(f"/?{query}")
        assert symbols(answer) == [record["symbol"] for record in records]
        is_filter = query in filters
        assert [is_set for _, is_set in chips(answer).values()].count(True) == is_filter
        assert ("Remove filters" in answer.text) == is_filter


def test_without_a_value_a_filter_is_none(client):
    TokenFactory(symbol="TKN")
    answer = client.get("/", dict.fromkeys(ALL, "") | {"socialInterface": " \0"})
    assert symbols(answer) == ["TKN"] and not any(is_set for _, is_set in chips(answer).values())


def test_a_filtered_list_beyond_its_time_limit_says_so(client, settings):
    settings.SEARCH_TIMEOUT_MS = 0
    TokenFactory()
    for choices in ({}, {"tab": "trending"}, {"sort": "volume"}):
        answer = client.get("/", choices | {"verified": "true"})
        assert answer.status_code == 503 and answer.headers["Cache-Control"] == "no-store"
        assert "The list took too long. Remove a filter." in answer.text
        assert client.get("/", choices).status_code == 200


@pytest.fixture
def both(settings):
    """Index two launchpads on one chain."""
    settings.RPC_URLS = {8453: ("http://127.0.0.1:9",)}
    settings.LAUNCHPADS = {8453: ("clanker", "zora")}


def launchpad_chips(answer):
    return {text: chip for text, chip in chips(answer).items() if text.startswith("Launchpad")}


def test_tokens_of_a_launchpad(client, both):
    for symbol, generation in (("OLD", "v0"), ("NEW", "v4"), ("COIN", "zora"), ("GONE", "gone")):
        price(TokenFactory(symbol=symbol, name=f"token {symbol}", generation=generation), trending=1.0)
    for choices in ({}, {"tab": "trending"}, {"q": "token"}, {"chain": "8453"}):
        assert set(symbols(client.get("/", choices))) == {"OLD", "NEW", "COIN", "GONE"}
        assert set(symbols(client.get("/", choices | {"launchpad": "clanker"}))) == {"OLD", "NEW"}
        assert symbols(client.get("/", choices | {"launchpad": "zora"})) == ["COIN"]
        assert set(symbols(client.get("/", choices | {"launchpad": "zora,clanker"}))) == {"OLD", "NEW", "COIN"}


def test_each_indexed_launchpad_has_a_chip(client, both):
    TokenFactory()
    found = launchpad_chips(client.get("/", {"sort": "volume"}))
    assert found == {
        "Launchpad Clanker": ({"sort": "volume", "launchpad": "clanker"}, False),
        "Launchpad Zora": ({"sort": "volume", "launchpad": "zora"}, False),
    }
    found = launchpad_chips(client.get("/", {"launchpad": "zora,doppler"}))
    assert found["Launchpad Doppler, Zora remove filter"] == ({}, True)
    assert found["Launchpad Zora"] == ({"launchpad": "zora"}, False)


def test_one_launchpad_has_no_chip(client, settings):
    settings.RPC_URLS = {8453: ("http://127.0.0.1:9",)}
    settings.LAUNCHPADS = {8453: ("zora",), 1: ("clanker",)}
    assert launchpad_chips(client.get("/")) == {}
    # A link's filter can be removed.
    assert launchpad_chips(client.get("/?launchpad=clanker"))["Launchpad Clanker remove filter"] == ({}, True)


@pytest.mark.parametrize("names", ["gone", "zora,gone", "Zora"])
def test_an_unknown_launchpad_is_refused(client, names):
    answer = client.get("/", {"launchpad": names})
    assert answer.status_code == 400 and "launchpad" in answer.text
