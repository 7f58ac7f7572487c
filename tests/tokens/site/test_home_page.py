"""The home page `/`: its lists, rows, search, filters and empty states."""

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.db import connection
from django.utils import timezone

from config.postgresql.partitions import week_of
from config.site import assets
from tests.html_pages import HOSTILE, Page, read_page
from tests.rows.factories import SocialProfileFactory, SolanaTokenFactory, TokenFactory
from tests.rows.pictures import RED, encoded, plain_picture
from tests.rows.token_lists import cursor_of, price
from tests.tokens.market.stored_trades import candle_row, make_candle, make_weeks
from tokens.models import MinuteCandle, RollingSum, Token
from tokens.site.home_lists import PAGE_SIZE

pytestmark = pytest.mark.django_db

MOST_QUERIES = 8
AGES_OF_YOUNG_TOKENS = ({"hours": 2}, {"hours": 22}, {"minutes": 2})


def symbols(answer):
    """Return the symbols in the list, from the top."""
    read_page(answer)
    return re.findall(r'<a href="[^"]*/tokens/[^"]+"><bdi>([^<]*)</bdi>', answer.text)


def status_of(answer):
    return re.search(r'role="status">(.*?)</p>', answer.text)[1]


def more_link(answer):
    """Return the next page's address; None on the last one."""
    found = re.search(r'rel="next" href="([^"]+)"', answer.text)
    return found and "/" + found[1].replace("&amp;", "&")


def make_day(token, *, buys=7, sells=2, closes=(1, 2), in_usd=True):
    """Create a token's sums for a day and the last hours' candles."""
    sums = {"volume_quote": 10**18, "volume_usd": Decimal(5), "traders": 1}
    RollingSum.objects.create(token=token, seconds=86_400, buys=buys, sells=sells, **sums)
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    for back, close in enumerate(reversed(closes)):
        usd = {} if in_usd else {"close_usd": None}
        make_candle(token, hour - timedelta(hours=back), close, close, close, close, seconds=3600, **usd)


def test_without_tokens_it_shows_that_there_is_nothing(client, django_assert_num_queries):
    # Whether tokens on a curve exist, the newest event, and the list.
    with django_assert_num_queries(3):
        answer = client.get("/")
    assert "No token is indexed yet." in answer.text
    assert {"/api/docs", "/leaderboard"} <= set(read_page(answer).addresses)


def test_it_shows_the_newest_listed_tokens(client):
    tokens = [TokenFactory(symbol=f"SYM{number}END") for number in range(PAGE_SIZE + 2)]
    TokenFactory(symbol="BLOCKED", blocked=True)
    TokenFactory(symbol="UNINDEXED", unindexed=True)
    answer = client.get("/")
    newest_first = [token.symbol for token in reversed(tokens)]
    assert symbols(answer) == newest_first[:PAGE_SIZE]
    following = client.get(more_link(answer))
    assert symbols(following) == newest_first[PAGE_SIZE:]
    assert more_link(following) is None
    # Only the first page has what new tokens precede.
    assert stream_of(answer) and not stream_of(following)


def test_a_row_has_the_token_s_facts(client):
    user = SocialProfileFactory(username="maker")
    confirmed = {"requestor_fid": user.fid, "known_interface_deployer": True}
    token = TokenFactory(
        deployed_at=timezone.now() - timedelta(hours=3, minutes=1), name="Higher", symbol="UP", **confirmed
    )
    TokenFactory(**confirmed)
    price(token, market_cap=1_234_567, volume_24h=0.5, price_change_24h=-12.34)
    make_day(token, buys=1_234, sells=0)
    answer = client.get("/")
    for text in (">3h</time>", "Base", "$1.23M", "$0.500", '"change number down">-12.3%', "maker", "2 launches"):
        assert text in answer.text, text
    assert '<span class="up">1.23K</span> / <span class="down">0</span>' in answer.text
    assert f"/tokens/8453/{token.contract_address}" in read_page(answer).addresses


def test_a_row_of_a_token_about_which_little_is_known(client):
    TokenFactory(chain_id=424_242, generation="v9", symbol="", msg_sender="")
    answer = client.get("/")
    read_page(answer)
    assert "(no symbol)" in answer.text and "Chain 424242" in answer.text
    assert re.search(r'<td class="creator"[^>]*>–</td>', answer.text)
    assert re.search(r'<td class="trades number"[^>]*>–</td>', answer.text)
    assert "<svg" not in answer.text


def test_creators_without_a_profile_are_shown_by_address_or_fid(client):
    token = TokenFactory(requestor_fid=77, known_interface_deployer=True)
    TokenFactory(msg_sender=(wallet := token.msg_sender))
    answer = client.get("/")
    assert "FID 77" in answer.text and f"{wallet[:6]}…{wallet[-4:]}" in answer.text


def test_a_wallet_that_names_any_users_has_its_own_launches_in_its_rows(client):
    stranger = SocialProfileFactory(username="stranger", verified_addresses=["0x" + "11" * 20])
    token = TokenFactory(requestor_fid=stranger.fid)
    TokenFactory.create_batch(2, msg_sender=token.msg_sender, requestor_fid=78)
    for path in ("/", f"/creators/{token.msg_sender}"):
        answer = client.get(path)
        assert answer.text.count('<span class="soft">3 launches</span>') == 3
        assert "stranger" not in answer.text and f"/creators/{stranger.fid}" not in read_page(answer).addresses


def test_sparklines_are_drawn_from_hours_with_trades(client):
    rising, flat, single = TokenFactory.create_batch(3, deployed_at=timezone.now() - timedelta(days=2))
    make_day(rising, closes=(1, 3, 2), in_usd=False)
    make_day(flat, closes=(5, 5))
    make_day(single, closes=(5,))
    make_candle(single, timezone.now() - timedelta(hours=25), 1, 1, 1, 1, seconds=3600)
    answer = client.get("/")
    lines = re.findall(r'<svg class="(\w*)" width="96" height="28".*?points="([^"]+)"', answer.text)
    # From the first open to the current hour's close.
    assert lines == [
        ("", "2.0,14.0 94.0,14.0"),
        ("", "2.0,14.0 90.2,14.0 94.0,14.0"),
        ("up", "2.0,26.0 86.3,26.0 90.2,2.0 94.0,14.0"),
    ]
    assert answer.text.count('aria-hidden="true" focusable="false"') == 3


def stream_of(answer):
    """Return the stream path that a page follows, empty if there is none."""
    found = re.search(r'hx-sse:connect="([^"]+)"', answer.text)
    return unescape(found[1]) if found else ""


def line_of(answer):
    """Return the only line's class and points."""
    ((direction, points),) = re.findall(r'<svg class="(\w*)" width="96".*?points="([^"]+)"', answer.text)
    return direction, [tuple(map(float, point.split(","))) for point in points.split()]


@pytest.mark.parametrize("age", [{"minutes": 5}, {"days": 3}])
@pytest.mark.parametrize("in_usd", [True, False])
def test_a_line_leads_from_the_price_that_the_change_counts_from(client, age, in_usd):
    now = timezone.now()
    make_weeks(3, first=week_of(now) - timedelta(weeks=1))
    token = TokenFactory(deployed_at=now - timedelta(**age))
    # The quote token's rate has doubled since the last trade, so that the market's price in USD is above.
    price(token, price_quote=4, price_usd=16 if in_usd else None, price_change_24h=100 if in_usd else -20)
    make_day(token, closes=())
    RollingSum.objects.update(opening_price=5, opening_usd=8)
    minute = now.replace(second=0, microsecond=0)
    if "days" in age:
        make_candle(token, minute.replace(minute=0) - timedelta(hours=2), 7, 7, 4, 4, seconds=3600)
    else:
        make_candle(token, minute - timedelta(minutes=4), 7, 7, 4, 4)
    direction, points = line_of(client.get("/"))
    assert direction == ("up" if in_usd else "down") and len(points) == 3
    (left, first), *_, (right, last) = points
    assert (left, right) == (2, 94) and (first, last) == ((26, 2) if in_usd else (2, 26))


def test_a_line_has_the_direction_of_a_change_from_another_source(client):
    token = TokenFactory(deployed_at=timezone.now() - timedelta(days=3))
    make_day(token, closes=(1, 3))
    price(token, price_change_24h=-0.5)
    assert line_of(client.get("/"))[0] == "down"


def test_a_young_token_has_the_minutes_since_its_launch(client):
    now = timezone.now()
    make_weeks(3, first=week_of(now) - timedelta(weeks=1))
    minute = now.replace(second=0, microsecond=0)
    hours, day, new = (TokenFactory(deployed_at=now - timedelta(**age)) for age in AGES_OF_YOUNG_TOKENS)
    make_day(day, closes=(1, 7))
    closes = [
        *((hours, back, 1 + back % 2) for back in range(119, -1, -1)),
        # A minute before the launch is not in the line.
        (hours, 121, 900),
        *((day, back, 5_000 - back) for back in range(0, 22 * 60, 5)),
        *((day, 1, 1), (new, 1, 3), (new, 0, 2)),
    ]
    MinuteCandle.objects.bulk_create(
        candle_row(token, minute - timedelta(minutes=back), 1, 1, 1, close) for token, back, close in closes
    )
    answer = client.get("/")
    found = re.findall(
        r'<svg class="(\w*)" width="96".*?<title>Since the launch</title>.*?points="([^"]+)"', answer.text
    )
    lines = [
        (direction, [tuple(map(float, point.split(","))) for point in points.split()]) for direction, points in found
    ]
    (new_direction, new_points), (_, hour_points), (day_direction, day_points) = lines
    assert (new_direction, day_direction) == ("up", "up")
    assert len(new_points) == 3 and 28 <= len(hour_points) <= 33 and 28 <= len(day_points) <= 33
    for line in (hour_points, day_points):
        # From the launch on the left to now on the right.
        assert line[0][0] < 6 and 88 < line[-1][0] <= 94 and sorted(line) == line
        assert all(2 <= x <= 94 and 2 <= y <= 26 for x, y in line)


def test_a_launch_whose_block_time_is_ahead_has_a_line(client):
    now = timezone.now()
    make_weeks(3, first=week_of(now) - timedelta(weeks=1))
    token = TokenFactory(deployed_at=(launched_at := now + timedelta(seconds=90)))
    for minutes in range(3):
        make_candle(token, launched_at.replace(second=0, microsecond=0) + timedelta(minutes=minutes), 1, 1, 1, 1)
    assert 'points="2.0,14.0 94.0,14.0"' in client.get("/").text


def test_warnings_are_explained_in_words(client):
    TokenFactory(name="Higher", symbol="UP", verified=True)
    TokenFactory(name="Higher", symbol="UP", launch_warnings=["UNUSUAL_TICK", "NEW_KIND"])
    answer = client.get("/")
    read_page(answer)
    assert answer.text.count('<details class="warnings">') == 1 and "3 warnings" in answer.text
    for text in ("Unusual starting price", "Early buyers may have paid much less", "Possible copy", "NEW_KIND"):
        assert text in answer.text


def test_queries_don_t_grow_with_the_list(client, django_assert_max_num_queries, django_assert_num_queries):
    def make(count):
        for number in range(count):
            factory = SolanaTokenFactory if number % 3 == 0 else TokenFactory
            token = factory(
                known_interface_deployer=True, requestor_fid=SocialProfileFactory().fid if number % 2 else None
            )
            price(token, trending=1.0)
            make_day(token)

    make(4)
    queries = {}
    for path in ("/", "/?sort=volume", "/?tab=trending", "/?tab=graduating", "/?q=to", "/?q=token"):
        with django_assert_max_num_queries(MOST_QUERIES) as few:
            client.get(path)
        queries[path] = len(few)
    make(3 * PAGE_SIZE)
    for path, number in queries.items():
        with django_assert_num_queries(number):
            assert len(symbols(client.get(path))) == PAGE_SIZE


def test_a_search_for_an_address_has_few_queries(client, django_assert_max_num_queries):
    token = TokenFactory(symbol="FOUND")
    TokenFactory()
    for q in (token.contract_address.lower(), token.pool_address, token.tx_hash):
        with django_assert_max_num_queries(MOST_QUERIES):
            answer = client.get("/", {"q": q})
        assert symbols(answer) == ["FOUND"]
        assert status_of(answer) == "1 token found"


def test_a_search_is_in_any_case_and_keeps_its_text(client):
    TokenFactory(name="Higher & Higher", symbol="UP")
    TokenFactory(name="Lower", symbol="DOWN")
    answer = client.get("/", {"q": " higher & ", "sort": "change"})
    assert symbols(answer) == ["UP"]
    assert 'value="higher &amp; "' in answer.text or 'value="higher &amp;"' in answer.text
    assert 'aria-current="page"' not in answer.text


def test_a_search_for_one_character(client):
    for symbol, name in (("A", "Alpha"), ("AA", "A"), ("7", "Seven"), ("猫", "Neko"), ("CAT", "白猫"), ("é", "E")):
        TokenFactory(symbol=symbol, name=name)
    TokenFactory(symbol="🚀", name="Rocket")
    TokenFactory(symbol="A", name="Blocked", blocked=True)
    TokenFactory(symbol="A", name="Elsewhere", chain_id=42161)
    cases = {"a": ["A"], "A": ["A"], "7": ["7"], "猫": ["CAT", "猫"], "é": ["é"], "🚀": ["🚀"], "%": []}
    for q, expected in cases.items():
        answer = client.get("/", {"q": q, "chain": 8453})
        assert symbols(answer) == expected
        assert ("Type at least 2 characters to search in names." in answer.text) == (q in "aA7")


def test_a_text_like_a_part_of_an_address_is_found_in_names(client):
    TokenFactory(symbol="HEX", name="0xdead")
    assert symbols(client.get("/", {"q": "0xDEAD"})) == ["HEX"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"q": "nowhere"}, "Nothing found for <bdi>nowhere</bdi>. Try fewer characters"),
        ({"q": HOSTILE[:100]}, "Nothing found for <bdi>&lt;/bdi&gt;"),
        ({"q": "x" * 100}, "Nothing found for"),
        ({"q": "a\0b"}, "Nothing found for <bdi>ab</bdi>"),
        ({"q": "\u202e\u202e"}, "Nothing found for"),
        ({"q": "k"}, "No token has the symbol k. Type at least 2 characters"),
        ({"q": "0x1F98"}, "An address is only found as a whole"),
        ({"chain": "42161"}, "No token of this chain is here yet."),
        ({"chain": str(2**63 - 1)}, "No token of this chain is here yet."),
        ({"tab": "trending"}, "No token has been traded yet."),
        ({"cursor": cursor_of({"id": "2020-01-01T00:00:00.000Z", "k": 1, "s": "deployed-at"})}, "no more tokens"),
    ],
)
def test_empty_lists_state_what_to_do(client, query, text):
    TokenFactory(symbol="TKN", name="Token")
    answer = client.get("/", query)
    assert symbols(answer) == []
    assert text in answer.text


@pytest.mark.parametrize(
    "query",
    [
        {"tab": "", "sort": "", "chain": "", "cursor": ""},
        {"tab": "graduating"},
        {"q": "  "},
        {"q": "\0"},
        {"cursor": cursor_of({"id": 1, "k": 1, "s": "market-cap"})},
        {"utm_source": "elsewhere"},
    ],
)
def test_what_has_no_meaning_is_the_default(client, query):
    TokenFactory(symbol="TKN")
    assert symbols(client.get("/", query)) == ["TKN"]


SORTS = {"newest": "NEW", "market-cap": "BIG", "volume": "BUSY", "change": "RISING"}


def test_sorts(client):
    for symbol, column in (("BIG", "market_cap"), ("BUSY", "volume_24h"), ("RISING", "price_change_24h")):
        price(TokenFactory(symbol=symbol), **{column: 5.0})
    TokenFactory(symbol="NEW")
    for sort, first in SORTS.items():
        answer = client.get("/", {"sort": sort})
        assert symbols(answer)[0] == first
        # URLs lack the default.
        value = "" if sort == "newest" else sort
        assert f'<option value="{value}" selected>' in answer.text


def test_more_walks_through_all_tokens_once(client):
    for number in range(2 * PAGE_SIZE + 3):
        value = None if number % 5 == 0 else float(number % 7)
        price(TokenFactory(symbol=f"S{number}"), market_cap=value, volume_24h=value, price_change_24h=value)
    for sort in SORTS:
        walked, path = [], f"/?sort={sort}"
        while path:
            answer = client.get(path)
            walked += symbols(answer)
            path = more_link(answer)
            # Other links lead to the beginning, but for this page in other languages.
            assert len(set(re.findall(r'href="[^"]*cursor=[^"]*"(?![^>]*hreflang)', answer.text))) == bool(path)
        assert sorted(walked) == sorted(f"S{number}" for number in range(2 * PAGE_SIZE + 3))


def test_chains_with_a_node_can_be_chosen(client, settings):
    settings.RPC_URLS = {8453: ("http://127.0.0.1:1",)}
    TokenFactory(symbol="OURS")
    TokenFactory(symbol="OTHER", chain_id=42161)
    answer = client.get("/")
    assert symbols(answer) == ["OTHER", "OURS"]
    assert re.findall(r'<option value="(\d+)"', answer.text) == ["8453"]
    answer = client.get("/?chain=42161")
    assert symbols(answer) == ["OTHER"]
    assert '<option value="42161" selected>Arbitrum One<' in answer.text
    assert "&amp;chainId=42161" in answer.text


def test_the_default_chain_is_preselected(client, settings):
    settings.SITE_DEFAULT_CHAIN = 42161
    TokenFactory(symbol="OURS", chain_id=42161)
    TokenFactory(symbol="OTHER")
    assert symbols(client.get("/")) == ["OURS"]
    assert symbols(client.get("/?chain=all")) == ["OTHER", "OURS"]
    assert symbols(client.get("/?chain=8453")) == ["OTHER"]


def test_trending_is_by_the_own_score(client, settings):
    for symbol, score in (("SECOND", 1.5), ("NONE", None), ("FIRST", 2.5)):
        price(TokenFactory(symbol=symbol), trending=score)
    price(TokenFactory(symbol="BLOCKED", blocked=True), trending=9.0)
    price(TokenFactory(symbol="OTHER", chain_id=42161), trending=9.0)
    assert symbols(client.get("/?tab=trending")) == ["OTHER", "FIRST", "SECOND"]
    assert symbols(client.get("/?tab=trending&chain=8453")) == ["FIRST", "SECOND"]
    # The provider's chains have no followed trades.
    settings.MARKET_PROVIDER_CHAINS = (42161,)
    answer = client.get("/?tab=trending")
    assert symbols(answer) == ["FIRST", "SECOND"]
    assert stream_of(answer).startswith("/api/tokens/stream?type=token.updated,token.reorged,markets.changed&")


def test_the_first_page_of_any_list_follows_markets(client):
    for _ in range(PAGE_SIZE + 1):
        SolanaTokenFactory()
        TokenFactory()
    for choices, has_launches, chain_ids in (
        ("sort=newest", True, []),
        ("sort=volume", False, []),
        ("sort=market-cap&chain=8453", False, ["8453"]),
        ("sort=change", False, []),
        ("tab=graduating", True, ["101"]),
    ):
        answer = client.get(f"/?{choices}")
        stream = stream_of(answer)
        assert ",markets.changed" in stream
        assert ("token.indexed" in stream) == has_launches
        assert re.findall(r"chainId=(\d+)", stream) == chain_ids
        assert not stream_of(client.get(more_link(answer)))
        assert not stream_of(client.get(f"/?{choices}&q=token"))


def test_graduating_lists_curves_by_their_progress(client):
    TokenFactory(symbol="EVM")
    assert "Graduating" not in client.get("/").text
    assert symbols(client.get("/?tab=graduating")) == ["EVM"]
    progress = {"OLD": None, "HALF": "50", "FULL": "100", "START": "0", "NEW": None, "ALMOST": "99.999999"}
    for symbol, percent in progress.items():
        price(SolanaTokenFactory(symbol=symbol), curve_progress=percent and Decimal(percent))
    price(SolanaTokenFactory(symbol="BLOCKED", blocked=True), curve_progress=Decimal(70))
    answer = client.get("/?tab=graduating")
    assert symbols(answer) == ["ALMOST", "HALF", "START", "NEW", "OLD"]
    assert "The closest to graduation come first." in status_of(answer)
    bars = re.findall(
        r'<progress max="100" value="([\d.]+)" aria-label="Progress to graduation"></progress> (\S+)</', answer.text
    )
    assert bars == [("99.999999", "99.9%"), ("50.000000", "50.0%"), ("0.000000", "0.0%")]


def test_a_graduated_token_is_in_other_lists_and_marked(client):
    price(SolanaTokenFactory(symbol="FULL"), curve_progress=Decimal(100))
    assert "No token is on a bonding curve now." in client.get("/?tab=graduating").text
    answer = client.get("/")
    assert symbols(answer) == ["FULL"]
    assert '<span class="chip good">Graduated</span>' in answer.text and "<progress" not in answer.text


def test_tokens_on_a_curve_are_listed_by_an_index():
    plan = Token.objects.listed().filter(market__curve_progress__lt=100)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
    assert "market_graduating" in plan.order_by("-market__curve_progress", "-market__token_id")[:20].explain()


def test_a_search_beyond_its_time_limit_is_not_cached(client, settings):
    settings.SEARCH_TIMEOUT_MS = 0
    TokenFactory()
    answer = client.get("/", {"q": "token"})
    assert answer.status_code == 503 and answer.headers["Cache-Control"] == "no-store"
    assert "The search took too long." in answer.text
    assert not Page(answer.text).scripts_inside


def test_the_page_names_where_its_stream_goes_on(client, settings):
    settings.STREAM_URL = "https://stream.example"
    answer = client.get("/")
    assert re.fullmatch(r"/api/tokens/stream\?type=token\.indexed,[a-z.,]+&lastEventId=\d+", stream_of(answer))
    assert "connect-src 'self' https://stream.example" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Cache-Control"] == "public, s-maxage=2"
    assert "Cookie" not in answer.headers.get("Vary", "")


@pytest.mark.parametrize(
    "name",
    [HOSTILE, "pay\u202egnp.exe", "x" * 10_000, "مرحبا", "👩\u200d🚀", "a" + "\u0300" * 1_000, "\t\n"],
)
def test_names_can_t_deceive(client, name):
    fid = SocialProfileFactory(username=name).fid
    TokenFactory(name=name, symbol=name, requestor_fid=fid, known_interface_deployer=True)
    for path in ("/", "/?tab=new&sort=volume", "/de/"):
        answer = client.get(path)
        read_page(answer)
        assert "\u202e" not in answer.text and "alert(1)</script>" not in answer.text
        assert len(answer.content) < 25_000


def test_other_languages_keep_their_prefix(client):
    token = TokenFactory()
    addresses = read_page(client.get("/de/?q=token")).addresses
    assert f"/de/tokens/8453/{token.contract_address}" in addresses


def test_an_installation_has_its_own_sentence_number_and_picture(client, settings, tmp_path):
    TokenFactory.create_batch(3)
    assert 'class="intro"' not in client.get("/").text
    settings.SITE_INTRO, settings.SITE_INTRO_PICTURE = "Launch <with> care.", tmp_path / "intro.png"
    settings.SITE_INTRO_PICTURE.write_bytes(encoded(plain_picture(RED)))
    assets._assets.cache_clear()
    try:
        answer = client.get("/")
        read_page(answer)
        assert "<p>Launch &lt;with&gt; care.</p>" in answer.text and "<b>3</b> tokens launched" in answer.text
        picture = re.search(r'<img src="(/assets/intro[^"]+)" alt="" width="96" height="96">', answer.text)
        assert client.get(picture[1]).content == settings.SITE_INTRO_PICTURE.read_bytes()
        assert "<b>3</b> Tokens gestartet" in client.get("/de/").text
        for path in ("/?q=cat", "/?tab=trending", "/?sort=volume"):
            assert 'class="intro"' not in client.get(path).text
    finally:
        assets._assets.cache_clear()
