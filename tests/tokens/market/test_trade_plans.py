"""Query plans for trades and candles: the primary keys of a page's partitions, and no sort."""

import re
from datetime import timedelta

import pytest
from django.db import connection

from tests.processes.template_database import restore_template_rows
from tests.rows.many_tokens import multiply
from tests.rows.query_plans import plans
from tests.tokens.integrity.followed_launches import forget_reports
from tests.tokens.market.stored_trades import WEEK, make_candle, make_trade, make_traded_token, make_weeks
from tokens.chains.pool_types import chain_position

WEEKS, TOKENS = 6, 20
# Enough for the planner to prefer an index.
MINUTES = WEEKS * 7 * 1440 - 1

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def token(django_db_setup, django_db_blocker):
    """Create trades and candles for TOKENS tokens over WEEKS weeks; gone after this module."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        make_weeks(WEEKS)
        tokens = [make_traded_token() for _ in range(TOKENS)]
        rows = {
            make_trade(tokens[0]): {"position": f"position + n::bigint * {chain_position(1, 0)}"},
            make_candle(tokens[0], WEEK, 1, 1, 1, 1): {},
            make_candle(tokens[0], WEEK, 1, 1, 1, 1, seconds=3600): {},
        }
        for row, values in rows.items():
            spread = {"token_id": f"token_id + n % {TOKENS}", "at": "at + n * interval '1 minute'"}
            multiply(row, spread | values, rows=MINUTES)
            cursor.execute(f"ANALYZE {row._meta.db_table}")
        yield tokens[0]
        restore_template_rows()


def read_partitions(plan):
    """Return the weeks that a plan reads by their primary keys, in its sequence."""
    return re.findall(r"(?:using|on) tokens_\w+_(\d{8})_pkey", plan)


def names(*weeks):
    return [f"{WEEK + timedelta(weeks=week):%Y%m%d}" for week in weeks]


@pytest.fixture
def plan_of(client, token):
    """Return a function that returns a page's plan; it reads no whole table with trades or candles."""

    def plan(kind, **parameters):
        path = f"/api/tokens/{token.chain_id}/{token.contract_address}/{kind}"
        table = "tokens_minutecandle" if kind == "candles" else "tokens_trade"
        (found,) = plans(lambda: client.get(path, parameters), table, "tokens_candle")
        assert re.findall(r"Seq Scan on tokens_\w*(?:trade|candle)\w*", found) == []
        # The candle before the page is one probe of the same index.
        return found[: found.index("CTE before")] if kind == "candles" else found

    return plan


def test_the_newest_trades_are_read_by_the_primary_key_of_each_week_since_the_launch(plan_of, token):
    plan = plan_of("trades", limit=50)
    assert read_partitions(plan) == names(*reversed(range(WEEKS)))
    assert "Sort" not in plan
    token.deployed_at = WEEK + timedelta(weeks=4, days=3)
    token.save()
    assert read_partitions(plan_of("trades", limit=50)) == names(5, 4)


def test_a_later_page_reads_no_week_after_its_cursor(plan_of, client, token):
    path = f"/api/tokens/{token.chain_id}/{token.contract_address}/trades"
    cursor = None
    for _ in range(11):
        cursor = client.get(path, {"limit": 100} | ({"cursor": cursor} if cursor else {})).json()["cursor"]
    plan = plan_of("trades", limit=50, cursor=cursor)
    assert read_partitions(plan) == names(3, 2, 1, 0)
    assert 'ROW(at, "position") < ROW(' in plan.replace(f"tokens_trade_{names(3)[0]}.", "")
    assert "Sort" not in plan


def test_the_first_trades_are_read_by_the_primary_key_of_each_week_since_the_launch(plan_of):
    forget_reports()
    plan = plan_of("integrity")
    assert read_partitions(plan) == names(*range(WEEKS))
    assert "Sort" not in plan


@pytest.mark.parametrize("fill", [0, 1])
def test_the_newest_candles_are_read_by_the_primary_key_of_each_week(plan_of, fill):
    plan = plan_of("candles", interval="5m", limit=50, fill=fill)
    assert read_partitions(plan) == names(*reversed(range(WEEKS)))
    assert "Sort" not in plan


@pytest.mark.parametrize("interval", ["1m", "15m"])
def test_a_range_of_candles_reads_the_weeks_that_it_is_in(plan_of, interval):
    start = int((WEEK + timedelta(weeks=2, days=3)).timestamp())
    bounds = {"from": start, "to": start + 7 * 86_400}
    for limit in (10, 1000):
        assert set(read_partitions(plan_of("candles", interval=interval, limit=limit, **bounds))) == set(names(2, 3))


@pytest.mark.parametrize("interval", ["1h", "4h", "1d"])
def test_candles_of_hours_and_days_are_read_by_the_primary_key(plan_of, interval):
    plan = plan_of("candles", interval=interval, limit=100)
    assert "Index Scan Backward using tokens_candle_pkey" in plan
