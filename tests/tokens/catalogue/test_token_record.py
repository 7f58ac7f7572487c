"""GET /api/tokens/{chainId}/{address}, and the market in a record."""

from decimal import Decimal

import pytest

from tests.rows.factories import SocialProfileFactory, SolanaTokenFactory, TokenFactory
from tests.rows.token_lists import price

pytestmark = pytest.mark.django_db

ADDRESS = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
MINT = "So11111111111111111111111111111111111111112"


@pytest.fixture
def fetch(client):
    """Request a token's record."""
    return lambda chain_id, address, **parameters: client.get(f"/api/tokens/{chain_id}/{address}", parameters)


@pytest.mark.parametrize("spell", [str, str.lower, lambda text: "0X" + text[2:].upper()])
def test_it_finds_the_token_of_the_chain_in_any_case(fetch, spell, django_assert_num_queries):
    TokenFactory(contract_address=ADDRESS, chain_id=1)
    token = TokenFactory(contract_address=ADDRESS, chain_id=8453)
    with django_assert_num_queries(1):
        answer = fetch(8453, spell(ADDRESS), page=1)
    record = answer.json()["data"]
    assert (record["id"], record["contract_address"], record["chain_id"]) == (token.pk, ADDRESS, 8453)
    assert (record["related"], record["priceUsd"]) == ({}, None)
    assert answer.headers["Cache-Control"] == "public, s-maxage=2"
    assert answer.headers["X-Ignored-Params"] == "page"


def test_a_trailing_slash_is_no_other_token(client):
    token = TokenFactory(contract_address=ADDRESS)
    assert client.get(f"/api/tokens/8453/{ADDRESS}/").json()["data"]["id"] == token.pk


def test_it_finds_a_mint(fetch):
    token = SolanaTokenFactory(contract_address=MINT)
    assert fetch(101, MINT).json()["data"]["id"] == token.pk


def test_it_includes_market_and_user(fetch, django_assert_num_queries):
    SocialProfileFactory(fid=7, username="a")
    token = TokenFactory(contract_address=ADDRESS, requestor_fid=7)
    price(token, price_usd=1.5, market_cap=2, price_quote=Decimal("0.0005"))
    with django_assert_num_queries(2):
        record = fetch(8453, ADDRESS, includeMarket=1, includeUser="true").json()["data"]
    assert record["priceUsd"] == record["related"]["market"]["priceUsd"] == record["related"]["market"]["price"] == 1.5
    assert record["related"]["user"]["username"] == "a"


def test_a_market_without_a_price_in_usd_has_nulls(fetch):
    # Its own trades have no source of a price in USD.
    price(TokenFactory(contract_address=ADDRESS), price_quote=Decimal("0.0005"), tx_count_24h=3)
    record = fetch(8453, ADDRESS, includeMarket=1).json()["data"]
    assert record["priceUsd"] is None
    market = record["related"]["market"]
    assert market.pop("marketDataUpdatedAt").endswith("Z")
    assert market.pop("txCount24h") == 3
    assert set(market.values()) == {None}


def test_a_chain_without_any_source_has_no_market(fetch):
    TokenFactory(contract_address=ADDRESS)
    record = fetch(8453, ADDRESS, includeMarket=1).json()["data"]
    assert (record["priceUsd"], record["related"]) == (None, {"market": None})


def test_a_blocked_token_is_found_and_marked(fetch):
    TokenFactory(contract_address=ADDRESS, blocked=True)
    assert fetch(8453, ADDRESS).json()["data"]["tags"]["blocked"] is True
