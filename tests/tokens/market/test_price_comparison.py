"""Tests of tokens/market/price_comparison.py: our own prices beside the provider stand-in's."""

import logging

import pytest
from prometheus_client.parser import text_string_to_metric_families

from development.standins.http_server import Mode
from tests.config.operators.admin_pages import figures
from tests.rows.factories import TokenFactory
from tests.rows.token_lists import price
from tokens.market import price_comparison, tasks
from tokens.models import Market, RollingSum

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_chains(market, settings):
    """Follow two chains with own trades, one unknown to the provider, and a chain that is set to the provider."""
    settings.MARKET_PROVIDER_CHAINS, settings.MARKET_COMPARE_PERCENT = (1,), 10.0
    settings.RPC_URLS = dict.fromkeys((1, 8453, 84532), ("http://127.0.0.1:9",))


def launch(market, usd, **columns):
    """Create a traded token with our own price; the provider's price is 1 USD."""
    token = price(TokenFactory(), price_usd=usd, market_cap=usd, **columns)
    market.learn(token.pool_address, base=token.contract_address, quote=token.paired_token)
    RollingSum.objects.create(token=token, seconds=86_400, volume_quote=1, volume_usd=1, buys=1, sells=0, traders=1)
    return token


@pytest.fixture(autouse=True)
def worth_a_dollar(market):
    def change(requested, body):
        for entry in body["data"]:
            entry["attributes"]["base_token_price_usd"] = "1"
        return body

    market.change = change


def gauge(client):
    families = text_string_to_metric_families(client.get("/metrics").text)
    (family,) = (family for family in families if family.name == "launchboard_market_price_differences")
    return {sample.labels["chain"]: sample.value for sample in family.samples}


def test_differences_are_an_alarm_and_change_no_price(market, client, operator, caplog):
    caplog.set_level(logging.INFO)
    alike, low, high = launch(market, 1.09), launch(market, 0.5), launch(market, 1.2)
    before = list(Market.objects.order_by("pk").values())
    figure = figures(operator, "Market data")["Prices beside the provider's"]
    assert (figure.value, figure.is_alarming) == ("0 differ", False)
    tasks.compare_prices()
    percents = {each.token_id: round(each.percent) for each in price_comparison.read_differences()}
    assert percents == {low.pk: 50, high.pk: 20}
    assert gauge(client) == {"8453": 2}
    figure = figures(operator, "Market data")["Prices beside the provider's"]
    assert (figure.value, figure.is_alarming) == ("2 differ", True)
    assert f"{low.symbol} on chain 8453 by 50 %" in figure.note
    assert list(Market.objects.order_by("pk").values()) == before
    assert alike.symbol not in figure.note


def test_each_token_is_logged_once_for_each_state(market, caplog):
    caplog.set_level(logging.INFO, logger="tokens.market.price_comparison")
    token = launch(market, 3.0)
    for _ in range(3):
        assert price_comparison.compare_prices() == 1
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert f"the price of token {token.pk} on chain 8453 differs by 200.0 %" in caplog.text
    price(token, price_usd=1.0)
    for _ in range(2):
        assert price_comparison.compare_prices() == 0
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert price_comparison.read_differences() == []


def test_the_largest_of_those_with_trades_are_compared_in_one_call(market, settings):
    settings.MARKET_ADDRESSES_PER_CALL = 2
    tokens = [launch(market, 10.0 + number) for number in range(4)]
    RollingSum.objects.filter(token=tokens[3]).delete()
    TokenFactory(chain_id=1)
    assert price_comparison.compare_prices() == 2
    (requested,) = market.received
    assert requested.path == f"/networks/base/pools/multi/{tokens[2].pool_address},{tokens[1].pool_address}"


def test_chains_are_compared_in_turn(market, settings):
    settings.MARKET_PROVIDER_CHAINS = ()
    launch(market, 2.0)
    other = price(TokenFactory(chain_id=1), price_usd=1.0, market_cap=1.0)
    RollingSum.objects.create(token=other, seconds=86_400, volume_quote=1, volume_usd=1, buys=1, sells=0, traders=1)
    for _ in range(2):
        price_comparison.compare_prices()
    assert sorted(requested.path.split("/")[2] for requested in market.received) == ["base", "eth"]
    assert len(price_comparison.read_differences()) == 1


@pytest.mark.parametrize("changes", [{"MARKET_COMPARE_PERCENT": 0.0}, {"MARKET_PROVIDER_CHAINS": (1, 8453)}])
def test_nothing_is_compared_where_it_is_off_or_the_price_is_the_providers(market, settings, client, changes):
    launch(market, 2.0)
    assert price_comparison.compare_prices() == 1
    for name, value in changes.items():
        setattr(settings, name, value)
    assert price_comparison.compare_prices() == 0
    assert len(market.received) == 1
    assert (price_comparison.read_differences(), gauge(client)) == ([], {})


@pytest.mark.parametrize("mode", [Mode.FAIL, Mode.WRONG_SHAPE])
def test_a_failure_of_the_provider_keeps_the_state(market, mode, caplog):
    launch(market, 2.0)
    assert price_comparison.compare_prices() == 1
    market.behave(mode)
    assert price_comparison.compare_prices() == 0
    assert len(price_comparison.read_differences()) == 1
    assert "prices were not compared" in caplog.text


def test_without_redis_nothing_is_compared_and_there_is_no_gauge(market, settings, client):
    launch(market, 2.0)
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    assert price_comparison.compare_prices() == 0
    assert not market.received
    assert "launchboard_market_price_differences" not in client.get("/metrics").text
