"""Tests of `GET /api/tokens/is-blocked`."""

import pytest

from tests.rows.factories import TokenFactory

pytestmark = pytest.mark.django_db

PATH = "/api/tokens/is-blocked"
ADDRESS = "0x5FbDB2315678afecb367f032d93F642f64180aa3"


@pytest.mark.parametrize("parameters", [{}, {"chainId": 8453}, {"chainId": 10143}])
def test_an_unknown_token_is_not_blocked(fetch, parameters):
    TokenFactory(blocked=True)
    answer = fetch(address=ADDRESS, partner="x", **parameters)
    assert (answer.status_code, answer.json()) == (200, {"address": ADDRESS, "blocked": False})
    assert answer.headers["Cache-Control"] == "private, max-age=60"
    assert answer.headers["X-Ignored-Params"] == "partner"


@pytest.mark.parametrize("blocked", [False, True])
@pytest.mark.parametrize("spell", [str, str.lower, lambda text: "0X" + text[2:].upper()])
def test_it_finds_a_token_in_any_case(fetch, spell, blocked):
    TokenFactory(contract_address=ADDRESS, blocked=blocked)
    assert fetch(address=spell(ADDRESS)).json() == {"address": ADDRESS, "blocked": blocked}


def test_without_a_chain_a_block_on_any_counts(fetch):
    TokenFactory(contract_address=ADDRESS, chain_id=8453)
    TokenFactory(contract_address=ADDRESS, chain_id=1, blocked=True)
    assert fetch(address=ADDRESS).json()["blocked"] is True
    assert fetch(address=ADDRESS, chainId=1).json()["blocked"] is True
    assert fetch(address=ADDRESS, chainId=8453).json()["blocked"] is False


def test_a_block_outlasts_a_reorg(fetch):
    TokenFactory(contract_address=ADDRESS, blocked=True, unindexed=True)
    assert fetch(address=ADDRESS).json()["blocked"] is True


def test_it_queries_the_database_for_key_and_token(fetch, django_assert_num_queries):
    TokenFactory(contract_address=ADDRESS, blocked=True)
    fetch(address=ADDRESS)
    with django_assert_num_queries(2):
        assert fetch(address=ADDRESS).json()["blocked"] is True
