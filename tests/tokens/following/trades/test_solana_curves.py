"""Tokens' progress on a bonding curve: with each trade, and by the walk through pools for what trades lack."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from tests.nodes.solana.changed import pool
from tests.nodes.solana.forms import base58, change_account, inner
from tests.nodes.solana.recorded import CONFIG, LAUNCH, MINT, POOL
from tests.tokens.chains.solana.test_curve_configs import CURVE
from tokens.chains.addresses import decode_base58
from tokens.following.leader_loops import LeaderSession
from tokens.following.solana.account_loop import AccountRounds
from tokens.following.solana.pool_loop import PoolWatch
from tokens.indexing import index_requests
from tokens.installation.installed_chains import installed_solana
from tokens.installation.installed_registry import registry
from tokens.models import BondingCurve, LaunchFacts, Market, PoolTrade
from tokens.trades.market_rows import refresh_markets, reset_markets

pytestmark = pytest.mark.django_db(transaction=True)

SOLANA = 101
SQRT_PRICE = 0x015D911465CA05DD
# 0.99 SOL as a percentage of 85 SOL.
RECORDED = Decimal("1.164705")
# Offsets in a pool's account: the curve's end time, and the trading fee totals.
COMPLETED_AT, TRADING_FEES = 344, 328


@pytest.fixture(autouse=True)
def _few_at_once(settings):
    settings.RPC_BATCH_SIZE, settings.FOLLOW_CONCURRENCY = 4, 2
    settings.RPC_ATTEMPTS, settings.RPC_PATIENCE_SECONDS = 1, 5.0


@pytest.fixture
def node(faulty_solana):
    return faulty_solana


def follow():
    """Follow until nothing is left to be done at once."""
    for _ in range(100):
        if not AccountRounds(installed_solana()).run_once(LeaderSession(SOLANA)):
            return
    raise AssertionError("there is always more to be done")


def walk():
    """Walk through the pools once."""
    PoolWatch(installed_solana()).run_once(LeaderSession(SOLANA))


def progress(mint=MINT):
    return Market.objects.values_list("curve_progress", flat=True).get(token__contract_address=mint)


def config_reads(node):
    return [call for call in node.calls if call["method"] == "getMultipleAccounts" and CONFIG in call["params"][0]]


def swap_to(node, label, sqrt_price):
    """Add a purchase that ends at this price."""
    made = node.swap(label)
    old, new = (price.to_bytes(16, "little") for price in (SQRT_PRICE, sqrt_price))
    for form in node.transactions[made].values():
        for event in inner(form, 4)[-2:]:
            event["data"] = base58(decode_base58(event["data"]).replace(old, new))


def test_the_first_walk_stores_the_curve_and_progress(node):
    follow()
    assert progress() is None
    walk()
    assert progress() == RECORDED
    stored = BondingCurve.objects.get()
    assert (stored.chain_id, stored.config) == (SOLANA, CONFIG)
    for name in ("start_sqrt_price", "migration_sqrt_price", "migration_threshold"):
        assert getattr(stored, name) == getattr(CURVE, name)
    assert list(zip(stored.sqrt_prices, stored.liquidities, strict=True)) == list(CURVE.segments)


def test_a_config_is_read_once_and_its_later_tokens_have_progress_at_once(node):
    follow()
    walk()
    minted = node.launch("another")
    node.swap("of another", of="another")
    follow()
    assert progress(minted) == RECORDED
    walk()
    assert len(config_reads(node)) == 1


def test_progress_follows_the_price_of_the_newest_trade_up_and_down(node):
    follow()
    walk()
    for price in (2 * SQRT_PRICE, CURVE.migration_sqrt_price - 10**9, SQRT_PRICE):
        swap_to(node, f"to {price}", price)
        follow()
        reserve = Decimal(CURVE.reserve_at(price))
        assert abs(progress() - reserve * 100 / CURVE.migration_threshold) <= Decimal("0.000001")
        assert progress() < 100


def test_the_swap_that_completes_the_curve_graduates_the_token(node):
    follow()
    walk()
    swap_to(node, "the last", CURVE.migration_sqrt_price)
    follow()
    assert progress() == 100
    assert Market.objects.get().graduated_at is None


def test_the_pools_account_has_the_time_of_graduation(node):
    follow()
    walk()
    # Rounding may leave the price below the curve's last one.
    swap_to(node, "the last", CURVE.migration_sqrt_price - 1)
    follow()
    assert progress() == Decimal("99.999999")
    change_account(node, POOL, COMPLETED_AT, (1_795_228_500).to_bytes(8, "little"))
    walk()
    market = Market.objects.get()
    assert (market.curve_progress, market.graduated_at) == (100, datetime.fromtimestamp(1_795_228_500, UTC))
    refresh_markets(registry().chains[SOLANA], [market.pk])
    assert progress() == 100


def test_tokens_that_were_indexed_before_curves_were_read_get_their_progress(node):
    follow()
    launch = LaunchFacts.objects.get()
    facts = {name: value for name, value in launch.facts.items() if name != "curve_config"}
    assert launch.facts == facts | {"curve_config": CONFIG}
    LaunchFacts.objects.update(facts=facts)
    walk()
    assert progress() == RECORDED
    assert LaunchFacts.objects.get().facts == facts | {"curve_config": CONFIG}


def test_a_pool_without_a_swap_is_at_the_start(node):
    follow()
    minted = node.launch("untraded")
    follow()
    node.accounts[pool("untraded")] = node.accounts[POOL]
    change_account(node, pool("untraded"), TRADING_FEES, bytes(16))
    walk()
    assert (progress(minted), progress()) == (0, RECORDED)
    node.swap("the first", of="untraded")
    follow()
    assert progress(minted) == RECORDED


def test_a_pool_whose_trades_are_not_read_yet_has_no_progress(node):
    index_requests.index_transaction(chain_id=SOLANA, tx_hash=LAUNCH)
    node.refused["getSignaturesForAddress"] = {"code": -32005, "message": "Node is behind"}
    walk()
    assert BondingCurve.objects.exists() and not PoolTrade.objects.exists()
    assert progress() is None
    node.refused.clear()
    follow()
    assert progress() == RECORDED


def test_a_curve_that_can_not_be_read_is_read_by_a_later_walk(node):
    account = node.accounts.pop(CONFIG)
    follow()
    walk()
    assert progress() is None and not BondingCurve.objects.exists()
    node.accounts[CONFIG] = account
    walk()
    assert progress() == RECORDED


def test_a_curve_that_too_few_nodes_return_holds_up_nothing_else(node, settings, forget_chains):
    follow()
    settings.RPC_URLS = {SOLANA: (node.url, "http://127.0.0.1:1")}
    forget_chains()
    change_account(node, POOL, COMPLETED_AT, (1_795_228_500).to_bytes(8, "little"))
    walk()
    # What needs no curve is stored.
    assert progress() == 100 and not BondingCurve.objects.exists()


def test_a_chain_with_the_providers_market_data_has_no_progress(node, settings):
    settings.MARKET_PROVIDER_CHAINS = (SOLANA,)
    follow()
    walk()
    assert not BondingCurve.objects.exists()
    assert not config_reads(node)


def test_queries_of_a_later_walk_do_not_grow_with_the_tokens(node, django_assert_num_queries):
    follow()
    walk()
    for number in range(5):
        node.launch(f"more {number}")
        node.swap(f"of {number}", of=f"more {number}")
    follow()
    # Two token pages, the second empty; their markets twice and claims; and that there is no failure.
    with django_assert_num_queries(6):
        walk()


def test_a_market_that_is_reset_has_no_progress(node):
    follow()
    walk()
    reset_markets([Market.objects.get().pk])
    assert progress() is None
