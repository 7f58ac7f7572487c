"""`manage.py check_feeds` on two days on a development chain: bars and daily sums, and each seeded error is named."""

import re
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from development.devchain.anvil import CHAIN_ID
from development.devchain.trader import SampleTraders
from tests.nodes.devchain_launches import Launchpad
from tests.nodes.followed import Followed
from tests.simulator import SimulatedChain
from tests.tokens.feeds.feed_worlds import follow_to_final
from tokens.feeds.checking.feed_check import FeedCheck
from tokens.feeds.served_blocks import find_feed_chain, read_served_blocks
from tokens.installation.installed_chains import installed_chain
from tokens.models import Candle, Coverage, MinuteCandle, PoolLiquidityChange, PoolTrade

pytestmark = pytest.mark.django_db

HOUR, DAY = 3600, 86_400


@pytest.fixture(scope="module")
def traded(paired_launches: Launchpad) -> int:
    """Follow a chain with trades on a whole day and on parts before and after it; return the day's beginning."""
    chain = paired_launches
    traders = SampleTraders(chain.deployment.rpc_url, random=SimulatedChain(7).rng)
    now = int(chain.rpc("eth_getBlockByNumber", "latest", False)["timestamp"], 16)
    day = now - now % DAY + DAY
    for at in (None, day + HOUR, day + 5 * HOUR, day + DAY + HOUR, day + DAY + 3 * HOUR):
        if at is not None:
            chain.rpc("evm_setNextBlockTimestamp", at)
        for _ in range(12):
            traders.trade_once()
    follow_to_final(chain)
    Coverage.objects.update(verified_to=served().last)
    return day


def served():
    return read_served_blocks(find_feed_chain(CHAIN_ID))


def run(**options: Any) -> str:
    """Return the command's output. Raises CommandError."""
    output = StringIO()
    blocks = served()
    span = {"from": blocks.first, "to": blocks.last} | options
    try:
        call_command("check_feeds", chain=CHAIN_ID, stdout=output, stderr=output, **span)
    except CommandError as error:
        raise CommandError(f"{output.getvalue()}{error}") from error
    return output.getvalue()


def changed(rows: Any, **columns: Any) -> list[str]:
    """Return the differences that the command names while these rows have other values; it must fail."""
    before = list(rows.values("pk", *columns))
    assert before
    rows.update(**columns)
    with pytest.raises(CommandError) as raised:
        run()
    for row in before:
        rows.model.objects.filter(pk=row["pk"]).update(**{name: row[name] for name in columns})
    *lines, _, last = str(raised.value).splitlines()
    assert last == "the feeds differ from the chain"
    return lines


def test_bars_and_days_are_those_of_the_logs(traded):
    output = run()
    assert "0 without their amounts and 0 without reserves" in output
    assert "1 days compared, 0 without USD, 0 differ" in output
    blocks = served()
    check = FeedCheck(installed_chain(CHAIN_ID), blocks.first, verified=blocks.verified)
    # Several runs, so that bars and days span more than one, and reserves span former ones.
    while check.next <= blocks.last:
        check.compare(min(check.next + 30, blocks.last))
    assert str(check.comparison) in output
    assert check.comparison.bars > 50


def test_bars_of_minutes_are_read_only_of_tokens_that_may_have_some(traded, followed_launchpad):
    check = FeedCheck(installed_chain(CHAIN_ID), served().first, verified=served().verified)
    # The first round has the last trades.
    with followed_launchpad.restored_node():
        for _ in range(2):
            followed_launchpad.rpc("evm_increaseTime", HOUR)
            followed_launchpad.mine(8)
            Followed(CHAIN_ID).catch_up()
            with CaptureQueriesContext(connection) as queries:
                while check.next <= served().last:
                    check.compare(served().last)
    # One for each bar size.
    assert sum("minutecandle" in query["sql"] for query in queries) == 3
    assert check.comparison.differences == []


def test_the_day_of_the_first_block_is_whole(traded):
    chain, blocks = installed_chain(CHAIN_ID), served()
    check = FeedCheck(chain, 0, verified=blocks.verified)
    while check.next <= blocks.last:
        check.compare(blocks.last)
    begins = chain.read_headers([0])[0].time
    assert check.comparison.days == (traded + DAY) // DAY - begins // DAY
    assert check.comparison.differences == []


def test_a_bar_that_differs_is_named_in_each_size_and_currency(traded):
    minute = MinuteCandle.objects.filter(at__gte=utc(traded)).order_by("at").first()
    hour = Candle.objects.filter(seconds=HOUR, at__gte=utc(traded)).order_by("at").first()
    day = Candle.objects.get(seconds=DAY, at=utc(traded), token_id=hour.token_id)
    (lower,) = [line for line in changed(row(minute), low=minute.low / 2) if "bar 1 of" in line]
    assert ".QUOTE at" in lower
    found = re.search(rf": l is {float(minute.low / 2)} in the feed, and (\S+) on the chain$", lower)
    # The close before it counts, too.
    assert found and float(minute.low / 2) < float(found[1]) <= float(minute.low)
    assert lower.startswith("blocks ")
    # The close, and the next bar's open.
    closes = [line.split(" at ") for line in changed(row(hour), close_usd=hour.close_usd * 1.001)]
    named = {(place.split(" of ")[0].split(", ")[-1], what.split(": ")[1][:4]) for place, what in closes}
    assert {(f"bar {size}", f"{name} is") for size in ("60", "240") for name in "oc"} <= named
    (volume,) = changed(row(day), volume_quote=day.volume_quote + 10**6)
    assert "bar 1D of" in volume and ".QUOTE" in volume and ": v is " in volume
    (usd,) = changed(row(day), volume_usd=day.volume_usd + 1)
    assert "bar 1D of" in usd and ".QUOTE" not in usd and ": v is " in usd


def test_a_stored_open_that_differs_is_named_in_each_size_and_currency(traded):
    # A bar opens at the close before: sparklines begin with the row's open.
    for size, rows in (
        ("1", MinuteCandle.objects.filter(at__gte=utc(traded))),
        ("60", Candle.objects.filter(seconds=HOUR, at__gte=utc(traded))),
        ("1D", Candle.objects.filter(seconds=DAY, at=utc(traded))),
    ):
        candle = rows.exclude(open_usd=None).order_by("at").first()
        for column in ("open", "open_usd"):
            wrong = float(getattr(candle, column)) * 1.0001
            (line,) = changed(row(candle), **{column: wrong})
            assert (f"bar {size} of" in line, ".QUOTE at" in line) == (True, column == "open")
            opens = re.search(r": stored open is (\S+) in the feed, and (\S+) on the chain$", line)
            assert opens and float(opens[1]) == wrong
            assert float(opens[2]) == pytest.approx(float(getattr(candle, column)))


def test_a_bar_that_is_missing_or_invented_is_named(traded):
    hour = Candle.objects.filter(seconds=HOUR, at__gte=utc(traded)).order_by("at").first()
    lines = changed(row(hour), at=hour.at + timedelta(hours=2))
    for words in ("the feed lacks it", "the chain does not have it"):
        # In both currencies.
        assert len([line for line in lines if "bar 60 of" in line and line.endswith(words)]) == 2


def test_reserves_that_differ_are_named(traded):
    change = PoolLiquidityChange.objects.order_by("position").first()
    after = change.position // 2**20 + 1
    rows = PoolLiquidityChange.objects.filter(pk=change.pk)
    rows.update(liquidity=F("liquidity") + 10**16)
    # The launch is before the range: no event differs.
    with pytest.raises(CommandError) as raised:
        run(**{"from": after})
    lines = [line for line in str(raised.value).splitlines() if line.startswith("block ")]
    assert lines
    for line in lines:
        assert re.fullmatch(r"block \d+, log \d+: reserves is \{.*\} in the feed, and \{.*\} on the chain", line)
    # Without the launch's logs, reserves are not compared, and the check counts them.
    assert " 0 without reserves" not in run(**{"from": after, "history": 0})


def test_a_sum_of_a_day_that_differs_is_named(traded):
    of_day = PoolTrade.objects.filter(at__gte=utc(traded), at__lt=utc(traded + DAY), is_conversion=False)
    trade = of_day.order_by("-amount_quote").first()
    for columns, names in (
        ({"fee": 1}, {"fees", "feesUsd"}),
        ({"fee": None}, {"tradesWithoutFee", "fees", "feesUsd"}),
        ({"quote_usd": None}, {"tradesWithoutUsd", "volumeUsd", "feesUsd"}),
        ({"quote_usd": F("quote_usd") * 2}, {"volumeUsd", "feesUsd"}),
    ):
        lines = changed(PoolTrade.objects.filter(pk=trade.pk), **columns)
        assert {line.split(": ")[1].split(" is ")[0] for line in lines} == names
        for line in lines:
            assert re.match(rf"blocks \d+ to \d+, day {utc(traded).date()}, quote token 0x", line)
            assert re.search(r" is \S+ in the feed, and \S+ on the chain$", line)


def row(candle: Any) -> Any:
    """Return the candle's row as a query."""
    return type(candle).objects.filter(pk=candle.pk)


def utc(seconds: int) -> datetime:
    """Return a time."""
    return datetime.fromtimestamp(seconds, UTC)
