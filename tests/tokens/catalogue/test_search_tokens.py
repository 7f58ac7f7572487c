"""Tests of `GET /api/tokens` with `q`."""

import json
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.http import QueryDict

from config.api.query_parameters import parse_query
from tests.rows.factories import TokenFactory
from tests.rows.list_model import Row, in_order, select
from tests.rows.token_lists import SORTS, content_of, cursor_of, ids, price, walk
from tokens.catalogue.list_parameters import ListQuery, SearchQuery
from tokens.catalogue.selections import Selection
from tokens.models import Token

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
ADDRESS = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
HASH, OTHER_HASH = "0x" + "ab" * 32, "0x" + "cd" * 32

# Symbol -> name.
CATALOGUE = {
    "WIF": "Dogwifhat",
    "GDOG": "Good Boy",
    "DINU": "Doge Inu",
    "SHIB": "Shiba Inu",
    "EMOON": "Elon Moon",
    "ME": "Moon Elon",
    "LONE": "犬",
    "YAMA": "柴犬山",
    "犬山": "Castle",
    "PUP": "🐶",
    "PARTY": "Par🐶ty🎉",
    "PURE": "100% Pure",
    "SN_KE": "under_score",
    "BSL": "C:\\dir",
    "ITS": "it's",
    "HI": 'say "hi"',
    "ÉCL": "ÉCLAIR",
    "СОБ": "Собака",
    "STRASSE": "Straße",
    "(*)": "[a-z]+",
    "": "",
    "TWO": "two  spaces",
    "TAB": "a\tb",
    "ZWJ": "👨‍👩‍👧",
    "QZXJ": "Rarest",
}
MARKETS = [
    {},
    {"market_cap": 1.5, "tx_count_24h": 0, "price_change_24h": -3.5, "price_change_1h": 0.0},
    {"market_cap": 0.0, "tx_count_24h": 7, "price_change_24h": 1e9},
    {"market_cap": 1.5, "price_change_1h": -99.0},
    {"tx_count_24h": 7, "price_change_24h": -3.5, "price_change_1h": 12.25},
]


@pytest.fixture
def fetch(client):
    """Send the parameters and return the response."""
    return lambda **parameters: client.get("/api/tokens", parameters)


@pytest.fixture
def catalogue(db):
    """Create the catalogue's tokens as model rows; some share a time, and there is every kind of market."""
    rows = [
        Row(0, name, symbol, NOON + timedelta(seconds=number // 2), 8453, MARKETS[number % 5])
        for number, (symbol, name) in enumerate(CATALOGUE.items())
    ]
    tokens = [TokenFactory.build(name=row.name, symbol=row.symbol, deployed_at=row.deployed_at) for row in rows]
    for row, token in zip(rows, Token.objects.bulk_create(tokens), strict=True):
        row.id = token.pk
        if row.market:
            price(token, **row.market)
    # Hidden tokens are never found.
    for hidden in ("blocked", "unindexed"):
        Token.objects.bulk_create(
            TokenFactory.build(name=row.name, symbol=row.symbol, **{hidden: True}) for row in rows
        )
    return rows


def test_bytes_that_are_no_text_find_nothing(client):
    TokenFactory()
    assert ids(client.get("/api/tokens?q=%ff%fe%ed%a0%80")) == []


# Each search with the symbols that it finds, written down beside the model's result.
SEARCHES = {
    "g": {"WIF", "GDOG", "DINU"},
    "do": {"WIF", "GDOG", "DINU"},
    "dog": {"WIF", "GDOG", "DINU"},
    "DoG": {"WIF", "GDOG", "DINU"},
    "inu": {"DINU", "SHIB"},
    "rarest": {"QZXJ"},
    "zxj": {"QZXJ"},
    "dogwifhatt": set(),
    "q9": set(),
    "elon moon": {"EMOON"},
    "moon elon": {"ME"},
    "n m": {"EMOON"},
    "e i": {"DINU"},
    "犬": {"LONE", "YAMA", "犬山"},
    "犬山": {"YAMA", "犬山"},
    "柴犬山": {"YAMA"},
    "山犬": set(),
    "🐶": {"PUP", "PARTY"},
    "r🐶t": {"PARTY"},
    "🐶🎉": set(),
    "🎉": {"PARTY"},
    "👩": {"ZWJ"},
    "👨‍👩‍👧": {"ZWJ"},
    "👩‍👨": set(),
    "%": {"PURE"},
    "%%": set(),
    "0%": {"PURE"},
    "0% p": {"PURE"},
    "1%0": set(),
    "_": {"SN_KE"},
    "__": set(),
    "under_score": {"SN_KE"},
    "und_r": set(),
    "n_k": {"SN_KE"},
    "\\": {"BSL"},
    "\\d": {"BSL"},
    ":\\dir": {"BSL"},
    "\\\\": set(),
    "\\%": set(),
    "'": {"ITS"},
    "t's": {"ITS"},
    "''": set(),
    '"': {"HI"},
    '"hi"': {"HI"},
    'y "h': {"HI"},
    "éclair": {"ÉCL"},
    "ÉCL": {"ÉCL"},
    "é": {"ÉCL"},
    "É": {"ÉCL"},
    "eclair": set(),
    "СОБАКА": {"СОБ"},
    "Об": {"СОБ"},
    "аК": {"СОБ"},
    "strasse": {"STRASSE"},
    "ß": {"STRASSE"},
    "raß": {"STRASSE"},
    "(*)": {"(*)"},
    "[a-z]": {"(*)"},
    ".*": set(),
    "o  s": {"TWO"},
    "o s": set(),
    "a\tb": {"TAB"},
    "r" * 100: set(),
    "$1": set(),
    "{}": set(),
    "ty🎉p": set(),
}


@pytest.mark.parametrize("sort_by", SORTS)
def test_it_finds_what_contains_the_text_by_every_sort(fetch, catalogue, sort_by):
    # Each text by one sort, so that each sort has a dozen texts.
    for q in list(SEARCHES)[SORTS.index(sort_by) :: len(SORTS)]:
        assert {row.symbol for row in select(catalogue, q=q)} == SEARCHES[q]
        for sort in ("desc", "asc"):
            expected = in_order(select(catalogue, q=q), sort_by=sort_by, descending=sort == "desc")
            answer = fetch(q=q, sortBy=sort_by, sort=sort)
            assert ids(answer) == expected, q
            assert (answer.json()["total"], answer.json()["tokensDeployed"]) == (len(expected), len(CATALOGUE))
            assert "X-Total-Approximate" not in answer.headers


def test_whitespace_around_is_no_part_of_it_and_nothing_else_is_no_search(fetch, catalogue):
    for q in ("  dog", "dog\t", "\ndog\n", "\u00a0dog\u3000"):
        assert len(ids(fetch(q=q))) == 3
    for q in ("", " ", "\n", "\u3000"):
        assert fetch(q=q).json()["total"] == len(CATALOGUE)


@pytest.mark.parametrize("serializer", [ListQuery, SearchQuery])
def test_what_means_the_same_makes_no_selection_of_its_own(serializer):
    def select(query, **values):
        return Selection.of(parse_query(QueryDict(urlencode({"fids": "1"} | values)), query))

    for blanks in (" ", "\n", "\u3000"):
        assert select(serializer, q=blanks) == Selection(fids=(1,))
        assert select(serializer, q=f"{blanks}dog{blanks}") == Selection(fids=(1,), q="dog")
    assert select(ListQuery, pair=" ALL ", champagne="0", msgSender=ADDRESS.lower()) == Selection(
        fids=(1,), msg_sender=ADDRESS
    )


def test_a_selection_survives_its_way_to_a_worker():
    selection = Selection(q="dog", fids=(1, 2), launched_after=0, champagne=True)
    assert Selection.of(json.loads(json.dumps(selection.conditions))) == selection


def test_a_hundred_characters_are_looked_for(fetch):
    token = TokenFactory(name="🐶" * 60 + "é" * 40)
    assert ids(fetch(q="🐶" * 60 + "É" * 40)) == [token.pk]
    assert ids(fetch(q="🐶" * 61 + "É" * 39)) == []


def test_a_match_does_not_reach_from_the_name_into_the_symbol(fetch):
    TokenFactory(name="abc", symbol="def")
    for q in ("c\nd", "bc\nde", "abc\ndef", "cd", "c d", "c\n", "\nd"):
        expected = 1 if q.strip() in ("c", "d") else 0
        assert len(ids(fetch(q=q))) == expected


@pytest.mark.parametrize("column", ["name", "symbol"])
def test_a_line_break_within_a_name_or_symbol_is_found(fetch, column):
    token = TokenFactory(**{column: "Abc\ndef\n犬"})
    for q in ("c\nd", "abc\nDEF", "f\n犬"):
        assert ids(fetch(q=q)) == [token.pk]
    TokenFactory(name="abc", symbol="def")
    assert ids(fetch(q="c\nd")) == [token.pk]


def test_neither_other_texts_nor_parts_of_addresses_are_searched(fetch):
    TokenFactory(description="needle", metadata={"auditUrls": [], "description": "needle", "socialMediaUrls": []})
    TokenFactory(contract_address=ADDRESS)
    assert ids(fetch(q="needle")) == []
    assert ids(fetch(q=ADDRESS[:20])) == []


# Searches by address or hash.


@pytest.mark.parametrize(
    ("column", "stored"),
    [
        ("contract_address", ADDRESS),
        ("pool_address", ADDRESS),
        ("pool_address", HASH),
        ("tx_hash", HASH),
    ],
)
def test_it_finds_what_is_named_in_any_case(fetch, column, stored):
    token = TokenFactory(**{column: stored})
    TokenFactory()
    for q in (stored, stored.lower(), "0X" + stored[2:].upper(), f" {stored}\n"):
        answer = fetch(q=q)
        assert (ids(answer), answer.json()["total"], answer.json()["cursor"]) == ([token.pk], 1, None)


@pytest.mark.parametrize("q", [ADDRESS, HASH])
def test_it_finds_nothing_where_nothing_has_the_name(fetch, q):
    TokenFactory()
    assert fetch(q=q).json() == {"data": [], "total": 0, "cursor": None, "tokensDeployed": 1}


@pytest.mark.parametrize("q", [ADDRESS, HASH])
def test_it_names_nothing_that_is_hidden(fetch, q):
    for hidden in ("blocked", "unindexed"):
        TokenFactory(**{hidden: True}, contract_address=ADDRESS, pool_address=HASH, chain_id=len(hidden))
    assert ids(fetch(q=q)) == []


def test_it_finds_all_launches_of_a_transaction(fetch):
    tokens = [TokenFactory(tx_hash=HASH), TokenFactory(pool_address=HASH), TokenFactory(tx_hash=HASH)]
    assert walk(fetch, q=HASH, limit=1) == [token.pk for token in reversed(tokens)]


@pytest.fixture
def named(db):
    """Return (tokens named by the address, tokens that have it in their names), as model rows."""
    makers = [
        {"contract_address": ADDRESS, "chain_id": 8453, "name": "dog"},
        {"name": f"not {ADDRESS}"},
        {"contract_address": ADDRESS, "chain_id": 1, "name": ADDRESS},
        {"symbol": ADDRESS.lower()},
        {"pool_address": ADDRESS, "name": "pool"},
        {"name": f"{ADDRESS}!"},
        {"contract_address": ADDRESS, "chain_id": 10},
        {"symbol": ADDRESS.upper()},
    ]
    rows = []
    for number, columns in enumerate(makers):
        token = TokenFactory(**columns, deployed_at=NOON + timedelta(seconds=number // 3))
        market = MARKETS[number % 5]
        if market:
            price(token, **market)
        rows.append(Row(token.pk, token.name, token.symbol, token.deployed_at, token.chain_id, market))
    TokenFactory(name="unrelated")
    places = (0, 2, 4, 6)
    return [rows[place] for place in places], [row for place, row in enumerate(rows) if place not in places]


@pytest.mark.parametrize("sort", ["desc", "asc"])
@pytest.mark.parametrize("sort_by", SORTS)
def test_what_is_named_comes_first_on_every_walk(fetch, named, sort_by, sort):
    order = {"sort_by": sort_by, "descending": sort == "desc"}
    expected = in_order(named[0], **order) + in_order(named[1], **order)
    # As many as are named, one more and one less, and all.
    for limit in (1, 3, 4, 5, 8):
        assert walk(fetch, q=ADDRESS.lower(), sortBy=sort_by, sort=sort, limit=limit) == expected
    for offset in range(9):
        answer = fetch(q=ADDRESS, sortBy=sort_by, sort=sort, offset=offset, limit=2)
        assert ids(answer) == expected[offset : offset + 2]
        assert answer.json()["total"] == 8


def test_filters_hold_for_what_is_named(fetch, named):
    assert ids(fetch(q=ADDRESS, chainId=1)) == [named[0][1].id]
    assert ids(fetch(q=ADDRESS, pair="USDC")) == []
    assert ids(fetch(q=ADDRESS, startDate=int(NOON.timestamp()) + 1)) == [
        named[0][3].id,
        named[1][3].id,
    ]


def test_a_cursor_after_named_tokens_records_it(fetch, named):
    def content(limit):
        return content_of(fetch(q=ADDRESS, limit=limit).json()["cursor"])

    assert [content(limit).get("x", False) for limit in (1, 3, 4, 5, 7)] == [True, True, True, False, False]


def test_a_cursor_with_an_offset_goes_on_behind_what_is_named(fetch, named):
    expected = walk(fetch, q=ADDRESS)
    for limit in (2, 4, 5):
        cursor = fetch(q=ADDRESS, limit=limit).json()["cursor"]
        for offset in (0, 1, 3):
            assert ids(fetch(q=ADDRESS, cursor=cursor, offset=offset)) == expected[limit + offset :]


def test_the_older_cursor_goes_on_behind_what_is_named(fetch, named):
    assert set(ids(fetch(q=ADDRESS, cursor=cursor_of({"id": "2026-02-07T12:00:01"})))) == {
        row.id for row in named[1] if row.deployed_at < NOON + timedelta(seconds=2)
    }


@pytest.mark.parametrize("wrong", [1, "true", None])
def test_it_refuses_a_cursor_that_contradicts_it(fetch, named, wrong):
    content = content_of(fetch(q=ADDRESS, limit=1).json()["cursor"])
    assert fetch(q=ADDRESS, cursor=cursor_of(content | {"x": wrong})).status_code == 400


# With filters.


@pytest.mark.parametrize(
    ("parameters", "columns"),
    [
        ({"fid": 7}, {"requestor_fid": 7}),
        ({"fids": "6,7"}, {"requestor_fid": 7}),
        ({"msgSender": ADDRESS.lower()}, {"msg_sender": ADDRESS}),
        ({"pairAddress": HASH}, {"pool_address": HASH}),
        ({"pairAddress": ADDRESS}, {"paired_token": ADDRESS}),
        ({"pair": "usdc"}, {"pair": "USDC"}),
        ({"socialInterface": "BANKR"}, {"social_context": {"interface": "Bankr"}}),
        ({"startDate": int(NOON.timestamp())}, {"deployed_at": NOON + timedelta(seconds=1)}),
        ({"champagne": "1"}, {"champagne": True}),
        ({"chainId": 1}, {"chain_id": 1}),
    ],
)
def test_filters_narrow_a_search(fetch, parameters, columns):
    name = f"Good 犬g🐶 {ADDRESS}"
    wanted = [TokenFactory(name=name, **columns).pk for _ in range(3)]
    TokenFactory(name=name)
    TokenFactory(name="zzz", **columns | ({"pool_address": OTHER_HASH} if "pool_address" in columns else {}))
    for q in ("o", "good", "g🐶", ADDRESS.lower()):
        for sort_by in ("deployed-at", "market-cap"):
            answer = fetch(q=q, sortBy=sort_by, **parameters)
            assert (ids(answer), answer.json()["total"]) == (wanted[::-1], 3)
        assert walk(fetch, q=q, sort="asc", limit=2, **parameters) == wanted


def test_the_time_limit_of_a_search_ends_with_its_statement(fetch):
    """Check in the test's transaction, where the limit would remain for the connection's next statement."""
    token = TokenFactory(name="dog")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 60000")
        assert ids(fetch(q="dog")) == [token.pk]
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)
