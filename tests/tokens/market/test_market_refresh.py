"""Tests of tokens/market/price_refresh.py against an HTTP stand-in of the provider."""

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from config.environment.variables import BASE_DIR
from config.redis.connection import redis_client
from development.servers.processes import die_with_parent
from development.standins.http_server import Mode
from development.standins.market_server import SOL_USD, price
from tests.processes.at_once import own_connection
from tests.processes.waiting import wait_for
from tests.rows.factories import SolanaTokenFactory, TokenFactory
from tokens.catalogue import viewed_tokens
from tokens.market import price_refresh, provider_rate_limit, tasks
from tokens.market.refresh_schedule import INTERVALS, LEASE
from tokens.models import Market, MarketPoint, Token
from tokens.models.market import RefreshPriority

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
# A chain of the registry that the provider doesn't have.
NO_NETWORK = 84532


def launch(market, count=1, **columns):
    """Create tokens whose pools the stand-in has."""
    tokens = TokenFactory.create_batch(count, **columns)
    for token in tokens:
        market.learn(token.pool_address, base=token.contract_address, quote=token.paired_token)
    return tokens


def unknown(market, count=1, **columns):
    """Create tokens that the stand-in has neither by their pool nor by themselves."""
    tokens = TokenFactory.create_batch(count, **columns)
    market.change = without({token.contract_address.lower() for token in tokens})
    return tokens


def without(addresses):
    def leave_out(requested, body):
        kept = [entry for entry in body["data"] if entry["attributes"]["address"] not in addresses]
        return {**body, "data": kept}

    return leave_out


def of(token):
    return Market.objects.get(pk=token.pk)


def due_in(token):
    """Return the time until the token is due, to the second."""
    return timedelta(seconds=round((of(token).due_at - timezone.now()).total_seconds()))


def make_due(**changes):
    Market.objects.update(due_at=timezone.now() - timedelta(seconds=1), **changes)


def resume():
    """End the pause after a failure, as its time does."""
    redis_client().delete(provider_rate_limit.CIRCUIT_BREAKER.key)


def paths(market):
    return [requested.path for requested in market.received]


# Failures.


# What else may be wrong with a response is told apart by the HTTP client.
@pytest.mark.parametrize("mode", [Mode.FAIL, Mode.RATE_LIMIT, Mode.WRONG_KEY, Mode.WRONG_SHAPE, Mode.STALL])
def test_a_failure_of_the_provider_changes_nothing_stops_all_calls_and_loses_no_refresh(market, settings, mode):
    launch(market, 3)
    assert price_refresh.refresh_due_markets() == 3
    make_due()
    timeout, settings.MARKET_TIMEOUT_SECONDS = settings.MARKET_TIMEOUT_SECONDS, 0.2
    before = list(Market.objects.order_by("pk").values("price_usd", "updated_at"))
    market.behave(mode, seconds=5)
    requested = len(market.received)

    for _ in range(3):
        assert price_refresh.refresh_due_markets() == 0

    assert len(market.received) == requested + 1
    assert list(Market.objects.order_by("pk").values("price_usd", "updated_at")) == before
    assert Market.objects.filter(due_at__lte=timezone.now()).count() == 3
    settings.MARKET_TIMEOUT_SECONDS = timeout
    market.behave(Mode.OK)
    resume()
    assert price_refresh.refresh_due_markets() == 3


def test_an_outage_is_retried_with_growing_back_off(market):
    launch(market)
    market.behave(Mode.FAIL)
    pauses = []
    for _ in range(8):
        price_refresh.refresh_due_markets()
        pauses.append(round(redis_client().pttl(provider_rate_limit.CIRCUIT_BREAKER.key) / 1000))
        resume()
    assert pauses == [5, 10, 20, 40, 80, 160, 300, 300]
    market.behave(Mode.OK)
    assert price_refresh.refresh_due_markets() == 1
    market.behave(Mode.FAIL)
    make_due()
    price_refresh.refresh_due_markets()
    assert round(redis_client().pttl(provider_rate_limit.CIRCUIT_BREAKER.key) / 1000) == 5


@pytest.mark.parametrize(("requested", "waited"), [(7, 7), (0, 1), (900_000, 3600)])
def test_the_provider_sets_how_long_to_wait(market, requested, waited):
    launch(market)
    market.behave(Mode.RATE_LIMIT, seconds=requested)
    price_refresh.refresh_due_markets()
    assert round(redis_client().pttl(provider_rate_limit.CIRCUIT_BREAKER.key) / 1000) == waited


def test_an_address_that_the_provider_refuses_is_deferred_by_itself(market):
    tokens = launch(market, 7)
    bad = tokens[4]
    market.refuse = lambda requested: 422 if bad.pool_address in requested.path else None
    assert price_refresh.refresh_due_markets() == 6
    assert due_in(bad) == timedelta(hours=1)
    assert of(bad).attempts == 0
    assert all(of(token).price_usd for token in tokens if token != bad)
    assert provider_rate_limit.seconds_until_slot() < 1


def test_only_the_token_gets_nothing_from_a_nonsense_price(market):
    tokens = launch(market, 4)
    price_refresh.refresh_due_markets()
    before = {token.pk: of(token).price_usd for token in tokens}
    bad = {tokens[0].pool_address: None, tokens[1].pool_address: "1e30", tokens[2].pool_address: ["5"]}

    def spoil(requested, body):
        for entry in body["data"]:
            about = entry["attributes"]
            if about["address"] in bad:
                about["base_token_price_usd"] = bad[about["address"]]
        # The other request returns nothing better.
        return body if "/pools/" in requested.path else {"data": []}

    market.change = spoil
    make_due()
    assert price_refresh.refresh_due_markets() == 1
    for token in tokens[:3]:
        assert (of(token).price_usd, of(token).attempts) == (before[token.pk], 1)
    assert of(tokens[3]).attempts == 0


def test_no_provider_is_called_where_market_data_is_turned_off(market, settings):
    settings.MARKET_DATA = False
    launch(market)
    assert price_refresh.refresh_due_markets() == 0
    assert not market.received


def test_without_redis_no_worker_calls_and_nothing_breaks(market, settings):
    launch(market)
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    assert price_refresh.refresh_due_markets() == 0
    assert not market.received


# Due tokens.


def test_every_token_has_a_market_that_is_due_with_fresh_launches_first():
    old = TokenFactory()
    fresh = TokenFactory(deployed_at=timezone.now() - timedelta(hours=1))
    assert (of(old).priority, of(fresh).priority) == (RefreshPriority.OTHER, RefreshPriority.FRESH)
    assert of(old).due_at <= timezone.now()
    # Code that writes rows directly leaves it empty.
    bare = Market._meta.get_field("priority").db_default
    assert bare == RefreshPriority.OTHER


def test_a_worker_takes_up_nothing_while_the_next_turn_is_far(market, settings, django_assert_num_queries):
    settings.MARKET_CALLS_PER_MINUTE, settings.MARKET_ADDRESSES_PER_CALL = 10, 1
    launch(market, 2)
    assert price_refresh.refresh_due_markets() == 1
    with django_assert_num_queries(0):
        assert price_refresh.refresh_due_markets() == 0
    assert len(market.received) == 1


def test_those_that_matter_go_first_and_of_these_the_longest_due_and_the_newest(market, settings):
    settings.MARKET_ADDRESSES_PER_CALL = 1
    tokens = launch(market, 6)
    now = timezone.now()
    wanted = [
        (RefreshPriority.VIEWED, 10),
        (RefreshPriority.FRESH, 30),
        (RefreshPriority.FRESH, 20),
        (RefreshPriority.TRADED, 900),
        (RefreshPriority.OTHER, 800),
    ]
    for token, (priority, seconds) in zip(tokens, wanted, strict=False):
        Market.objects.filter(pk=token.pk).update(priority=priority, due_at=now - timedelta(seconds=seconds))
    Market.objects.filter(pk=tokens[5].pk).update(priority=RefreshPriority.OTHER, due_at=now - timedelta(seconds=800))
    while batch := price_refresh.claim_batch(timezone.now()):
        price_refresh.refresh_batch(batch)
    order = [tokens[0], tokens[1], tokens[2], tokens[3], tokens[5], tokens[4]]
    assert [path.rpartition("/")[2] for path in paths(market)] == [token.pool_address for token in order]


@pytest.mark.parametrize(
    ("age", "viewed_ago", "trades", "priority"),
    [
        (timedelta(days=9), timedelta(minutes=9), 5, RefreshPriority.VIEWED),
        (timedelta(hours=23), timedelta(minutes=11), 5, RefreshPriority.FRESH),
        (timedelta(days=9), timedelta(minutes=11), 5, RefreshPriority.TRADED),
        (timedelta(days=9), None, 0, RefreshPriority.OTHER),
    ],
)
def test_a_refreshed_token_is_due_after_the_interval_of_its_class(market, age, viewed_ago, trades, priority):
    now = timezone.now()
    (token,) = launch(market, deployed_at=now - age)
    Market.objects.update(viewed_at=viewed_ago and now - viewed_ago)

    def trade(requested, body):
        body["data"][0]["attributes"]["transactions"]["h24"] = {"buys": trades, "sells": 0}
        return body

    market.change = trade
    assert price_refresh.refresh_due_markets() == 1
    assert of(token).priority == priority
    assert due_in(token) == INTERVALS[priority]


def test_a_call_requests_as_many_pools_of_one_network_as_the_provider_takes(market, settings):
    settings.MARKET_ADDRESSES_PER_CALL = 3
    launch(market, 4)
    launch(market, 2, chain_id=1)
    assert price_refresh.refresh_due_markets() == 6
    requested = [(path.split("/")[2], path.count("0x")) for path in paths(market)]
    assert sorted(requested) == [("base", 1), ("base", 3), ("eth", 2)]


def test_chains_without_a_provider_are_not_requested(market):
    TokenFactory(chain_id=NO_NETWORK)
    TokenFactory(chain_id=424242)
    TokenFactory(unindexed=True)
    (known,) = launch(market)
    assert price_refresh.refresh_due_markets() == 1
    assert paths(market) == [f"/networks/base/pools/multi/{known.pool_address}"]
    assert price_refresh.claim_batch(timezone.now()) is None
    later = Market.objects.exclude(pk=known.pk)
    assert all(row.due_at > timezone.now() + timedelta(days=6) for row in later)


# Tokens unknown to the provider.


def test_a_pool_that_is_unknown_has_its_token_requested(market):
    token = TokenFactory()
    assert price_refresh.refresh_due_markets() == 1
    assert paths(market) == [
        f"/networks/base/pools/multi/{token.pool_address}",
        f"/networks/base/tokens/multi/{token.contract_address.lower()}",
    ]
    assert of(token).price_usd == pytest.approx(price(token.contract_address.lower(), market.clock()), rel=0.01)
    # From now on it is only requested in that way.
    make_due()
    assert price_refresh.refresh_due_markets() == 1
    assert len(market.received) == 3


def test_a_token_whose_pool_has_become_known_is_requested_by_it(market):
    (token,) = launch(market)
    Market.objects.update(by_address=True)
    assert price_refresh.refresh_due_markets() == 1
    assert of(token).by_address is False
    make_due()
    assert price_refresh.refresh_due_markets() == 1
    assert "/pools/multi/" in paths(market)[1]


def test_a_token_without_pool_is_requested_by_its_address(market):
    token = TokenFactory(pool_address="")
    assert price_refresh.refresh_due_markets() == 1
    assert paths(market) == [f"/networks/base/tokens/multi/{token.contract_address.lower()}"]


@pytest.mark.parametrize(
    ("age", "pauses"),
    [
        (timedelta(minutes=1), [timedelta(minutes=2), timedelta(minutes=4), timedelta(minutes=8)]),
        (timedelta(days=9), [timedelta(hours=1), timedelta(hours=2), timedelta(hours=4)]),
    ],
)
def test_what_is_unknown_is_requested_with_growing_back_off(market, age, pauses):
    (token,) = unknown(market, deployed_at=timezone.now() - age)
    for misses, pause in enumerate(pauses, start=1):
        assert price_refresh.refresh_due_markets() == 0
        assert (of(token).attempts, due_in(token)) == (misses, pause)
        make_due()
    Market.objects.update(attempts=90)
    price_refresh.refresh_due_markets()
    assert due_in(token) == timedelta(weeks=4)
    assert not MarketPoint.objects.exists()
    # Once it is found, all of that is reset.
    market.change = lambda requested, body: body
    make_due()
    assert price_refresh.refresh_due_markets() == 1
    assert of(token).attempts == 0


def test_a_status_404_means_that_nothing_is_known(market):
    token = TokenFactory()
    market.refuse = lambda requested: 404
    assert price_refresh.refresh_due_markets() == 0
    assert of(token).attempts == 1


# Stored values.


def test_it_stores_the_providers_values_and_their_time(market):
    (token,) = launch(market)
    before = timezone.now()
    tasks.refresh_markets()
    row = of(token)
    assert row.price_usd == pytest.approx(price(token.contract_address.lower(), market.clock()), rel=0.01)
    assert row.quote_price_usd == 3000.0
    assert row.market_cap == pytest.approx(row.price_usd * 10**11)
    assert None not in (row.volume_24h, row.liquidity_usd, row.tx_count_24h, row.price_change_1h, row.price_change_24h)
    assert before <= row.updated_at <= timezone.now()
    point = MarketPoint.objects.get()
    assert (point.token_id, point.at, point.price_usd) == (token.pk, row.updated_at, row.price_usd)
    assert (point.market_cap, point.tx_count_24h) == (row.market_cap, row.tx_count_24h)


@pytest.mark.parametrize("change", [{"pool_address": "0x" + "ab" * 32}, {"unindexed": True}])
def test_an_answer_about_a_pool_that_the_token_is_no_more_in_is_not_kept(market, change):
    token, other = launch(market, 2)
    batch = price_refresh.claim_batch(timezone.now())
    # A reorg, while the provider answers.
    Token.objects.filter(pk=token.pk).update(**change)
    price_refresh.refresh_batch(batch)
    assert (of(token).price_usd, of(token).updated_at) == (None, None)
    assert list(MarketPoint.objects.values_list("token", flat=True)) == [other.pk]


def test_price_changes_that_the_provider_leaves_out_are_those_of_our_own_history(market):
    (token,) = launch(market)
    now = timezone.now()
    # The last one before each time counts; one that is too old doesn't.
    history = {65: 2.0, 61: 4.0, 59: 99.0, 6 * 60 + 5: 8.0, 37 * 60: 99.0}
    for minutes, usd in history.items():
        MarketPoint.objects.create(token=token, at=now - timedelta(minutes=minutes), price_usd=usd)

    def leave_out(requested, body):
        about = body["data"][0]["attributes"]
        about["base_token_price_usd"], about["price_change_percentage"] = "5", {"m5": "1"}
        return body

    market.change = leave_out
    assert price_refresh.refresh_due_markets() == 1
    row = of(token)
    assert (row.price_change_1h, row.price_change_6h, row.price_change_24h) == (25.0, -37.5, None)


def test_queries_do_not_grow_with_the_batch(market):
    def count(tokens):
        launch(market, tokens)
        batch = price_refresh.claim_batch(timezone.now())
        assert len(batch.tokens) == tokens
        with CaptureQueriesContext(
            connection,
        ) as captured:
            price_refresh.refresh_batch(batch)
        return len(captured)

    assert count(1) == count(30)


# Views.


def test_launches_and_trades_have_calls_of_their_own_however_many_tokens_are_viewed(market, settings):
    settings.MARKET_ADDRESSES_PER_CALL = 2
    tokens = launch(market, 24)
    now = timezone.now()
    Market.objects.update(priority=RefreshPriority.VIEWED, due_at=now - timedelta(hours=1))
    fresh, traded = tokens[:2], tokens[2:4]
    for some, priority in ((fresh, RefreshPriority.FRESH), (traded, RefreshPriority.TRADED)):
        Market.objects.filter(pk__in=[token.pk for token in some]).update(priority=priority, due_at=now)
    other = tokens[4:6]
    Market.objects.filter(pk__in=[token.pk for token in other]).update(priority=RefreshPriority.OTHER, due_at=now)
    batches = [price_refresh.claim_batch(timezone.now(), number=number) for number in range(8)]
    assert set(batches[1].tokens) == {token.pk for token in fresh}
    assert set(batches[3].tokens) == {token.pk for token in traded}
    assert set(batches[7].tokens) == {token.pk for token in other}
    viewed = {token.pk for token in tokens[6:]}
    assert all(set(batches[number].tokens) <= viewed for number in (0, 2, 4, 5, 6))


def test_the_calls_of_a_worker_are_counted_so_that_each_class_has_its_turn(market, settings):
    settings.MARKET_ADDRESSES_PER_CALL = 1
    tokens = launch(market, 8)
    now = timezone.now()
    Market.objects.update(priority=RefreshPriority.VIEWED, due_at=now - timedelta(hours=1))
    Market.objects.filter(pk=tokens[7].pk).update(priority=RefreshPriority.FRESH, due_at=now)
    assert price_refresh.refresh_due_markets() == 8
    requested = [path.rpartition("/")[2] for path in paths(market)]
    assert tokens[7].pool_address in requested[:4]


def test_a_viewed_token_is_due_a_minute_after_its_last_data_and_first(market):
    fresh_data, old_data, never, unviewed = launch(market, 4)
    now = timezone.now()
    later = now + DAY
    Market.objects.update(due_at=later)
    Market.objects.filter(pk=fresh_data.pk).update(updated_at=now - timedelta(seconds=20))
    Market.objects.filter(pk=old_data.pk).update(updated_at=now - timedelta(hours=5))
    redis_client().zadd(viewed_tokens.VIEWED_KEY, {str(token.pk): 1.0 for token in (fresh_data, old_data, never)})
    redis_client().zadd(viewed_tokens.VIEWED_KEY, {"999999999": 1.0})

    assert price_refresh.prioritize_viewed() == 3

    assert [due_in(token).total_seconds() for token in (fresh_data, old_data, never)] == [40, 0, 0]
    assert all(of(token).priority == RefreshPriority.VIEWED for token in (fresh_data, old_data, never))
    assert (of(unviewed).due_at, of(unviewed).viewed_at) == (later, None)
    # Views of the same minute cost the database nothing more.
    redis_client().zadd(viewed_tokens.VIEWED_KEY, {str(never.pk): 1.0})
    assert price_refresh.prioritize_viewed() == 0


def test_a_view_brings_an_unknown_token_forward_by_no_more_than_to_an_hour(market):
    token, soon = TokenFactory(), TokenFactory()
    now = timezone.now()
    Market.objects.update(due_at=now + DAY, attempts=5)
    Market.objects.filter(pk=soon.pk).update(due_at=now + timedelta(minutes=3))
    redis_client().zadd(viewed_tokens.VIEWED_KEY, {str(token.pk): 1.0, str(soon.pk): 1.0})
    price_refresh.prioritize_viewed()
    assert (due_in(token), due_in(soon)) == (timedelta(hours=1), timedelta(minutes=3))


# Workers.

WORKER = [
    sys.executable,
    "-c",
    "import django; django.setup(); from tokens.market.price_refresh import refresh_due_markets as f; print(f())",
]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_killed_in_the_midst_of_a_call_during_an_outage_loses_no_refresh(market, service_environment):
    tokens = launch(market, 40)
    environment = service_environment | {
        "MARKET_DATA": "true",
        "MARKET_BASE_URL": market.url,
        "MARKET_CALLS_PER_MINUTE": "10000",
        "MARKET_TIMEOUT_SECONDS": "10",
    }
    market.behave(Mode.STALL, seconds=60)
    worker = subprocess.Popen(
        WORKER, cwd=BASE_DIR, env=environment, start_new_session=True, preexec_fn=die_with_parent(signal.SIGKILL)
    )
    wait_for(lambda: market.received)
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
    assert Market.objects.filter(updated_at=None).count() == 40
    # The lease of those that it had expires, and a failure defers nothing for longer than that.
    assert Market.objects.filter(due_at__lte=timezone.now() + LEASE).count() == 40
    market.behave(Mode.FAIL)
    assert price_refresh.refresh_due_markets() == 0
    market.behave(Mode.OK)
    resume()
    Market.objects.filter(due_at__gt=timezone.now()).update(due_at=timezone.now())
    assert price_refresh.refresh_due_markets() == 40
    assert Market.objects.exclude(price_usd=None).count() == len(tokens)


@pytest.mark.django_db(transaction=True)
def test_while_a_worker_refreshes_the_others_do_something_else(market, settings):
    settings.MARKET_ADDRESSES_PER_CALL = 1
    launch(market, 2)
    market.behave(Mode.STALL, times=1, seconds=60)
    first = threading.Thread(target=own_connection(price_refresh.refresh_due_markets))
    first.start()
    wait_for(lambda: market.received)
    assert 0 < redis_client().ttl(price_refresh.REFRESHING_KEY) <= LEASE.total_seconds()
    assert price_refresh.refresh_due_markets() == 0
    assert len(market.received) == 1
    market.closed.set()
    first.join()
    assert not redis_client().exists(price_refresh.REFRESHING_KEY)
    assert Market.objects.exclude(price_usd=None).count() == 2


@pytest.mark.django_db(transaction=True)
def test_rows_that_another_worker_claims_at_the_moment_are_left_to_it(market):
    launch(market, 2)
    with transaction.atomic():
        list(Market.objects.select_for_update())
        with ThreadPoolExecutor(1) as other:
            claim = own_connection(price_refresh.claim_batch)
            assert other.submit(claim, timezone.now()).result(timeout=60) is None
    assert len(price_refresh.claim_batch(timezone.now()).tokens) == 2


# Solana.


def test_the_provider_is_queried_for_mints_and_pools_as_they_are(market):
    token = SolanaTokenFactory()
    market.learn(token.pool_address, base=token.contract_address)
    assert price_refresh.refresh_due_markets() == 1
    assert paths(market) == [f"/networks/solana/pools/multi/{token.pool_address}"]
    found = of(token)
    assert found.price_usd == pytest.approx(price(token.contract_address, market.clock()), rel=0.01)
    assert found.quote_price_usd == SOL_USD
    assert not found.by_address


def test_a_mint_is_requested_by_itself_where_its_pool_is_not_known(market):
    token = SolanaTokenFactory()
    assert price_refresh.refresh_due_markets() == 1
    assert paths(market)[-1] == f"/networks/solana/tokens/multi/{token.contract_address}"
    assert of(token).price_usd


def test_the_capitalisation_of_a_mint_counts_its_own_decimals(market):
    token = SolanaTokenFactory(supply=5 * 10**9, decimals=9)
    market.learn(token.pool_address, base=token.contract_address)
    market.change = lambda requested, body: {
        **body,
        "data": [{**entry, "attributes": {**entry["attributes"], "fdv_usd": None}} for entry in body["data"]],
    }
    assert price_refresh.refresh_due_markets() == 1
    assert of(token).market_cap == pytest.approx(of(token).price_usd * 5)


def test_a_pool_whose_letters_have_another_case_is_another_pool(market):
    token = SolanaTokenFactory()
    market.learn(token.pool_address.swapcase(), base=token.contract_address)
    price_refresh.refresh_due_markets()
    assert [path.split("/")[-3] for path in paths(market)] == ["pools", "tokens"]
