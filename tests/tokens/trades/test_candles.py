"""Tests for tokens/trades/candles.py and pool_log_rows.py: candles equal a recomputation from the trades in Python."""

from collections.abc import Iterable
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from config.postgresql.partitions import ensure_partitions, week_of
from tests.tokens.trades.trade_worlds import (
    FIRST_BLOCK,
    NOW,
    expected_candles,
    launched_token,
    stored_candles,
    stored_trades,
    trade_row,
    trade_worlds,
)
from tokens.chains.pool_types import split_position
from tokens.models import Candle, MinuteCandle, PoolTrade
from tokens.trades.pool_log_rows import AddedTrades, add_trades, delete_blocks, delete_positions, stage_trades
from tokens.trades.retention import TRADE_TABLES
from tokens.trades.trade_rows import TradeRow

pytestmark = pytest.mark.django_db

CHAIN_ID = 8453
WEEK = timedelta(days=7)


def add(rows: Iterable[TradeRow]) -> AddedTrades:
    return add_trades(stage_trades(rows, now=NOW))


@pytest.fixture
def tokens():
    """Return two token ids; the partitions for their trades exist."""
    ensure_partitions(TRADE_TABLES, [NOW - WEEK, NOW], now=NOW)
    return [launched_token().pk, launched_token().pk]


@contextmanager
def example():
    """Roll back what an example has written."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def of_tokens(rows, tokens):
    return [row._replace(token_id=tokens[row.token_id]) for row in rows]


def assert_stored(rows):
    in_order = sorted(rows, key=lambda row: row.position)
    assert stored_trades() == [row._replace(value_usd=None) for row in in_order]
    assert stored_candles() == expected_candles(rows)


@settings(max_examples=60)
@given(world=trade_worlds(max_size=14), data=st.data())
def test_they_equal_a_recomputation_after_any_additions_and_deletions(tokens, world, data):
    rows = of_tokens(world, tokens)
    stored = {}
    with example():
        for _ in range(data.draw(st.integers(1, 5))):
            # In any sequence, some stored before, some twice.
            batch = data.draw(st.lists(st.sampled_from(rows), max_size=10)) if rows else []
            added = add(sorted(batch, key=lambda row: row.position)).rows
            assert {row.position for row in added} == {row.position for row in batch} - set(stored)
            stored |= {row.position: row for row in batch}
            gone = set()
            match data.draw(st.sampled_from(["nothing", "blocks", "positions"])):
                case "blocks":
                    first = FIRST_BLOCK + data.draw(st.integers(0, 7))
                    last = first + data.draw(st.integers(0, 7))
                    gone = {position for position in stored if first <= split_position(position)[0] <= last}
                    deleted = delete_blocks(CHAIN_ID, first, last, now=NOW)
                case "positions":
                    gone = set(data.draw(st.lists(st.sampled_from(sorted(stored))))) if stored else set()
                    deleted = delete_positions(CHAIN_ID, gone, now=NOW)
                case _:
                    deleted = None
            assert deleted is None or deleted.trades == len(gone)
            assert deleted is None or deleted.token_ids == {stored[position].token_id for position in gone}
            stored = {position: row for position, row in stored.items() if position not in gone}
        assert_stored(stored.values())


@settings(max_examples=30)
@given(world=trade_worlds(min_size=2, max_size=14), data=st.data())
def test_batches_may_be_cut_anywhere(tokens, world, data):
    rows = of_tokens(world, tokens)
    cut = data.draw(st.integers(1, len(rows) - 1))
    with example():
        add(rows[cut:])
        add(rows[:cut])
        assert_stored(rows)


@settings(max_examples=20)
@given(world=trade_worlds(max_size=14))
def test_rows_after_their_retention_are_not_written(tokens, settings, world):
    rows = of_tokens(world, tokens)
    # The week before NOW's is over.
    settings.TRADE_DAYS, settings.CANDLE_MINUTE_DAYS = 3, 2
    monday = week_of(NOW).timestamp()
    with example():
        add(rows)
        assert_stored([row for row in rows if row.at >= monday])


@settings(max_examples=20)
@given(world=trade_worlds(max_size=14))
def test_minutes_after_their_retention_are_not_written(tokens, settings, world):
    rows = of_tokens(world, tokens)
    settings.CANDLE_MINUTE_DAYS = 2
    monday = week_of(NOW).timestamp()
    with example():
        add(rows)
        expected = {key: columns for key, columns in expected_candles(rows).items() if key[1] > 60 or key[2] >= monday}
        assert stored_candles() == expected
        delete_positions(CHAIN_ID, [row.position for row in rows[:1]], now=NOW)
        expected = {
            key: columns for key, columns in expected_candles(rows[1:]).items() if key[1] > 60 or key[2] >= monday
        }
        assert stored_candles() == expected


def test_the_rows_of_other_chains_stay(tokens):
    elsewhere = launched_token(chain_id=1).pk
    at, position = int(NOW.timestamp()), FIRST_BLOCK << 20
    rows = [trade_row(token_id=token, at=at, position=position) for token in (tokens[0], elsewhere)]
    add(rows)
    assert delete_blocks(1, FIRST_BLOCK, FIRST_BLOCK, now=NOW).token_ids == {elsewhere}
    assert_stored(rows[:1])


def test_a_trader_is_added_later_and_never_removed(tokens):
    at, position = int(NOW.timestamp()), FIRST_BLOCK << 20
    unknown = trade_row(token_id=tokens[0], at=at, position=position)
    known = unknown._replace(trader=b"\x01" * 20)
    for row, learned in ((unknown, set()), (known, {tokens[0]}), (unknown, set()), (known, set())):
        assert add([row]).altered == learned
    assert add([known._replace(trader=b"\x02" * 20)]).altered == set()
    assert_stored([known])


def test_a_rate_is_replaced_by_that_of_a_later_reading_and_never_removed(tokens):
    at, position = int(NOW.timestamp()), FIRST_BLOCK << 20
    other = trade_row(token_id=tokens[0], at=at, position=position + 1)
    unknown, stale, right = (
        trade_row(token_id=tokens[0], at=at, position=position, quote_usd=usd)
        for usd in (None, Decimal(2000), Decimal(3000))
    )
    add([unknown, other])
    for row, altered in ((stale, {tokens[0]}), (right, {tokens[0]}), (unknown, set()), (right, set())):
        assert add([row]).altered == altered
        assert_stored([row if row.quote_usd else right, other])


def test_a_batch_that_fails_leaves_nothing(tokens):
    at = int(NOW.timestamp())
    rows = [trade_row(token_id=tokens[0], at=at, position=FIRST_BLOCK << 20)]
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        add(rows)
        raise ZeroDivisionError
    assert not PoolTrade.objects.exists() and not Candle.objects.exists() and not MinuteCandle.objects.exists()
    assert len(add(rows).rows) == 1
