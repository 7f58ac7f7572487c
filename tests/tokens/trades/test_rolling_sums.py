"""Rolling sums equal trade scans, after any sequence of additions, rolls, deletions and recounts."""

import math
from collections import defaultdict
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random

import pytest
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tokens.trades.pool_rows import (
    CHAIN,
    NOW,
    make_partitions,
    make_pool_token,
    remake_candles,
    trade_row,
    write_trades,
)
from tokens.installation.installed_registry import registry
from tokens.models import PoolTrade, RecentTrader, ReferencePrice, RollingClock, RollingSum, Token
from tokens.trades import rolling_sums
from tokens.trades.trade_rows import TradeRow

pytestmark = pytest.mark.django_db

PERIODS = (3600, 21_600, 86_400)
HALF_LIFE = 21_600
STARTING_PRICE = Decimal("1.0001") ** -230_400


def roll_to(minute: datetime) -> set[int]:
    """Roll in steps, as the follower does; return the tokens with other sums."""
    touched: set[int] = set()
    rolled_to = None
    while rolled_to is None or rolled_to < minute:
        rolled_to, token_ids = rolling_sums.roll(CHAIN, minute)
        touched |= token_ids
    return touched


def stored(token: Token, seconds: int) -> RollingSum | None:
    return RollingSum.objects.filter(token=token, seconds=seconds).first()


class Scan:
    """The truth: trades in memory, and sums by a scan. Shares no code with the service."""

    def __init__(self) -> None:
        self.now = NOW
        self.rows: list[TradeRow] = []
        # Token and trader -> time and signed value for each trade in its net.
        self.nets: dict[tuple[int, bytes], list[tuple[int, Decimal]]] = defaultdict(list)

    def add(self, rows: list[TradeRow]) -> None:
        self.rows += rows
        for row in rows:
            if row.at >= self.begin(86_400) and not row.is_conversion:
                self._count(row)

    def _count(self, row: TradeRow) -> None:
        value = row.value_usd or Decimal(0)
        self.nets[row.token_id, row.trader or b""].append((row.at, value if row.is_buy else -value))

    def roll(self, now: datetime) -> None:
        paused = now - self.now > timedelta(days=1)
        self.now = now
        if paused:
            self.recount({row.token_id for row in self.rows})
        gone = [key for key, trades in self.nets.items() if max(at for at, _ in trades) < self.begin(86_400)]
        for key in gone:
            del self.nets[key]

    def delete(self, rows: list[TradeRow]) -> None:
        self.rows = [row for row in self.rows if row not in rows]
        self.recount({row.token_id for row in rows})

    def recount(self, token_ids: set[int]) -> None:
        for key in [key for key in self.nets if key[0] in token_ids]:
            del self.nets[key]
        for row in self.rows:
            if row.token_id in token_ids and row.at >= self.begin(86_400) and not row.is_conversion:
                self._count(row)

    def begin(self, seconds: int) -> float:
        return self.now.timestamp() - seconds

    def sums(self) -> dict[tuple[int, int], tuple[object, ...]]:
        """Return token and seconds -> its row's columns, without the score."""
        found = {}
        for token_id in {row.token_id for row in self.rows}:
            for seconds in PERIODS:
                rows = [
                    row
                    for row in self.rows
                    if row.token_id == token_id and row.at >= self.begin(seconds) and not row.is_conversion
                ]
                if rows:
                    found[token_id, seconds] = (
                        sum(row.amount_quote for row in rows),
                        sum((row.value_usd or Decimal(0) for row in rows), Decimal(0)),
                        sum(row.is_buy for row in rows),
                        sum(not row.is_buy for row in rows),
                        len({row.trader for row in rows} - {None}),
                        *self.opening(token_id, seconds),
                    )
        return found

    def opening(self, token_id: int, seconds: int) -> tuple[Decimal, float | None]:
        rows = sorted((row for row in self.rows if row.token_id == token_id), key=lambda row: row.position)
        before = [row for row in rows if row.at < self.begin(seconds)]
        if not before:
            rate = rows[0].quote_usd
            return STARTING_PRICE, None if rate is None else float(STARTING_PRICE * rate)
        last = before[-1]
        return last.price, None if last.quote_usd is None else float(last.price * last.quote_usd)

    def may_lack_usd(self, token_id: int, seconds: int) -> bool:
        """Return whether the opening is an earlier day's candle, which has no USD where a trade has none.

        A row that was set when the period still began on that day keeps the trade's USD.
        """
        rows = [row for row in self.rows if row.token_id == token_id]
        day = max((row.at for row in rows if row.at < self.begin(seconds)), default=0) // 86_400
        by_candle = day < self.begin(seconds) // 86_400
        return by_candle and any(row.quote_usd is None for row in rows if row.at // 86_400 == day)

    def net(self, key: tuple[int, bytes]) -> tuple[int, float]:
        """Return a trader's last trade time, and the net at that time."""
        trades = self.nets[key]
        last = max(at for at, _ in trades)
        return last, sum(float(value) * 2 ** (-(last - at) / HALF_LIFE) for at, value in trades)

    def score(self, token_id: int) -> float:
        """Return the current trending score."""
        nets = [self.net(key) for key in self.nets if key[0] == token_id]
        return sum(math.sqrt(max(net, 0)) * 2 ** (-(self.now.timestamp() - at) / 2 / HALF_LIFE) for at, net in nets)


def check(scan: Scan) -> None:
    """Compare all rows with the scan."""
    rows = {(row.token_id, row.seconds): row for row in RollingSum.objects.all()}
    expected = scan.sums()
    assert rows.keys() == expected.keys()
    for key, (volume_quote, volume_usd, buys, sells, traders, opening, opening_usd) in expected.items():
        row = rows[key]
        counted = (row.volume_quote, row.volume_usd, row.buys, row.sells, row.traders)
        assert counted == (volume_quote, volume_usd, buys, sells, traders), key
        if opening is STARTING_PRICE:
            assert row.opening_price == pytest.approx(opening, rel=Decimal("1e-15"))
            assert row.opening_usd == (opening_usd and pytest.approx(opening_usd))
        else:
            lacks_usd = row.opening_usd is None and scan.may_lack_usd(*key)
            assert (row.opening_price, row.opening_usd) == (opening, None if lacks_usd else opening_usd), key
        if key[1] == 86_400:
            now = scan.now.timestamp() / 2 / HALF_LIFE
            score = 0 if row.trending is None else 2 ** (row.trending - now)
            assert score == pytest.approx(scan.score(key[0]), rel=1e-6, abs=1e-3)
        else:
            assert row.trending is None
    nets = {
        (row.token_id, bytes(row.trader)): (row.last_at.timestamp(), row.net_usd) for row in RecentTrader.objects.all()
    }
    assert nets.keys() == scan.nets.keys()
    for net_key, net in nets.items():
        assert net == pytest.approx(scan.net(net_key), rel=1e-9, abs=1e-6)


def random_trades(random: Random, tokens: list[Token], now: datetime, taken: set[int]) -> list[TradeRow]:
    """Return trades in the last seconds, or at any time in two days; each with its own position."""
    rows = []
    for _ in range(random.randint(1, 6)):
        age = random.choice((random.randint(0, 90), random.randint(0, 7200), random.randint(0, 2 * 86_400)))
        at = now - timedelta(seconds=age)
        position = int(at.timestamp()) << 20 | random.randrange(1000)
        if position in taken:
            continue
        taken.add(position)
        rows.append(
            trade_row(
                random.choice(tokens).pk,
                at,
                position=position,
                trader=random.choice((None, b"\x01" * 20, b"\x02" * 20, b"\x03" * 20)),
                is_buy=random.random() < 0.6,
                is_conversion=random.random() < 0.15,
                amount_quote=random.randint(1, 10**20),
                price=Decimal(random.randint(1, 10**24)).scaleb(-30),
                quote_usd=random.choice((None, "3000.123456789", "2999.9", "1")),
            )
        )
    return rows


ACTIONS = st.lists(
    st.sampled_from(("add", "add", "add", "minute", "minute", "hour", "day", "delete")), min_size=3, max_size=14
)


@pytest.fixture(autouse=True)
def partitions(db: None) -> None:
    make_partitions()


@settings(max_examples=25)
@given(actions=ACTIONS, random=st.randoms(use_true_random=True))
def test_sums_equal_scans(actions: list[str], random: Random) -> None:
    with transaction.atomic():
        tokens = [make_pool_token() for _ in range(2)]
        scan = Scan()
        taken: set[int] = set()
        RollingClock.objects.create(chain_id=CHAIN, rolled_to=scan.now)
        for action in actions:
            if action == "add":
                rows = random_trades(random, tokens, scan.now + timedelta(seconds=30), taken)
                write_trades(rows)
                rolling_sums.add_trades(CHAIN, rows)
                scan.add(rows)
            elif action == "delete" and scan.rows:
                rows = random.sample(scan.rows, random.randint(1, min(4, len(scan.rows))))
                PoolTrade.objects.filter(position__in=[row.position for row in rows]).delete()
                remake_candles({row.token_id for row in rows})
                rolling_sums.recount(CHAIN, {row.token_id for row in rows})
                scan.delete(rows)
            elif action != "delete":
                most = {"minute": 3, "hour": 400, "day": 1800}[action]
                later = scan.now + timedelta(minutes=random.randint(1, most))
                roll_to(later)
                scan.roll(later)
            check(scan)
        transaction.set_rollback(True)


def add(rows: list[TradeRow]) -> None:
    write_trades(rows)
    rolling_sums.add_trades(CHAIN, rows)


@pytest.fixture
def token() -> Token:
    RollingClock.objects.create(chain_id=CHAIN, rolled_to=NOW)
    return make_pool_token()


def test_a_trade_is_in_the_periods_that_have_begun_before_it(token):
    begin = NOW - timedelta(hours=1)
    add([trade_row(token.pk, begin - timedelta(seconds=1), price="2", quote_usd="3000.5")])
    assert stored(token, 3600) is None
    add([trade_row(token.pk, begin, is_buy=False, trader=b"\x09" * 20)])
    hour, six = stored(token, 3600), stored(token, 21_600)
    assert (hour.buys, hour.sells, hour.traders, hour.volume_quote, hour.volume_usd) == (0, 1, 1, 10**18, 3000)
    assert (hour.opening_price, hour.opening_usd) == (2, 6001)
    assert (six.buys, six.sells, six.traders, six.volume_usd) == (1, 1, 2, Decimal("6000.5"))


def test_a_period_loses_a_minute_when_it_has_ended(token):
    add([trade_row(token.pk, NOW - timedelta(minutes=59, seconds=1), price="2")])
    assert rolling_sums.roll(CHAIN, NOW + timedelta(seconds=59)) == (NOW, set())
    assert stored(token, 3600)
    assert roll_to(NOW + timedelta(minutes=1)) == {token.pk}
    assert stored(token, 3600) is None
    assert stored(token, 21_600).buys == 1
    assert roll_to(NOW + timedelta(hours=24)) == {token.pk}
    assert not RollingSum.objects.exists() and not RecentTrader.objects.exists()


def test_a_period_opens_with_the_price_before_it_however_long_ago(token):
    old = NOW - timedelta(days=12)
    add([trade_row(token.pk, old, price="5", quote_usd="2000")])
    # As after TRADE_DAYS: the day's candle is left.
    PoolTrade.objects.all().delete()
    rolling_sums.add_trades(CHAIN, [trade_row(token.pk, NOW)])
    assert (stored(token, 86_400).opening_price, stored(token, 86_400).opening_usd) == (5, 10_000)


def test_a_conversion_moves_the_price_and_is_in_no_sum(token):
    add([trade_row(token.pk, NOW, is_conversion=True, price="7")])
    assert not RollingSum.objects.exists() and not RecentTrader.objects.exists()
    add([trade_row(token.pk, NOW + timedelta(seconds=1))])
    assert stored(token, 3600).opening_price == pytest.approx(STARTING_PRICE, rel=Decimal("1e-15"))
    roll_to(NOW + timedelta(minutes=61))
    add([trade_row(token.pk, NOW + timedelta(minutes=61))])
    assert stored(token, 3600).opening_price == Decimal("0.0000000001")
    assert stored(token, 86_400).buys == 2


def test_a_token_without_a_starting_tick_has_no_opening_price_before_its_first_trade(token):
    other = make_pool_token(tick=None)
    add([trade_row(other.pk, NOW)])
    assert (stored(other, 3600).opening_price, stored(other, 3600).opening_usd) == (None, None)


def store_rate(at: datetime, usd: int) -> None:
    reference = registry().chains[CHAIN].reference_pools[0]
    block = int(at.timestamp())
    ReferencePrice.objects.create(
        chain_id=CHAIN, pool=reference.pool, block_number=block, position=block << 20, at=at,
        currency=reference.currency, usd=usd,
    )  # fmt: skip


def test_a_starting_price_takes_the_rate_that_history_brings(token):
    Token.objects.update(deployed_at=NOW - timedelta(minutes=10))
    add([trade_row(token.pk, NOW, quote_usd="3000")])
    assert stored(token, 3600).opening_usd == pytest.approx(float(STARTING_PRICE) * 3000)
    store_rate(NOW - timedelta(minutes=11), 2000)
    assert rolling_sums.refresh_starting_prices(CHAIN) == {token.pk}
    assert stored(token, 3600).opening_usd == pytest.approx(float(STARTING_PRICE) * 2000)


def test_a_starting_price_keeps_its_rate_when_a_later_block_has_the_second_of_the_launch(token):
    Token.objects.update(deployed_at=NOW)
    store_rate(NOW - timedelta(minutes=1), 2000)
    add([trade_row(token.pk, NOW)])
    store_rate(NOW, 4000)
    assert stored(token, 3600).opening_usd == pytest.approx(float(STARTING_PRICE) * 2000)
    rolling_sums.recount(CHAIN, [token.pk])
    assert stored(token, 3600).opening_usd == pytest.approx(float(STARTING_PRICE) * 2000)


def test_a_starting_price_follows_the_rate_at_the_beginning_without_a_trade(token):
    Token.objects.update(deployed_at=NOW - timedelta(days=2))
    store_rate(NOW - timedelta(minutes=180), 2000)
    store_rate(NOW - timedelta(minutes=59), 4000)
    add([trade_row(token.pk, NOW)])
    assert stored(token, 3600).opening_usd == pytest.approx(float(STARTING_PRICE) * 2000)
    assert roll_to(NOW + timedelta(minutes=2)) == {token.pk}
    assert stored(token, 3600).opening_usd == pytest.approx(float(STARTING_PRICE) * 4000)


def test_values_in_usd_that_are_unknown_add_nothing(token):
    add([trade_row(token.pk, NOW, quote_usd=None), trade_row(token.pk, NOW, position=1 << 60)])
    day = stored(token, 86_400)
    assert (day.volume_quote, day.volume_usd, day.buys) == (2 * 10**18, 3000, 2)


def test_unknown_traders_are_one_that_is_not_counted(token):
    add([trade_row(token.pk, NOW, trader=None), trade_row(token.pk, NOW, trader=None, position=1 << 60)])
    assert stored(token, 86_400).traders == 0
    assert [(bytes(row.trader), row.net_usd) for row in RecentTrader.objects.all()] == [(b"", 6000)]


def test_rolling_leaves_other_chains_alone(token):
    other = make_pool_token(chain_id=CHAIN + 1)
    RollingClock.objects.create(chain_id=CHAIN + 1, rolled_to=NOW)
    rows = [trade_row(other.pk, NOW)]
    write_trades(rows)
    rolling_sums.add_trades(CHAIN + 1, rows)
    assert roll_to(NOW + timedelta(hours=20)) == set()
    assert stored(other, 3600).buys == 1
    assert rolling_sums.roll(CHAIN, NOW + timedelta(days=9)).token_ids == set()
    assert RecentTrader.objects.get().token == other


def test_a_clock_that_was_turned_back_moves_nothing(token):
    assert rolling_sums.roll(CHAIN, NOW - timedelta(hours=1)) == (NOW, set())


def test_a_chain_with_a_strange_clock_is_counted(token):
    """A development chain may be years ahead, and its last trade may have been years ago."""
    RecentTrader.objects.create(token=token, trader=b"\x01" * 20, last_at=NOW - timedelta(days=4000), net_usd=1)
    rolling_sums.add_trades(CHAIN, [trade_row(token.pk, NOW + timedelta(days=4000))])
    assert roll_to(NOW + timedelta(minutes=1)) == {token.pk}
    assert stored(token, 3600).buys == 1
