"""Tests of tokens/market/price_refresh.py against an HTTP stand-in for the provider."""

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
from tokens.indexing.relaunches import reset_relaunched_markets
from tokens.market import price_refresh, provider_rate_limit, tasks
from tokens.market.price_refresh import ACTIVE_INTERVAL, LEASE, QUIET_INTERVAL
from tokens.models import Market, ProviderRefresh, Token

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
# A chain in the registry that the provider doesn't have.
NO_NETWORK = 84532


def launch(market, count=1, **columns):
    """Create tokens whose pools the stand-in has, due for a refresh."""
    tokens = TokenFactory.create_batch(count, **columns)
    for token in tokens:
        market.learn(token.pool_address, base=token.contract_address, quote=token.paired_token)
    assert price_refresh.queue_provider_tokens() >= count
    return tokens


def of(token):
    return Market.objects.get(pk=token.pk)


def refresh_of(token):
    return ProviderRefresh.objects.get(pk=token.pk)


def due_in(token):
    """Return the time until the token is due, to the second."""
    return timedelta(seconds=round((refresh_of(token).due_at - timezone.now()).total_seconds()))


def make_due():
    ProviderRefresh.objects.update(due_at=timezone.now() - timedelta(seconds=1))


def resume():
    """End the pause after a failure, as its time does."""
    redis_client().delete(provider_rate_limit.CIRCUIT_BREAKER.key)


def paths(market):
    return [requested.path for requested in market.received]


# Failures.


# The HTTP client distinguishes all other errors in a response.
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
    assert ProviderRefresh.objects.filter(due_at__lte=timezone.now()).count() == 3
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


def test_a_pool_that_the_provider_refuses_is_separated_from_the_others(market):
    tokens = launch(market, 7)
    bad = tokens[4]
    market.refuse = lambda requested: 422 if bad.pool_address in requested.path else None
    assert price_refresh.refresh_due_markets() == 0
    assert provider_rate_limit.seconds_until_slot() < 1
    # They are due one after the other, five to ten minutes later.
    waits = [due_in(token).total_seconds() for token in tokens]
    assert waits[0] > 300 and waits == sorted(set(waits)) and waits[-1] == 600
    for token in tokens:
        ProviderRefresh.objects.filter(pk=token.pk).update(due_at=timezone.now())
        price_refresh.refresh_due_markets()
    assert [bool(of(token).price_usd) for token in tokens] == [token != bad for token in tokens]
    assert (refresh_of(bad).attempts, refresh_of(tokens[0]).attempts) == (2, 0)
    assert "422" in refresh_of(bad).last_error
    # Alone, its place is the last one: twice the delay after two failures.
    assert timedelta(minutes=19) < due_in(bad) <= timedelta(minutes=20)


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
        return body

    market.change = spoil
    make_due()
    assert price_refresh.refresh_due_markets() == 1
    for token in tokens[:3]:
        assert of(token).price_usd == before[token.pk]


def test_no_provider_is_called_for_chains_with_own_trades(market, settings, django_assert_num_queries):
    launch(market, 2)
    launch(market, 1, chain_id=1)
    settings.MARKET_PROVIDER_CHAINS = (1,)
    assert price_refresh.queue_provider_tokens() == 0
    assert price_refresh.refresh_due_markets() == 1
    assert [path.split("/")[2] for path in paths(market)] == ["eth"]
    settings.MARKET_PROVIDER_CHAINS = ()
    tasks.queue_provider_tokens()
    assert not ProviderRefresh.objects.exists()
    with django_assert_num_queries(0):
        assert price_refresh.refresh_due_markets() == 0
    assert len(market.received) == 1


def test_without_redis_no_worker_calls_and_nothing_breaks(market, settings):
    launch(market)
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    assert price_refresh.refresh_due_markets() == 0
    assert not market.received


# Due tokens.


def test_tokens_of_the_providers_chains_are_queued_once(market):
    known = launch(market, 2)
    TokenFactory(chain_id=NO_NETWORK)
    TokenFactory(chain_id=424242)
    TokenFactory(unindexed=True)
    TokenFactory(pool_address="")
    assert price_refresh.queue_provider_tokens() == 0
    assert set(ProviderRefresh.objects.values_list("pk", flat=True)) == {token.pk for token in known}
    assert price_refresh.refresh_due_markets() == 2
    assert price_refresh.claim_batch(timezone.now()) == []


def test_a_worker_takes_up_nothing_while_the_next_turn_is_far(market, settings, django_assert_num_queries):
    settings.MARKET_CALLS_PER_MINUTE, settings.MARKET_ADDRESSES_PER_CALL = 10, 1
    launch(market, 2)
    assert price_refresh.refresh_due_markets() == 1
    with django_assert_num_queries(0):
        assert price_refresh.refresh_due_markets() == 0
    assert len(market.received) == 1


def test_the_longest_due_go_first(market, settings):
    settings.MARKET_ADDRESSES_PER_CALL = 1
    tokens = launch(market, 3)
    for token, seconds in zip(tokens, (10, 30, 20), strict=True):
        due_at = timezone.now() - timedelta(seconds=seconds)
        ProviderRefresh.objects.filter(pk=token.pk).update(due_at=due_at)
    assert price_refresh.refresh_due_markets() == 3
    order = [tokens[1], tokens[2], tokens[0]]
    assert [path.rpartition("/")[2] for path in paths(market)] == [token.pool_address for token in order]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("age", "trades", "interval"),
    [
        (timedelta(hours=23), 0, ACTIVE_INTERVAL),
        (timedelta(days=9), 5, ACTIVE_INTERVAL),
        (timedelta(days=9), 0, QUIET_INTERVAL),
    ],
)
def test_a_fresh_or_traded_token_is_due_again_before_others(market, age, trades, interval, known):
    (token,) = launch(market, deployed_at=timezone.now() - age)

    def trade(requested, body):
        body["data"][0]["attributes"]["transactions"]["h24"] = {"buys": trades, "sells": 0}
        return body if known else {"data": []}

    market.change = trade
    assert price_refresh.refresh_due_markets() == known
    assert due_in(token) == (QUIET_INTERVAL if trades and not known else interval)


def test_a_call_requests_as_many_pools_of_one_network_as_the_provider_takes(market, settings):
    settings.MARKET_ADDRESSES_PER_CALL = 3
    launch(market, 4)
    launch(market, 2, chain_id=1)
    assert price_refresh.refresh_due_markets() == 6
    requested = [(path.split("/")[2], path.count("0x")) for path in paths(market)]
    assert sorted(requested) == [("base", 1), ("base", 3), ("eth", 2)]


def test_a_status_404_means_that_nothing_is_known(market):
    (token,) = launch(market, deployed_at=timezone.now() - 9 * DAY)
    market.refuse = lambda requested: 404
    assert price_refresh.refresh_due_markets() == 0
    assert (due_in(token), of(token).updated_at) == (DAY, None)


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


def test_data_of_own_trades_end_with_the_first_response(market):
    (token,) = launch(market)
    Market.objects.update(price_quote=5, last_position=7, last_trade_at=timezone.now(), trending=1.5)
    assert price_refresh.refresh_due_markets() == 1
    row = of(token)
    assert (row.price_quote, row.last_position, row.last_trade_at, row.trending) == (None, None, None, None)
    assert row.price_usd


def test_an_answer_about_a_pool_that_the_token_is_no_more_in_is_not_kept(market):
    token, other = launch(market, 2)
    rows = price_refresh.claim_batch(timezone.now())
    # A reorg, while the provider answers.
    launched = Token.objects.get(pk=token.pk)
    pools = {launched.pk: launched.pool_address}
    reset_relaunched_markets([launched], pools, launches={launched.contract_address: Relaunch()})
    assert price_refresh.refresh_batch(rows) == 2
    assert (of(token).price_usd, of(token).updated_at) == (None, None)
    assert of(other).price_usd
    assert price_refresh.queue_provider_tokens() == 1


class Relaunch:
    """A launch in no pool."""

    pool = None


def test_price_changes_that_the_provider_leaves_out_are_unknown(market):
    (token,) = launch(market)

    def leave_out(requested, body):
        body["data"][0]["attributes"]["price_change_percentage"] = {"h1": "1.5"}
        return body

    market.change = leave_out
    assert price_refresh.refresh_due_markets() == 1
    row = of(token)
    assert (row.price_change_1h, row.price_change_6h, row.price_change_24h) == (1.5, None, None)


def test_queries_do_not_grow_with_the_batch(market):
    def count(tokens):
        launch(market, tokens)
        rows = price_refresh.claim_batch(timezone.now())
        assert len(rows) == tokens
        with CaptureQueriesContext(connection) as captured:
            price_refresh.refresh_batch(rows)
        return len(captured)

    assert count(1) == count(30)


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
        "MARKET_PROVIDER_CHAINS": "8453",
        "MARKET_BASE_URL": market.url,
        "MARKET_CALLS_PER_MINUTE": "10000",
        "OVERRIDE_MARKET_TIMEOUT_SECONDS": "10",
    }
    market.behave(Mode.STALL, seconds=60)
    worker = subprocess.Popen(
        WORKER, cwd=BASE_DIR, env=environment, start_new_session=True, preexec_fn=die_with_parent(signal.SIGKILL)
    )
    wait_for(lambda: market.received)
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
    assert Market.objects.filter(updated_at=None).count() == 40
    # The killed worker's leases expire, and a failure defers nothing for longer than a lease.
    assert ProviderRefresh.objects.filter(due_at__lte=timezone.now() + LEASE).count() == 40
    market.behave(Mode.FAIL)
    assert price_refresh.refresh_due_markets() == 0
    market.behave(Mode.OK)
    resume()
    ProviderRefresh.objects.filter(due_at__gt=timezone.now()).update(due_at=timezone.now())
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
        list(ProviderRefresh.objects.select_for_update())
        with ThreadPoolExecutor(1) as other:
            claim = own_connection(price_refresh.claim_batch)
            assert other.submit(claim, timezone.now()).result(timeout=60) == []
    assert len(price_refresh.claim_batch(timezone.now())) == 2


# Solana.


def launch_on_solana(market, pool=None, **columns):
    token = SolanaTokenFactory(**columns)
    market.learn(pool or token.pool_address, base=token.contract_address)
    assert price_refresh.queue_provider_tokens() == 1
    return token


def test_the_provider_is_queried_for_pools_as_they_are(market):
    token = launch_on_solana(market)
    assert price_refresh.refresh_due_markets() == 1
    assert paths(market) == [f"/networks/solana/pools/multi/{token.pool_address}"]
    found = of(token)
    assert found.price_usd == pytest.approx(price(token.contract_address, market.clock()), rel=0.01)
    assert found.quote_price_usd == SOL_USD


def test_the_capitalisation_of_a_mint_counts_its_own_decimals(market):
    token = launch_on_solana(market, supply=5 * 10**9, decimals=9)
    market.change = lambda requested, body: {
        **body,
        "data": [{**entry, "attributes": {**entry["attributes"], "fdv_usd": None}} for entry in body["data"]],
    }
    assert price_refresh.refresh_due_markets() == 1
    assert of(token).market_cap == pytest.approx(of(token).price_usd * 5)


def test_a_pool_whose_letters_have_another_case_is_another_pool(market):
    token = SolanaTokenFactory()
    market.learn(token.pool_address.swapcase(), base=token.contract_address)
    price_refresh.queue_provider_tokens()
    assert price_refresh.refresh_due_markets() == 0
    assert len(market.received) == 1
