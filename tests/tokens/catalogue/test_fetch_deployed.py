"""Tests of `GET /api/tokens/fetch-deployed-by-fid` and `GET /api/tokens/fetch-deployed-by-address`."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.rows.factories import TokenFactory
from tests.rows.token_lists import ids, price, walk

pytestmark = pytest.mark.django_db

BY_FID, BY_ADDRESS = "/api/tokens/fetch-deployed-by-fid", "/api/tokens/fetch-deployed-by-address"
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
MINT = "So11111111111111111111111111111111111111112"
# Each endpoint: its path, its parameter, and the columns by which a token belongs to that deployer.
BOTH = pytest.mark.parametrize(
    ("path", "requested", "columns"),
    [
        (BY_FID, {"fid": "7"}, {"requestor_fid": 7}),
        (BY_ADDRESS, {"address": WALLET}, {"msg_sender": WALLET}),
        (BY_ADDRESS, {"address": WALLET.lower()}, {"requestor_address": WALLET}),
        (BY_ADDRESS, {"address": WALLET}, {"msg_sender": WALLET, "requestor_address": WALLET}),
    ],
)


@pytest.fixture
def fetch(client):
    """Send the parameters to the path and return the response."""
    return lambda path, **parameters: client.get(path, parameters)


@BOTH
def test_it_answers_with_nothing_where_there_is_nothing(fetch, path, requested, columns):
    TokenFactory(requestor_fid=8)
    answer = fetch(path, **requested, limit=3, includeUser=1)
    assert answer.json() == {"data": [], "total": 0, "cursor": None}
    assert answer.headers["Cache-Control"] == "public, s-maxage=2"
    assert answer.headers["X-Ignored-Params"] == "includeUser,limit"


@BOTH
def test_it_lists_a_deployers_tokens_ten_a_page(fetch, path, requested, columns):
    # Three at a time, so that pages end within ties.
    tokens = [TokenFactory(**columns, deployed_at=NOON + timedelta(seconds=number // 3)).pk for number in range(23)]
    TokenFactory(**columns, blocked=True)
    TokenFactory(**columns, unindexed=True)
    TokenFactory(requestor_fid=8, requestor_address=MINT)
    answer = fetch(path, **requested)
    assert (ids(answer), answer.json()["total"]) == (tokens[:-11:-1], 23)
    assert walk(lambda **cursor: fetch(path, **requested, **cursor)) == tokens[::-1]


def test_a_wallet_has_what_it_sent_and_what_it_requested(fetch):
    tokens = [
        TokenFactory(msg_sender=WALLET),
        TokenFactory(requestor_address=WALLET),
        TokenFactory(msg_sender=WALLET, requestor_address=WALLET),
    ]
    TokenFactory(admin=WALLET, contract_address=WALLET)
    answer = fetch(BY_ADDRESS, address="0X" + WALLET[2:].upper())
    assert (ids(answer), answer.json()["total"]) == ([token.pk for token in reversed(tokens)], 3)


@BOTH
def test_it_adds_nothing_to_the_record(fetch, path, requested, columns):
    price(TokenFactory(**columns), price_usd=5)
    (record,) = fetch(path, **requested).json()["data"]
    assert (record["priceUsd"], record["related"]) == (None, {})


@BOTH
@pytest.mark.parametrize("count", [1, 12])
def test_it_queries_the_database_twice_for_any_page(fetch, path, requested, columns, count, django_assert_num_queries):
    TokenFactory.create_batch(count, **columns)
    with django_assert_num_queries(2):
        assert len(ids(fetch(path, **requested))) == min(count, 10)
