"""`manage.py check_feeds` on a development chain with curves, and the pools that they graduate into."""

import pytest
from django.db.models import Case, F, When

from development.devchain import node_client
from development.devchain.anvil import CHAIN_ID
from development.devchain.declared_samples import launch_on_curve, launch_plain
from development.devchain.trader import SampleTraders
from tests.simulator import SimulatedChain
from tests.tokens.feeds.feed_worlds import compare_feeds as compare
from tests.tokens.feeds.feed_worlds import follow_to_final
from tokens.feeds.pool_events import read_pool_events
from tokens.feeds.served_blocks import find_feed_chain, read_served_blocks
from tokens.models import Coverage, PoolLiquidityChange, PoolTrade, TokenPool

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def curves(followed_launchpad):
    """Follow all launchpads on the development chain, and trade curve tokens until some graduate, and on."""
    at = followed_launchpad.deployment
    sender, rng = node_client.connect(at.rpc_url).eth.accounts[1], SimulatedChain(7).rng
    # The same addresses, and so the same trades, in every run.
    followed_launchpad.launch(salt=bytes(32))
    launch_plain(at, sender=sender)
    for _ in range(3):
        launch_on_curve(at, sender=sender, random=rng)
    traders = SampleTraders(at.rpc_url, random=rng)
    for _ in range(2):
        for _ in range(35):
            traders.trade_once()
        # Some one-minute bars end in every run, however fast it is.
        followed_launchpad.rpc("evm_increaseTime", 120)
    follow_to_final(followed_launchpad)
    # Bars in USD are compared up to the verified block.
    Coverage.objects.update(verified_to=read_served_blocks(find_feed_chain(CHAIN_ID)).last)


def test_curves_and_the_pools_they_graduate_into_are_compared(client):
    found = compare()
    assert found.differences == []
    assert found.events == PoolTrade.objects.count() + PoolLiquidityChange.objects.count()
    assert (found.unpriced, found.without_usd) == (0, 0)
    graduated = TokenPool.objects.exclude(is_currency0=None).select_related("token")
    assert graduated
    blocks = read_served_blocks(find_feed_chain(CHAIN_ID))
    events = read_pool_events(find_feed_chain(CHAIN_ID), blocks.first, blocks.last)
    for pool in graduated:
        own = [event for event in events if event.pair.token_id == pool.token_id]
        change = pool.token.events.get(kind="pool_changed")
        later = [event.pair.pool == pool.pool_address for event in own]
        assert later == sorted(later) and {True, False} == {*later}
        # A curve has no reserves in the feed, and the pool has.
        assert [event.reserves is not None for event in own] == later
        joins = [event for event in own if event.kind == "join"]
        assert {event.tx_hash for event in joins} == {change.tx_hash} and len(joins) == 2
        (pair,) = client.get(f"/api/feeds/dexscreener/{CHAIN_ID}/pair?id={pool.pool_address}").json().values()
        assert (pair["createdAtTxnId"], pair["createdAtBlockNumber"]) == (change.tx_hash, change.block_number)
        assert client.get(f"/api/feeds/dexscreener/{CHAIN_ID}/asset?id={pair['asset1Id']}").status_code == 200


def test_seeded_faults_of_curves_and_graduated_pools_are_named():
    graduated = TokenPool.objects.exclude(is_currency0=None)
    trades = PoolTrade.objects.filter(token__in=graduated.values("token")).order_by("position")
    for trade in (trades.first(), trades.last()):
        rows, where = PoolTrade.objects.filter(pk=trade.pk), f"block {trade.block_number}, log {trade.log_index}"
        for name, wrong in (
            ("amount_token", F("amount_token") * 2),
            ("amount_quote", F("amount_quote") + 1),
            ("price", F("price") * 2),
            ("trader", bytes(20)[:-1] + b"\1"),
        ):
            rows.update(**{name: wrong})
            assert any(text.startswith(where) for text in compare().differences), name
            rows.update(**{name: getattr(trade, name)})
    liquidity = PoolLiquidityChange.objects.filter(token__in=graduated.values("token")).first()
    PoolLiquidityChange.objects.filter(pk=liquidity.pk).update(liquidity=F("liquidity") * 2)
    assert any("amount0 is" in text for text in compare().differences)
    PoolLiquidityChange.objects.filter(pk=liquidity.pk).update(liquidity=liquidity.liquidity)
    graduated.update(is_currency0=Case(When(is_currency0=True, then=False), default=True))
    assert sum("its token is currency" in text for text in compare().differences) == graduated.count()
