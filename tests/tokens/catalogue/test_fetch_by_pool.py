"""Tests of `GET /api/tokens/fetch-by-pool-address` and `POST /api/tokens/fetch-by-pool-addresses`."""

import json

import pytest

from tests.rows.factories import TokenFactory

pytestmark = pytest.mark.django_db

ONE, MANY = "/api/tokens/fetch-by-pool-address", "/api/tokens/fetch-by-pool-addresses"
V3_POOL = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
V4_POOL = "0x" + "ab" * 32


@pytest.fixture
def post(client):
    """Send a JSON body and return the response."""
    return lambda body: client.post(MANY, json.dumps(body), content_type="application/json")


@pytest.mark.parametrize("hidden", [{"unindexed": True}, {"pool_address": V4_POOL}])
def test_a_miss_is_an_empty_object(client, hidden):
    TokenFactory(**({"pool_address": V3_POOL} | hidden))
    answer = client.get(ONE, {"poolAddress": V3_POOL})
    assert (answer.status_code, answer.json()) == (200, {})


@pytest.mark.parametrize("stored", [V3_POOL, V4_POOL])
@pytest.mark.parametrize("spell", [str, str.lower, lambda text: "0x" + text[2:].upper()])
def test_it_finds_a_token_by_its_pool_in_any_case(client, stored, spell, django_assert_num_queries):
    token = TokenFactory(pool_address=stored)
    with django_assert_num_queries(1):
        answer = client.get(ONE, {"poolAddress": spell(stored), "chain": "x"})
    record = answer.json()["data"]
    assert (record["id"], record["pool_address"], record["warnings"]) == (token.pk, stored, [])
    assert answer.headers["Cache-Control"] == "public, s-maxage=2"
    assert answer.headers["X-Ignored-Params"] == "chain"


def test_it_finds_a_blocked_token_and_marks_it(client):
    TokenFactory(pool_address=V3_POOL, blocked=True)
    assert client.get(ONE, {"poolAddress": V3_POOL}).json()["data"]["tags"]["blocked"] is True


def test_a_body_is_bounded_by_what_a_hundred_pools_need(client, post):
    pools = [f"0x{number:064x}" for number in range(100)]
    indented = json.dumps({"poolAddresses": pools}, indent=8)
    assert client.post(MANY, indented, content_type="application/json").status_code == 200
    answer = client.post(MANY, indented.ljust(16_001), content_type="application/json")
    assert (answer.status_code, answer.json()) == (413, {"error": "Request body is over 16000 bytes"})


def test_at_most_twenty_bad_entries_are_reported(post):
    details = post({"poolAddresses": ["x"] * 100}).json()["details"]
    assert [detail["field"] for detail in details] == [f"poolAddresses[{n}]" for n in range(19)] + ["body"]
    assert details[-1]["message"] == "breaks rules in 81 more places"


def test_it_answers_by_lower_case_pool_and_leaves_misses_out(post):
    first = TokenFactory(pool_address=V3_POOL)
    second = TokenFactory(pool_address=V4_POOL, blocked=True)
    TokenFactory(pool_address="0x" + "ee" * 32, unindexed=True)
    requested = [V3_POOL.upper().replace("X", "x"), V4_POOL, "0x" + "ee" * 32, "0x" + "00" * 20]
    answer = post({"poolAddresses": requested})
    found = {pool: record["id"] for pool, record in answer.json()["data"].items()}
    assert found == {V3_POOL.lower(): first.pk, V4_POOL: second.pk}
    assert answer.headers["Cache-Control"] == "no-store"


def test_a_hundred_pools_take_one_query(post, django_assert_num_queries):
    pools = [token.pool_address for token in TokenFactory.create_batch(100)]
    with django_assert_num_queries(1):
        answer = post({"poolAddresses": pools})
    assert set(answer.json()["data"]) == set(pools)


def test_no_pools_give_no_tokens(post):
    assert post({"poolAddresses": []}).json() == {"data": {}}
