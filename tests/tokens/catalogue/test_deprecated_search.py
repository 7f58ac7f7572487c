"""Tests of `GET /api/tokens/search`, which is deprecated."""

import pytest

from tests.rows.factories import TokenFactory
from tests.rows.token_lists import ids, price, walk

pytestmark = pytest.mark.django_db

PATH = "/api/tokens/search"


@pytest.fixture
def fetch(client):
    """Send the parameters and return the response."""
    return lambda **parameters: client.get(PATH, parameters)


def names_the_successor(answer):
    return (
        answer.headers["Deprecation"].startswith("@")
        and answer.headers["Link"] == '</api/tokens>; rel="successor-version"'
    )


def test_it_names_its_successor(fetch):
    answer = fetch(q="dog")
    assert answer.json() == {"data": [], "total": 0, "cursor": None}
    assert answer.headers["Cache-Control"] == "public, s-maxage=2"
    assert names_the_successor(answer)


def test_it_ignores_parameters_of_the_list_only(fetch):
    TokenFactory.create_batch(6)
    answer = fetch(limit=1, offset=3, sortBy="market-cap", sort="asc", chainId=1, fid=7, includeUser=1)
    assert answer.headers["X-Ignored-Params"] == "chainId,fid,includeUser,limit,offset,sort,sortBy"
    assert len(ids(answer)) == 5


def test_it_lists_newest_first_five_a_page(fetch):
    tokens = [token.pk for token in reversed(TokenFactory.create_batch(11))]
    TokenFactory(blocked=True)
    TokenFactory(unindexed=True)
    answer = fetch()
    assert (ids(answer), answer.json()["total"]) == (tokens[:5], 11)
    assert walk(fetch) == tokens


def test_it_searches_newest_first_five_a_page(fetch):
    tokens = [TokenFactory(name=f"Good Dog {number}").pk for number in range(12)]
    TokenFactory(name="cat")
    assert walk(fetch, q="dog") == tokens[::-1]
    assert fetch(q=" DOG ").json()["total"] == 12


def test_it_brings_the_market_along(fetch):
    TokenFactory()
    price(TokenFactory(), price_usd=2.5, market_cap=10)
    known, unknown = fetch().json()["data"]
    assert (known["priceUsd"], known["related"]["market"]["marketCap"]) == (2.5, 10)
    assert (unknown["priceUsd"], unknown["related"]) == (None, {"market": None})


@pytest.mark.parametrize("count", [1, 6])
@pytest.mark.parametrize(("parameters", "queries"), [({}, 2), ({"q": "token"}, 3), ({"fids": "7"}, 2)])
def test_its_queries_are_as_many_whatever_the_page(fetch, parameters, queries, count, django_assert_num_queries):
    TokenFactory.create_batch(count, requestor_fid=7)
    with django_assert_num_queries(queries):
        assert len(ids(fetch(**parameters))) == min(count, 5)
