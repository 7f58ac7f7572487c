"""Tests of `GET /api/get-tokens-by-fid`."""

import pytest

from tests.rows.factories import TokenFactory
from tests.rows.token_lists import ids, price

pytestmark = pytest.mark.django_db

PATH = "/api/get-tokens-by-fid"


def test_it_answers_with_nothing_where_there_is_nothing(fetch):
    TokenFactory(requestor_fid=8)
    answer = fetch(fid=7, limit=3, includeMarket=1)
    assert answer.json() == {"data": [], "pagination": {"cursor": None, "total": 0, "totalPages": 0}}
    assert answer.headers["Cache-Control"] == "private, max-age=5"
    assert answer.headers["X-Ignored-Params"] == "includeMarket,limit"


@pytest.mark.parametrize(("count", "pages"), [(1, 1), (10, 1), (11, 2), (20, 2), (23, 3)])
def test_it_returns_how_many_pages_there_are(fetch, count, pages):
    TokenFactory.create_batch(count, requestor_fid=7)
    body = fetch(fid=7).json()
    assert len(body["data"]) == min(count, 10)
    assert (body["pagination"]["total"], body["pagination"]["totalPages"]) == (count, pages)
    assert (body["pagination"]["cursor"] is None) == (pages == 1)


def test_a_walk_meets_every_token_once_newest_first(fetch):
    tokens = [TokenFactory(requestor_fid=7).pk for _ in range(23)]
    TokenFactory(requestor_fid=7, blocked=True)
    TokenFactory(requestor_fid=7, unindexed=True)
    found, cursor = [], {}
    for _ in range(3):
        answer = fetch(fid=7, **cursor)
        found += ids(answer)
        pagination = answer.json()["pagination"]
        assert (pagination["total"], pagination["totalPages"]) == (23, 3)
        cursor = {"cursor": pagination["cursor"]}
    assert (found, cursor) == (tokens[::-1], {"cursor": None})


def test_its_records_are_those_of_the_public_list(fetch, client):
    price(TokenFactory(requestor_fid=7), price_usd=5)
    assert fetch(fid=7).json()["data"] == client.get("/api/tokens", {"fid": 7}).json()["data"]


@pytest.mark.parametrize("count", [1, 12])
def test_its_queries_are_as_many_whatever_the_page(fetch, count, django_assert_num_queries):
    TokenFactory.create_batch(count, requestor_fid=7)
    # The first use of a key is recorded.
    fetch(fid=7)
    # The key's row; page and total.
    with django_assert_num_queries(3):
        assert len(ids(fetch(fid=7))) == min(count, 10)
