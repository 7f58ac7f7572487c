"""Tests of `GET /api/tokens/is-blocked`."""

import pytest

from tests.rows.factories import TokenFactory

pytestmark = pytest.mark.django_db

PATH = "/api/tokens/is-blocked"
ADDRESS = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
MINT = "So11111111111111111111111111111111111111112"


@pytest.fixture
def fetch(client, read_key):
    """Send the parameters with a key and return the response."""
    return lambda **parameters: client.get(PATH, parameters, headers=read_key)


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({}, "address"),
        ({"address": ""}, "address"),
        ({"address": "0x12"}, "address"),
        ({"address": ADDRESS + "\0"}, "address"),
        ({"address": "0x" + "ab" * 32}, "address"),
        ({"address": MINT + "1"}, "address"),
        ({"address": ADDRESS, "chainId": "0"}, "chainId"),
        ({"address": ADDRESS, "chainId": "abc"}, "chainId"),
        ({"address": ADDRESS, "chainId": str(2**63)}, "chainId"),
    ],
)
def test_it_refuses_a_bad_parameter_by_name(fetch, parameters, field):
    answer = fetch(**parameters)
    assert answer.status_code == 400
    assert [detail["field"] for detail in answer.json()["details"]] == [field]
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_it_takes_get_only(client, read_key, method):
    answer = getattr(client, method)(PATH, headers=read_key)
    assert (answer.status_code, set(answer.json())) == (405, {"error"})


@pytest.mark.parametrize("parameters", [{}, {"chainId": 8453}, {"chainId": 2**63 - 1}])
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


def test_a_mint_is_case_sensitive(fetch):
    TokenFactory(contract_address=MINT, blocked=True)
    assert fetch(address=MINT).json() == {"address": MINT, "blocked": True}
    other = MINT.replace("So1", "So2")
    assert fetch(address=other).json() == {"address": other, "blocked": False}


def test_it_answers_with_a_trailing_slash(client, read_key):
    assert client.get(PATH + "/", {"address": ADDRESS}, headers=read_key).status_code == 200


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
