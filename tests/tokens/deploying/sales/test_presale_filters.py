"""Tests of the filters in `GET /api/presales`, on the development chain's contracts."""

from typing import Any

import pytest

from development.devchain import node_client
from development.devchain.anvil import CHAIN_ID
from tests.development.devchain import test_devchain_presale as sales
from tests.nodes.devchain_tests import OTHER, SENDER, STRANGER, let_pass
from tests.nodes.relay import relay
from tokens.chains.abi import codec
from tokens.deploying.sales.presale_search import searched_ids

pytestmark = pytest.mark.django_db

PATH = "/api/presales"
DAY, HOUR, ETHER = 86_400, 3_600, 10**18
STATE = codec.load_abi("presale").function("presaleState")


@pytest.fixture
def presale(contracts):
    return node_client.bind_contract(contracts.rpc_url, "Presale", contracts.presale)


@pytest.fixture
def ids(get):
    """Return a page's ids."""

    def ids(**parameters):
        return [each["presaleId"] for each in get(PATH, chainId=CHAIN_ID, **parameters)["presales"]]

    return ids


def make_sales(contracts: Any, presale: Any) -> None:
    """Make a launched, a failed, an active and a successful presale, and another owner's: ids 1 to 5."""

    def send(call: Any, **options: Any) -> None:
        node_client.transact(contracts.rpc_url, call, **options)

    launched, failed = (sales.start(contracts, presale) for _ in range(2))
    send(presale.functions.buyIntoPresale(launched), sender=OTHER, value=ETHER)
    send(presale.functions.endPresale(launched, b"\1" * 32), sender=SENDER)
    send(presale.functions.buyIntoPresale(failed), sender=OTHER, value=1)
    let_pass(contracts, HOUR)
    # The contract records the failure on this call.
    send(presale.functions.withdrawFromPresale(failed, 1, OTHER), sender=OTHER)
    _, successful = (sales.start(contracts, presale) for _ in range(2))
    send(presale.functions.buyIntoPresale(successful), sender=OTHER, value=3 * ETHER)
    sales.start(contracts, presale, presaleOwner=OTHER)


def test_filters_find_presales_by_state_owner_and_admin(contracts, presale, get, ids):
    make_sales(contracts, presale)
    found = {state: ids(state=state) for state in ("active", "successful", "failed", "launched")}
    assert found == {"active": [5, 3], "successful": [4], "failed": [2], "launched": [1]}
    assert ids(owner=OTHER.lower()) == [5]
    assert ids(owner=SENDER, sort="asc") == [1, 2, 3, 4]
    assert ids(tokenAdmin=SENDER) == [5, 4, 3, 2, 1]
    assert ids(tokenAdmin=STRANGER) == []
    assert ids(state="active", owner=SENDER) == [3]
    assert ids(owner=SENDER, limit=1, offset=1) == [3]
    page = get(PATH, chainId=CHAIN_ID, state="active", limit=1)
    assert (page["totalCount"], page["oldestSearched"], page["presales"][0]["state"]) == (2, 1, "active")
    page = get(PATH, chainId=CHAIN_ID, state="failed", offset=1)
    assert (page["totalCount"], page["presales"]) == (1, [])
    page = get(PATH, chainId=CHAIN_ID)
    assert (page["totalCount"], page["oldestSearched"]) == (5, None)


def test_without_a_presale_nothing_is_found(contracts, get):
    assert get(PATH, chainId=CHAIN_ID, state="active") == {"presales": [], "totalCount": 0, "oldestSearched": None}


def test_ended_presales_are_read_once_and_others_again(
    contracts, presale, get, ids, settings, forget_chains, forget_presales
):
    make_sales(contracts, presale)
    read: list[int] = []

    def record(request: Any) -> None:
        for call in request if isinstance(request, list) else [request]:
            data = call["params"][0]["data"] if call["method"] == "eth_call" else ""
            if data.startswith(STATE.selector):
                read.append(int(data[-64:], 16))

    with relay(contracts.rpc_url, before=record) as url:
        settings.RPC_URLS = {CHAIN_ID: (url,)}
        forget_chains()
        # The count searches by the same function; the page's terms are cached.
        get(PATH, chainId=CHAIN_ID)
        read.clear()
        assert ids(state="launched") == [1]
        # One scan over all presales, and one over the others.
        assert sorted(read) == [1, 2, 3, 3, 4, 4, 5, 5]
        read.clear()
        assert (ids(state="failed"), read) == ([2], [])
        forget_presales("presales-other:")
        read.clear()
        assert ids(state="launched") == [1]
        assert sorted(read) == [3, 4, 5]


def test_a_find_that_matches_no_longer_is_left_out(contracts, presale, get, ids, forget_presales):
    first, second = (sales.start(contracts, presale) for _ in range(2))
    assert ids(state="active") == [second, first]
    sales.buy(contracts, presale, first, sender=OTHER, value=3 * ETHER)
    forget_presales("presale-terms:")
    page = get(PATH, chainId=CHAIN_ID, state="active")
    assert ([each["presaleId"] for each in page["presales"]], page["totalCount"]) == ([second], 2)


@pytest.mark.parametrize(
    ("total", "ids"),
    [(0, range(1, 1)), (1, range(1, 2)), (1_000, range(1, 1_001)), (1_001, range(2, 1_002))],
)
def test_the_newest_thousand_are_searched(total, ids):
    assert searched_ids(total) == ids
