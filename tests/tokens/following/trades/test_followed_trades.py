"""Trades on a followed chain: at its head, in its history and after reorgs, with candles, sums and markets."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connections

from tests.nodes.followed import Followed
from tests.nodes.following_chain import control, final, install, wrong_rows
from tests.nodes.relay import relay
from tests.rows.factories import TokenFactory
from tests.simulator import SimulatedChain, Traffic, serve
from tests.simulator.trade_comparing import trade_differences
from tests.simulator.truth import SwapTruth
from tokens.chains.pool_types import EVERY_POOL, chain_position
from tokens.following import coverage
from tokens.following.followed_pools import MAX_NAMED_POOLS, select_followed_pools
from tokens.following.history import join_head, read_history, sum_up
from tokens.installation.installed_chains import installed_chain
from tokens.models import (
    Coverage,
    FollowedBlock,
    Market,
    MinuteCandle,
    PoolTrade,
    ReferencePrice,
    RollingClock,
    RollingSum,
    Token,
)

pytestmark = pytest.mark.django_db

# The simulated chains' id.
CHAIN = 8453
# Blocks that are mined while the history is read.
GROWTH = 4
BUSY = Traffic(launches=0.5, events=0.3, noise=0.2, swaps=1.5, legacy=0.2)


@pytest.fixture
def chain():
    grown = SimulatedChain(33, traffic=BUSY)
    grown.mine(80)
    return grown


@pytest.fixture
def node(chain, settings, forget_chains, tmp_path):
    settings.FOLLOW_FROM = {CHAIN: 0}
    with serve(chain) as running:
        install(chain, running.url, settings=settings, forget=forget_chains, directory=tmp_path)
        yield running


def live(chain: SimulatedChain) -> Coverage:
    return coverage.open_live_coverage(installed_chain(CHAIN).info, final=final(chain))[-1]


def read(row: Coverage, *, to: int, **options: int) -> None:
    for _ in read_history(row, chain=installed_chain(CHAIN), target=lambda: to, control=control(), **options):
        pass


def begin_at(node, chain: SimulatedChain, number: int) -> Followed:
    """Return the chain's head as it was at a block."""
    node.pinned = chain.blocks[: number + 1]
    followed = Followed(CHAIN)
    followed.catch_up()
    node.pinned = None
    return followed


def swaps_of(chain: SimulatedChain) -> int:
    return sum(isinstance(entry.log, SwapTruth) for entry in chain.truth().pool_logs)


def test_the_head_writes_trades_with_their_traders_in_the_blocks_of_their_launches(chain, node):
    followed = begin_at(node, chain, 0)
    followed.catch_up()
    assert wrong_rows(chain, to=chain.head.number) == []
    assert PoolTrade.objects.count() == swaps_of(chain) > 50
    assert PoolTrade.objects.filter(is_conversion=True).exists()


def test_trades_stay_in_a_block_that_is_read_again_for_events(settings, forget_chains, tmp_path):
    # Block 30's bloom filter matches events by accident, and its trades are in pools from blocks 11 and 28.
    chain = SimulatedChain(53, traffic=Traffic(swaps=1.0))
    chain.mine(60)
    with serve(chain) as node:
        install(chain, node.url, settings=settings, forget=forget_chains, directory=tmp_path)
        followed = begin_at(node, chain, 0)
        followed.catch_up()
        assert node.received["eth_getBlockReceipts"]
        assert wrong_rows(chain, to=chain.head.number) == []


def test_each_trade_of_a_block_that_is_one_step_has_its_trader(chain, node):
    followed = begin_at(node, chain, chain.head.number - 1)
    PoolTrade.objects.all().delete()
    followed.catch_up()
    while not PoolTrade.objects.exists():
        chain.mine()
        followed.catch_up()
    assert not PoolTrade.objects.filter(trader=None).exists()


@pytest.mark.parametrize("depth", [1, 5])
def test_a_reorganisation_takes_trades_and_candles_back(chain, node, depth):
    followed = begin_at(node, chain, 0)
    followed.catch_up()
    chain.reorg(depth, length=depth + 2)
    followed.catch_up()
    chain.mine(2)
    followed.catch_up()
    assert wrong_rows(chain, to=chain.head.number) == []


def test_the_history_has_all_trades_whatever_was_launched_while_ranges_were_requested(chain, node, settings):
    """Check a selection by name: ranges that are requested before a launch is read lack its pool."""
    settings.FOLLOW_LONGEST_RANGE_BLOCKS = settings.FOLLOW_RANGE_BLOCKS = 4
    row = live(chain)
    read(row, to=final(chain))
    sum_up(row, chain=installed_chain(CHAIN).info, stop=control().stop)
    assert wrong_rows(chain, to=final(chain)) == []


def test_of_many_pools_foreign_ones_are_dropped(chain, node):
    for number in range(MAX_NAMED_POOLS + 1):
        TokenFactory(chain_id=CHAIN, pool_address=f"0x{number:064x}")
    assert select_followed_pools(installed_chain(CHAIN).info) == EVERY_POOL
    row = live(chain)
    read(row, to=final(chain))
    sum_up(row, chain=installed_chain(CHAIN).info, stop=control().stop)
    truth = chain.truth(blocks=chain.blocks[: final(chain) + 1])
    assert trade_differences(truth, chain_id=CHAIN) == []


def test_the_window_is_read_again_with_the_pools_known(chain, node):
    followed = Followed(CHAIN)
    followed.catch_up()
    row = live(chain)
    read(row, to=final(chain))
    assert join_head(row, chain=installed_chain(CHAIN), stop=control().stop)
    sum_up(row, chain=installed_chain(CHAIN).info, stop=control().stop)
    assert wrong_rows(chain, to=chain.head.number) == []
    chain.reorg(3, length=5)
    followed.catch_up()
    assert wrong_rows(chain, to=chain.head.number) == []


@pytest.mark.django_db(transaction=True)
def test_what_the_head_reads_while_the_history_joins_it_has_trades_of_all_tokens(
    chain, settings, forget_chains, tmp_path
):
    """Check blocks whose logs the head requests before the history writes tokens that are traded in them."""
    settings.FOLLOW_FROM = {CHAIN: 0}
    # The history is read during one request for the head.
    settings.RPC_TIMEOUT_SECONDS = settings.RPC_PATIENCE_SECONDS = 60.0
    joined: list[bool] = []

    def join_before(request: Any) -> None:
        calls = request if isinstance(request, list) else [request]
        hashes = {call["params"][0].get("blockHash") for call in calls if call["method"] == "eth_getLogs"}
        if chain.head.hash in hashes and row and not joined:
            joined.append(False)
            read(row[0], to=final(chain) - GROWTH)
            joined[0] = join_head(row[0], chain=installed_chain(CHAIN), stop=control().stop)
            connections.close_all()

    row: list[Coverage] = []
    with serve(chain) as node, relay(node.url, before=join_before) as url:
        install(chain, url, settings=settings, forget=forget_chains, directory=tmp_path)
        followed = Followed(CHAIN)
        followed.catch_up()
        row.append(live(chain))
        chain.mine(GROWTH)
        followed.catch_up()
        assert joined == [True]
        assert join_head(row[0], chain=installed_chain(CHAIN), stop=control().stop)
    assert row[0].followed_to == followed.row().followed == chain.head.number
    sum_up(row[0], chain=installed_chain(CHAIN).info, stop=control().stop)
    assert wrong_rows(chain, to=chain.head.number) == []


def test_what_a_killed_process_did_not_sum_is_summed_by_the_next(chain, node):
    Followed(CHAIN).catch_up()
    row = live(chain)
    read(row, to=final(chain))
    row = Coverage.objects.get()
    assert (row.followed_to, row.summed_to) == (final(chain), -1)
    info = installed_chain(CHAIN).info
    of_history = {"trades__position__lt": chain_position(final(chain) + 1, 0)}
    traded = Token.objects.filter(**of_history).distinct().count()
    assert sum_up(row, chain=info, stop=control().stop) >= traded > 5
    assert Market.objects.filter(last_position__isnull=False).count() >= traded
    assert Coverage.objects.get().summed_to == final(chain)
    assert sum_up(row, chain=info, stop=control().stop) == 0


def test_the_end_of_a_history_prices_the_sums_of_all_tokens_by_its_rates(chain, node):
    begin, end = (datetime.fromtimestamp(block.time, UTC) for block in (chain.blocks[0], chain.head))
    RollingClock.objects.create(chain_id=CHAIN, rolled_to=end)
    Followed(CHAIN).catch_up()
    read(live(chain), to=final(chain))
    info = installed_chain(CHAIN).info
    sum_up(Coverage.objects.get(), chain=info, stop=control().stop)
    reference = info.reference_pools[0]
    opened = RollingSum.objects.filter(token__paired_token=reference.currency)
    assert not opened.filter(opening_usd__isnull=False).exists()
    # A rate from the history; few of these tokens are traded in its last block.
    ReferencePrice.objects.create(
        chain_id=CHAIN, pool=reference.pool, block_number=0, position=0, at=begin, currency=reference.currency, usd=3000
    )
    Coverage.objects.update(summed_to=final(chain) - 1)
    sum_up(Coverage.objects.get(), chain=info, stop=control().stop)
    assert opened.count() > 50
    assert all(row.opening_usd == pytest.approx(float(row.opening_price) * 3000) for row in opened)


def test_a_sum_that_is_stopped_or_of_blocks_that_are_unwound_stores_no_progress(chain, node):
    row, stopped = live(chain), control().stop
    read(row, to=final(chain))
    stopped.set()
    info = installed_chain(CHAIN).info
    assert sum_up(row, chain=info, stop=stopped) == 0
    Coverage.objects.update(followed_to=row.followed_to - 5)
    with pytest.raises(coverage.ProgressConflictError):
        sum_up(row, chain=info, stop=control().stop)
    assert (row.summed_to, Coverage.objects.get().summed_to) == (-1, -1)
    # The row is as it was read, so that its next write conflicts.
    assert row.followed_to == final(chain)


def test_a_long_history_is_summed_up_before_its_end(chain, node, settings):
    settings.FOLLOW_LONGEST_RANGE_BLOCKS = settings.FOLLOW_RANGE_BLOCKS = 4
    row = live(chain)
    steps = read_history(
        row, chain=installed_chain(CHAIN), target=lambda: final(chain), control=control(), sum_up_after=5
    )
    while not row.summed_to >= 0:
        next(steps)
    assert 0 <= row.summed_to < final(chain)
    assert MinuteCandle.objects.exists()
    steps.close()
    read(row, to=final(chain), sum_up_after=5)
    sum_up(row, chain=installed_chain(CHAIN).info, stop=control().stop)
    assert wrong_rows(chain, to=final(chain)) == []


def test_swaps_of_a_part_are_converted_with_the_launches_and_prices_of_the_part_before(chain, node, settings):
    """Check one range in many parts, so that the next part is always known before a write."""
    settings.FOLLOW_LONGEST_RANGE_BLOCKS = settings.FOLLOW_RANGE_BLOCKS = final(chain) + 1
    row = live(chain)
    steps = list(
        read_history(
            row, chain=installed_chain(CHAIN), target=lambda: final(chain), control=control(), written_at_once=1
        )
    )
    assert sum(step.trades > 0 for step in steps) > 5
    sum_up(row, chain=installed_chain(CHAIN).info, stop=control().stop)
    assert wrong_rows(chain, to=final(chain)) == []


def test_a_chain_with_the_providers_data_reads_no_logs_of_pools(chain, node, settings, forget_chains):
    settings.MARKET_PROVIDER_CHAINS = {CHAIN}
    queries = []
    with relay(node.url, before=queries.append) as url:
        settings.RPC_URLS = {CHAIN: (url,)}
        forget_chains()
        Followed(CHAIN).catch_up()
        read(live(chain), to=final(chain))
    assert Token.objects.exists() and not PoolTrade.objects.exists()
    calls = [call for body in queries for call in (body if isinstance(body, list) else [body])]
    wanted = [call["params"][0].get("address") or [] for call in calls if call["method"] == "eth_getLogs"]
    makers = coverage.pool_makers(installed_chain(CHAIN).info)
    assert wanted and all(makers.isdisjoint(addresses) for addresses in wanted)
    assert not any(call["params"][1] for call in calls if call["method"] == "eth_getBlockByHash")


def test_trades_that_are_switched_on_later_are_read_from_the_first_block_beside_the_head(chain, node, settings):
    settings.MARKET_PROVIDER_CHAINS = {CHAIN}
    followed = Followed(CHAIN)
    followed.catch_up()
    row = live(chain)
    read(row, to=final(chain))
    join_head(row, chain=installed_chain(CHAIN), stop=control().stop)
    assert not PoolTrade.objects.exists()
    settings.MARKET_PROVIDER_CHAINS = set()
    chain.mine(4)
    followed.catch_up()
    assert PoolTrade.objects.exists()
    again = live(chain)
    assert again.pk != row.pk
    read(again, to=final(chain))
    assert join_head(again, chain=installed_chain(CHAIN), stop=control().stop)
    sum_up(again, chain=installed_chain(CHAIN).info, stop=control().stop)
    assert wrong_rows(chain, to=chain.head.number) == []


def test_a_block_and_a_range_cost_two_calls_more_with_trades(chain, node, settings, forget_chains):
    """Check blocks without launches: a pool that a named selection lacks costs a range another call.

    One is for named v4 pools, and one for v3 pools. And without noise: beside a conversion's report by a locker, a
    foreign launch is one that a bloom filter promises.
    """
    chain.traffic = Traffic(launches=0, events=0, noise=0, swaps=1)
    calls = {}
    for chains in ({CHAIN}, set()):
        settings.MARKET_PROVIDER_CHAINS = chains
        forget_chains()
        Coverage.objects.all().delete()
        FollowedBlock.objects.all().delete()
        followed = Followed(CHAIN)
        followed.catch_up()
        node.received.clear()
        for _ in range(10):
            chain.mine()
            followed.catch_up()
        at_head = sum(node.received.values())
        node.received.clear()
        row = coverage.open_run_coverage(installed_chain(CHAIN).info, first=81, last=90)
        # The first run's blocks become final with the second's.
        read(row, to=90)
        calls[bool(chains)] = at_head, sum(node.received.values())
    # Per block, the test itself makes one call for the newest header; docs/scaling.md has the others.
    assert calls == {True: (10 * (1 + 3), 3), False: (10 * (1 + 5), 5)}
