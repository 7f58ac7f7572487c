"""`make chaos` in small: a real follower is killed, the chain reorganises, and every row is right in the end."""

from decimal import Decimal

import pytest
from django.db.models import F

from tests.chaos import follower_chaos
from tests.chaos.chain_driver import Plan
from tokens.models import Candle, CollectionSum, Market, MinuteCandle, PoolLiquidityChange, PoolTrade, RollingSum, Token

pytestmark = pytest.mark.slow

MADE_UP = "0x" + "12" * 20
PLAN = Plan(launches=40, trades=60, kills=3, reorgs=3)


@pytest.mark.django_db(transaction=True)
def test_every_row_is_right_after_kills_and_reorganisations(service_environment, tmp_path):
    with follower_chaos.run(tmp_path, PLAN, service_environment) as (result, url):
        assert result.wrong == []
        assert result.faults == {"follower": PLAN.kills}
        assert result.figures["reorgs"] >= PLAN.reorgs
        # Conversions and pools for launched tokens are rarer than the trades of this short run: `make chaos` has them.
        covered = ("declared", "trades", "sells", "of currency 0", "sums", "fee sums")
        assert [name for name in covered if not result.figures[name]] == []
        assert result.figures["trades"] > result.figures["of currency 0"]
        # The check finds rows that are missing, wrong and made up.
        changes = [*_change_tokens(), *_change_trades(), *_change_sums()]
        errors, _ = follower_chaos.check(url, service_environment["DATABASE_URL"])
    for row, error in changes:
        assert any(row in line and error in line for line in errors), (row, error, errors)


def _change_tokens():
    """Change token rows without a trade; return what the check should find: a part of a line, and the error."""
    first, second, third = Token.objects.filter(trades=None, unindexed=False)[:3]
    Token.objects.filter(pk=first.pk).update(unindexed=True)
    Token.objects.filter(pk=second.pk).update(name="Other")
    Token.objects.filter(pk=third.pk).update(contract_address=MADE_UP)
    return [
        (first.contract_address, "is missing"),
        (second.contract_address, "has name 'Other'"),
        (third.contract_address, "is missing"),
        (MADE_UP, "is not on the chain"),
    ]


def _change_sums():
    """Change fee sums, as `_change_tokens`."""
    changed = CollectionSum.objects.select_related("token").exclude(amount=0)[0]
    rows = CollectionSum.objects.filter(token=changed.token, day=changed.day, since=changed.since)
    rows.update(amount=F("amount") + 1)
    return [(f"fee sum ('collected', '{changed.token.contract_address}'", f"amount Decimal('{changed.amount + 1}')")]


def _change_trades():
    """Change trade rows and what follows from them, as `_change_tokens`."""
    deleted, altered, repriced, moved, *_ = PoolTrade.objects.select_related("token").order_by("-position")
    # As if a reorganisation had left a dropped trade's high.
    stale = MinuteCandle.objects.select_related("token").order_by("-last_position")[0]
    candle = f"candles ('{stale.token.contract_address}', 60, {int(stale.at.timestamp())})"
    hour, sums, liquidity = Candle.objects.all()[0], RollingSum.objects.all()[0], PoolLiquidityChange.objects.all()[0]
    PoolTrade.objects.filter(pk=deleted.pk).delete()
    PoolTrade.objects.filter(pk=altered.pk).update(amount_quote=F("amount_quote") + 1)
    PoolTrade.objects.filter(pk=repriced.pk).update(price=F("price") * 2, is_conversion=not repriced.is_conversion)
    PoolTrade.objects.filter(pk=moved.pk).update(position=F("position") + 1000)
    MinuteCandle.objects.filter(pk=stale.pk).update(high=F("high") * 2)
    Candle.objects.filter(pk=hour.pk).delete()
    RollingSum.objects.filter(pk=sums.pk).update(traders=F("traders") + 1)
    Market.objects.filter(pk=deleted.token_id).update(price_quote=F("price_quote") * Decimal("1.001"))
    PoolLiquidityChange.objects.filter(pk=liquidity.pk).delete()
    return [
        (_name("trades", deleted), "is missing"),
        (_name("trades", altered), "has amount_quote"),
        (_name("trades", repriced), "has price"),
        (_name("trades", repriced), "has is_conversion"),
        (_name("trades", moved), "is missing"),
        (_name("trades", moved, after=1000), "is not on the chain"),
        (candle, "has high"),
        ("candles", "is missing"),
        ("sums", "has traders"),
        (f"markets ('{deleted.token.contract_address}',)", "has price_quote"),
        (_name("liquidity", liquidity), "is missing"),
    ]


def _name(kind, row, *, after=0):
    return f"{kind} ('{row.token.contract_address}', {row.position + after})"
