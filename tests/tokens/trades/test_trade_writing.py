"""Tests for tokens/trades/trade_writing.py: pool logs become rows, are found and compared, and are unwound."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from math import isqrt

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from config.postgresql import partitions
from tests.nodes.recordings import base
from tests.rows.factories import ChainHeadFactory
from tests.tokens.trades.trade_worlds import expected_candles, launched_token, stored_candles
from tokens.chains.addresses import parse_pool_address
from tokens.chains.pool_types import Conversion, HookFee, LiquidityChange, Swap, chain_position
from tokens.indexing import chain_lock
from tokens.installation.installed_registry import registry
from tokens.models import (
    Candle,
    LaunchFacts,
    Market,
    MinuteCandle,
    PoolLiquidityChange,
    PoolTrade,
    ReferencePrice,
    RollingSum,
    Token,
)
from tokens.trades import trade_writing
from tokens.trades.pool_tokens import PoolTokenCache, find_pool_tokens
from tokens.trades.quote_rates import QuoteRates
from tokens.trades.trade_rows import make_trade_rows

pytestmark = pytest.mark.django_db

CHAIN_ID = 8453
FOREIGN = "0x" + "fe" * 32
# Block -> USD for ether.
RATES = {90: 3000, 104: 4000}


@dataclass
class World:
    """Two tokens with swaps in two minutes, one in a foreign pool, and a liquidity change."""

    tokens: list[Token]
    swaps: list[Swap]
    changes: list[LiquidityChange]

    @property
    def positions(self):
        """Return the stored positions."""
        return {
            chain_position(log.block_number, log.log_index)
            for log in (*self.swaps, *self.changes)
            if log.pool != FOREIGN
        }


def swap(pool, block, log=1, **facts):
    plain = {
        "pool": pool,
        "block_number": block,
        "block_time": minute() + 20 * (block - 100),
        "tx_hash": f"0x{block * 100 + log:064x}",
        "log_index": log,
        "amount0": -(10**21),
        "amount1": 10**18 + block,
        "sqrt_price": (block << 96) // 1000,
        "sender": "0x" + "Ef" * 20,
        "trader": None,
    }
    return Swap(**plain | facts)


def minute():
    """Return a full minute some minutes ago, in Unix seconds."""
    now = int(timezone.now().timestamp())
    return now - now % 60 - 600


def change(pool, block, log=9, **facts):
    plain = {"tx_hash": f"0x{block:064x}", "tick_lower": -200, "tick_upper": 200, "liquidity": 10**20}
    return LiquidityChange(
        **{"pool": pool, "block_number": block, "block_time": minute(), "log_index": log} | plain | facts
    )


@pytest.fixture
def world():
    # Both token addresses are below the quote token's.
    tokens = [launched_token(contract_address=f"0x{number:040x}") for number in (1, 2)]
    one, two = (token.pool_address for token in tokens)
    swaps = [swap(one, 100), swap(two, 100, 2), swap(FOREIGN, 101), swap(one, 103), swap(one, 104), swap(two, 105)]
    return World(tokens, swaps, [change(one, 100), change(FOREIGN, 102)])


def store(world, *, live=False):
    with transaction.atomic():
        chain_lock.lock_exclusive(CHAIN_ID)
        return trade_writing.store_trades(world.swaps, world.changes, chain=base(), live=live)


def assert_candles(world):
    """Assert that the candles match the world's swaps."""
    tokens = find_pool_tokens(registry().chain(CHAIN_ID), {token.pool_address for token in world.tokens})
    assert stored_candles() == expected_candles(make_trade_rows(world.swaps, tokens, QuoteRates({})))


def derived_rows():
    """Return the sums and markets, but for write times."""
    sums = sorted(RollingSum.objects.values_list())
    return sums, sorted(Market.objects.values_list("token_id", "price_quote", "last_position", "tx_count_24h"))


def test_logs_of_indexed_pools_are_stored_and_others_dropped(world):
    stored = store(world, live=True)
    assert (stored.trades, stored.liquidity_changes) == (5, 1)
    assert stored.token_ids == {token.pk for token in world.tokens}
    assert trade_writing.find_pool_logs(CHAIN_ID, 100, 105) == world.positions
    assert_candles(world)


def test_nothing_is_stored_twice(world):
    store(world, live=True)
    before = derived_rows(), stored_candles()
    again = store(world, live=True)
    assert (again.trades, again.liquidity_changes, again.token_ids) == (0, 0, frozenset())
    assert (derived_rows(), stored_candles()) == before


def test_a_second_reading_changes_stored_rows_only_where_they_lack_something(world):
    store(world, live=True)
    with CaptureQueriesContext(connection) as queries:
        store(world, live=True)
    assert not [query for query in queries if "UPDATE tokens_trade" in query["sql"]]
    world.swaps = [log._replace(trader="0x" + "aB" * 20) for log in world.swaps]
    again = store(world)
    assert (again.trades, again.token_ids) == (0, {token.pk for token in world.tokens})
    assert not PoolTrade.objects.filter(trader=None).exists()
    assert_candles(world)


def test_rows_of_an_earlier_version_get_the_places_of_their_transactions(world):
    store(world, live=True)
    assert set(PoolTrade.objects.values_list("tx_index", "fee")) == {(None, None)}
    PoolLiquidityChange.objects.update(tx_hash=None)
    candles = stored_candles()
    world.swaps = [swap._replace(tx_index=swap.block_number, fee=3000) for swap in world.swaps]
    trader = "0x" + "ab" * 20
    world.changes = [change._replace(tx_index=8, trader=trader) for change in world.changes]
    store(world, live=True)
    assert {(trade.block_number, trade.tx_index, trade.fee) for trade in PoolTrade.objects.all()} == {
        (swap.block_number, swap.block_number, 3000) for swap in world.swaps if swap.pool != FOREIGN
    }
    (change,) = PoolLiquidityChange.objects.all()
    assert (change.tx_index, bytes(change.trader)) == (8, bytes.fromhex(trader[2:]))
    assert bytes(change.tx_hash).hex() == world.changes[0].tx_hash[2:]
    assert stored_candles() == candles
    # Known ones stay.
    world.swaps = [swap._replace(tx_index=None, fee=None) for swap in world.swaps]
    store(world)
    assert not PoolTrade.objects.filter(tx_index=None).exists()


@pytest.mark.parametrize(("stored", "read", "is_altered"), [(1, 2, True), (1, None, False), (None, 1, False)])
@pytest.mark.parametrize("name", ["tx_index", "fee"])
def test_a_place_is_altered_only_if_both_are_known(world, name, stored, read, is_altered):
    world.swaps = [world.swaps[0]._replace(**{name: stored})]
    store(world)
    swaps = [world.swaps[0]._replace(**{name: read})]
    altered = trade_writing.compare_pool_logs(swaps, [], chain=base()).altered
    assert altered == ({chain_position(100, 1)} if is_altered else set())


def test_trades_far_apart_need_the_partitions_of_their_own_weeks_only(world):
    before = len(partitions.list_partitions())
    world.swaps[0] = world.swaps[0]._replace(block_time=1)
    store(world)
    assert PoolTrade.objects.count() == 5
    assert len(partitions.list_partitions()) - before <= 3


def test_candles_of_old_trades_need_the_partitions_of_their_own_weeks_only(world, settings):
    settings.CANDLE_MINUTE_DAYS = 60
    world.swaps = [log._replace(block_time=log.block_time - 40 * 86_400) for log in world.swaps]
    store(world)
    before = len(partitions.list_partitions())
    trade_writing.sum_up(CHAIN_ID, trade_writing.find_traded_tokens(CHAIN_ID, 100, 105))
    assert MinuteCandle.objects.exists()
    assert len(partitions.list_partitions()) == before


def test_candles_are_rebuilt_where_their_retention_was_prolonged(world, settings):
    settings.CANDLE_MINUTE_DAYS = 2
    world.swaps = [log._replace(block_time=log.block_time - 40 * 86_400) for log in world.swaps]
    store(world)
    assert not MinuteCandle.objects.exists()
    settings.CANDLE_MINUTE_DAYS = 60
    trade_writing.delete_pool_logs(CHAIN_ID, [chain_position(103, 1)])
    assert set(MinuteCandle.objects.values_list("token_id", flat=True)) == {world.tokens[0].pk}


def test_a_trade_that_is_stored_at_two_times_is_altered(world):
    store(world)
    (position,) = PoolTrade.objects.filter(position=chain_position(103, 1)).values_list("position", flat=True)
    twin = PoolTrade.objects.get(position=position)
    PoolTrade.objects.create(
        **{field.attname: getattr(twin, field.attname) for field in PoolTrade._meta.concrete_fields}
        | {"at": twin.at - timedelta(seconds=7)}
    )
    assert trade_writing.compare_pool_logs(world.swaps, world.changes, chain=base()).altered == {position}


def test_sums_and_markets_follow_at_the_head_and_at_the_end_of_history(world):
    store(world)
    assert not RollingSum.objects.exists()
    assert not stored_candles()
    assert trade_writing.find_traded_tokens(CHAIN_ID, 106, 200) == []
    tokens = trade_writing.find_traded_tokens(CHAIN_ID, 100, 105)
    assert [token.trades for token in tokens] == [3, 2]
    trade_writing.sum_up(CHAIN_ID, tokens)
    assert_candles(world)
    history = derived_rows()
    trade_writing.unwind_trades(CHAIN_ID, above=99)
    store(world, live=True)
    assert derived_rows() == history
    assert Market.objects.get(token=world.tokens[0]).last_position == chain_position(104, 1)


def test_a_trader_that_is_learned_later_is_counted(world):
    store(world, live=True)
    assert set(RollingSum.objects.values_list("traders", flat=True)) == {0}
    world.swaps = [log._replace(trader="0x" + "ab" * 20) for log in (*world.swaps, swap(world.swaps[0].pool, 106))]
    # The recount of the first token has its new trade, too.
    assert store(world, live=True).trades == 1
    assert set(RollingSum.objects.values_list("traders", flat=True)) == {1}
    assert set(RollingSum.objects.values_list("buys", flat=True)) == {4, 2}


def test_trades_that_are_read_again_after_the_history_have_the_rates_of_their_places(world):
    reference = base().reference_pools[0]
    Token.objects.update(paired_token=reference.currency)
    store(world, live=True)
    assert set(PoolTrade.objects.values_list("quote_usd", flat=True)) == {None}
    pool = parse_pool_address(reference.pool)
    earlier = [swap(pool, block, 0, sqrt_price=isqrt(usd * 2**192 // 10**12)) for block, usd in RATES.items()]
    world.swaps = sorted([*earlier, *world.swaps], key=lambda log: (log.block_number, log.log_index))
    again = store(world, live=True)
    assert again.trades == 0
    rates = [(trade.block_number, round(trade.quote_usd)) for trade in PoolTrade.objects.order_by("position")]
    assert rates == [(100, 3000), (100, 3000), (103, 3000), (104, 4000), (105, 4000)]
    day = RollingSum.objects.get(token=world.tokens[0], seconds=86_400)
    assert round(day.volume_usd) == 3000 + 3000 + 4000
    assert set(Candle.objects.values_list("close_usd", flat=True)).isdisjoint({None})
    assert round(Market.objects.get(token=world.tokens[0]).quote_price_usd) == 4000


@pytest.mark.parametrize("live", [True, False])
def test_trades_that_are_read_again_become_conversions_and_get_their_fees(world, live):
    """Check rows by versions that read neither: the command `backfill --trades` reads the blocks again."""
    store(world, live=True)
    hook, (token, _) = "0x" + "Bb" * 20, world.tokens
    launch = LaunchFacts.objects.get(token=token)
    launch.facts["fees"] = {"hook": hook}
    launch.save()
    report = Conversion(token.locker_address, token.contract_address)
    fee = HookFee(hook, token.paired_token, 77)
    facts = {"conversions": (report,), "fees_after": (fee,)}
    world.swaps = [one._replace(**facts) if one.block_number == 103 else one for one in world.swaps]
    assert store(world, live=live).trades == 0
    if not live:
        trade_writing.sum_up(CHAIN_ID, trade_writing.find_traded_tokens(CHAIN_ID, 0, 200))
    rows = PoolTrade.objects.filter(token=token).order_by("position")
    assert [(row.is_conversion, row.protocol_fee) for row in rows] == [(False, None), (True, 77), (False, None)]
    assert RollingSum.objects.get(token=token, seconds=86_400).buys == 2
    assert_candles(world)


def test_a_stored_conversion_stays_one_until_verification_disproves_it(world):
    store(world)
    PoolTrade.objects.filter(position=chain_position(100, 1)).update(is_conversion=True)
    store(world)
    assert PoolTrade.objects.get(position=chain_position(100, 1)).is_conversion
    assert trade_writing.compare_pool_logs(world.swaps, [], chain=base()).altered == {chain_position(100, 1)}


def test_trades_lack_a_fee_only_where_the_reading_proves_it(world):
    store(world)
    hook, token = "0x" + "Bb" * 20, world.tokens[0]
    launch = LaunchFacts.objects.get(token=token)
    launch.facts["fees"] = {"hook": hook}
    launch.save()
    # In block 104, another hook took the fee.
    hooks = {103: hook, 104: "0x" + "Cc" * 20}
    world.swaps = [
        one._replace(fees_after=(HookFee(hooks[one.block_number], token.paired_token, 77),))
        if one.block_number in hooks
        else one
        for one in world.swaps
    ]
    compared = trade_writing.compare_pool_logs(world.swaps, world.changes, chain=base())
    assert compared == (set(), {chain_position(103, 1)})
    store(world)
    assert trade_writing.compare_pool_logs(world.swaps, world.changes, chain=base()) == (set(), set())


def test_swaps_that_are_prepared_before_the_blocks_below_are_written_make_the_same_trades(world):
    """Check a price among the blocks below, and a token that is launched after the preparation."""
    reference = base().reference_pools[0]
    Token.objects.update(paired_token=reference.currency)
    pool = parse_pool_address(reference.pool)
    prices = [swap(pool, block, 0, sqrt_price=isqrt(usd * 2**192 // 10**12)) for block, usd in RATES.items()]
    swaps = sorted([*prices, *world.swaps], key=lambda log: (log.block_number, log.log_index))
    first = [log for log in swaps if log.block_number < 103]
    second = [log for log in swaps if log.block_number >= 103]
    late = world.tokens[1]
    Token.objects.filter(pk=late.pk).update(pool_address="")
    cache = PoolTokenCache(base())
    with transaction.atomic():
        chain_lock.lock_exclusive(CHAIN_ID)
        convert = trade_writing.prepare_trades(second, before=first, launched=(), cache=cache)
        late.save(update_fields=["pool_address"])
        trade_writing.store_trades(first, (), chain=base(), live=False, cache=cache)
        prepared = convert()
        quote = {reference.currency}
        unpriced = trade_writing.prepare_trades(second, before=first, launched=quote, cache=cache)()
        assert not unpriced.pools and not unpriced.trades.rows
        assert late.pool_address not in prepared.pools
        trade_writing.store_trades(second, (), chain=base(), live=False, cache=cache, prepared=prepared)
    rows = list(PoolTrade.objects.order_by("position").values())
    PoolTrade.objects.all().delete()
    world.swaps = swaps
    store(world)
    assert rows == list(PoolTrade.objects.order_by("position").values())
    assert len({row["quote_usd"] for row in rows}) == 2


@pytest.mark.parametrize("is_reported", [True, False])
@pytest.mark.parametrize("above", [99, 100, 103, 105])
def test_unwinding_leaves_what_the_blocks_below_have(world, above, is_reported):
    if is_reported:
        ChainHeadFactory(chain_id=CHAIN_ID, head=105)
    # The second reference: it prices nothing.
    reference = base().reference_pools[-1]
    price = {"currency": "0x", "at": timezone.now(), "usd": Decimal(1), "position": 0, "pool": reference.pool}
    for block in (100, 104):
        ReferencePrice.objects.create(chain_id=CHAIN_ID, block_number=block, **price)
    store(world, live=True)
    gone = [log for log in world.swaps if log.block_number > above and log.pool != FOREIGN]
    assert trade_writing.unwind_trades(CHAIN_ID, above=above) == len(gone)
    world.swaps = [log for log in world.swaps if log.block_number <= above]
    world.changes = [log for log in world.changes if log.block_number <= above]
    assert trade_writing.find_pool_logs(CHAIN_ID, 0, 10**9) == world.positions
    assert_candles(world)
    left = {block for block in (100, 104) if block <= above}
    assert set(ReferencePrice.objects.values_list("block_number", flat=True)) == left
    unwound = derived_rows()
    trade_writing.sum_up(CHAIN_ID, trade_writing.find_traded_tokens(CHAIN_ID, 0, 200))
    assert derived_rows() == unwound
    assert_candles(world)


def test_the_rows_of_other_chains_stay(world):
    store(world)
    other = launched_token(chain_id=1)
    at = datetime.fromtimestamp(minute(), UTC)
    columns = {"tx_hash": b"", "is_buy": True, "is_conversion": False, "amount_token": 1, "amount_quote": 1, "price": 1}
    PoolTrade.objects.create(token=other, at=at, position=chain_position(103, 0), **columns)
    ticks = {"tick_lower": 0, "tick_upper": 1, "liquidity": 1}
    PoolLiquidityChange.objects.create(token=other, at=at, position=chain_position(103, 0), **ticks)
    assert chain_position(103, 0) not in trade_writing.find_pool_logs(CHAIN_ID, 100, 105)
    trade_writing.unwind_trades(CHAIN_ID, above=0)
    trade_writing.delete_pool_logs(CHAIN_ID, {chain_position(103, 0)})
    assert trade_writing.find_pool_logs(1, 103, 103) == {chain_position(103, 0)}
    assert (PoolTrade.objects.count(), PoolLiquidityChange.objects.count()) == (1, 1)


def test_logs_are_deleted_by_their_positions(world):
    store(world, live=True)
    gone = {chain_position(103, 1), chain_position(100, 9)}
    assert trade_writing.delete_pool_logs(CHAIN_ID, gone) == 2
    assert trade_writing.find_pool_logs(CHAIN_ID, 100, 105) == world.positions - gone
    world.swaps = [log for log in world.swaps if log.block_number != 103]
    assert_candles(world)


def test_the_same_logs_are_not_altered(world):
    store(world)
    assert trade_writing.compare_pool_logs(world.swaps, world.changes, chain=base()).altered == set()
    assert trade_writing.compare_pool_logs([], [], chain=base()).altered == set()
    # Missing ones are no altered ones.
    assert trade_writing.compare_pool_logs(world.swaps[:1], [], chain=base()).altered == set()
    later = [swap(world.tokens[0].pool_address, 200)]
    assert trade_writing.compare_pool_logs(later, [], chain=base()).altered == set()


@pytest.mark.parametrize(
    "facts",
    [
        {"pool": FOREIGN},
        {"block_time": 1_700_000_000},
        {"tx_hash": "0x" + "09" * 32},
        {"amount0": -7},
        {"amount1": 7},
        {"amount0": 7, "amount1": -7},
        {"sqrt_price": 1 << 90},
        # The token's locker: none is stored.
        {"conversions": (Conversion("", f"0x{1:040x}"),)},
    ],
)
def test_another_fact_of_a_trade_is_an_alteration(world, facts):
    store(world)
    swaps = [world.swaps[0]._replace(**facts), *world.swaps[1:]]
    assert trade_writing.compare_pool_logs(swaps, world.changes, chain=base()).altered == {chain_position(100, 1)}


@pytest.mark.parametrize(
    "facts", [{"pool": FOREIGN}, {"block_time": 7}, {"tick_lower": -400}, {"tick_upper": 400}, {"liquidity": -(10**20)}]
)
def test_another_fact_of_a_liquidity_change_is_an_alteration(world, facts):
    store(world)
    changes = [world.changes[0]._replace(**facts)]
    assert trade_writing.compare_pool_logs(world.swaps, changes, chain=base()).altered == {chain_position(100, 9)}


@pytest.mark.parametrize(
    ("stored", "read", "is_altered"),
    [("0x" + "ab" * 20, "0x" + "ac" * 20, True), ("0x" + "ab" * 20, None, False), (None, "0x" + "ab" * 20, False)],
)
def test_a_trader_is_altered_only_if_both_are_known(world, stored, read, is_altered):
    world.swaps = [world.swaps[0]._replace(trader=stored)]
    store(world)
    altered = trade_writing.compare_pool_logs([world.swaps[0]._replace(trader=read)], [], chain=base()).altered
    assert altered == ({chain_position(100, 1)} if is_altered else set())
