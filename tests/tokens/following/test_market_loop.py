"""The leader's loop over markets (tokens/following/market_loop.py)."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from tests.processes.waiting import wait_for
from tests.tokens.trades.pool_rows import CHAIN, make_pool_token
from tokens.following.leader_loops import LeaderSession
from tokens.following.market_loop import MARKET, keep_markets, reprice_markets, roll_to_now
from tokens.installation.installed_registry import registry
from tokens.models import ChainHead, Market, ReferencePrice, RollingClock, RollingSum
from tokens.models.candle import DAY


@pytest.fixture
def long_ago(transactional_db):
    """Return the time up to which the chain's sums have been moved: many steps ago."""
    return RollingClock.objects.create(
        chain_id=CHAIN, rolled_to=timezone.now().replace(second=0, microsecond=0) - timedelta(hours=1)
    ).rolled_to


def rolled_to():
    return RollingClock.objects.get(chain_id=CHAIN).rolled_to


def test_sums_and_markets_are_kept_until_the_session_ends(long_ago):
    ChainHead.objects.create(chain_id=CHAIN, head=1, final=1, head_at=long_ago, seen_at=long_ago, error="market: old")
    session = LeaderSession(CHAIN)
    thread = session.start(MARKET, keep_markets)
    wait_for(lambda: rolled_to() - long_ago >= timedelta(hours=1))
    wait_for(lambda: ChainHead.objects.get().error == "")
    session.ended.set()
    thread.join()


def test_a_market_follows_the_sums_that_a_period_loses(long_ago):
    token = make_pool_token()
    RollingSum.objects.create(
        token=token, seconds=DAY, volume_quote=1, volume_usd=1, buys=1, sells=0, traders=1, opening_price=1
    )
    # After a pause of more than a day all sums are counted anew, here from no trades.
    RollingClock.objects.update(rolled_to=long_ago - timedelta(days=2))
    Market.objects.filter(pk=token.pk).update(tx_count_24h=1, price_quote=1)
    roll_to_now(registry().chains[CHAIN])
    assert Market.objects.get(pk=token.pk).tx_count_24h == 0


def test_markets_are_priced_anew(long_ago):
    chain = registry().chains[CHAIN]
    pool = chain.reference_pools[0]
    token = make_pool_token()
    Market.objects.filter(pk=token.pk).update(price_quote=1)
    ReferencePrice.objects.create(
        chain_id=CHAIN, pool=pool.pool, block_number=1, position=1, at=long_ago, currency=pool.currency,
        usd=Decimal(3000),
    )  # fmt: skip
    reprice_markets(chain)
    assert Market.objects.get(pk=token.pk).quote_price_usd == 3000


def test_a_chain_with_the_providers_market_data_is_left_alone(long_ago, settings):
    settings.MARKET_PROVIDER_CHAINS = (CHAIN,)
    ChainHead.objects.create(chain_id=CHAIN, head=1, final=1, head_at=long_ago, seen_at=long_ago, error="market: old")
    session = LeaderSession(CHAIN)
    thread = session.start(MARKET, keep_markets)
    wait_for(lambda: ChainHead.objects.get().error == "")
    session.ended.set()
    thread.join()
    assert rolled_to() == long_ago
