"""Tests for config/postgresql/partitions.py: weeks exist before their rows, and are dropped after their retention."""

from datetime import UTC, datetime, timedelta
from io import StringIO

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.utils import OperationalError
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from config.postgresql import partitions
from config.postgresql.advisory_locks import advisory_lock_key, session_lock
from tests.tokens.trades.trade_worlds import launched_token, trade_row
from tokens.models import MinuteCandle, PoolTrade
from tokens.trades import tasks
from tokens.trades.pool_log_rows import add_trades, stage_trades
from tokens.trades.retention import TRADE_TABLES

WEEK = timedelta(days=7)
DAY = timedelta(days=1)
# A Thursday.
NOW = datetime(2026, 11, 19, 15, 30, tzinfo=UTC)


def names():
    return [partition.name for partition in partitions.list_partitions()]


def store(at, *, now=NOW):
    row = trade_row(token_id=launched_token().pk, at=int(at.timestamp()), position=1 << 20)
    with transaction.atomic():
        return add_trades(stage_trades([row], now=now))


@pytest.mark.parametrize(
    ("at", "monday"),
    [
        (datetime(2026, 11, 16, tzinfo=UTC), datetime(2026, 11, 16, tzinfo=UTC)),
        (datetime(2026, 11, 22, 23, 59, 59, tzinfo=UTC), datetime(2026, 11, 16, tzinfo=UTC)),
        # Sunday evening in New York is Monday in UTC.
        (datetime.fromisoformat("2026-11-22T19:00:00-05:00"), datetime(2026, 11, 23, tzinfo=UTC)),
    ],
)
def test_a_week_begins_on_monday_in_utc(at, monday):
    assert partitions.week_of(at) == monday


@pytest.mark.django_db
def test_a_missing_week_is_created_with_its_first_row():
    store(NOW - WEEK)
    assert names() == ["tokens_minutecandle_20261109", "tokens_trade_20261109"]
    assert (PoolTrade.objects.count(), MinuteCandle.objects.count()) == (1, 1)


@pytest.mark.django_db
def test_all_weeks_between_two_times_are_created_once():
    def ensure():
        return partitions.ensure_partitions(TRADE_TABLES, [NOW - WEEK, NOW, NOW + WEEK], now=NOW)

    weeks = ("20261109", "20261116", "20261123")
    assert sorted(ensure()) == sorted(f"tokens_{table}_{week}" for table in ("trade", "minutecandle") for week in weeks)
    assert ensure() == []


@pytest.mark.django_db
def test_no_expired_week_is_created(settings):
    settings.TRADE_DAYS, settings.CANDLE_MINUTE_DAYS = 4, 3
    partitions.ensure_partitions(TRADE_TABLES, [NOW - week * WEEK for week in range(4)], now=NOW)
    # The fourth day before is in the week before.
    assert names() == ["tokens_minutecandle_20261116", "tokens_trade_20261109", "tokens_trade_20261116"]


@pytest.mark.django_db
def test_a_transaction_that_is_rolled_back_does_not_hide_a_missing_week():
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        store(NOW)
        raise ZeroDivisionError
    assert names() == []
    store(NOW)
    assert PoolTrade.objects.count() == 1


@pytest.mark.django_db
def test_partitions_have_the_indexes_of_their_table():
    store(NOW)
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE tablename = 'tokens_trade_20261116'")
        found = sorted(definition.partition(" USING ")[2] for (definition,) in cursor.fetchall())
    assert found == [
        "brin (\"position\" int8_minmax_multi_ops) WITH (autosummarize='on')",
        'btree (token_id, at, "position")',
    ]


def test_readers_are_not_blocked_while_a_partition_is_created(transactional_db, service_environment):
    store(NOW)
    with psycopg.connect(service_environment["DATABASE_URL"]) as reader, transaction.atomic():
        # The reader's transaction began before, and it reads on before this one commits.
        assert reader.execute("SELECT count(*) FROM tokens_trade").fetchone() == (1,)
        partitions.ensure_partitions(TRADE_TABLES, [NOW + WEEK], now=NOW)
        reader.execute("SET lock_timeout TO '1s'")
        assert reader.execute("SELECT count(*) FROM tokens_trade").fetchone() == (1,)
    assert "tokens_trade_20261123" in names()


def test_a_table_that_is_locked_blocks_a_writer_for_a_limited_time(transactional_db, service_environment):
    store(NOW)
    with psycopg.connect(service_environment["DATABASE_URL"]) as other:
        other.execute("LOCK TABLE tokens_trade IN SHARE UPDATE EXCLUSIVE MODE")
        with pytest.raises(OperationalError), transaction.atomic():
            partitions.ensure_partitions(TRADE_TABLES, [NOW + WEEK], now=NOW)


def test_maintenance_creates_the_next_weeks_and_drops_expired_ones(transactional_db, settings):
    settings.TRADE_DAYS, settings.CANDLE_MINUTE_DAYS = 14, 3
    store(NOW - 2 * WEEK, now=NOW - 2 * WEEK)
    store(NOW)
    later = NOW + 2 * WEEK
    made, dropped = partitions.maintain_partitions(later)
    tables = ("events_event", "tokens_trade", "tokens_minutecandle")
    assert sorted(made) == sorted(
        f"{table}_{week}" for table in tables for week in ("20261130", "20261207", "20261214")
    )
    assert dropped == ["tokens_minutecandle_20261102", "tokens_minutecandle_20261116", "tokens_trade_20261102"]
    assert (PoolTrade.objects.count(), MinuteCandle.objects.count()) == (1, 0)
    assert partitions.maintain_partitions(later) == ([], [])


@pytest.mark.parametrize("is_detached", [True, False])
def test_an_interrupted_removal_is_continued(transactional_db, service_environment, settings, is_detached):
    settings.TRADE_DAYS = settings.CANDLE_MINUTE_DAYS = 7
    store(NOW - 2 * WEEK, now=NOW - 2 * WEEK)
    with psycopg.connect(service_environment["DATABASE_URL"], autocommit=True) as other:
        detach = "ALTER TABLE tokens_trade DETACH PARTITION tokens_trade_20261102"
        if is_detached:
            other.execute(detach)
        else:
            with psycopg.connect(service_environment["DATABASE_URL"]) as reader:
                reader.execute("SELECT count(*) FROM tokens_trade")
                other.execute("SET statement_timeout TO '300ms'")
                with pytest.raises(psycopg.errors.QueryCanceled):
                    other.execute(f"{detach} CONCURRENTLY")
    (state,) = [each for each in partitions.list_partitions() if each.name == "tokens_trade_20261102"]
    assert (state.is_attached, state.is_detaching) == (not is_detached, not is_detached)
    assert "tokens_trade_20261102" in partitions.maintain_partitions(NOW)[1]
    assert "tokens_trade_20261102" not in names()


def test_only_one_process_maintains_them(transactional_db):
    with session_lock(advisory_lock_key("maintenance of partitions")):
        tasks.maintain_partitions()
        with pytest.raises(CommandError, match="A worker is maintaining"):
            call_command("partitions", "--maintain")
    assert names() == []
    tasks.maintain_partitions()
    assert len(names()) == 9


def test_an_operator_can_see_and_maintain_them(transactional_db, settings):
    settings.TRADE_DAYS = 7
    now = timezone.now()
    store(now - 5 * WEEK, now=now - 5 * WEEK)
    old = f"tokens_trade_{partitions.week_of(now - 5 * WEEK):%Y%m%d}"
    new = f"tokens_trade_{partitions.week_of(now):%Y%m%d}"

    def run(*options):
        written = StringIO()
        call_command("partitions", *options, stdout=written)
        return written.getvalue().splitlines()

    lines = run()
    assert f"{old}: after its retention" in lines and f"{new}: missing" in lines
    assert any(line.startswith(f"{old}: ") and line.endswith(" MiB") for line in lines)
    lines = run("--maintain")
    assert f"{old}: dropped" in lines and f"{new}: created" in lines
    assert not [line for line in run() if not line.endswith(" MiB")]


@pytest.mark.django_db
def test_metrics_and_dashboard_name_what_was_not_maintained(operator, settings):
    def gauges():
        families = text_string_to_metric_families(Client().get("/metrics").text)
        return {family.name.removeprefix("launchboard_"): family.samples for family in families}

    def count(name):
        return gauges()[f"partitions_{name}"][0].value

    settings.CANDLE_MINUTE_DAYS = 7
    assert (count("missing"), count("expired"), gauges()["partitioned_bytes"]) == (0, 0, [])
    assert ">Trades<" not in operator.get("/admin/").text

    now = timezone.now()
    store(now - 3 * WEEK, now=now - 3 * WEEK)
    # Next week's are missing from two days before it on.
    weeks = {partitions.week_of(at) for at in (now, now + timedelta(days=2))}
    assert (count("missing"), count("expired")) == (2 * len(weeks), 1)
    assert {sample.labels["table"] for sample in gauges()["partitioned_bytes"]} == {"trade", "minutecandle"}
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE tokens_trade, tokens_minutecandle")
    assert {sample.labels["table"]: sample.value for sample in gauges()["partitioned_rows"]} == {
        "trade": PoolTrade.objects.count(),
        "minutecandle": MinuteCandle.objects.count(),
    }
    text = operator.get("/admin/").text
    assert f"missing: tokens_trade_{partitions.week_of(now):%Y%m%d}" in text
    assert f"expired: tokens_minutecandle_{partitions.week_of(now - 3 * WEEK):%Y%m%d}" in text
