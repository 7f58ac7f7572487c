"""Tests of `GET /api/tokens/fetch-by-admin`."""

import pytest

from tests.rows.factories import SocialProfileFactory, TokenFactory
from tests.rows.token_lists import ids, price

pytestmark = pytest.mark.django_db

PATH = "/api/tokens/fetch-by-admin"
ADMIN = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
MINT = "So11111111111111111111111111111111111111112"


def test_it_answers_with_nothing_where_there_is_nothing(fetch):
    TokenFactory(msg_sender=ADMIN, requestor_address=ADMIN, contract_address=ADMIN)
    answer = fetch(admin=ADMIN, offset=5, sortBy="market-cap")
    assert answer.json() == {"data": [], "total": 0, "cursor": None}
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.headers["X-Ignored-Params"] == "offset,sortBy"


@pytest.mark.parametrize("spell", [str, str.lower, lambda text: "0X" + text[2:].upper()])
def test_it_finds_an_admins_tokens_in_any_case(fetch, spell):
    token = TokenFactory(admin=ADMIN)
    TokenFactory(admin=ADMIN, blocked=True)
    TokenFactory(admin=ADMIN, unindexed=True)
    answer = fetch(admin=spell(ADMIN))
    assert (ids(answer), answer.json()["total"]) == ([token.pk], 1)


def test_it_follows_a_token_to_another_admin(fetch):
    token = TokenFactory(admin=ADMIN)
    token.admin = MINT
    token.save()
    assert (ids(fetch(admin=ADMIN)), ids(fetch(admin=MINT))) == ([], [token.pk])


def test_it_filters_by_chain(fetch):
    base, ethereum = TokenFactory(admin=ADMIN), TokenFactory(admin=ADMIN, chain_id=1)
    assert ids(fetch(admin=ADMIN)) == [ethereum.pk, base.pk]
    assert ids(fetch(admin=ADMIN, chainId=8453)) == [base.pk]
    answer = fetch(admin=ADMIN, chainId=10143)
    assert (ids(answer), answer.json()["total"]) == ([], 0)


@pytest.mark.parametrize(("limit", "count"), [(None, 10), (1, 1), (21, 21), (200, 23)])
def test_it_pages_by_limit(fetch, limit, count):
    TokenFactory.create_batch(23, admin=ADMIN)
    answer = fetch(admin=ADMIN, **({} if limit is None else {"limit": limit}))
    assert (len(ids(answer)), answer.json()["total"]) == (count, 23)
    assert (answer.json()["cursor"] is None) == (count == 23)


def test_its_records_are_those_of_the_public_list(fetch, client):
    price(TokenFactory(admin=ADMIN, requestor_fid=7), price_usd=5)
    SocialProfileFactory(fid=7)
    for extras in ({}, {"includeUser": 1}, {"includeMarket": 1, "includeUser": "true"}):
        public = client.get("/api/tokens", extras).json()["data"]
        assert fetch(admin=ADMIN, **extras).json()["data"] == public
        assert set(public[0]["related"]) == {name.removeprefix("include").lower() for name in extras}


@pytest.mark.parametrize("limit", [1, 200])
def test_its_queries_are_as_many_whatever_the_page(fetch, limit, django_assert_num_queries):
    for fid in range(1, 41):
        TokenFactory(admin=ADMIN, requestor_fid=fid)
        SocialProfileFactory(fid=fid)
    # The first use of a key is recorded.
    fetch(admin=ADMIN)
    # The key's row; page, total and users.
    with django_assert_num_queries(4):
        assert len(ids(fetch(admin=ADMIN, limit=limit, includeUser=1, includeMarket=1))) == min(limit, 40)
