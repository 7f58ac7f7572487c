"""Market caps at prices that launchers chose: they count where the pool's quote reserve supports them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from config.redis.connection import redis_client
from tests.nodes.recordings import base
from tests.rows.factories import TokenFactory
from tests.tokens.integrity.followed_launches import follow_recorded_chain
from tests.tokens.trades.pool_rows import WETH
from tokens.chains.addresses import checksum_address
from tokens.chains.pool_types import LiquidityChange, Swap
from tokens.chains.registry.chains import load_registry
from tokens.indexing import chain_lock
from tokens.models import Coverage, LaunchFacts, Market, PoolLiquidityChange, ReferencePrice, RollingClock, Token
from tokens.trades import trade_writing
from tokens.trades.market_rows import find_stale_markets

pytestmark = pytest.mark.django_db

USD, SUPPLY = 3000, 10**29
STANDARD = ((-230_400, -120_000, 1.0),)
# One token for one WETH, to the last tick: 3e14 USD for nothing.
CHOSEN = ((0, 887_200, 1.0),)


@dataclass
class LaunchedPool:
    """A token in a pool with one-sided liquidity at its price's ticks, and purchases in it."""

    token: Token
    is_first: bool
    now: Any
    # Ticks and liquidity.
    ranges: Sequence[tuple[int, int, int]]
    block: int
    paid: int = field(default=0, init=False)

    def changes(self) -> list[LiquidityChange]:
        return [
            LiquidityChange(
                self.token.pool_address, 101, self.seconds(9), "0x" + "11" * 32, log, *self._ticks(lower, upper), size
            )
            for log, (lower, upper, size) in enumerate(self.ranges)
        ]

    def buy(self, wei: int, *, minutes: int = 3) -> Swap:
        """Return a purchase, a sale if negative, and the pool's price after it as its ranges have it."""
        self.paid, self.block = self.paid + wei, self.block + 1
        root = int(self._root() * 2**96)
        in_token = -(10**20) if wei > 0 else 10**20
        amounts = (in_token, wei) if self.is_first else (wei, in_token)
        return Swap(
            self.token.pool_address, self.block, self.seconds(minutes), f"0x{self.block:064x}", 5, *amounts,
            root if self.is_first else 2**192 // root, "0x" + "Ef" * 20, "0x" + "70" * 20, 7, 10_000,
        )  # fmt: skip

    def _root(self) -> float:
        """Return the square root of the price at which the ranges hold the paid amount."""
        low, high = _tick_root(min(lower for lower, *_ in self.ranges)), _tick_root(887_200)
        for _ in range(400):
            middle = (low * high) ** 0.5
            low, high = (middle, high) if self._held(middle) < self.paid else (low, middle)
        return high

    def _held(self, root: float) -> float:
        ends = ((_tick_root(lower), _tick_root(upper), size) for lower, upper, size in self.ranges)
        return sum(size * (min(max(root, lower), upper) - lower) for lower, upper, size in ends)

    def _ticks(self, lower: int, upper: int) -> tuple[int, int]:
        return (lower, upper) if self.is_first else (-upper, -lower)

    def seconds(self, minutes: int) -> int:
        return int((self.now - timedelta(minutes=minutes)).timestamp())

    @property
    def market(self) -> Market:
        return Market.objects.get(token=self.token)


def _tick_root(tick: int) -> float:
    return 1.0001 ** (tick / 2)


@pytest.fixture(params=[True, False], ids=["token is currency 0", "token is currency 1"])
def launch(request, settings):
    """Launch a token: positions as (lower tick, upper tick, share), and the supply part in them."""
    redis_client().flushdb()
    settings.RATE_LIMIT_PUBLIC = 0
    now = timezone.now().replace(second=0, microsecond=0)
    RollingClock.objects.create(chain_id=8453, rolled_to=now)
    reference = base().reference_pools[0]
    ReferencePrice.objects.create(
        chain_id=8453, pool=reference.pool, block_number=1, position=1 << 20, at=now - timedelta(days=2),
        currency=reference.currency, usd=Decimal(USD),
    )  # fmt: skip

    def launch(positions, *, amount=SUPPLY, paired=WETH, is_first=request.param):
        number = Token.objects.count() + 1
        # Below and above WETH, and launched quote tokens.
        digit = "F" if not is_first else 1 if paired == WETH else 0
        token = TokenFactory(
            contract_address=checksum_address(f"0x{digit}{number:039x}"), pool_address=f"0x{number:064x}",
            paired_token=paired, supply=SUPPLY, block_number=101, deployed_at=now - timedelta(minutes=9),
        )  # fmt: skip
        facts = {"pool": {"pair_decimals": 18, "tick": min(lower for lower, *_ in positions)}}
        LaunchFacts.objects.create(token=token, facts=facts)
        ranges = [
            (lower, upper, int(amount * share / (1 / _tick_root(lower) - 1 / _tick_root(upper))))
            for lower, upper, share in positions
        ]
        pool = LaunchedPool(token, is_first, now, ranges, 1000 * number)
        store([], pool.changes())
        return pool

    return launch


def store(swaps, changes=()):
    with transaction.atomic():
        chain_lock.lock_exclusive(8453)
        trade_writing.store_trades(swaps, changes, chain=base(), live=True)


def first_of(order):
    redis_client().flushdb()
    answer = Client().get(f"/api/tokens/trending?chainId=8453&order={order}").json()
    return answer["tokens"][answer["trending"][0]]["contract_address"]


def lists():
    """Return sort -> the address that is first in it."""
    found = {
        sort: Client().get(f"/api/tokens?sortBy={sort}").json()["data"][0]["contract_address"]
        for sort in ("market-cap", "price-percent-h24", "price-percent-h1", "volume-h24")
    }
    changes = [f"{period}_price_change_percentage_desc" for period in ("m5", "h1", "h6", "h24")]
    orders = ["fdv_usd_desc", "reserve_in_usd_desc", "h24_volume_usd_desc", "h24_trending", *changes]
    return found | {order: first_of(order) for order in orders}


@pytest.mark.parametrize(
    ("positions", "amount", "wei"),
    [
        # Some cents, and 240 dollars.
        (CHOSEN, SUPPLY, 10**13),
        (CHOSEN, SUPPLY, 8 * 10**16),
        # A crumb, bought to the last ticks for less than a dollar.
        (((-230_400, 887_200, 1.0),), 10**8, 10**14),
        # All but dust from the supply at the usual price.
        (((-230_400, -230_200, 1 - 1e-12), (-230_200, 887_200, 1e-12)), SUPPLY, 11 * 10**18),
    ],
)
def test_a_price_that_cost_nothing_is_first_in_no_list(launch, positions, amount, wei):
    honest, fake = launch(STANDARD), launch(positions, amount=amount)
    store([honest.buy(20 * 10**18)])
    store([fake.buy(wei)])
    cap = fake.market.price_usd * SUPPLY / 10**18
    assert cap > 10**10
    assert fake.market.market_cap is None
    # What the pool holds, at a price that counts.
    assert fake.market.liquidity_usd == pytest.approx(wei * USD / 10**18, rel=1e-3, abs=1e-14 * cap)
    assert (fake.market.price_change_1h, fake.market.price_change_24h) == (None, None)
    assert set(lists().values()) == {honest.token.contract_address}, lists()
    pools = Client().get("/api/tokens/trending?chainId=8453&order=h24_trending").json()["tokens"]
    shown = pools[fake.token.pool_address]["pool"]
    assert (shown["fdv_usd"], shown["market_cap_usd"], shown["price_change_percentage"]["m5"]) == (None, None, None)
    page = Client().get(f"/tokens/8453/{fake.token.contract_address}").text
    assert "<dt>Market cap</dt><dd>–</dd>" in page


def test_a_tiny_price_that_rises_to_a_usual_one_is_no_gain(launch):
    honest, fake = launch(STANDARD), launch(((-887_200, -120_000, 1.0),))
    store([honest.buy(10**18)])
    store([fake.buy(8 * 10**4)])
    assert 50_000 < fake.market.price_usd * 1e11 < 100_000
    assert (fake.market.market_cap, fake.market.price_change_1h, fake.market.price_change_24h) == (None, None, None)
    assert set(lists().values()) == {honest.token.contract_address}, lists()


def test_an_untraded_price_above_the_floor_is_no_market_cap(launch):
    fake, honest = launch(CHOSEN), launch(STANDARD)
    assert (fake.market.market_cap, fake.market.liquidity_usd) == (None, 0)
    assert honest.market.market_cap == pytest.approx(1.0001**-230_400 * 1e11 * USD)


def test_a_launch_without_known_liquidity_needs_a_trade(launch):
    fake = launch(CHOSEN)
    PoolLiquidityChange.objects.filter(token=fake.token).delete()
    trade_writing.recount_tokens(8453, [fake.token.pk])
    assert fake.market.market_cap is None
    store([fake.buy(10**18)])
    assert fake.market.market_cap == pytest.approx(3e14, rel=1e-3)


@pytest.fixture(params=["curve", "liquidity of a later block", "backfilled"])
def unread_launch(launch, request):
    """Launch a token that is followed from its launch on, in a pool without a change in the launch's block.

    A bonding curve has none at all, and anybody may open the pool that a token later moves into.
    """
    kind = request.param
    follow = {"chain_id": 8453, "addresses": [base().v4_pool_manager.lower()], "verified_to": 102}
    first = 103 if kind == "backfilled" else 101
    Coverage.objects.create(**follow, address_set="a", first_block=first, followed_to=5000)
    if kind == "backfilled":
        Coverage.objects.create(**follow, address_set="a", first_block=1, last_block=102, followed_to=102)

    def launched(positions):
        pool = launch(positions)
        changes = PoolLiquidityChange.objects.filter(token=pool.token)
        changes.delete()
        if kind == "liquidity of a later block":
            store([], [change._replace(block_number=102) for change in pool.changes()])
        return pool

    return launched


def test_one_purchase_is_no_support_where_all_trades_since_the_launch_are_read(unread_launch, launch):
    honest, fake = launch(STANDARD), unread_launch(CHOSEN)
    store([honest.buy(20 * 10**18)])
    store([fake.buy(10**15)])
    assert fake.market.price_usd * 1e11 > 10**14
    assert (fake.market.market_cap, fake.market.price_change_24h) == (None, None)
    assert set(lists().values()) == {honest.token.contract_address}, lists()
    # Purchases and sales in turn leave nothing in the pool.
    for _ in range(3):
        store([fake.buy(10**20)])
        store([fake.buy(-(10**20))])
    assert fake.market.volume_24h > 10**6
    assert fake.market.market_cap is None
    assert {"UNSUPPORTED_PRICE"} == {*warnings_of(fake)} != {*warnings_of(honest)}


def warnings_of(pool):
    """Return the warnings in a token's record, which its page and the lists have, too."""
    redis_client().flushdb()
    address = pool.token.contract_address
    records = {each["contract_address"]: each for each in Client().get("/api/tokens").json()["data"]}
    codes = records[address]["warnings"]
    assert set(codes) <= {*records[address]["trust"]["reasons"]}
    without = Client().get("/api/tokens?warnings=none").json()["data"]
    assert (address in {each["contract_address"] for each in without}) == (not codes)
    for page in (f"/tokens/8453/{address}", f"/?q={address}"):
        assert ("1 warning" in Client().get(page).text) == bool(codes)
    return codes


def test_a_price_on_a_curve_counts_once_buyers_paid_a_thousandth_of_the_cap(unread_launch):
    pool = unread_launch(((-138_200, -120_000, 1.0),))
    cap = 1.0001**-138_200 * 1e11 * USD
    store([pool.buy(int(0.00099 * cap / USD * 10**18))])
    assert pool.market.market_cap is None
    store([pool.buy(int(0.00002 * cap / USD * 10**18))])
    assert pool.market.market_cap == pytest.approx(pool.market.price_usd * 1e11)
    assert warnings_of(pool) == []


def test_an_unread_quote_token_of_a_chosen_price_prices_nothing(unread_launch, launch):
    honest, quote = launch(STANDARD), unread_launch(CHOSEN)
    store([honest.buy(10**18)])
    fake = launch(STANDARD, paired=quote.token.contract_address)
    store([quote.buy(10**16)])
    store([fake.buy(2 * 10**21)])
    unknown = fake.market
    assert (unknown.price_usd, unknown.volume_24h, unknown.trending) == (None, None, None)
    assert lists()["h24_volume_usd_desc"] == lists()["h24_trending"] == honest.token.contract_address


def test_a_chosen_price_counts_once_buyers_paid_a_thousandth_of_the_cap(launch):
    # 300 million dollars.
    pool = launch(((-138_200, -120_000, 1.0),))
    cap = 1.0001**-138_200 * 1e11 * USD
    store([pool.buy(int(0.00099 * cap / USD * 10**18))])
    assert pool.market.market_cap is None
    store([pool.buy(int(0.00002 * cap / USD * 10**18))])
    assert pool.market.market_cap == pytest.approx(pool.market.price_usd * 1e11)


@pytest.mark.parametrize("preset", ["standard", "project", "twenty_eth"])
@pytest.mark.parametrize("in_pool", [1.0, 0.1])
def test_caps_of_usual_launches_are_known_at_every_price(launch, preset, in_pool):
    positions = [
        (each.tick_lower, each.tick_upper, each.bps / 10_000) for each in load_registry().presets[preset].positions
    ]
    pool = launch(positions, amount=int(SUPPLY * in_pool))
    caps = []
    for _ in range(12):
        store([pool.buy(max(10**15, 4 * pool.paid))])
        market = pool.market
        cap = market.price_usd * 1e11
        caps.append(cap)
        if cap > 250_000_000:
            break
        assert market.market_cap == pytest.approx(cap)
    assert caps[-1] > 10**8


def test_a_launched_quote_token_is_worth_what_its_pool_pays(launch):
    honest, quote = launch(STANDARD), launch(CHOSEN)
    store([honest.buy(10**18)])
    # Two thousand tokens at 3,000 dollars each, which their launcher got for nothing.
    fake = launch(STANDARD, paired=quote.token.contract_address)
    store([quote.buy(10**16)])
    store([fake.buy(2 * 10**21)])
    unknown = fake.market
    assert (unknown.price_usd, unknown.market_cap, unknown.liquidity_usd) == (None, None, None)
    assert (unknown.volume_24h, unknown.trending) == (None, None)
    assert lists()["h24_volume_usd_desc"] == lists()["h24_trending"] == honest.token.contract_address
    # The quote pool holds 30,000 dollars: the token has a price, but no cap above a thousand times as much.
    store([quote.buy(10**19)])
    assert find_stale_markets(base()) == [fake.token.pk]
    trade_writing.recount_tokens(8453, [fake.token.pk])
    assert find_stale_markets(base()) == []
    assert fake.market.price_usd * 1e11 > 10**9
    assert fake.market.market_cap is None
    assert fake.market.liquidity_usd == pytest.approx(30_030, rel=1e-3)
    # The pool pays less again.
    store([quote.buy(-(10**19))])
    assert find_stale_markets(base()) == [fake.token.pk]


def test_a_deep_launched_quote_token_prices_what_is_paired_with_it(launch):
    quote = launch(STANDARD)
    store([quote.buy(10**19)])
    # Its market cap is 150,000 dollars, and 1,000 dollars have bought it.
    paired = launch(((2600, 120_000, 1.0),), paired=quote.token.contract_address)
    store([paired.buy(10**27)])
    market = paired.market
    assert market.price_usd * 1e11 > 100_000
    assert market.quote_price_usd == pytest.approx(quote.market.price_usd)
    assert market.market_cap == pytest.approx(market.price_usd * 1e11)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("usd", [3000, 10_000])
def test_recorded_launches_have_the_market_caps_of_their_prices(installed_node, settings, usd):
    settings.FOLLOW_FROM = {8453: 0}
    reference = base().reference_pools[0]
    ReferencePrice.objects.create(
        chain_id=8453, pool=reference.pool, block_number=0, position=0, at=timezone.now() - timedelta(days=3000),
        currency=reference.currency, usd=Decimal(usd),
    )  # fmt: skip
    follow_recorded_chain(installed_node, 8453)
    markets = list(Market.objects.exclude(price_usd=None).select_related("token"))
    assert len(markets) >= 10
    for market in markets:
        assert market.market_cap == pytest.approx(market.price_usd * float(market.token.supply) / 10**18)
