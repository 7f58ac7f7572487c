"""The feeds' query plans: blocks are read by each partition's position index, and no table as a whole."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.processes.template_database import restore_template_rows
from tests.rows.many_tokens import multiply
from tests.tokens.feeds.feed_worlds import CHAIN, FIRST, add_change, add_swap, make_pair
from tests.tokens.market.stored_trades import WEEK, make_weeks
from tokens.chains.pool_types import chain_position
from tokens.feeds.daily_sums import sum_up_blocks
from tokens.feeds.pool_events import read_pool_events
from tokens.installation.installed_registry import registry
from tokens.models import PoolLiquidityChange, PoolTrade

WEEKS, TOKENS = 4, 20
MINUTES = WEEKS * 7 * 1440 - 200

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def token(django_db_setup, django_db_blocker):
    """Create trades and liquidity changes for TOKENS tokens, one each minute and block; gone after this module."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        make_weeks(WEEKS)
        tokens = [
            make_pair(contract_address=f"0x{number:040x}", pool_address=f"0x{number:064x}") for number in range(TOKENS)
        ]
        PoolLiquidityChange.objects.all().delete()
        add_swap(tokens[0], block=FIRST)
        add_change(tokens[0], block=FIRST, log_index=9)
        for row in (PoolTrade.objects.get(), PoolLiquidityChange.objects.get()):
            spread = {"token_id": f"token_id + n % {TOKENS}", "at": "at + n * interval '1 minute'"}
            multiply(row, spread | {"position": f"position + n::bigint * {chain_position(1, 0)}"}, rows=MINUTES)
            cursor.execute(f"ANALYZE {row._meta.db_table}")
        cursor.execute("ANALYZE tokens_token, tokens_launchfacts")
        yield tokens[0]
        restore_template_rows()


def explained(run):
    """Return the plans for the queries that read trades or liquidity changes."""
    with CaptureQueriesContext(connection) as queries:
        run()
    found = []
    with connection.cursor() as cursor:
        for query in queries:
            if re.search("tokens_trade|tokens_poolliquiditychange", query["sql"]):
                cursor.execute(f"EXPLAIN {query['sql']}")
                found.append("\n".join(line for (line,) in cursor.fetchall()))
    return found


def week(number):
    return f"{WEEK + timedelta(weeks=number):%Y%m%d}"


def test_events_are_read_by_the_index_of_positions_of_each_partition(token):
    trades, changes, liquidity, prices = explained(
        lambda: read_pool_events(registry().chains[CHAIN], FIRST + 20_000, FIRST + 20_100)
    )
    for plan in (trades, changes, liquidity, prices):
        assert not re.search("Seq Scan on tokens_(trade|poolliquiditychange)", plan), plan
    for number in range(WEEKS):
        assert f"Bitmap Index Scan on tokens_trade_{week(number)}_position_idx" in trades
    assert "liquidity_by_position" in changes
    assert "tokens_poolliquiditychange_pkey" in liquidity or "liquidity_by_position" in liquidity
    assert re.search(r"using tokens_trade_\d{8}_pkey", prices)


def test_a_day_is_read_by_the_index_of_positions_of_its_week(token):
    start = WEEK + timedelta(weeks=1, days=2)
    first = FIRST + 9 * 1440
    (plan,) = explained(lambda: sum_up_blocks(CHAIN, start, start + timedelta(days=1), first, first + 1440))
    assert f"Bitmap Index Scan on tokens_trade_{week(1)}_position_idx" in plan
    assert set(re.findall(r"tokens_trade_(\d{8})", plan)) == {week(1)}
    assert not re.search("Seq Scan on tokens_trade", plan)
