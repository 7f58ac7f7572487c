"""Tests for tokens/trades/quote_rates.py and pool_prices.py: quote token prices in USD."""

import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import isqrt

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.rows.factories import CoverageFactory, TokenFactory
from tokens.chains.addresses import parse_pool_address
from tokens.chains.pool_types import Swap, chain_position
from tokens.chains.registry.chains import load_registry
from tokens.models import LaunchFacts, Market, PoolTrade, ReferencePrice, Token
from tokens.trades.pool_prices import PRICE, USD, pool_price
from tokens.trades.quote_rates import (
    RateSince,
    delete_other_reference_prices,
    delete_reference_prices,
    load_rates,
    newest_reference_prices,
    prune_reference_prices,
    store_reference_prices,
)
from tokens.trades.tasks import prune_reference_prices as prune_task

pytestmark = pytest.mark.django_db

BASE = load_registry().chain(8453)
WETH = "0x4200000000000000000000000000000000000006"
USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
# As logs are decoded: EIP-55.
POOL = "0xd0b53D9277642d899DF5C87A3966A349A798F224"
SECOND = "0x6c561B446416E1A00E8E93E221854d6eA4171372"
STARTED = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.fixture
def trades(db):
    """Make the trade table writable at any time."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE tokens_trade_any PARTITION OF tokens_trade DEFAULT")


def root(price: Fraction | int, decimals: int = 18, quote_decimals: int = 6, *, is_currency0: bool = True) -> int:
    """Return the sqrtPriceX96 for a price in whole units, rounded down."""
    raw = Fraction(price) * 10**quote_decimals / 10**decimals
    raw = raw if is_currency0 else 1 / raw
    return isqrt(raw.numerator * 2**192 // raw.denominator)


def digits(price: Fraction, count: int) -> Decimal:
    """Return the price to some significant digits, by integers only."""
    power = 0
    while price * 10**power < 10 ** (count - 1):
        power += 1
    while price * Fraction(10) ** power >= 10**count:
        power -= 1
    return Decimal(round(price * Fraction(10) ** power)).scaleb(-power)


def exact(sqrt_price: int, decimals: int = 18, quote_decimals: int = 6, *, is_currency0: bool = True) -> Fraction:
    raw = Fraction(sqrt_price**2, 2**192)
    return (raw if is_currency0 else 1 / raw) * Fraction(10) ** (decimals - quote_decimals)


def swap(pool: str, block: int, sqrt_price: int, *, log_index: int = 0) -> Swap:
    """Return a swap in a block on a chain with 2 s blocks."""
    return Swap(
        pool=pool,
        block_number=block,
        block_time=int(STARTED.timestamp()) + 2 * block,
        tx_hash="0x" + "ab" * 32,
        log_index=log_index,
        amount0=1,
        amount1=-1,
        sqrt_price=sqrt_price,
        sender=WETH,
        trader=None,
    )


def usd(block, *swaps, quote=WETH, chain=BASE, log_index=0):
    """Return a quote token's rate at a chain position, for a batch."""
    return load_rates(chain, {quote}, swaps).usd_at(quote, chain_position(block, log_index))


def launch(number: int, quote: str = WETH, **columns):
    """Return an indexed token whose address sorts by its number, with an 18-decimals quote token."""
    address = f"0x{number:02d}" + "11" * 19
    token = TokenFactory(contract_address=address, paired_token=quote, **columns)
    LaunchFacts.objects.create(token=token, facts={"pool": {"pair_decimals": "18", "tick": "-230400"}})
    return token


def trade(token, block: int, price: Decimal, *, log_index: int = 0) -> None:
    PoolTrade.objects.create(
        token=token,
        at=STARTED + timedelta(seconds=2 * block),
        position=chain_position(block, log_index),
        tx_hash=bytes(32),
        is_buy=True,
        is_conversion=False,
        amount_token=1,
        amount_quote=1,
        price=price,
    )


# Pool prices


def test_the_price_is_that_of_uniswaps_example():
    # "A Primer on Uniswap v3 Math", blog.uniswap.org: Ethereum's USDC (6 decimals) and WETH pool.
    square_root = 2018382873588440326581633304624437
    of_usdc = pool_price(square_root, decimals=6, quote_decimals=18, is_currency0=True)
    of_weth = pool_price(square_root, decimals=18, quote_decimals=6, is_currency0=False, precision=USD)
    assert of_usdc == Decimal("0.000649004842701370076638906")
    assert of_weth == Decimal("1540.82055202805")


@pytest.mark.parametrize("is_currency0", [True, False])
@pytest.mark.parametrize("quote_decimals", [0, 6, 18, 36])
def test_a_price_is_rounded_once_to_its_digits(is_currency0, quote_decimals):
    numbers = random.Random(158)
    for bits in range(33, 160):
        square_root = numbers.getrandbits(bits) + 1
        price = exact(square_root, 18, quote_decimals, is_currency0=is_currency0)
        for precision, count in ((PRICE, 24), (USD, 15)):
            found = pool_price(
                square_root,
                decimals=18,
                quote_decimals=quote_decimals,
                is_currency0=is_currency0,
                precision=precision,
            )
            assert found == digits(price, count)


def test_a_pool_without_a_price_has_none():
    assert pool_price(0, decimals=18, quote_decimals=6, is_currency0=True) is None
    assert pool_price(0, decimals=18, quote_decimals=6, is_currency0=False) is None


# Batch rates


def test_a_stable_token_is_a_dollar_from_the_first_position_on():
    with CaptureQueriesContext(connection) as captured:
        assert usd(0, quote=USDC) == usd(10**9, quote=USDC) == 1
    assert not captured


def test_a_rate_begins_with_its_first_swap_and_holds_until_the_next():
    batch = (swap(POOL, 10, 4339505179874779489431522, log_index=5), swap(POOL, 12, 4552702936290292383660862))
    assert usd(9, *batch) is None
    assert usd(10, *batch, log_index=4) is None
    assert usd(10, *batch, log_index=5) == usd(11, *batch) == Decimal("3000.00000000000")
    assert usd(12, *batch) == usd(99, *batch) == Decimal("3302.01817651908")


def test_the_first_pool_sets_the_price():
    batch = (swap(POOL, 10, root(3000)), swap(SECOND, 11, root(2000)))
    assert round(usd(12, *batch)) == 3000
    store_reference_prices(BASE, batch)
    assert round(usd(12)) == 3000


def test_a_chain_without_a_source_has_no_rate():
    sepolia = load_registry().chain(84532)
    assert usd(1, swap(POOL, 0, root(3000)), chain=sepolia) is None
    # A registry quote token without a pool, and any other token.
    assert usd(1, quote="0x4ed4E862860beD51a9570b96d89aF5E1B0Efefed") is None
    assert usd(1, quote="0x" + "99" * 20) is None


def test_the_other_sequence_of_currencies_and_18_decimals_give_a_rate():
    bsc = load_registry().chain(56)
    (pool, _) = bsc.reference_pools
    assert (pool.is_currency0, pool.stable_decimals) == (False, 18)
    square_root = root(Fraction("612.34"), 18, 18, is_currency0=False)
    found = usd(5, swap(parse_pool_address(pool.pool), 5, square_root), quote=pool.currency, chain=bsc)
    assert found == digits(exact(square_root, 18, 18, is_currency0=False), 15)
    assert abs(found - Decimal("612.34")) < Decimal("1e-9")


def test_a_batch_begins_with_the_last_price_before_it_however_it_was_written():
    store_reference_prices(BASE, [swap(POOL, 300, root(3300))])
    store_reference_prices(BASE, [swap(POOL, 100, root(3100)), swap(POOL, 200, root(3200))])
    batch = [swap(POOL, 250, root(3250))]
    # The batch itself was stored before, as by a second reading.
    store_reference_prices(BASE, batch)
    assert round(usd(249, *batch)) == 3200
    assert round(usd(299, *batch)) == 3250
    assert usd(99, swap(POOL, 100, root(3100))) is None
    assert round(usd(0)) == 3300


def test_a_quote_token_that_is_a_launched_token_has_its_own_price(trades):
    # Addresses below and above WETH's: the token is currency 0, and currency 1.
    for number, is_currency0 in ((11, True), (77, False)):
        token = launch(number)
        trade(token, 50, Decimal("0.000002"))
        trade(token, 200, Decimal("0.5"))
        store_reference_prices(BASE, [swap(POOL, 40, 4339505179874779489431522)])
        moved = root(Fraction(1, 10**6), 18, 18, is_currency0=is_currency0)
        batch = [
            swap(POOL, 101, 4552702936290292383660862),
            swap(token.pool_address, 103, moved, log_index=7),
        ]
        rates = load_rates(BASE, {token.contract_address, USDC}, batch)

        def at(block, log_index=0, rates=rates, quote=token.contract_address):
            return rates.usd_at(quote, chain_position(block, log_index))

        # The token's price is from block 50, then WETH's changes, then the token's.
        assert at(100) == Decimal("0.006")
        assert at(101) == at(103, 6) == Decimal("0.00660403635303816")
        price = digits(exact(moved, 18, 18, is_currency0=is_currency0), 24)
        assert at(103, 7) == USD.multiply(price, Decimal("3302.01817651908"))
        # Without a batch: each one's newest.
        assert usd(0, quote=token.contract_address) == Decimal("1500")


def test_a_launched_token_without_a_trade_has_no_rate():
    token = launch(11)
    assert usd(5, swap(POOL, 1, root(3000)), quote=token.contract_address) is None
    first = swap(token.pool_address, 3, root(2, 18, 18))
    assert usd(2, swap(POOL, 1, root(3000)), first, quote=token.contract_address) is None
    assert round(usd(3, swap(POOL, 1, root(3000)), first, quote=token.contract_address)) == 6000


def test_a_swap_that_exchanges_nothing_is_no_price_of_a_launched_token():
    token = launch(11)
    nothing = swap(token.pool_address, 3, root(2, 18, 18))._replace(amount0=1, amount1=0)
    assert usd(3, swap(POOL, 1, root(3000)), nothing, quote=token.contract_address) is None
    assert round(usd(3, swap(POOL, 1, root(3000))._replace(amount0=1, amount1=0))) == 3000


def test_orphaned_tokens_and_those_without_decimals_of_their_quote_have_no_rate(trades):
    orphaned, unreadable = launch(11, unindexed=True), launch(12)
    LaunchFacts.objects.filter(token=unreadable).update(facts={"pool": {"pair_decimals": None}})
    for token in (orphaned, unreadable):
        trade(token, 1, Decimal(2))
        assert usd(5, swap(POOL, 2, root(3000)), quote=token.contract_address) is None


def test_four_prices_are_multiplied_and_no_more(trades):
    quote = WETH
    for number in (11, 12, 13, 14):
        token = launch(number, quote)
        trade(token, 1, Decimal(2))
        quote = token.contract_address
        found = usd(5, swap(POOL, 2, 4339505179874779489431522), quote=quote)
        assert found == (3000 * 2 ** (number - 10) if number < 14 else None)


def test_tokens_that_are_each_others_quote_have_no_rate(trades):
    pair = [launch(11, "0x12" + "11" * 19), launch(12, "0x11" + "11" * 19)]
    for token in pair:
        trade(token, 1, Decimal(2))
    assert [usd(5, quote=token.contract_address) for token in pair] == [None, None]


def test_a_token_paired_with_a_launched_token_of_a_stable_pair_has_a_rate(trades):
    token = launch(11, USDC)
    trade(token, 1, Decimal("0.25"))
    assert usd(1, quote=token.contract_address) == Decimal("0.25")


def test_the_number_of_queries_does_not_depend_on_the_swaps(trades):
    tokens = [launch(number) for number in range(10, 40)]
    for token in tokens:
        trade(token, 1, Decimal(2))

    def count(swaps, quotes):
        with CaptureQueriesContext(connection) as captured:
            load_rates(BASE, quotes, swaps)
        return len(captured)

    few = count([swap(tokens[0].pool_address, 5, root(2, 18, 18))], {WETH, tokens[0].contract_address})
    pools = [POOL, *(token.pool_address for token in tokens)]
    many = [swap(pools[n % len(pools)], 5 + n, root(2, 18, 18)) for n in range(2000)]
    assert few == count(many, {WETH, *(token.contract_address for token in tokens)}) == 3


# Stored reference prices


def stored():
    rows = ReferencePrice.objects.order_by("pool", "block_number")
    return list(rows.values_list("chain_id", "pool", "block_number", "position", "at", "currency", "usd"))


def test_the_last_price_of_each_block_and_pool_is_stored_in_any_sequence_and_once():
    batch = [
        swap(POOL, 7, root(3000), log_index=2),
        swap(POOL, 7, 4552702936290292383660862, log_index=9),
        swap(POOL, 8, root(3100)),
        swap(SECOND, 8, root(3200), log_index=1),
        swap("0x" + "ab" * 32, 8, root(1), log_index=2),
        # No Uniswap pool has such a price.
        swap(POOL, 9, 0),
    ]
    for seed in range(10):
        random.Random(seed).shuffle(batch)
        store_reference_prices(BASE, batch)
    at = STARTED + timedelta(seconds=14)
    first, *others = [row for row in stored() if row[1] == POOL.lower()]
    assert first == (8453, POOL.lower(), 7, chain_position(7, 9), at, WETH, Decimal("3302.01817651908"))
    assert [row[2] for row in others] == [8]
    assert [row[2] for row in stored() if row[1] == SECOND.lower()] == [8]


def test_a_block_that_is_read_again_replaces_its_price():
    store_reference_prices(BASE, [swap(POOL, 7, root(3000), log_index=9)])
    store_reference_prices(BASE, [swap(POOL, 7, root(2900), log_index=4)])
    ((_, _, _, position, _, _, price),) = stored()
    assert (position, round(price)) == (chain_position(7, 4), 2900)


def test_a_chain_without_reference_pools_stores_nothing():
    store_reference_prices(load_registry().chain(84532), [swap(POOL, 7, root(3000))])
    assert stored() == []


def test_a_reorg_deletes_prices_above_its_block():
    for block in (10, 11, 12):
        store_reference_prices(BASE, [swap(POOL, block, root(3000 + block)), swap(SECOND, block, root(1))])
    ethereum = load_registry().chain(1)
    store_reference_prices(
        ethereum, [swap(parse_pool_address(ethereum.reference_pools[0].pool), 99, root(2, is_currency0=False))]
    )
    delete_reference_prices(8453, above=10)
    assert [(row[0], row[2]) for row in stored()] == [(8453, 10), (1, 99), (8453, 10)]
    assert round(usd(99)) == 3010
    # A chain that left the registry.
    delete_reference_prices(31_337, above=0)


def test_a_second_reading_deletes_prices_of_blocks_without_a_swap():
    swaps = [swap(POOL, block, root(3000 + block)) for block in (10, 11, 12, 13)]
    store_reference_prices(BASE, [*swaps, swap(SECOND, 11, root(1))])
    assert delete_other_reference_prices(BASE, [swaps[0], swaps[2]], first=10, last=12) == [11, 11]
    assert [row[2] for row in stored()] == [10, 12, 13]


def test_the_newest_prices_of_several_chains_take_one_query():
    store_reference_prices(BASE, [swap(POOL, 1, root(3000)), swap(POOL, 2, root(3100)), swap(SECOND, 1, root(2000))])
    pools = [(8453, POOL.lower()), (8453, SECOND.lower()), (1, "0x" + "11" * 20)]
    with CaptureQueriesContext(connection) as captured:
        found = newest_reference_prices(pools)
    assert len(captured) == 1
    assert {pool: (round(price), at) for (_, pool), (price, at) in found.items()} == {
        POOL.lower(): (3100, STARTED + timedelta(seconds=4)),
        SECOND.lower(): (2000, STARTED + timedelta(seconds=2)),
    }
    assert newest_reference_prices([]) == {}


# Pruning


def price_at(block: int, days: float) -> None:
    ReferencePrice.objects.create(
        chain_id=8453,
        pool=POOL.lower(),
        block_number=block,
        position=chain_position(block, 0),
        at=timezone.now() - timedelta(days=days),
        currency=WETH,
        usd=Decimal(3000),
    )


def test_a_rate_is_an_expression_of_a_query_and_of_a_subquery():
    price_at(1, days=2)
    launched_at = timezone.now() - timedelta(days=5)
    token, stable = (TokenFactory.create(paired_token=quote, deployed_at=launched_at) for quote in (WETH, USDC))
    rates = Token.objects.annotate(rate=RateSince(timezone.now(), 8453))
    assert dict(rates.values_list("pk", "rate")) == {token.pk: 3000, stable.pk: 1}
    assert Market.objects.get(token__in=rates.filter(rate=3000)).token_id == token.pk
    before = Token.objects.annotate(rate=RateSince(launched_at, 8453))
    assert dict(before.values_list("pk", "rate")) == {token.pk: None, stable.pk: 1}


def blocks() -> list[int]:
    return list(ReferencePrice.objects.order_by("block_number").values_list("block_number", flat=True))


def test_prices_of_90_days_ago_are_deleted():
    for block, days in enumerate((120, 91, 89, 1)):
        price_at(block, days)
    prune_task()
    assert blocks() == [2, 3]


def test_the_last_price_stays_however_old():
    for block, days in enumerate((200, 150, 120)):
        price_at(block, days)
    assert prune_reference_prices() == 2
    assert blocks() == [2]


@pytest.mark.parametrize(
    ("followed_to", "last_block", "kept"),
    [
        # A historical sync has read block 3: the next one begins with block 3's price.
        (3, 6, [3, 4, 5, 6]),
        (2, 6, [2, 3, 4, 5, 6]),
        # It has ended.
        (6, 6, [5, 6]),
    ],
)
def test_prices_stay_that_a_historical_sync_begins_with(followed_to, last_block, kept):
    for block, days in enumerate((200, 190, 180, 170, 160, 2, 1)):
        price_at(block, days)
    CoverageFactory(first_block=1, followed_to=followed_to, last_block=last_block)
    CoverageFactory(first_block=6, followed_to=7)
    prune_reference_prices()
    assert blocks() == kept


def test_many_prices_are_deleted_in_batches():
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO tokens_referenceprice SELECT 8453, %s, n, n << 20, %s, %s, 1 FROM generate_series(1, 25000) n",
            [POOL.lower(), timezone.now() - timedelta(days=91), WETH],
        )
    with CaptureQueriesContext(connection) as captured:
        assert prune_reference_prices() == 24_999
    assert sum(query["sql"].startswith("DELETE") for query in captured) == 3
