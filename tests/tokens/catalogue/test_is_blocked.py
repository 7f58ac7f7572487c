"""GET /api/tokens/is-blocked"""

import pytest

from tests.rows.factories import TokenFactory

pytestmark = pytest.mark.django_db

PATH = "/api/tokens/is-blocked"
ADDRESS = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
MINT = "So11111111111111111111111111111111111111112"


@pytest.fixture
def ask(client, read_key):
    """Sends the parameters with a key and returns the answer."""
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
def test_it_refuses_a_bad_parameter_by_name(ask, parameters, field):
    answer = ask(**parameters)
    assert answer.status_code == 400
    assert [detail["field"] for detail in answer.json()["details"]] == [field]
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_it_takes_get_alone(client, read_key, method):
    answer = getattr(client, method)(PATH, headers=read_key)
    assert (answer.status_code, set(answer.json())) == (405, {"error"})


@pytest.mark.parametrize("parameters", [{}, {"chainId": 8453}, {"chainId": 2**63 - 1}])
def test_an_unknown_token_is_not_blocked(ask, parameters):
    TokenFactory(blocked=True)
    answer = ask(address=ADDRESS, partner="x", **parameters)
    assert (answer.status_code, answer.json()) == (200, {"address": ADDRESS, "blocked": False})
    assert answer.headers["Cache-Control"] == "private, max-age=60"
    assert answer.headers["X-Ignored-Params"] == "partner"


@pytest.mark.parametrize("blocked", [False, True])
@pytest.mark.parametrize("spell", [str, str.lower, lambda text: "0X" + text[2:].upper()])
def test_it_tells_of_a_token_in_any_case(ask, spell, blocked):
    TokenFactory(contract_address=ADDRESS, blocked=blocked)
    assert ask(address=spell(ADDRESS)).json() == {"address": ADDRESS, "blocked": blocked}


def test_a_mint_is_case_sensitive(ask):
    TokenFactory(contract_address=MINT, blocked=True)
    assert ask(address=MINT).json() == {"address": MINT, "blocked": True}
    other = MINT.replace("So1", "So2")
    assert ask(address=other).json() == {"address": other, "blocked": False}


def test_it_answers_with_a_trailing_slash(client, read_key):
    assert client.get(PATH + "/", {"address": ADDRESS}, headers=read_key).status_code == 200


def test_without_a_chain_a_block_on_any_counts(ask):
    TokenFactory(contract_address=ADDRESS, chain_id=8453)
    TokenFactory(contract_address=ADDRESS, chain_id=1, blocked=True)
    assert ask(address=ADDRESS).json()["blocked"] is True
    assert ask(address=ADDRESS, chainId=1).json()["blocked"] is True
    assert ask(address=ADDRESS, chainId=8453).json()["blocked"] is False


def test_a_block_outlasts_a_reorg(ask):
    TokenFactory(contract_address=ADDRESS, blocked=True, unindexed=True)
    assert ask(address=ADDRESS).json()["blocked"] is True


def test_it_asks_the_database_for_key_and_token(ask, django_assert_num_queries):
    TokenFactory(contract_address=ADDRESS, blocked=True)
    ask(address=ADDRESS)
    with django_assert_num_queries(2):
        assert ask(address=ADDRESS).json()["blocked"] is True
