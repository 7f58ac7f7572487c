"""Launch outcomes, in GET /api/creators/{creator}."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from tests.rows.factories import SolanaTokenFactory
from tests.rows.token_lists import price
from tests.tokens.ledger.creator_launches import FID, FIRST, WETH, launch
from tests.tokens.market.stored_trades import make_candle
from tokens.models import Candle, Coverage, LaunchFacts, PoolLiquidityChange, Token
from tokens.models.candle import DAY

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("summed")]


def test_outcomes_of_launches(read):
    now = timezone.now()
    launch(deployed_at=now - timedelta(days=3), supply=Decimal(10**21))
    token = Token.objects.get()
    price(token, market_cap=5, volume_24h=2, last_trade_at=now - timedelta(days=6, hours=23))
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for ago, high in ((2, 8), (1, 3)):
        make_candle(token, day - timedelta(days=ago), 1, high, 0.5, 1.5, seconds=DAY)
    make_candle(token, day, 1, 99, 0.5, 1.5, seconds=3600)
    outcome = read()["launches"][0]["outcome"]
    assert 3 * 86_400 <= outcome.pop("ageSeconds") < 3 * 86_400 + 600
    assert outcome.pop("lastTradeAt").endswith("Z")
    assert outcome == {
        "graduated": None,
        "graduatedReason": "no_curve",
        "graduatedAt": None,
        "curveProgress": None,
        "marketCap": 5.0,
        # Prices in USD are double these candles' prices.
        "peakMarketCap": 16_000.0,
        "peakMarketCapReason": None,
        "volume24h": 2.0,
        "volume": 41.0,
        "volumeReason": None,
        "stillTraded": True,
    }


@pytest.mark.parametrize(
    ("market", "graduated"),
    [
        ({}, (None, "curve_unknown")),
        ({"curve_progress": Decimal("99.5")}, (False, None)),
        ({"curve_progress": 100, "graduated_at": FIRST}, (True, None)),
    ],
)
def test_graduation_on_a_bonding_curve(read, market, graduated):
    price(SolanaTokenFactory(requestor_fid=FID), **market)
    outcome = read(FID)["launches"][0]["outcome"]
    assert (outcome["graduated"], outcome["graduatedReason"]) == graduated


@pytest.mark.parametrize("paired", [WETH, "0x0000000000000000000000000000000000000001"])
def test_a_days_price_without_liquidity_is_no_peak(read, paired):
    token = launch(deployed_at=FIRST, supply=Decimal(10**29), paired_token=paired)
    LaunchFacts.objects.create(token=token, facts={"pool": {"pair_decimals": 18}})
    # From 1e-10 to 1e20 paired tokens per token: 0.1 at 1e-8, and 1,000 at 1.
    ticks = (-230_270, 460_540) if paired == WETH else (-460_540, 230_270)
    PoolLiquidityChange.objects.create(
        token=token, position=token.block_number << 20, at=FIRST, tick_lower=ticks[0], tick_upper=ticks[1],
        liquidity=10**21,
    )  # fmt: skip
    # A price in USD is the double. At 3e-7 the pool holds 0.54, and the cap is 60,000.
    make_candle(token, FIRST, *[3e-7] * 4, seconds=DAY)
    make_candle(token, FIRST + timedelta(days=1), *[1e20] * 4, seconds=DAY)
    assert read()["launches"][0]["outcome"]["peakMarketCap"] == pytest.approx(60_000)
    Candle.objects.filter(at__lt=FIRST + timedelta(hours=20)).delete()
    outcome = read()["launches"][0]["outcome"]
    assert (outcome["peakMarketCap"], outcome["peakMarketCapReason"]) == (None, "no_liquidity")
    PoolLiquidityChange.objects.update(liquidity=10**29)
    make_candle(token, FIRST, *[1e-4] * 4, seconds=DAY)
    assert read()["launches"][0]["outcome"]["peakMarketCap"] == pytest.approx(20_000_000)


def test_facts_of_all_trades_are_unknown_for_a_reason(read, settings):
    token = launch(deployed_at=FIRST)

    def reasons():
        outcome = read()["launches"][0]["outcome"]
        assert (outcome["peakMarketCap"], outcome["volume"]) == (None, None)
        return outcome["peakMarketCapReason"], outcome["volumeReason"]

    assert reasons() == ("no_trades", "no_trades")
    unknown = dict.fromkeys(("open_usd", "high_usd", "low_usd", "close_usd"))
    make_candle(token, FIRST, 1, 2, 0.5, 1.5, seconds=DAY)
    make_candle(token, FIRST + timedelta(days=1), 1, 2, 0.5, 1.5, seconds=DAY, **unknown)
    assert reasons() == ("no_price", "no_price")
    Coverage.objects.update(first_block=token.block_number + 1)
    assert reasons() == ("history_not_read", "history_not_read")
    settings.MARKET_PROVIDER_CHAINS = frozenset({8453})
    assert reasons() == ("no_own_trades", "no_own_trades")
