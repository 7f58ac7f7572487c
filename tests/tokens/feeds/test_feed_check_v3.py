"""`manage.py check_feeds` on a simulated chain: v3 fees are the pools', and long ranges are in runs."""

import re
from collections.abc import Iterator
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F

from tests.nodes.log_encoding import encode_values
from tests.simulator import Limits, Node, Traffic
from tests.simulator.reached_prices import reached_logs
from tests.tokens.feeds.feed_worlds import CHAIN
from tokens.chains.errors import NodeUnavailableError
from tokens.chains.pool_types import chain_position, split_position
from tokens.feeds.checking.chain_logs import price_at
from tokens.feeds.checking.feed_check import FeedCheck
from tokens.feeds.pool_events import MOST_EVENTS
from tokens.installation.installed_chains import installed_chain
from tokens.models import LaunchFacts, PoolLiquidityChange, PoolTrade, Token

pytestmark = pytest.mark.django_db

LAST = 36


@pytest.fixture(scope="module")
def followed(follow_hours: Any) -> Node:
    """Follow a 45-hour chain with v3 pools, which respond with a 1 % fee, and return its node."""
    chain, node = follow_hours(Traffic(launches=0.8, swaps=1, legacy=0.6), hours=45, verified=LAST)
    for pool in Token.objects.exclude(generation="v4").values_list("pool_address", flat=True):
        chain.views[pool.lower(), "fee()"] = encode_values(("uint24",), (10_000,))
    return node


@pytest.fixture
def node(followed: Node) -> Iterator[Node]:
    """Return the node; its limits and its blocks are restored after the test."""
    yield followed
    followed.limits, followed.pinned = Limits(), None


def compare() -> FeedCheck:
    check = FeedCheck(installed_chain(CHAIN), 0, verified=LAST)
    while check.next <= LAST:
        check.compare(LAST)
    return check


def of_sums(check: FeedCheck) -> list[str]:
    """Return the differences in bars and days: no pool could have the simulated liquidity, so others are left out."""
    return [line for line in check.comparison.differences if ", day " in line or "bar " in line]


def test_fees_of_v3_are_those_of_the_pool(node):
    check = compare()
    assert of_sums(check) == []
    assert (check.comparison.days, PoolTrade.objects.filter(fee=None).exists()) == (1, True)
    rows = list(LaunchFacts.objects.filter(facts__fees__type="static", facts__fees__hook=None))
    for row in rows:
        row.facts["fees"]["clanker_fee"] = "30"
        row.save(update_fields=["facts"])
    assert rows
    assert {line.split(": ")[1].split(" is ")[0] for line in of_sums(compare())} >= {"fees"}


def test_creators_of_v0_to_v3_1_are_the_callers_of_their_factories(node):
    def wrong():
        return {line.split(": ")[0] for line in compare().comparison.differences if ": creator is " in line}

    assert not [line for line in compare().comparison.differences if ", pair " in line]
    rows = Token.objects.exclude(generation="v4").filter(block_number__lte=LAST)
    places = {f"block {token.block_number}, pair {token.pool_address}" for token in rows.exclude(msg_sender="")}
    rows.update(msg_sender=rows[0].pool_address)
    assert places and wrong() == places


def test_prices_beyond_the_liquidity_are_those_at_its_end(node):
    def wrong():
        return [line for line in compare().comparison.differences if "priceNative is" in line]

    truth = node.chain.truth()
    entries = zip(truth.pool_logs, reached_logs(truth), strict=True)
    beyond = {chain_position(own.at.block_number, own.at.log_index): own.log for own, near in entries if own != near}
    trades = PoolTrade.objects.filter(position__in=beyond, position__lt=chain_position(LAST + 1, 0))
    trade = trades.latest("position")
    assert wrong() == []
    # The pool's own price.
    swap = beyond[trade.position]
    decimals = {"decimals": 18, "quote_decimals": swap.quote_decimals}
    price = price_at(swap.sqrt_price, is_currency0=swap.is_currency0, **decimals)
    trades.filter(pk=trade.pk).update(price=Decimal(price.numerator) / price.denominator)
    (difference,) = wrong()
    assert difference.startswith("block {}, log {}: priceNative is".format(*split_position(trade.position)))


def test_amounts_of_joins_and_exits_of_v3_are_those_of_the_logs_to_the_unit(node):
    def wrong():
        return [line for line in compare().comparison.differences if "amount0 is" in line]

    compared = PoolLiquidityChange.objects.exclude(amount0=None).filter(position__lt=chain_position(LAST + 1, 0))
    change = compared.latest("position")
    place = "block {}, log {}:".format(*split_position(change.position))
    assert not [line for line in wrong() if line.startswith(place)]
    rows = PoolLiquidityChange.objects.filter(pk=change.pk)
    rows.update(amount0=F("amount0") + 1, amount1=F("amount1") + 1)
    assert [line for line in wrong() if line.startswith(place)]


def test_ranges_of_logs_are_as_long_as_nodes_accept(node):
    whole = str(compare().comparison)
    for limits in (Limits(blocks=7), Limits(logs=3)):
        node.limits = limits
        assert str(compare().comparison) == whole


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
    assert re.search(r"^blocks 0 to 18: .*; go on with --from 19$", output.getvalue(), re.MULTILINE)
    assert f"blocks 0 to {LAST}: " in output.getvalue()
