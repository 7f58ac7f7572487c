"""`manage.py check_feeds` on a simulated chain: v3 fees are the pools', and long ranges are in runs."""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F

from tests.nodes.log_encoding import encode_values
from tests.simulator import Limits, Node, SimulatedChain, Traffic
from tests.simulator.reached_prices import reached_logs
from tests.simulator.truth import SwapTruth
from tests.tokens.feeds.feed_worlds import CHAIN
from tokens.chains.errors import NodeUnavailableError
from tokens.chains.pool_types import chain_position, split_position
from tokens.feeds.checking.chain_logs import price_at
from tokens.feeds.checking.feed_check import FeedCheck
from tokens.feeds.pool_events import MOST_EVENTS
from tokens.installation.installed_chains import installed_chain
from tokens.models import LaunchFacts, PoolLiquidityChange, PoolTrade, Token

pytestmark = pytest.mark.django_db

LAST = 30


@pytest.fixture(scope="module")
def followed(follow_hours: Any) -> Node:
    """Follow a 38-hour chain with v3 pools, which respond with a 1 % fee, and return its node."""
    chain, node = follow_hours(Traffic(launches=0.4, swaps=1, legacy=0.6), hours=38, verified=LAST)
    for pool in Token.objects.exclude(generation="v4").values_list("pool_address", flat=True):
        chain.views[pool.lower(), "fee()"] = encode_values(("uint24",), (10_000,))
    return node


@pytest.fixture
def node(followed: Node, forget_chains: Callable[[], None]) -> Iterator[Node]:
    """Return the node. After the test its limits, blocks and failures are reset."""
    yield followed
    followed.limits, followed.pinned = Limits(), None


def compare() -> FeedCheck:
    check = FeedCheck(installed_chain(CHAIN), 0, verified=LAST)
    while check.next <= LAST:
        check.compare(LAST)
    return check


@pytest.fixture(scope="module")
def whole(followed: Node) -> FeedCheck:
    """Compare the chain's first LAST blocks."""
    return compare()


def of_sums(check: FeedCheck) -> list[str]:
    """Return the differences in bars and days: no pool could have the simulated liquidity, so others are left out."""
    return [line for line in check.comparison.differences if ", day " in line or "bar " in line]


def of_liquidity(check: FeedCheck, change: PoolLiquidityChange) -> list[str]:
    """Return the differences in a change's amounts."""
    log = "block {}, log {}:".format(*split_position(change.position))
    return [line for line in check.comparison.differences if line.startswith(log) and "amount0 is" in line]


def find_trade_beyond(chain: SimulatedChain) -> tuple[PoolTrade, SwapTruth]:
    """Return a trade whose price is that at the liquidity's end, and its log, which has the pool's own price."""
    truth = chain.truth()
    entries = zip(truth.pool_logs, reached_logs(truth), strict=True)
    beyond = {chain_position(own.at.block_number, own.at.log_index): own.log for own, near in entries if own != near}
    trades = PoolTrade.objects.filter(position__in=beyond, position__lt=chain_position(LAST + 1, 0))
    trade = trades.latest("position")
    swap = beyond[trade.position]
    assert isinstance(swap, SwapTruth)
    return trade, swap


def test_seeded_errors_are_named(node, whole):
    """Check fees, creators from v0 to v3.1, prices beyond the liquidity, and amounts of joins and exits to the unit."""
    compared = PoolLiquidityChange.objects.exclude(amount0=None).filter(position__lt=chain_position(LAST + 1, 0))
    change, (trade, swap) = compared.latest("position"), find_trade_beyond(node.chain)
    assert of_sums(whole) == of_liquidity(whole, change) == []
    assert (whole.comparison.days, PoolTrade.objects.filter(fee=None).exists()) == (1, True)
    assert not [line for line in whole.comparison.differences if ", pair " in line or "priceNative is" in line]
    facts = list(LaunchFacts.objects.filter(facts__fees__type="static", facts__fees__hook=None))
    for row in facts:
        row.facts["fees"]["clanker_fee"] = "30"
        row.save(update_fields=["facts"])
    tokens = Token.objects.exclude(generation="v4").filter(block_number__lte=LAST)
    pairs = {f"block {token.block_number}, pair {token.pool_address}" for token in tokens.exclude(msg_sender="")}
    tokens.update(msg_sender=tokens[0].pool_address)
    decimals = {"decimals": 18, "quote_decimals": swap.quote_decimals}
    price = price_at(swap.sqrt_price, is_currency0=swap.is_currency0, **decimals)
    PoolTrade.objects.filter(pk=trade.pk).update(price=Decimal(price.numerator) / price.denominator)
    amounts = {"amount0": F("amount0") + 1, "amount1": F("amount1") + 1}
    PoolLiquidityChange.objects.filter(pk=change.pk).update(**amounts)
    check = compare()
    lines = check.comparison.differences
    assert facts and {line.split(": ")[1].split(" is ")[0] for line in of_sums(check)} >= {"fees"}
    assert pairs and {line.split(": ")[0] for line in lines if ": creator is " in line} == pairs
    (difference,) = [line for line in lines if "priceNative is" in line]
    assert difference.startswith("block {}, log {}: priceNative is".format(*split_position(trade.position)))
    assert of_liquidity(check, change)


def test_ranges_of_logs_are_as_long_as_nodes_accept(node, whole):
    for limits in (Limits(blocks=7), Limits(logs=3)):
        node.limits = limits
        assert str(compare().comparison) == str(whole.comparison)


def test_a_node_that_lacks_the_blocks_does_not_count(node):
    check = FeedCheck(installed_chain(CHAIN), 0, verified=LAST)
    node.pinned = node.chain.blocks[:10]
    with pytest.raises(NodeUnavailableError, match="behind the range"):
        check.compare(LAST)


def test_runs_are_shorter_where_an_answer_has_too_many_events_and_name_the_next_block(node):
    trade = PoolTrade.objects.first()
    columns = {field.attname: getattr(trade, field.attname) for field in PoolTrade._meta.concrete_fields}
    PoolTrade.objects.bulk_create(
        PoolTrade(**columns | {"position": chain_position(block, 10_000 + place)})
        for block in (10, 30)
        for place in range(MOST_EVENTS // 2)
    )
    output = StringIO()
    with pytest.raises(CommandError, match="differ from the chain"):
        call_command("check_feeds", chain=CHAIN, stdout=output, stderr=output, **{"from": 0, "to": LAST})
    assert re.search(r"^blocks 0 to 15: .*; go on with --from 16$", output.getvalue(), re.MULTILINE)
    assert f"blocks 0 to {LAST}: " in output.getvalue()
