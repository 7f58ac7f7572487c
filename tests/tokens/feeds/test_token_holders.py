"""DEXTools' `asset/holders`: an explorer's lists, here a stand-in that folds a node's transfers."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from development.devchain.anvil import CHAIN_ID
from development.standins.explorer_server import ExplorerStandIn
from development.standins.http_server import Mode
from tests.tokens.feeds.feed_worlds import CHAIN, SENDER, TOKEN, WETH, follow_chain, make_pair

pytestmark = pytest.mark.django_db

UNAVAILABLE = "The explorer of this chain is not available"


def fetch(chain: int = CHAIN, client: Any = None, **parameters: Any) -> Any:
    return (client or Client()).get(f"/api/feeds/dextools/{chain}/asset/holders", parameters)


@pytest.fixture
def set_balances(explorer: ExplorerStandIn) -> Callable[..., None]:
    """Return the function that makes the explorer list TOKEN's holders, by their balances."""
    follow_chain()
    make_pair()

    def set_all(*amounts: int) -> None:
        explorer.listed[TOKEN] = [(account(number), amount) for number, amount in enumerate(amounts, 1)]

    return set_all


def account(number: int) -> str:
    return f"0x{number:040x}"


def test_a_page_is_fetched_once_with_its_key_and_parameters(set_balances, explorer, settings):
    settings.EXPLORER_API_KEY = "proapi_1"
    set_balances(*[10**20] * 30, 25 * 10**17, 10**17)
    for _ in range(2):
        answer = fetch(id=TOKEN.lower(), page=2, pageSize=15)
        assert answer.json() == {
            "asset": {
                "id": TOKEN,
                "totalHoldersCount": 32,
                "holders": [
                    {"address": "0x000000000000000000000000000000000000001F", "quantity": 2},
                    {"address": account(32), "quantity": 0},
                ],
            }
        }
        assert answer.headers["Cache-Control"] == "public, s-maxage=300"
    counters, listed = explorer.received
    assert {counters.headers["authorization"], listed.headers["authorization"]} == {"Bearer proapi_1"}
    assert counters.path == f"/api/v2/tokens/{TOKEN}/counters"
    assert (listed.query["contractaddress"], listed.query["page"], listed.query["offset"]) == (TOKEN, "3", "15")
    # A page with the same number and another size is another one.
    assert len(fetch(id=TOKEN, page=2, pageSize=10).json()["asset"]["holders"]) == 10


def test_no_key_is_sent_without_one(set_balances, explorer):
    set_balances(10**18)
    assert fetch(id=TOKEN).status_code == 200
    assert "authorization" not in explorer.received[0].headers


def test_a_count_that_lags_behind_the_list_is_at_least_the_list(set_balances, explorer):
    set_balances(*[10**18] * 25)
    explorer.change = lambda received, body: body if received.path == "/api" else body | {"token_holders_count": "0"}
    assert fetch(id=TOKEN, page=1).json()["asset"]["totalHoldersCount"] == 20


def test_an_asset_without_holders_is_not_found(set_balances):
    set_balances()
    assert fetch(id=TOKEN).json()["error"] == "The explorer has no holders of this asset yet"
    # A quote token, which the explorer does not have.
    assert fetch(id=WETH).json()["error"] == "The explorer has no holders of this asset yet"
    assert fetch(id=SENDER).json()["error"] == "Asset not found"


def test_a_chain_without_an_explorer_has_none(set_balances, settings):
    set_balances(10**18)
    settings.EXPLORER_URLS = {CHAIN_ID: settings.EXPLORER_URLS[CHAIN]}
    body = fetch(id=TOKEN).json()
    reason = f"Holders are not served: the operator enables them by EXPLORER_URL_{CHAIN}"
    assert body == {"error": reason, "message": reason, "issues": [], "code": "404"}


@pytest.mark.parametrize(
    "mode", [Mode.FAIL, Mode.WRONG_KEY, Mode.NOT_JSON, Mode.WRONG_SHAPE, Mode.HUGE, Mode.CUT_SHORT]
)
def test_an_explorer_that_fails_is_503_and_nothing_of_it_is_kept(set_balances, explorer, mode):
    set_balances(10**18)
    explorer.behave(mode)
    answer = fetch(id=TOKEN)
    assert (answer.status_code, answer.json()["error"]) == (503, UNAVAILABLE)
    assert (answer.headers["Retry-After"], answer.headers["Cache-Control"]) == ("5", "no-store")
    explorer.behave(Mode.OK)
    assert fetch(id=TOKEN).status_code == 200


@pytest.mark.parametrize(
    "listed",
    [
        [{"address": "0x12", "value": "1"}],
        [{"address": account(1), "value": "-1"}],
        [{"address": account(1), "value": "1" * 79}],
        [{"address": account(1), "value": True}],
        [{"value": "1"}],
        ["x"],
        None,
    ],
)
def test_a_list_of_another_shape_is_503(set_balances, explorer, listed):
    set_balances(10**18)
    explorer.change = lambda received, body: body | {"result": listed}
    assert fetch(id=TOKEN).status_code == 503


def test_retry_after_of_the_explorer_is_passed_on(set_balances, explorer):
    set_balances(10**18)
    explorer.behave(Mode.RATE_LIMIT, seconds=17)
    assert fetch(id=TOKEN).headers["Retry-After"] == "17"


def test_one_address_has_half_of_the_pages_of_a_minute(set_balances, explorer):
    set_balances(10**18)
    statuses = [fetch(id=TOKEN, page=page).status_code for page in range(61)]
    assert statuses == [200] * 60 + [503]
    others = [
        fetch(client=Client(REMOTE_ADDR="203.0.113.9"), id=TOKEN, page=page).status_code for page in range(100, 161)
    ]
    assert others == [200] * 60 + [503]
    third = fetch(client=Client(REMOTE_ADDR="203.0.113.10"), id=TOKEN, page=200)
    assert (third.status_code, int(third.headers["Retry-After"]) <= 60) == (503, True)
    assert len(explorer.received) == 240
    # What is cached costs no call.
    assert fetch(id=TOKEN, page=0).status_code == 200
