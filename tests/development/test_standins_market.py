"""development/standins/market_server.py: the documented schemas of both tiers, and prices by the clock."""

from collections.abc import Iterator

import pytest
import requests

from development.standins.http_server import StandIn, StandInResponse
from development.standins.loopback import ReceivedRequest
from development.standins.market_server import MAX_ADDRESSES, PAGE_SIZE, WRAPPED_NATIVE, MarketStandIn, price

TOKEN, POOL = "0x" + "ab" * 20, "0x" + "cd" * 32
ADDRESSES = [f"0x{number:040x}" for number in range(1, 60)]


@pytest.fixture
def provider() -> Iterator[MarketStandIn]:
    with MarketStandIn(clock=lambda: 1_800_000_000.0) as running:
        yield running


def get(provider, path, *, key=False, **query):
    headers = {"x-cg-pro-api-key": "k"} if key else {}
    return requests.get(provider.url + path, params=query, headers=headers, timeout=60)


def listed(answer):
    return [entry["attributes"]["address"] for entry in answer.json()["data"]]


@pytest.mark.parametrize("path", ["/pools/megafilter", "/categories/pump-fun/pools"])
def test_the_paid_lists_want_a_key(provider, path):
    assert get(provider, path, networks="base").status_code == 401
    assert get(provider, path, networks="base", key=True).status_code == 200


@pytest.mark.parametrize("page", ["0", "11", "x"])
def test_it_refuses_a_page_that_is_none(provider, page):
    assert get(provider, "/networks/base/trending_pools", page=page).status_code == 400


@pytest.mark.parametrize("kind", ["pools", "tokens"])
def test_it_refuses_more_addresses_than_the_provider_takes(provider, kind):
    addresses = ",".join(ADDRESSES[: MAX_ADDRESSES + 1])
    assert get(provider, f"/networks/base/{kind}/multi/{addresses}").status_code == 422


def test_it_has_no_other_paths(provider):
    assert get(provider, "/networks/base/dexes").status_code == 404


def test_it_has_only_the_configured_pools(provider):
    provider.learn(POOL.upper().replace("0X", "0x"), base=TOKEN)
    answer = get(provider, f"/networks/base/pools/multi/{POOL},{ADDRESSES[0]},nonsense")
    (pool,) = answer.json()["data"]
    assert pool["id"] == f"base_{POOL}"
    assert pool["relationships"]["base_token"]["data"]["id"] == f"base_{TOKEN}"
    assert pool["relationships"]["quote_token"]["data"]["id"] == f"base_{WRAPPED_NATIVE}"
    about = pool["attributes"]
    # All numbers are texts, except trade counts.
    assert float(about["base_token_price_usd"]) == pytest.approx(price(TOKEN, provider.clock()))
    assert isinstance(about["transactions"]["h24"]["buys"], int)
    assert about["market_cap_usd"] is None


class Service(StandIn):
    """Service that has one token."""

    TAKES_POSTS = True

    def answer(self, received: ReceivedRequest) -> StandInResponse | None:
        return StandInResponse({"data": {POOL: {"contract_address": TOKEN}}})


def test_it_has_the_pools_of_a_services_tokens():
    with Service() as service, MarketStandIn(service=service.url) as provider:
        (pool,) = get(provider, f"/networks/base/pools/multi/{POOL},{ADDRESSES[0]}").json()["data"]
        assert pool["relationships"]["base_token"]["data"]["id"] == f"base_{TOKEN}"
        assert listed(get(provider, "/networks/base/trending_pools")) == [POOL]
        (asked,) = service.received
        assert (asked.path, asked.method) == ("/api/tokens/fetch-by-pool-addresses", "POST")


def test_a_service_that_does_not_respond_has_no_pools():
    with MarketStandIn(service="http://127.0.0.1:9") as provider:
        assert get(provider, f"/networks/base/pools/multi/{POOL}").json()["data"] == []


def test_it_has_every_token_and_gives_it_a_pool(provider):
    answer = get(provider, f"/networks/base/tokens/multi/{TOKEN}", include="top_pools").json()
    (token,), (pool,) = answer["data"], answer["included"]
    assert token["attributes"]["price_usd"] == pool["attributes"]["base_token_price_usd"]
    assert token["relationships"]["top_pools"]["data"] == [{"id": pool["id"], "type": "pool"}]


def test_requested_tokens_are_trending_on_their_network(provider):
    for address in ADDRESSES[:45]:
        provider.learn(address, base=address)
    for start in (0, 30):
        get(provider, f"/networks/base/pools/multi/{','.join(ADDRESSES[start : start + 30])}")
    get(provider, f"/networks/eth/tokens/multi/{TOKEN}")
    pages = [listed(get(provider, "/networks/base/trending_pools", page=page)) for page in (1, 2, 3, 4)]
    assert [len(page) for page in pages] == [PAGE_SIZE, PAGE_SIZE, 5, 0]
    assert sorted(sum(pages, [])) == ADDRESSES[:45]
    assert len(listed(get(provider, "/pools/megafilter", networks="eth", key=True))) == 1
    assert listed(get(provider, "/networks/unichain/new_pools")) == []


def test_prices_follow_only_the_clock(provider):
    assert price(TOKEN, 5.0) == price(TOKEN, 5.0) != price(TOKEN, 3605.0)
    now = provider.clock()
    provider.learn(POOL, base=TOKEN)
    (pool,) = get(provider, f"/networks/base/pools/multi/{POOL}").json()["data"]
    change = float(pool["attributes"]["price_change_percentage"]["h1"])
    assert change == pytest.approx((price(TOKEN, now) / price(TOKEN, now - 3600) - 1) * 100, abs=0.01)
