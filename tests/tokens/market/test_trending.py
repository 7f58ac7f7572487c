"""Tests of `GET /api/tokens/trending` on the provider's chains, against an HTTP stand-in for it."""

import json
import subprocess
import sys
import threading
from itertools import pairwise

import pytest
from django.db import connection
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from config.environment.variables import BASE_DIR
from config.processes.concurrency_limits import SLOTS
from config.redis import single_flight
from config.redis.connection import PREFIX, redis_client
from development.standins import market_server as sample
from development.standins.http_server import Mode
from tests.processes.waiting import wait_for
from tests.rows.factories import SolanaTokenFactory, TokenFactory
from tokens.market import price_refresh, provider_rate_limit, trending
from tokens.market.pool_statistics import CHANGE_PERIODS, PERIODS
from tokens.market.provider_responses import parse_pools
from tokens.market.trending_sorts import CATEGORY_SORTS, DEFAULT_TRENDING_SORT, TRENDING_SORTS, sort_pools
from tokens.models import Token

pytestmark = pytest.mark.django_db

PATH = "/api/tokens/trending"
WRAPPED_SOL = sample.WRAPPED_SOL
POOL_KEYS = {
    "name", "address", "base_token_price_usd", "quote_token_price_usd", "pool_created_at", "fdv_usd", "market_cap_usd",
    "reserve_in_usd", "price_change_percentage", "volume_usd", "transactions",
}  # fmt: skip
KEY = f"{PREFIX}shared:trending:{trending.CACHE_VERSION}:8453:{DEFAULT_TRENDING_SORT}:1"


def launch(market, count=1, **columns):
    """Create tokens whose pools are trending."""
    tokens = TokenFactory.create_batch(count, **columns)
    for token in tokens:
        show(market, token.pool_address, base=token.contract_address)
    return tokens


def show(market, pool, **tokens):
    """Have the stand-in list a pool."""
    market.learn(pool, **tokens)
    market.answer(request_for(pool))


def request_for(pool, *, network="base"):
    return sample.ReceivedRequest(method="GET", target=f"/networks/{network}/pools/multi/{pool}", headers={})


def grow_stale():
    """Let the fresh time pass, and the back-off after a failure."""
    redis_client().pexpire(KEY, (86_400 - 301) * 1000)
    forget_failure()


def expect_long_outage():
    """Have the next failure open the circuit for longer than a test takes."""
    redis_client().set(provider_rate_limit.CIRCUIT_BREAKER.failures_key, 99)


def forget_failure():
    redis_client().delete(provider_rate_limit.CIRCUIT_BREAKER.key)


# Refusals.


@pytest.mark.parametrize("chain_id", [424242, 84532])
def test_it_refuses_a_chain_that_is_unknown_or_without_market(client, market, chain_id):
    answer = client.get(PATH, {"chainId": chain_id})
    assert (answer.status_code, answer.headers["Cache-Control"]) == (400, "no-store")
    assert [detail["field"] for detail in answer.json()["details"]] == ["chainId"]
    assert not market.received


@pytest.mark.parametrize("mode", [Mode.FAIL, Mode.WRONG_SHAPE, Mode.WRONG_KEY, Mode.STALL])
def test_without_a_response_it_reports_it_and_opens_the_circuit(client, market, settings, mode):
    launch(market)
    expect_long_outage()
    default_timeout, settings.MARKET_TIMEOUT_SECONDS = settings.MARKET_TIMEOUT_SECONDS, 0.3
    market.behave(mode, seconds=3)
    for _ in range(3):
        answer = client.get(PATH)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (502, "no-store")
        assert "Retry-After" in answer.headers
        assert set(answer.json()) == {"error"}
    assert len(market.received) == 1
    settings.MARKET_TIMEOUT_SECONDS = default_timeout
    market.behave(Mode.OK)
    assert client.get(PATH).status_code == 502
    forget_failure()
    assert client.get(PATH).status_code == 200


def test_it_sends_nothing_during_the_back_off_and_no_longer(client, market):
    redis_client().set(provider_rate_limit.CIRCUIT_BREAKER.key, 1, ex=600)
    answer = client.get(PATH)
    assert answer.status_code == 502
    assert 590 < int(answer.headers["Retry-After"]) <= 600
    assert not market.received
    redis_client().delete(provider_rate_limit.CIRCUIT_BREAKER.key)
    assert client.get(PATH).status_code == 200


# The call limit.


def end_wait_for_turn():
    """End the wait for the next turn, but not the wait for anonymous callers' next turn."""
    redis_client().delete(provider_rate_limit.NEXT_SLOT_KEY)


def test_many_cold_pages_leave_the_refresh_its_turns(client, market, settings):
    settings.MARKET_CALLS_PER_MINUTE = 5
    launch(market, 3)
    assert client.get(PATH + "?page=10").status_code == 200
    end_wait_for_turn()
    pages = [f"?page={page}&chainId={chain}" for page in range(2, 6) for chain in (8453, 1)]
    for number, query in enumerate(pages):
        answer = client.get(PATH + query, REMOTE_ADDR=f"203.0.113.{number}")
        assert (answer.status_code, answer.headers["Cache-Control"]) == (503, "no-store")
        # Two twelve-second turns, less the ten seconds that were saved.
        assert 1 <= int(answer.headers["Retry-After"]) <= 15
        assert set(answer.json()) == {"error"}
    assert len(market.received) == 1
    assert price_refresh.queue_provider_tokens() == 3
    assert price_refresh.refresh_due_markets() == 3
    assert len(market.received) == 2


def test_odd_pages_of_one_address_displace_neither_the_default_page_nor_those_of_others(client, market, settings):
    settings.MARKET_CALLS_PER_MINUTE = 60
    odd = [{"page": page, "order": order} for page in range(2, 6) for order in TRENDING_SORTS[:10]]
    statuses = [client.get(PATH, query, REMOTE_ADDR="203.0.113.9").status_code for query in odd]
    received = len(market.received)
    assert 1 <= received <= 15
    assert (statuses.count(200), statuses.count(503)) == (received, len(odd) - received)
    end_wait_for_turn()
    assert client.get(PATH, REMOTE_ADDR="203.0.113.9").status_code == 200
    redis_client().delete(provider_rate_limit.NEXT_SLOT_KEY, provider_rate_limit.NEXT_HALF_RATE_SLOT_KEY)
    assert client.get(PATH, {"page": 10}, REMOTE_ADDR="203.0.113.8").status_code == 200


def test_unknown_parameters_cost_no_further_call(client, market):
    assert {client.get(f"{PATH}?x{number}=1").status_code for number in range(80)} == {200}
    assert len(market.received) == 1


def test_a_page_is_requested_as_soon_as_there_is_a_turn(client, market, settings):
    settings.MARKET_CALLS_PER_MINUTE = 1
    client.get(PATH)
    assert client.get(PATH + "?page=2").status_code == 503
    limit_of_address = f"{PREFIX}limit:trending:127.0.0.1"
    redis_client().delete(
        provider_rate_limit.NEXT_SLOT_KEY, provider_rate_limit.NEXT_HALF_RATE_SLOT_KEY, limit_of_address
    )
    assert client.get(PATH + "?page=2").status_code == 200


def test_the_last_response_is_served_until_there_is_a_turn(client, market, settings):
    settings.MARKET_CALLS_PER_MINUTE = 1
    launch(market)
    good = client.get(PATH)
    redis_client().pexpire(KEY, (86_400 - 301) * 1000)
    for _ in range(3):
        answer = client.get(PATH)
        assert (answer.status_code, answer.content) == (200, good.content)
        assert answer.headers["Warning"] == '110 - "Response is Stale"'
    assert len(market.received) == 1
    redis_client().delete(provider_rate_limit.NEXT_SLOT_KEY, provider_rate_limit.NEXT_HALF_RATE_SLOT_KEY)
    assert "Warning" not in client.get(PATH).headers


# A failing provider, with a cached response.


@pytest.mark.parametrize("mode", [Mode.FAIL, Mode.RATE_LIMIT])
def test_the_last_good_response_is_served_when_stale(client, market, settings, mode):
    launch(market, 2)
    good = client.get(PATH)
    assert "Warning" not in good.headers
    grow_stale()
    expect_long_outage()
    # Only now: a good response may take longer than that on a busy machine.
    default_timeout, settings.MARKET_TIMEOUT_SECONDS = settings.MARKET_TIMEOUT_SECONDS, 0.3
    market.behave(mode, seconds=3)
    for _ in range(3):
        answer = client.get(PATH)
        assert (answer.status_code, answer.content) == (200, good.content)
        assert answer.headers["Warning"] == '110 - "Response is Stale"'
        assert answer.headers["Cache-Control"] == "public, s-maxage=30"
    assert len(market.received) == 2
    settings.MARKET_TIMEOUT_SECONDS = default_timeout
    market.behave(Mode.OK)
    forget_failure()
    assert "Warning" not in client.get(PATH).headers


def test_an_answer_that_another_release_has_kept_is_not_read(client, market):
    launch(market)
    redis_client().set(f"{PREFIX}shared:trending:8453:{DEFAULT_TRENDING_SORT}:1", '[{"address": "0x1"}]', ex=86_400)
    assert client.get(PATH).status_code == 200
    (kept,) = json.loads(redis_client().get(KEY))
    spans = [set(kept[name]) for name in ("price_change_percentage", "volume_usd", "transactions")]
    # A change here needs a higher version.
    assert (trending.CACHE_VERSION, set(kept), spans, set(kept["transactions"]["h24"])) == (
        1,
        POOL_KEYS | {"base_token", "quote_token"},
        [{"m5", "h1", "h6", "h24"}, *[{"m5", "m15", "m30", "h1", "h6", "h24"}] * 2],
        {"buys", "sells", "buyers", "sellers"},
    )


def test_it_is_served_when_stale_for_a_day(client, market):
    client.get(PATH)
    assert 86_300 < redis_client().ttl(KEY) <= 86_400


# Responses.


def test_a_page_has_the_pools_in_order_with_our_tokens(client, market):
    ours, by_base = launch(market)[0], TokenFactory(pool_address="0x" + "77" * 32)
    others = ["0x" + "12" * 20, "0x" + "34" * 32]
    show(market, others[0], base=by_base.contract_address)
    show(market, others[1], base="0x" + "56" * 20)

    answer = client.get(PATH)

    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "public, s-maxage=300")
    body = answer.json()
    assert sorted(body["trending"]) == sorted([ours.pool_address, *others])
    assert list(body["tokens"]) == body["trending"]
    for token, pool in [(ours, ours.pool_address), (by_base, others[0])]:
        record = body["tokens"][pool]
        plain = client.get(f"/api/tokens/fetch-by-pool-address?poolAddress={token.pool_address}").json()["data"]
        assert record == plain | {"pool": record["pool"]}
        assert record["id"] == token.pk
    assert set(body["tokens"][others[1]]) == {"pool"}
    changes = [float(body["tokens"][pool]["pool"]["price_change_percentage"]["h24"]) for pool in body["trending"]]
    assert changes == sorted(changes, reverse=True)


def test_pools_of_solana_are_named_as_they_are_and_known_letter_by_letter(client, market):
    token, stranger = SolanaTokenFactory(), SolanaTokenFactory()
    # None of our pools has the second one's address, but one has the same letters in the other case.
    other = SolanaTokenFactory(pool_address=stranger.pool_address.swapcase())
    Token.objects.filter(pk=stranger.pk).delete()
    for pool, base in ((token.pool_address, token.contract_address), (stranger.pool_address, WRAPPED_SOL)):
        market.learn(pool, base=base)
        market.answer(request_for(pool, network="solana"))
    found = client.get(PATH, {"chainId": 101}).json()
    assert set(found["trending"]) == set(found["tokens"]) == {token.pool_address, stranger.pool_address}
    assert found["tokens"][token.pool_address]["contract_address"] == token.contract_address
    assert set(found["tokens"][stranger.pool_address]) == {"pool"}
    assert other.contract_address not in str(found)


def test_a_pool_is_described_by_the_providers_own_digits(client, market):
    (token,) = launch(market)
    pool = client.get(PATH).json()["tokens"][token.pool_address]["pool"]
    assert set(pool) == POOL_KEYS
    assert (pool["address"], pool["market_cap_usd"]) == (token.pool_address, None)
    for name in ("base_token_price_usd", "quote_token_price_usd", "fdv_usd", "reserve_in_usd"):
        assert float(pool[name]) > 0 and isinstance(pool[name], str)
    assert pool["quote_token_price_usd"] == "3000.0"
    assert (set(pool["price_change_percentage"]), set(pool["volume_usd"])) == (set(CHANGE_PERIODS), set(PERIODS))
    assert isinstance(pool["transactions"]["h24"]["buys"], int)


def test_nonsense_is_null_and_spoils_nothing_else(client, market):
    tokens = launch(market, 3)

    def spoil(requested, body):
        first, second = body["data"][:2]
        first["attributes"] |= {"base_token_price_usd": "1e30", "name": "A\0B", "transactions": None, "fdv_usd": [5]}
        second["attributes"]["address"] = None
        return {**body, "data": [None, 7, *body["data"]]}

    market.change = spoil
    body = client.get(PATH).json()
    assert len(body["trending"]) == len(tokens) - 1
    pool = body["tokens"][body["trending"][0]]["pool"]
    spoiled = next(found["pool"] for found in body["tokens"].values() if found["pool"]["name"] == "AB")
    assert (spoiled["base_token_price_usd"], spoiled["fdv_usd"]) == (None, None)
    assert spoiled["transactions"]["h24"] == {"buys": None, "sells": None, "buyers": None, "sellers": None}
    assert pool["quote_token_price_usd"] == "3000.0"


def test_pools_of_blocked_tokens_are_left_out_and_those_of_dropped_launches_are_strangers(client, market):
    blocked, other, dropped = launch(market)[0], TokenFactory(blocked=True), launch(market, unindexed=True)[0]
    show(market, "0x" + "12" * 20, base=other.contract_address)
    assert dropped.pool_address in client.get(PATH).json()["trending"]
    blocked.blocked = True
    blocked.save()
    body = client.get(PATH).json()
    assert body["trending"] == list(body["tokens"]) == [dropped.pool_address]
    assert set(body["tokens"][dropped.pool_address]) == {"pool"}


def test_a_token_of_another_chain_is_none_of_this_one(client, market):
    (token,) = launch(market, chain_id=1)
    assert set(client.get(PATH).json()["tokens"][token.pool_address]) == {"pool"}


def test_addresses_are_matched_in_any_case(client, market):
    token = TokenFactory(pool_address="0xaAaAaAaaAaAaAaaAaAAAAAAAAaaaAaAaAaaAaaAa")
    show(market, token.pool_address, base=token.contract_address)
    assert client.get(PATH).json()["tokens"][token.pool_address.lower()]["id"] == token.pk


def test_there_may_be_nothing(client, market):
    assert client.get(PATH).json() == {"trending": [], "tokens": {}}
    market.refuse = lambda requested: 404
    assert client.get(PATH + "?page=2").json() == {"trending": [], "tokens": {}}


@pytest.mark.parametrize("pools", [1, 20])
def test_it_costs_one_query_however_many_pools(client, market, django_assert_num_queries, pools):
    launch(market, pools)
    client.get(PATH)
    with django_assert_num_queries(1):
        assert len(client.get(PATH).json()["trending"]) == pools


# Requests to the provider.


def requested_paths(market):
    return [
        (requested.path, requested.query.get("sort") or requested.query.get("duration"))
        for requested in market.received
    ]


@pytest.mark.parametrize(
    ("order", "path", "by"),
    [
        ("m5_trending", "trending_pools", "5m"),
        ("h6_trending", "trending_pools", "6h"),
        ("h24_tx_count_desc", "pools", "h24_tx_count_desc"),
        ("h24_volume_usd_desc", "pools", "h24_volume_usd_desc"),
        ("pool_created_at_desc", "new_pools", None),
        ("h24_volume_usd_asc", "trending_pools", "24h"),
        ("h1_price_change_percentage_asc", "trending_pools", "1h"),
        ("fdv_usd_desc", "trending_pools", "24h"),
    ],
)
def test_the_free_tier_is_queried_for_the_nearest_it_has(client, market, order, path, by):
    assert client.get(f"{PATH}?order={order}&page=3").status_code == 200
    assert requested_paths(market) == [(f"/networks/base/{path}", by)]
    assert market.received[0].query["page"] == "3"
    assert "x-cg-pro-api-key" not in market.received[0].headers


def test_the_keyed_tier_sorts_by_every_order(client, market, settings):
    settings.MARKET_API_KEY = "secret"
    launch(market, 3)
    for order in TRENDING_SORTS:
        assert len(client.get(f"{PATH}?order={order}").json()["trending"]) == 3
        requested = market.received[-1]
        found = (requested.path, requested.query["networks"], requested.query["sort"])
        assert found == ("/pools/megafilter", "base", order)
        assert requested.headers["x-cg-pro-api-key"] == "secret"


def test_a_category_is_requested_where_there_is_one_for_the_pools_of_the_chain(client, market, settings):
    settings.MARKET_API_KEY, settings.MARKET_CATEGORY = "secret", "launchpad"
    launch(market, 2)
    market.learn("0x" + "99" * 20, base="0x" + "98" * 20)
    market.answer(sample.ReceivedRequest(method="GET", target="/networks/eth/pools/multi/0x" + "99" * 20, headers={}))
    for order in TRENDING_SORTS:
        assert len(client.get(f"{PATH}?order={order}").json()["trending"]) == 2
        requested = market.received[-1]
        assert requested.path == "/categories/launchpad/pools"
        assert requested.query["sort"] in CATEGORY_SORTS
        assert (requested.query["sort"] == order) is (order in CATEGORY_SORTS)


def test_other_chains_have_lists_of_their_own(client, market):
    client.get(PATH)
    client.get(PATH + "?chainId=8453&page=1&order=" + DEFAULT_TRENDING_SORT)
    client.get(PATH + "?chainId=1")
    assert [path.split("/")[2] for path, _ in requested_paths(market)] == ["base", "eth"]


@pytest.mark.parametrize(
    ("nodes", "network"),
    [
        ([], "base"),
        ([84532], "base"),
        ([1], "eth"),
        ([56, 84532, 1], "eth"),
        ([1, 8453], "base"),
    ],
)
def test_without_chain_it_is_the_first_with_a_market_and_one_with_a_node_before_others(
    client, market, settings, nodes, network
):
    settings.RPC_URLS = dict.fromkeys(nodes, ("http://127.0.0.1:9",))
    assert client.get(PATH).status_code == 200
    assert [path.split("/")[2] for path, _ in requested_paths(market)] == [network]


def test_a_registry_whose_first_chain_has_no_market_has_a_default_all_the_same(
    client, market, settings, forget_chains, tmp_path
):
    mine = tmp_path / "mine.toml"
    mine.write_text('[chains.31337]\nname = "Mine"\nnative = "ETH"\nfinality_depth = 1\nmarket_network = "mine"\n')
    settings.CHAINS_FILES, settings.RPC_URLS = (str(mine),), {84532: (), 31337: ()}
    settings.MARKET_PROVIDER_CHAINS = (84532, 31337)
    forget_chains()
    client.get(PATH)
    assert [path.split("/")[2] for path, _ in requested_paths(market)] == ["mine"]


values = st.none() | st.floats(-100, 1e6).map(lambda number: f"{number:.2f}")


@given(order=st.sampled_from(TRENDING_SORTS), numbers=st.lists(values, max_size=8))
def test_our_own_sorting_puts_what_is_unknown_last(order, numbers):
    entries = [
        sample.pool("base", f"0x{i:040x}", 1.8e9, tokens=(f"0x{i:040x}", sample.WRAPPED_NATIVE)) for i in range(8)
    ]
    for entry, number in zip(entries, numbers, strict=False):
        count = None if number is None else abs(int(float(number)))
        entry["attributes"] |= {
            "price_change_percentage": dict.fromkeys(CHANGE_PERIODS, number),
            "volume_usd": {"h24": None if number is None else number.lstrip("-")},
            "fdv_usd": None if number is None else number.lstrip("-"),
            "reserve_in_usd": None if number is None else number.lstrip("-"),
            "transactions": {"h24": {"buys": count, "sells": 0}},
            "pool_created_at": None if number is None else f"2026-01-01T00:00:{count % 60:02d}",
        }
    pools = parse_pools({"data": entries[: len(numbers)]})
    ordered = sort_pools(pools, sort=order)
    assert sorted(pool.address for pool in ordered) == sorted(pool.address for pool in pools)
    if order.endswith("_trending"):
        assert ordered == pools
        return
    keys = [key_of(pool, order) for pool in ordered]
    known = [key for key in keys if key is not None]
    assert keys == known + [None] * (len(keys) - len(known))
    pairs = list(pairwise(known))
    assert all(a >= b for a, b in pairs) if order.endswith("desc") else all(a <= b for a, b in pairs)


def key_of(pool, order):
    if "price_change" in order:
        text = pool.price_change_percentage[order.partition("_")[0]]
    elif "volume" in order:
        text = pool.volume_usd["h24"]
    elif "tx_count" in order:
        text = pool.transactions["h24"]["buys"]
    elif "created" in order:
        return pool.pool_created_at
    else:
        text = getattr(pool, order.rpartition("_")[0])
    return None if text is None else float(text)


# Many callers at once.

CALLERS = 12
FETCH = f"""
import django, json, sys, threading
django.setup()
from django.test import Client
answers = []
threads = [threading.Thread(target=lambda: answers.append(Client().get("{PATH}"))) for _ in range({CALLERS})]
print("ready", flush=True)
input()
for thread in threads: thread.start()
for thread in threads: thread.join()
print(json.dumps([[answer.status_code, answer.content.decode()] for answer in answers]))
"""


def call(answers, query=None):
    try:
        answers.append(Client().get(PATH, query))
    finally:
        connection.close()


def call_together(count):
    answers = []
    threads = [threading.Thread(target=call, args=(answers,)) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


@pytest.mark.django_db(transaction=True)
def test_many_callers_cost_one_call(market):
    launch(market, 3)
    # Long enough for all to come while it lasts.
    market.behave(Mode.STALL, seconds=1)
    answers = call_together(CALLERS)
    assert len(market.received) == 1
    # One fetches, another one waits, and all others' threads stay free.
    assert sorted(answer.status_code for answer in answers) == [200] * SLOTS + [503] * (CALLERS - SLOTS)
    assert len({answer.content for answer in answers}) == 2


@pytest.mark.django_db(transaction=True)
def test_a_provider_that_stalls_holds_few_threads_whatever_pages_are_requested(market, settings):
    settings.MARKET_CALLS_PER_MINUTE = 10_000
    market.behave(Mode.STALL, seconds=60)
    held = [threading.Thread(target=call, args=([], {"page": page + 1})) for page in range(SLOTS)]
    for thread in held:
        thread.start()
    wait_for(lambda: len(market.received) == SLOTS)
    for page in (1, 5):
        answer = Client().get(PATH, {"page": page})
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    market.closed.set()
    for thread in held:
        thread.join()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("mode", [Mode.FAIL, Mode.NOT_JSON])
def test_many_callers_of_a_failing_provider_cost_one_call(market, mode):
    market.behave(mode)
    expect_long_outage()
    assert {answer.status_code for answer in call_together(CALLERS)} <= {502, 503}
    assert len(market.received) == 1


@pytest.mark.django_db(transaction=True)
def test_callers_in_two_processes_cost_one_call(market, settings, service_environment):
    launch(market, 3)
    settings.REDIS_URL = service_environment["REDIS_URL"]
    environment = service_environment | {
        "MARKET_PROVIDER_CHAINS": "8453",
        "MARKET_BASE_URL": market.url,
        "ALLOWED_HOSTS": "testserver",
    }
    market.behave(Mode.STALL, seconds=1)
    command = [sys.executable, "-c", FETCH]
    with subprocess.Popen(
        command, cwd=BASE_DIR, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "ready\n"
        other.stdin.write("\n")
        other.stdin.flush()
        answers = [(answer.status_code, answer.content.decode()) for answer in call_together(CALLERS)]
        answers += map(tuple, json.loads(other.stdout.readline()))
    assert len(answers) == 2 * CALLERS
    statuses = [status for status, _ in answers]
    assert set(statuses) == {200, 503}
    assert statuses.count(200) >= 2
    assert len({content for status, content in answers if status == 200}) == 1
    assert len(market.received) == 1


@pytest.mark.django_db(transaction=True)
def test_while_one_fetches_the_others_get_the_last_response_at_once(market):
    launch(market, 3)
    good = call_together(1)[0]
    grow_stale()
    market.behave(Mode.STALL, seconds=60)
    leader = threading.Thread(target=call, args=([],))
    leader.start()
    wait_for(lambda: len(market.received) == 2)
    assert all(answer.content == good.content and "Warning" in answer.headers for answer in call_together(3))
    assert len(market.received) == 2
    market.closed.set()
    leader.join()


def test_a_leader_that_dies_while_fetching_is_replaced(client, market):
    launch(market)
    lock = redis_client().lock(f"{KEY}:lock", timeout=1)
    assert lock.acquire()
    assert client.get(PATH).status_code == 200


# Without Redis.


@pytest.mark.django_db(transaction=True)
def test_without_redis_it_responds_and_each_process_fetches_once(market, settings):
    single_flight._fetch_in_process.cache_clear()
    launch(market)
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    market.behave(Mode.FAIL)
    assert {answer.status_code for answer in call_together(1)} == {502}
    market.behave(Mode.STALL, seconds=1)
    answers = call_together(CALLERS)
    assert sorted(answer.status_code for answer in answers) == [200] * SLOTS + [503] * (CALLERS - SLOTS)
    assert len(market.received) == 2
