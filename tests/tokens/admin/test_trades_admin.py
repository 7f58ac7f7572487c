"""Trades in the admin site: a token's charts and trades, the dashboard's panel, what a chain's trades cost."""

import re
from datetime import timedelta
from decimal import Decimal

import psycopg
import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from accounts.operators import roles
from config.postgresql.advisory_locks import advisory_lock_key, session_lock
from config.postgresql.partitions import week_of
from tests.config.operators.admin_pages import figures, messages, page_of
from tests.rows.factories import ChainHeadFactory, FollowedBlockFactory, TokenFactory
from tests.tokens.market.stored_trades import (
    LOCKER,
    TRADER,
    make_candle,
    make_trade,
    make_traded_token,
    make_weeks,
)
from tokens.admin.trades.chain_costs import read_chain_costs
from tokens.admin.trades.price_chart import PriceChart
from tokens.models import Market, RollingClock, RollingSum

pytestmark = pytest.mark.django_db

PARTITIONS = reverse("admin:tokens_chainhead_partitions")
BUTTON = "Make and drop partitions now"
WETH = "0x4200000000000000000000000000000000000006"


@pytest.fixture
def now():
    """Create the partitions for this week and its neighbours, and return the time."""
    now = timezone.now()
    make_weeks(3, first=week_of(now - timedelta(weeks=1)))
    return now


def traded_token(now, **columns):
    return make_traded_token(deployed_at=now - timedelta(days=3), paired_token=WETH, **columns)


def add_sums(token, *, hour):
    """Create a token's rolling sums with so many trades in the hour, and more in the day."""
    for seconds, trades in ((3600, hour), (86_400, hour + 1_000)):
        columns = {"volume_quote": 0, "volume_usd": 0, "traders": 0, "sells": trades // 3}
        RollingSum.objects.create(token=token, seconds=seconds, buys=trades - trades // 3, **columns)


def set_clock(chain_id, at):
    RollingClock.objects.create(chain_id=chain_id, rolled_to=at)


def role_member(role):
    user = User.objects.create_user("member", is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    return user


def text_of(client, token):
    answer = client.get(page_of(token))
    assert answer.status_code == 200
    return answer.text


def pictures(text):
    return re.findall(r'role="img" aria-label="(Price[^"]*)"', text)


def table_rows(text, caption):
    """Return each row's cells in the table after a text, tags removed."""
    body = text.partition(caption)[2].partition("<tbody>")[2].partition("</tbody>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    return [[re.sub(r"<[^>]*>", "", cell).strip() for cell in re.findall(r"<td.*?</td>", row)] for row in rows]


def test_the_newest_trades_are_shown_in_whole_units_with_links(operator, now):
    token = traded_token(now, decimals=6)
    make_trade(token, block=1, at=now - timedelta(minutes=2), amount_token=2_500_000, amount_quote=5 * 10**15)
    make_trade(
        token,
        block=2,
        at=now - timedelta(minutes=1),
        is_buy=False,
        is_conversion=True,
        amount_token=10**12,
        amount_quote=3 * 10**18,
        quote_usd=Decimal(2000),
    )
    text = text_of(operator, token)
    sold, bought = table_rows(text, "Newest trades")
    assert sold[1:] == [
        "sell (fees)", "1,000,000.0000", "3.0000", "3e-06", "6,000.00", f"{LOCKER[:8]}…", "0x000000…",
    ]  # fmt: skip
    assert bought[1:] == ["buy", "2.5000", "0.005", "0.002", "unknown", f"{TRADER[:8]}…", "0x000000…"]
    assert bought[0] == f"{now - timedelta(minutes=2):%Y-%m-%d %H:%M:%S} UTC"
    assert f"https://basescan.org/tx/0x{1:064x}" in text
    assert f"https://basescan.org/address/{TRADER}" in text
    assert ">WETH<" in text


def test_twenty_trades_are_shown(operator, now):
    token = traded_token(now)
    for block in range(25):
        make_trade(token, block=block, at=now - timedelta(minutes=30 - block), trader=None)
    rows = table_rows(text_of(operator, token), "Newest trades")
    assert len(rows) == 20
    assert rows[0][0] == f"{now - timedelta(minutes=6):%Y-%m-%d %H:%M:%S} UTC"
    assert {row[6] for row in rows} == {"unknown"}


def test_prices_are_drawn_in_usd_for_a_day_and_a_week_with_a_table(operator, now):
    token = traded_token(now)
    Market.objects.filter(token=token).update(price_usd=8)
    quarter = now.replace(minute=now.minute // 15 * 15, second=0, microsecond=0)
    make_candle(token, quarter - timedelta(hours=2), 1, 3, 1, 2)
    make_candle(token, quarter - timedelta(hours=1), 2, 4, 0.5, 4)
    make_candle(token, (now - timedelta(days=2)).replace(minute=0, second=0, microsecond=0), 1, 2, 1, 2, seconds=3600)
    text = text_of(operator, token)
    day, week = pictures(text)
    assert day == "Price in USD, the last 24 hours, by 15 minutes: from 4 to 8, lowest 1, highest 8"
    assert week == "Price in USD, the last 7 days, by hour: from 1.97417e-10 to 4, lowest 1.97417e-10, highest 4"
    rows = table_rows(text, day)
    # From the first candle to the current one, the newest first; candles without trades have the previous close.
    assert [row[0] for row in rows] == sorted((row[0] for row in rows), reverse=True)
    cells = {row[0]: row[1:] for row in rows}
    assert cells[f"{quarter - timedelta(hours=1):%Y-%m-%d %H:%M} UTC"] == ["4", "8", "1", "8", "3"]
    assert cells[f"{quarter:%Y-%m-%d %H:%M} UTC"] == ["8", "8", "8", "8", "0"]
    assert rows[-1][0] == f"{quarter - timedelta(hours=2):%Y-%m-%d %H:%M} UTC"


def test_without_a_price_in_usd_the_chart_is_in_the_paired_token(operator, now):
    token = traded_token(now)
    unknown = dict.fromkeys(["open_usd", "high_usd", "low_usd", "close_usd"])
    make_candle(token, now.replace(second=0, microsecond=0), 1e-12, 3e-12, 1e-12, 2e-12, **unknown)
    (day,) = pictures(text_of(operator, token))
    assert day.startswith("Price in WETH, ") and day.endswith(
        "from 9.87087e-11 to 2e-12, lowest 1e-12, highest 9.87087e-11"
    )


def test_candles_without_any_price_in_usd_are_drawn_in_the_paired_token(operator, now):
    token = traded_token(now)
    Market.objects.filter(token=token).update(price_usd=8)
    unknown = dict.fromkeys(["open_usd", "high_usd", "low_usd", "close_usd"])
    make_candle(token, now.replace(second=0, microsecond=0), 1, 3, 1, 2, **unknown)
    make_candle(token, now.replace(minute=0, second=0, microsecond=0), 1, 3, 1, 2, seconds=3600)
    day, week = pictures(text_of(operator, token))
    assert day.startswith("Price in WETH, the last 24 hours")
    assert week.startswith("Price in USD, the last 7 days")


def test_a_candle_is_drawn_from_its_highest_to_its_lowest_price():
    candles = [
        {"t": timezone.now(), "o": 1.0, "h": 5.0, "l": 1.0, "c": 4.0, "trades": 1},
        {"t": timezone.now(), "o": 4.0, "h": 4.0, "l": 2.0, "c": 3.0, "trades": 1},
    ]
    shapes = PriceChart(title="", currency="USD", candles=candles).shapes
    drawn = [(shape["top"], shape["wick"], shape["upper"], shape["body"], shape["fell"]) for shape in shapes]
    assert drawn == [
        ("0.00", "100.00", "25.00", "75.00", False),
        ("25.00", "50.00", "25.00", "25.00", True),
    ]


def test_a_price_that_stands_still_is_a_line_in_the_middle():
    candle = {"t": timezone.now(), "o": 2.0, "h": 2.0, "l": 2.0, "c": 2.0, "trades": 0}
    chart = PriceChart(title="", currency="USD", candles=[candle])
    (shape,) = chart.shapes
    assert (shape["upper"], shape["body"]) == ("50.00", "1.00")
    # One candle is not as broad as the page.
    assert (chart.width, PriceChart(title="", currency="USD", candles=[candle] * 96).width) == (24, 96)


def test_a_token_without_trades_has_no_picture(operator, now):
    text = text_of(operator, traded_token(now))
    assert "No trades." in text and "No candles in the last 7 days." in text
    assert pictures(text) == []


@pytest.mark.parametrize("launched", [True, False])
def test_a_token_without_known_decimals_of_its_quote_says_so(operator, launched):
    token = make_traded_token(quote_decimals=None) if launched else TokenFactory()
    assert "The decimals of the paired token are unknown" in text_of(operator, token)


def test_a_token_of_a_chain_on_the_provider_says_so(operator, now, settings):
    token = traded_token(now)
    make_trade(token, at=now)
    settings.MARKET_PROVIDER_CHAINS = (token.chain_id,)
    text = text_of(operator, token)
    assert "Market data of Base comes from the outside provider." in text
    assert table_rows(text, "Newest trades") == []


def count_queries(client, token):
    with CaptureQueriesContext(connection) as queries:
        text_of(client, token)
    return len(queries)


def test_trades_and_candles_take_three_queries_and_two_more_without_prices_in_usd(operator, now, settings):
    quiet, busy = traded_token(now), traded_token(now)
    for block in range(25):
        at = (now - timedelta(minutes=block)).replace(second=0, microsecond=0)
        make_trade(busy, block=block, at=at)
        make_candle(busy, at, 1, 2, 1, 2)
    # A process's first page also reads what is cached for later ones.
    count_queries(operator, quiet)
    few = count_queries(operator, quiet)
    assert count_queries(operator, busy) == few
    Market.objects.update(price_usd=1)
    assert count_queries(operator, quiet) == few + 2
    settings.MARKET_PROVIDER_CHAINS = (busy.chain_id,)
    assert count_queries(operator, busy) == few - 3


def test_the_panel_shows_the_rate_and_the_lag_of_each_chain(operator, now):
    ChainHeadFactory(head=100, followed=98)
    FollowedBlockFactory(number=98, at=now - timedelta(seconds=7))
    one, other, foreign = TokenFactory(), TokenFactory(), TokenFactory(chain_id=1)
    add_sums(one, hour=90)
    add_sums(other, hour=3)
    add_sums(foreign, hour=1_200)
    set_clock(8453, now), set_clock(1, now - timedelta(minutes=6))
    found = figures(operator, "Trades")
    assert (found["Base"].value, found["Base"].is_alarming) == ("1.6 a minute", False)
    assert re.fullmatch(r"93 in an hour, \d+ s behind the head", found["Base"].note)
    assert operator.get(found["Base"].page).status_code == 200
    # Sums that no process rolls still show an earlier hour.
    assert (found["Ethereum"].value, found["Ethereum"].is_alarming) == ("20.0 a minute", True)
    assert found["Ethereum"].note == "1,200 in an hour; last counted 6 minutes ago: does manage.py follow run for it?"
    assert operator.get(found["Partitions"].page).status_code == 200


def test_the_panel_leaves_out_a_chain_on_the_provider(operator, now, settings):
    set_clock(8453, now), set_clock(1, now)
    settings.MARKET_PROVIDER_CHAINS = (1,)
    assert list(figures(operator, "Trades")) == ["Base", "Partitions"]


def test_a_chain_that_lags_alarms_among_trades_too(operator, now, settings):
    settings.FOLLOW_LAG_ALARM_SECONDS = 60
    set_clock(8453, now)
    ChainHeadFactory(head=100, followed=98)
    FollowedBlockFactory(number=98, at=now - timedelta(seconds=70))
    assert figures(operator, "Trades")["Base"].is_alarming


def test_metrics_have_the_trades_of_each_chain(client, now):
    add_sums(TokenFactory(), hour=90)
    set_clock(8453, now - timedelta(seconds=30))
    families = text_string_to_metric_families(client.get("/metrics").text)
    samples = {sample.name: sample for family in families for sample in family.samples}
    found = {name: samples[f"launchboard_chain_trades_{name}"] for name in ("hour", "age_seconds")}
    assert {sample.labels["chain"] for sample in found.values()} == {"8453"}
    assert found["hour"].value == 90
    assert found["age_seconds"].value >= 30


def test_a_chains_page_shows_what_its_trades_cost(operator, now):
    head = ChainHeadFactory(head=100, followed=100)
    for number in range(91, 101):
        FollowedBlockFactory(number=number, at=now - timedelta(seconds=2 * (100 - number)))
    token = traded_token(now)
    for block in range(50):
        make_trade(token, block=block, at=now)
    add_sums(token, hour=2**17)
    set_clock(8453, now)
    assert "not known; those of all chains take" in operator.get(page_of(head)).text
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE tokens_trade_{week_of(now):%Y%m%d}")
        cursor.execute("SELECT pg_total_relation_size(%s)", [f"tokens_trade_{week_of(now):%Y%m%d}"])
        ((size,),) = cursor.fetchall()
    text = operator.get(page_of(head)).text
    assert "131,072 in an hour, up to " in text
    assert "about 1,800 calls of eth_getLogs an hour, one for each block" in text
    assert f"about {3 * size / 50:,.1f} MiB a day at the rate of the last hour, {size / 50:,.0f} bytes a trade " in text


def test_the_costs_of_a_chain_take_four_queries(now, django_assert_num_queries):
    for _ in range(3):
        add_sums(TokenFactory(), hour=10)
    set_clock(8453, now), set_clock(1, now)
    with django_assert_num_queries(4):
        costs = read_chain_costs(8453)
    assert costs.trades.startswith("30 in an hour")


def test_a_chains_page_without_trades_has_no_costs(operator, settings):
    page = page_of(ChainHeadFactory())
    text = operator.get(page).text
    assert "none counted yet" in text and text.count("not known") == 2
    settings.MARKET_PROVIDER_CHAINS = (8453,)
    assert operator.get(page).text.count("none: market data comes from the outside provider") == 3


def test_support_sees_partitions_and_may_not_maintain_them(support, now, settings):
    settings.TRADE_DAYS, settings.CANDLE_MINUTE_DAYS = 0, 30
    assert PARTITIONS in support.get(reverse("admin:tokens_chainhead_changelist")).text
    text = support.get(PARTITIONS).text
    rows = table_rows(text, "Partitions")
    assert [row[0] for row in rows][:1] == [f"tokens_trade_{week_of(now + timedelta(weeks=1)):%Y%m%d}"]
    assert len(rows) == 6
    assert (rows[0][2], rows[0][4]) == ("not counted", "") and rows[0][3].endswith(" MiB")
    assert "trades: for good; minute candles: 30 days" in text
    assert BUTTON not in text
    assert support.post(PARTITIONS).status_code == 403
    assert not LogEntry.objects.exists()


def test_others_see_no_partitions(client, db):
    user = User.objects.create_user("viewer", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_token"))
    client.force_login(user)
    assert client.get(PARTITIONS).status_code == 403


def test_before_the_first_trade_there_are_no_partitions(operator, db):
    assert "There are none before the first row." in operator.get(PARTITIONS).text


def test_the_role_operator_maintains_partitions_and_the_audit_log_records_it(transactional_db, client, settings):
    settings.TRADE_DAYS = settings.CANDLE_MINUTE_DAYS = 7
    now = timezone.now()
    make_weeks(1, first=week_of(now - timedelta(weeks=3)))
    client.force_login(role_member(roles.OPERATOR))
    expired = f"tokens_trade_{week_of(now - timedelta(weeks=3)):%Y%m%d}"
    text = client.get(PARTITIONS).text
    assert BUTTON in text and "Missing: " in text
    (row,) = [row for row in table_rows(text, "Partitions") if row[0] == expired]
    assert row[4] == "after its retention"
    answer = client.post(PARTITIONS, follow=True)
    (message,) = messages(answer)
    made = f"tokens_trade_{week_of(now):%Y%m%d}"
    assert message.startswith("Partitions: created ") and made in message and f"dropped {expired[:7]}" in message
    shown = [row[0] for row in table_rows(answer.text, "Partitions")]
    assert made in shown and expired not in shown
    (entry,) = LogEntry.objects.all()
    assert (entry.object_repr, entry.user.username) == ("partitions", "member")
    assert made in entry.change_message and expired in entry.change_message
    assert messages(client.post(PARTITIONS, follow=True)) == ["Partitions: nothing to do."]
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchall() == [("0",)]


def test_maintenance_that_is_under_way_or_blocked_is_reported(transactional_db, operator, service_environment):
    with session_lock(advisory_lock_key("maintenance of partitions")):
        (message,) = messages(operator.post(PARTITIONS, follow=True))
    assert message == "A worker is maintaining the partitions now."
    assert not LogEntry.objects.exists()
    with psycopg.connect(service_environment["DATABASE_URL"]) as other:
        other.execute("LOCK TABLE tokens_trade IN SHARE UPDATE EXCLUSIVE MODE")
        (message,) = messages(operator.post(PARTITIONS, follow=True))
    assert message.startswith("Not finished, a worker tries again: canceling statement due to lock timeout")
    assert LogEntry.objects.get().change_message.startswith("not finished: ")
