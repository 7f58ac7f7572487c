"""Filtered lists: their time limit, their totals beyond it, and what their statements visit."""

import itertools

import pytest

from tests.processes.template_database import restore_template_rows
from tests.rows.many_tokens import make_tokens
from tests.rows.query_plans import visited_rows
from tests.rows.token_lists import SORTS, ids, walk
from tests.tokens.catalogue.test_large_lists import connection_of_the_service, forget_counts, forget_locally
from tokens.catalogue.list_statements import ListStatements
from tokens.catalogue.selections import Selection
from tokens.catalogue.tasks import count_selection
from tokens.catalogue.totals import estimated_total
from tokens.models import Market, Token

# A fixture of every test.
__all__ = ["connection_of_the_service"]
pytestmark = pytest.mark.django_db

ROWS = 12_000
# By number, which rises with time. All are coins; the interface without markets has the oldest tokens.
TOKENS = {
    "name": "'Coin ' || n",
    "symbol": "CASE WHEN n % 400 = 0 THEN '犬🐶' ELSE 'C' || n END",
    "contract_address": "'0x' || upper(lpad(to_hex(n), 40, '0'))",
    "copy_key": "lpad(to_hex(n), 64, '0')",
    "verified": "n % 2000 = 7",
    "generation": "CASE WHEN n % 2000 = 7 THEN 'zora' WHEN n % 2000 = 1007 THEN 'doppler' ELSE 'v4' END",
    "launch_warnings": "CASE WHEN n % 50 = 3 THEN ARRAY['UNUSUAL_TICK'] ELSE '{}' END",
    "social_context": """CASE WHEN n <= 30 THEN '{"interface": "Rare"}'::jsonb
        WHEN n % 2 = 0 THEN '{"interface": "Usual"}' ELSE '{"interface": "Other"}' END""",
}
MARKETS = {
    "market_cap": "CASE WHEN n > 300 AND n % 3 > 0 THEN CASE WHEN n % 4000 = 1 THEN 1000000 ELSE n % 20011 END END",
    "volume_24h": "CASE WHEN n > 300 AND n % 3 > 0 THEN CASE WHEN n % 4000 = 2 THEN 1000000 ELSE n % 20011 END END",
    "tx_count_24h": "CASE WHEN n > 300 AND n % 3 > 0 THEN n % 50 END",
    "price_change_24h": "CASE WHEN n > 300 AND n % 3 > 0 THEN n % 20011 - 10000 END",
    "price_change_1h": "CASE WHEN n > 300 AND n % 3 > 0 THEN n % 101 - 50 END",
}
RARE = {
    "verified": {"verified": "1"},
    "launchpad": {"launchpad": "zora"},
    "launchpads": {"launchpad": "flaunch,zora"},
    "launchpad and cap": {"launchpad": "doppler", "minMarketCap": 1},
    "cap": {"minMarketCap": 1_000_000},
    "volume": {"minVolume24h": 1_000_000},
    "verified and cap": {"verified": "1", "minMarketCap": 1_000_000},
    "verified and warned": {"verified": "1", "warnings": "any"},
    "verified and clean": {"verified": "1", "warnings": "none"},
    "all": {
        "verified": "1",
        "warnings": "none",
        "minMarketCap": 1,
        "minVolume24h": 1,
        "socialInterface": "usual",
    },
    "no markets": {"socialInterface": "rare", "minMarketCap": 0},
}


@pytest.fixture(scope="module", autouse=True)
def tokens(django_db_setup, django_db_blocker):
    """Return the ids of the tokens, oldest first; the tokens and their counts are gone after this module."""
    with django_db_blocker.unblock():
        make_tokens(TOKENS, MARKETS, rows=ROWS)
        yield list(Token.objects.order_by("id").values_list("id", flat=True))
        restore_template_rows()
        forget_counts()


@pytest.fixture(params=["/api/tokens", "/api/tokens/authenticated"])
def fetch(request, client, read_key):
    """Send the parameters to a list and return the response."""
    return lambda **parameters: client.get(request.param, parameters, headers=read_key)


@pytest.mark.parametrize(
    "filters",
    [
        {"verified": "1"},
        {"warnings": "any"},
        {"warnings": "none"},
        {"minMarketCap": 1},
        {"minVolume24h": 1},
        {"socialInterface": "usual"},
        {"pair": "weth"},
        {"launchpad": "clanker"},
        {"chainId": 8453, "verified": "1"},
        {"champagne": "1"},
        {"startDate": 1},
    ],
)
def test_a_filtered_list_has_the_time_limit_of_a_search(fetch, settings, filters):
    settings.SEARCH_TIMEOUT_MS = 0
    answer = fetch(**filters)
    assert (answer.status_code, answer.json()) == (503, {"error": "Search timed out"})
    assert (answer.headers["Retry-After"], answer.headers["Cache-Control"]) == ("5", "no-store")


@pytest.mark.parametrize(
    "filters", [{}, {"fid": 7}, {"msgSender": "0x" + "1" * 40}, {"fids": "7,8"}, {"chainId": 8453}]
)
def test_lists_of_users_wallets_and_chains_have_none(fetch, settings, filters):
    settings.SEARCH_TIMEOUT_MS = 0
    assert fetch(**filters).status_code == 200


def test_the_estimate_of_tokens_without_warnings_is_near_their_number():
    statements = ListStatements.of(Selection(warnings="none"))
    assert estimated_total(statements).number == pytest.approx(ROWS * 49 / 50, rel=0.1)


def test_a_count_beyond_its_time_limit_is_an_estimate_and_then_the_workers(fetch, settings):
    forget_counts()
    settings.SEARCH_TIMEOUT_MS = 0
    answer = fetch(limit=0, warnings="any")
    assert answer.headers["X-Total-Approximate"] == "1" and answer.json()["total"] > 0
    count_selection({"warnings": "any"})
    forget_locally()
    answer = fetch(limit=0, warnings="any")
    # It may be old.
    assert answer.headers["X-Total-Approximate"] == "1" and answer.json()["total"] == ROWS // 50
    settings.SEARCH_TIMEOUT_MS = 60_000
    answer = fetch(limit=0, warnings="any")
    assert "X-Total-Approximate" not in answer.headers and answer.json()["total"] == ROWS // 50


@pytest.mark.parametrize("filters", RARE)
def test_filters_that_few_tokens_pass_visit_few_rows(client, read_key, filters):
    visited = {}
    sorts, searches = list(itertools.product(SORTS, ("desc", "asc"))), [{}, {"q": "coin"}, {"q": "c"}, {"q": "犬"}]
    # Each filter with each sort and search, and each search with each sort.
    for number, (sort_by, sort) in enumerate(sorts, start=list(RARE).index(filters)):
        parameters = {**RARE[filters], **searches[number % len(searches)], "sortBy": sort_by, "sort": sort}

        def fetch(given=parameters):
            answer = client.get("/api/tokens/authenticated", given, headers=read_key)
            assert answer.json()["total"] <= 6

        visited[sort_by, sort] = visited_rows(fetch)
    assert max(visited.values()) < ROWS / 10, visited


@pytest.mark.parametrize("sort_by", SORTS)
def test_pages_of_few_matches_are_read_to_their_end(fetch, tokens, sort_by):
    expected = {token for number, token in enumerate(tokens, start=1) if number % 2000 == 7}
    assert set(ids(fetch(verified=1, sortBy=sort_by))) == expected


@pytest.mark.parametrize(
    ("parameter", "column", "sort_by", "sort"),
    [("minMarketCap", "market_cap", "market-cap", "desc"), ("minVolume24h", "volume_24h", "volume-h24", "asc")],
)
def test_more_matches_than_are_sorted_at_once_are_walked_in_order(client, parameter, column, sort_by, sort):
    rows = Market.objects.filter(**{f"{column}__gte": 10_000}).order_by(column, "token_id")
    expected = list(rows.values_list("token_id", flat=True))
    assert len(expected) > 1_000

    def fetch(**parameters):
        return client.get("/api/tokens", parameters)

    found = walk(fetch, sortBy=sort_by, sort=sort, limit=20, **{parameter: 10_000})
    assert found == (expected if sort == "asc" else expected[::-1])
