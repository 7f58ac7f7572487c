"""Tests of `GET /api/tokens/authenticated`."""

import pytest

from tests.rows.factories import SocialProfileFactory, TokenFactory
from tests.rows.token_lists import SORTS, ids, price

pytestmark = pytest.mark.django_db

PATH = "/api/tokens/authenticated"
ADDRESS = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"


def test_it_answers_with_nothing_where_there_is_nothing(fetch):
    answer = fetch(page=1)
    assert answer.json() == {"data": [], "total": 0, "cursor": None}
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.headers["X-Ignored-Params"] == "page"


@pytest.mark.parametrize(("limit", "count"), [(None, 10), (0, 0), (1, 1), (21, 21), (200, 23)])
def test_it_pages_by_limit(fetch, limit, count):
    TokenFactory.create_batch(23)
    answer = fetch(**({} if limit is None else {"limit": limit}))
    assert (len(ids(answer)), answer.json()["total"]) == (count, 23)
    assert (answer.json()["cursor"] is None) == (count in (0, 23))


def test_it_answers_as_the_public_list(fetch, client):
    for number in range(12):
        token = TokenFactory(requestor_fid=number % 3 + 1, name=f"dog {ADDRESS}" if number % 2 else "cat")
        if number % 4:
            price(token, market_cap=number % 5, tx_count_24h=number % 3)
    TokenFactory(contract_address=ADDRESS)
    TokenFactory(blocked=True)
    SocialProfileFactory(fid=1)
    for filters in ({}, {"q": "dog"}, {"q": ADDRESS}, {"fids": "1,2"}, {"champagne": 1}):
        for sort_by in SORTS:
            parameters = filters | {"sortBy": sort_by, "sort": "asc", "includeUser": 1, "includeMarket": 1, "limit": 5}
            public = client.get("/api/tokens", parameters).json()
            del public["tokensDeployed"]
            assert fetch(**parameters).json() == public


@pytest.mark.parametrize("limit", [1, 200])
def test_its_queries_are_as_many_whatever_the_page(fetch, limit, django_assert_num_queries):
    for fid in range(1, 41):
        TokenFactory(requestor_fid=fid)
        SocialProfileFactory(fid=fid)
    # The first use of a key is recorded.
    fetch()
    # The key's row; page, total and users.
    with django_assert_num_queries(4):
        assert len(ids(fetch(limit=limit, includeUser=1, includeMarket=1))) == min(limit, 40)
