"""Prices after swaps beyond the liquidity: the last price at which a trade is possible."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from config.redis.connection import redis_client
from tests.nodes.recordings import base
from tests.rows.factories import TokenFactory
from tests.tokens.trades.trade_worlds import stored_candles
from tokens.chains.pool_types import LiquidityChange, Swap, chain_position
from tokens.indexing import chain_lock
from tokens.market.own_trending import select_tokens
from tokens.models import (
    Candle,
    LaunchFacts,
    Market,
    MinuteCandle,
    PoolTrade,
    ReferencePrice,
    RollingClock,
    RollingSum,
    Token,
)
from tokens.trades import trade_writing
from tokens.trades.market_rows import refresh_markets
from tokens.trades.pool_prices import tick_root
from tokens.trades.pool_tokens import PoolTokenCache
from tokens.trades.prices.liquidity_bounds import PriceBounds, bounds_of

pytestmark = pytest.mark.django_db

WETH, TRADER = "0x4200000000000000000000000000000000000006", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
# TickMath.MIN_SQRT_PRICE + 1 and MAX_SQRT_PRICE - 1: the limits that routers give to a swap without one.
LOWEST, HIGHEST = 4_295_128_740, 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_341
FIRST_TICK, LAST_TICK = -230_400, -120_000
FULL = (-887_200, 887_200)
L = 10**24
# WETH for a token, at the launch ranges' ends.
START, END = 1.0001**FIRST_TICK, 1.0001**LAST_TICK


def test_the_launchs_ranges_are_the_bounds():
    launched = {(-400, -200): 5, (-200, 600): 7}
    for others in ({}, {(-400, -200): 5, (-200, 600): 7}, {(-200, 0): 10**9}):
        assert bounds_of(launched, others) == PriceBounds(tick_root(-400), tick_root(600))


def test_a_price_within_a_gap_of_the_launchs_ranges_counts():
    bounds = bounds_of({(-400, -200): 5, (200, 600): 7}, {})
    assert bounds.bound(tick_root(0)) == tick_root(0)


def test_other_liquidity_counts_as_far_as_it_is_a_hundredth_as_deep():
    launched = {(0, 1000): 10**20}
    # With as much liquidity as the launch's, the depth falls to 1 % at 1 % of the root, and at its hundredfold.
    wide = bounds_of(launched, launched | {FULL: 10**20})
    assert wide.lowest == tick_root(0) // 100
    assert wide.highest == 100 * tick_root(1000)
    # The range ends before its depth does.
    assert bounds_of(launched, launched | {(-200, 1200): 10**20}) == PriceBounds(tick_root(-200), tick_root(1200))
    # Too little, negative, or not adjoining.
    for other in ({FULL: 10**18}, {FULL: 1}, {FULL: -(10**20)}, {(-400, -200): 10**30, (1200, 1400): 10**30}):
        assert bounds_of(launched, launched | other) == bounds_of(launched, {})


def test_adjoining_ranges_are_joined():
    launched = {(0, 1000): 10**20}
    joined = launched | {(-200, 0): 10**19, (-600, -200): 10**19, (-1000, -700): 10**25}
    assert bounds_of(launched, joined) == PriceBounds(tick_root(-600), tick_root(1000))


@dataclass
class Pool:
    """A token in a pool, with its swaps by token prices in WETH."""

    token: Token
    is_first: bool
    now: Any

    def swap(self, block: int, in_token: int, in_quote: int, price: float | int, *, minutes: int) -> Swap:
        """Return a swap; a whole number is the pool's own square root."""
        root = price if isinstance(price, int) else int((price if self.is_first else 1 / price) ** 0.5 * 2**96)
        amounts = (in_token, in_quote) if self.is_first else (in_quote, in_token)
        return Swap(
            self.token.pool_address, block, self._time(minutes), f"0x{block:064x}", 5, *amounts, root,
            "0x" + "Ef" * 20, TRADER, 7, 10_000,
        )  # fmt: skip

    def change(self, block: int, ticks: tuple[int, int], liquidity: int, *, log: int = 3) -> LiquidityChange:
        """Return a liquidity change between two ticks of the token's price."""
        lower, upper = ticks if self.is_first else (-ticks[1], -ticks[0])
        return LiquidityChange(
            self.token.pool_address, block, self._time(9), f"0x{log:064x}", log, lower, upper, liquidity
        )

    @property
    def launch(self) -> LiquidityChange:
        return self.change(101, (FIRST_TICK, LAST_TICK), L)

    def _time(self, minutes: int) -> int:
        return int((self.now - timedelta(minutes=minutes)).timestamp())


@pytest.fixture(params=[True, False], ids=["token is currency 0", "token is currency 1"])
def pool(request, settings):
    redis_client().flushdb()
    settings.RATE_LIMIT_PUBLIC = 0
    now = timezone.now().replace(second=0, microsecond=0)
    RollingClock.objects.create(chain_id=8453, rolled_to=now)
    reference = base().reference_pools[0]
    ReferencePrice.objects.create(
        chain_id=8453, pool=reference.pool, block_number=1, position=1 << 20, at=now - timedelta(days=2),
        currency=reference.currency, usd=Decimal(3000),
    )  # fmt: skip
    token = TokenFactory(
        contract_address=("0x1" if request.param else "0xF") + "0" * 38 + "1", pool_address="0x" + "56" * 32,
        paired_token=WETH, block_number=101, deployed_at=now - timedelta(minutes=9),
    )  # fmt: skip
    LaunchFacts.objects.create(token=token, facts={"pool": {"pair_decimals": 18, "tick": FIRST_TICK}})
    return Pool(token, request.param, now)


def store(swaps, changes=(), *, live=True):
    with transaction.atomic():
        chain_lock.lock_exclusive(8453)
        trade_writing.store_trades(swaps, changes, chain=base(), live=live)


def prices():
    return [float(price) for price in PoolTrade.objects.order_by("position").values_list("price", flat=True)]


def test_a_dump_beyond_the_liquidity_leaves_the_first_price(pool):
    high = 3 * START
    bought = int(L * (START**-0.5 - high**-0.5))
    store([pool.swap(110, -bought, 10**18, high, minutes=8)], [pool.launch])
    store([pool.swap(120, bought + bought // 100, -(10**18) + 10, LOWEST if pool.is_first else HIGHEST, minutes=6)])
    market = Market.objects.get(token=pool.token)
    assert prices() == pytest.approx([high, START])
    assert market.price_usd == pytest.approx(3000 * START)
    assert market.price_change_1h == pytest.approx(0, abs=1e-6)
    # At its own price the pool holds only the token, except in the launch's liquidity.
    assert market.liquidity_usd == pytest.approx(3000 * START * L * (START**-0.5 - END**-0.5) / 10**18)
    store([pool.swap(130, -(10**21), 10**17, 1.02 * START, minutes=3)])
    market.refresh_from_db()
    assert market.price_change_1h == pytest.approx(2, abs=1e-3)
    base_path = f"/api/tokens/8453/{pool.token.contract_address}"
    bars = Client().get(base_path + "/candles?interval=1m&currency=quote").json()["data"]
    assert min(bar["l"] for bar in bars) == pytest.approx(START)
    bars = Client().get(base_path + "/candles?interval=1h").json()["data"]
    assert min(bar["l"] for bar in bars) == pytest.approx(3000 * START)
    trending = Client().get("/api/tokens/trending?chainId=8453&order=m5_price_change_percentage_desc").json()
    changes = trending["tokens"][pool.token.pool_address]["pool"]["price_change_percentage"]
    assert float(changes["m5"]) == pytest.approx(2, abs=0.01)


def test_a_purchase_of_everything_leaves_the_last_price(pool):
    everything = int(L * (START**-0.5 - END**-0.5))
    paid = int(L * (END**0.5 - START**0.5))
    bought = pool.swap(110, -everything, paid, HIGHEST if pool.is_first else LOWEST, minutes=8)
    store([bought], [pool.launch])
    market = Market.objects.get(token=pool.token)
    assert prices() == pytest.approx([END])
    assert market.market_cap == pytest.approx(END * 3000 * float(pool.token.supply) / 10**18)
    assert market.liquidity_usd == pytest.approx(3000 * paid / 10**18)
    # The same logs are no alteration, before and after they are all stored.
    assert trade_writing.compare_pool_logs([bought], [pool.launch], chain=base()).altered == set()
    assert trade_writing.compare_pool_logs([bought], [], chain=base()).altered == set()


def test_a_crumb_of_liquidity_is_no_price_and_as_much_as_the_launchs_is(pool):
    crumb, deep = pool.change(105, FULL, 10**6, log=4), pool.change(125, FULL, L, log=4)
    far = pool.swap(120, 10**25, -(10**18), LOWEST if pool.is_first else HIGHEST, minutes=6)
    below = pool.swap(130, 10**25, -(10**15), START / 100, minutes=5)
    # In one batch, as the historical sync writes them.
    store([far, below], [pool.launch, crumb, deep], live=False)
    assert prices() == pytest.approx([START, START / 100])
    # The removal bounds later swaps only.
    gone = pool.change(140, FULL, -L, log=4)
    store([pool.swap(150, 10**25, -(10**15), START / 200, minutes=4)], [gone])
    assert prices() == pytest.approx([START, START / 100, START])
    assert trade_writing.compare_pool_logs([far, below], [deep], chain=base()).altered == set()


@pytest.mark.parametrize(("gap", "reached"), [(6_931, 8_000), (6_932, 200)])
def test_ranges_of_the_launch_beyond_a_wide_gap_do_not_count(pool, gap, reached):
    near = pool.change(101, (FIRST_TICK, FIRST_TICK + 200), 10**20)
    far = pool.change(101, (FIRST_TICK + 200 + gap, LAST_TICK), L)._replace(log_index=4)
    store([pool.swap(110, -(10**25), 10**16, 1.0001 ** (FIRST_TICK + 8_000), minutes=8)], [near, far])
    assert prices() == pytest.approx([1.0001 ** (FIRST_TICK + reached)])


def test_liquidity_that_another_transaction_of_the_launchs_block_adds_is_not_the_launchs(pool):
    stranger = pool.change(101, FULL, 1, log=9)
    store([pool.swap(120, 10**25, -(10**18), LOWEST if pool.is_first else HIGHEST, minutes=6)], [pool.launch, stranger])
    assert prices() == pytest.approx([START])


def test_a_pool_with_unknown_launch_liquidity_has_its_own_price(pool):
    store([pool.swap(120, 10**25, -(10**18), START / 1000, minutes=6)], [pool.change(110, FULL, 1)])
    assert prices() == pytest.approx([START / 1000])


def test_prepared_trades_are_bounded_by_blocks_that_are_not_stored(pool):
    cache = PoolTokenCache(base())
    before = [pool.swap(110, -(10**25), 10**18, 2 * START, minutes=8)]
    far = [pool.swap(120, 10**25, -(10**18), LOWEST if pool.is_first else HIGHEST, minutes=6)]
    with transaction.atomic():
        chain_lock.lock_exclusive(8453)
        convert = trade_writing.prepare_trades(
            far, before=before, launched=(), cache=cache, liquidity_changes=[pool.launch]
        )
        trade_writing.store_trades(before, [pool.launch], chain=base(), live=False, cache=cache)
        trade_writing.store_trades(far, [], chain=base(), live=False, cache=cache, prepared=convert())
    assert prices() == pytest.approx([2 * START, START])


def test_the_change_of_a_new_token_uses_the_rate_at_its_launch(pool):
    reference = base().reference_pools[0]
    for block, usd, minutes in ((100, 2000, 10), (105, 2500, 7)):
        ReferencePrice.objects.create(
            chain_id=8453, pool=reference.pool, block_number=block, position=chain_position(block, 0),
            at=pool.now - timedelta(minutes=minutes), currency=reference.currency, usd=Decimal(usd),
        )  # fmt: skip
    store([pool.swap(120, -(10**25), 10**17, START, minutes=3)], [pool.launch])
    market = Market.objects.get(token=pool.token)
    # At the launch the rate was 2,000, and the five minutes began at 2,500.
    assert [market.price_change_1h, market.price_change_24h] == pytest.approx([25, 25])
    assert change_of_5_minutes(pool) == pytest.approx(0, abs=1e-6)
    # The rate has changed by the newest block, without a trade.
    ReferencePrice.objects.create(
        chain_id=8453, pool=reference.pool, block_number=130, position=chain_position(130, 0),
        at=pool.now - timedelta(minutes=2), currency=reference.currency, usd=Decimal(4000),
    )  # fmt: skip
    refresh_markets(base(), [pool.token.pk])
    assert change_of_5_minutes(pool) == pytest.approx(60)
    Market.objects.update(last_trade_at=pool.now - timedelta(minutes=6))
    assert change_of_5_minutes(pool) == 0


def change_of_5_minutes(pool):
    (token,) = select_tokens(8453, sort="h24_trending", now=pool.now)
    return token.price_change_5m


def test_trades_for_a_launched_token_are_valued_at_its_bounded_price(pool):
    quoted = TokenFactory(
        contract_address="0x" + "1" * 40, pool_address="0x" + "78" * 32, paired_token=pool.token.contract_address
    )
    LaunchFacts.objects.create(token=quoted, facts={"pool": {"pair_decimals": 18, "tick": 0}})
    bought = pool.swap(110, -(10**25), 10**18, HIGHEST if pool.is_first else LOWEST, minutes=8)
    sale = pool.swap(120, -(10**18), 10**18, 2**96, minutes=7)._replace(pool=quoted.pool_address)
    store([bought, sale], [pool.launch])
    assert float(PoolTrade.objects.get(token=quoted).quote_usd) == pytest.approx(3000 * END)


def test_prices_within_the_launchs_ranges_cost_one_query(pool):
    store([pool.swap(110, -(10**25), 10**18, 2 * START, minutes=8)], [pool.launch], live=False)
    later = [pool.swap(120, -(10**25), 10**18, 3 * START, minutes=8)]
    with CaptureQueriesContext(connection) as queries:
        store(later, live=False)
    assert len([query for query in queries if "tokens_poolliquiditychange" in query["sql"]]) == 1
    assert PoolTrade.objects.filter(position=chain_position(120, 5)).exists()


def test_stored_prices_are_repaired_by_the_command(pool):
    def run():
        output = StringIO()
        call_command("repair_prices", chain=8453, stdout=output)
        return output.getvalue()

    store([pool.swap(110, -(10**25), 10**18, 2 * START, minutes=8)], [pool.launch])
    for block, minutes in ((120, 6), (121, 5)):
        store([pool.swap(block, 10**25, -(10**18), LOWEST if pool.is_first else HIGHEST, minutes=minutes)])
    store([pool.swap(130, -(10**25), 10**17, 1.5 * START, minutes=3)])
    bounded = prices(), stored_candles(), Market.objects.values_list("price_quote", "price_change_1h").get()
    assert "changed: 0, of trades in 1 pools" in run()
    # As a version without bounds stored them, and both are in one day.
    far = [chain_position(block, 5) for block in (120, 121)]
    PoolTrade.objects.filter(position__in=far).update(price=Decimal("2.9e-39"))
    MinuteCandle.objects.update(low=Decimal("2.9e-39"))
    Candle.objects.update(low=Decimal("2.9e-39"), low_usd=1e-35)
    RollingSum.objects.update(opening_price=Decimal("2.9e-39"), opening_usd=1e-35)
    Market.objects.update(price_change_1h=1e38)
    assert "changed: 2, of trades in 1 pools" in run()
    assert (
        prices(), stored_candles(), Market.objects.values_list("price_quote", "price_change_1h").get()
    ) == bounded  # fmt: skip


def test_verification_repairs_a_stored_price(pool):
    far = pool.swap(120, 10**25, -(10**18), LOWEST if pool.is_first else HIGHEST, minutes=6)
    store([far], [pool.launch])
    PoolTrade.objects.update(price=Decimal("2.9e-39"))
    assert trade_writing.compare_pool_logs([far], [pool.launch], chain=base()).altered == {chain_position(120, 5)}


def test_a_trade_above_a_history_gets_its_price_when_its_block_is_read_again(pool):
    far = pool.swap(120, 10**25, -(10**18), LOWEST if pool.is_first else HIGHEST, minutes=6)
    store([far])
    assert prices() != pytest.approx([START])
    # The history arrives at the block.
    store([], [pool.launch], live=False)
    store([far])
    assert prices() == pytest.approx([START])
    assert Market.objects.get(token=pool.token).price_quote == PoolTrade.objects.get().price
    assert {candle["low"] for candle in stored_candles().values()} == {PoolTrade.objects.get().price}
