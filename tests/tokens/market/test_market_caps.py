"""Tests of `GET /api/marketcap` and `GET /api/tokens/marketcap`."""

import pytest

from tests.rows.factories import SolanaTokenFactory, TokenFactory
from tests.rows.token_lists import price

pytestmark = pytest.mark.django_db

ONE, MANY = "/api/marketcap", "/api/tokens/marketcap"
A, B, UNKNOWN = (f"0x{number * 40}" for number in "123")
POOL = "0x" + "ab" * 32


@pytest.fixture
def token():
    """Store a token with a price."""
    return price(TokenFactory(contract_address=A, pool_address=POOL, chain_id=8453), price_usd=1.5, market_cap=2e9)


def described(token, address=A):
    updated_at = token.market.updated_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {
        "chainId": token.chain_id,
        "address": address,
        "marketCap": 2e9,
        "priceUsd": 1.5,
        "marketDataUpdatedAt": updated_at,
    }


@pytest.mark.parametrize("more", [{}, {"poolAddress": POOL}, {"poolAddress": POOL.upper()}, {"chainId": 8453}])
def test_one_has_the_time_of_its_price(client, token, more, django_assert_num_queries):
    token.refresh_from_db()
    with django_assert_num_queries(1):
        answer = client.get(ONE, {"tokenAddress": A.lower()} | more)
    assert (answer.status_code, answer.json()) == (200, described(token))
    assert answer.headers["Cache-Control"] == "public, s-maxage=2"


def test_without_a_price_it_is_null(client):
    TokenFactory(contract_address=A)
    values = client.get(ONE, {"tokenAddress": A}).json()
    assert [values[name] for name in ("marketCap", "priceUsd", "marketDataUpdatedAt")] == [None] * 3


def test_the_registrys_first_chain_precedes(client, token):
    TokenFactory(contract_address=A, chain_id=1)
    assert client.get(ONE, {"tokenAddress": A}).json()["chainId"] == 8453
    assert client.get(ONE, {"tokenAddress": A, "chainId": 1}).json()["marketCap"] is None


def test_several_come_in_the_sequence_of_the_request(client, token, django_assert_num_queries):
    mint = SolanaTokenFactory().contract_address
    TokenFactory(contract_address=B, unindexed=True)
    TokenFactory(contract_address=A, chain_id=1)
    with django_assert_num_queries(1):
        answer = client.get(MANY, {"addresses": ",".join((mint, UNKNOWN, B, A.lower(), A))})
    assert [(each["address"], each["chainId"]) for each in answer.json()["data"]] == [(mint, 101), (A, 8453), (A, 1)]
    assert answer.json()["data"][1] == described(token)
    one = client.get(MANY, {"addresses": f"{mint},{A}", "chainId": 1}).json()["data"]
    assert [each["chainId"] for each in one] == [1]
