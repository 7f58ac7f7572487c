"""`make chaos` in small: a real follower is killed, the chain reorganises, and every row is right in the end."""

from decimal import Decimal

import pytest
from django.db.models import F

from development.devchain.anvil import CHAIN_ID, LAUNCHPADS_FILE, run_anvil
from tests.chaos import follower_chaos
from tests.chaos.follower_chaos import Plan
from tokens.models import Candle, CollectionSum, Market, MinuteCandle, PoolLiquidityChange, PoolTrade, RollingSum, Token

pytestmark = pytest.mark.slow

MADE_UP = "0x" + "12" * 20
PLAN = Plan(launches=60, trades=120, kills=3, reorgs=3, declared=0.5)


@pytest.fixture
def past_launchpad(tmp_path):
    with run_anvil() as url:
        yield follower_chaos.deploy_in_the_past(url, tmp_path / "chains.toml")


@pytest.fixture
def environment(past_launchpad, service_environment, tmp_path):
    finality = tmp_path / "finality.toml"
    follower_chaos.write_finality(finality, CHAIN_ID)
    url = past_launchpad.deployment.rpc_url
    return service_environment | {
        "CHAINS_FILE": f"{tmp_path / 'chains.toml'},{finality},{LAUNCHPADS_FILE}",
        f"RPC_URLS_{CHAIN_ID}": url,
        f"RPC_WS_URL_{CHAIN_ID}": url.replace("http", "ws"),
        f"FOLLOW_FROM_{CHAIN_ID}": "0",
        f"LAUNCHPADS_{CHAIN_ID}": "clanker,plain",
        "LOG_LEVEL": "ERROR",
    }


@pytest.mark.django_db(transaction=True)
def test_every_row_is_right_after_kills_and_reorganisations(past_launchpad, environment):
    outcome = follower_chaos.run(past_launchpad, environment, PLAN)
    assert (outcome.kills, outcome.reorgs) >= (PLAN.kills, PLAN.reorgs)
    is_right, counted, findings = follower_chaos.check(past_launchpad.deployment.rpc_url, environment["DATABASE_URL"])
    assert is_right, findings
    assert counted["tokens"] == PLAN.launches
    # Conversions and pools for launched tokens are rarer than the trades of this short run: `make chaos` has them.
    covered = ("declared", "trades", "sells", "of currency 0", "sums", "fee sums")
    assert [name for name in covered if not counted[name]] == []
    assert counted["trades"] > counted["of currency 0"]


@pytest.mark.django_db(transaction=True)
def test_the_check_finds_rows_that_are_missing_wrong_and_made_up(past_launchpad, environment):
    url = past_launchpad.deployment.rpc_url
    follower_chaos.run(past_launchpad, environment, Plan(launches=12, trades=12, kills=0, reorgs=0))
    assert follower_chaos.check(url, environment["DATABASE_URL"])[0]
    changes = [*_change_tokens(), *_change_trades(), *_change_sums()]
    is_right, _, findings = follower_chaos.check(url, environment["DATABASE_URL"])
    assert not is_right
    for row, wrong in changes:
        assert any(row in line and wrong in line for line in findings.splitlines()), (row, wrong, findings)


def _change_tokens():
    """Change token rows without a trade; return what the check should find: a part of a line, and the error."""
    first, second, third = Token.objects.filter(trades=None)[:3]
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
