"""Tests for tokens/feeds/served_blocks.py: the blocks that feeds serve, and blocks by time."""

from datetime import UTC, datetime

import pytest

from tests.nodes.following_chain import install
from tests.rows.factories import ChainHeadFactory
from tests.simulator import SimulatedChain, serve
from tests.simulator.chain import GENESIS_TIME
from tests.tokens.feeds.feed_worlds import CHAIN, FINAL, FIRST, block_time, follow_chain
from tokens.feeds.served_blocks import (
    NotServedError,
    find_block_at,
    find_block_from,
    find_feed_chain,
    first_block_from,
    read_block_time,
    read_served_blocks,
)
from tokens.installation.installed_chains import installed_chain
from tokens.installation.installed_registry import registry
from tokens.models import ChainHead, Coverage, FollowedBlock

pytestmark = pytest.mark.django_db


def served():
    found = read_served_blocks(find_feed_chain(CHAIN))
    return found.first, found.last, found.verified


@pytest.fixture
def node(settings, forget_chains, tmp_path):
    """Serve a chain with a block each hour."""
    chain = SimulatedChain(5, block_seconds=3600)
    chain.mine(60)
    with serve(chain) as running:
        install(chain, running.url, settings=settings, forget=forget_chains, directory=tmp_path)
        yield chain


def test_the_last_block_is_final_and_indexed_for_all_contracts():
    row = follow_chain()
    assert served() == (FIRST, FINAL, FINAL)
    Coverage.objects.filter(pk=row.pk).update(verified_to=150)
    assert served() == (FIRST, FINAL, 150)
    # Another row reads the blocks again, for a contract that was added.
    other = follow_chain(followed_to=120)
    assert served() == (FIRST, 120, 120)
    other.delete()
    ChainHead.objects.update(final=110)
    assert served() == (FIRST, 110, 110)


def test_a_backfill_that_adjoins_extends_the_blocks():
    follow_chain()
    run = follow_chain(first=40, followed_to=98, last_block=98)
    assert served()[0] == FIRST
    Coverage.objects.filter(pk=run.pk).update(followed_to=99, last_block=99)
    assert served()[0] == 40
    # A row without trades covers nothing.
    Coverage.objects.filter(pk=run.pk).update(addresses=sorted(registry().chains[CHAIN].emitters))
    assert served()[0] == FIRST


def test_a_chain_without_final_blocks_with_trades_serves_none():
    with pytest.raises(NotServedError, match="not followed"):
        served()
    row = follow_chain()
    ChainHead.objects.update(halted="a final block was dropped")
    with pytest.raises(NotServedError, match="halted"):
        served()
    ChainHead.objects.update(halted="", final=FIRST - 1)
    with pytest.raises(NotServedError, match="none is final and indexed"):
        served()
    row.delete()
    with pytest.raises(NotServedError, match="not followed"):
        served()


@pytest.mark.parametrize("chain_id", [101, 7, 2**62])
def test_only_evm_chains_with_own_trades_are_covered(chain_id):
    with pytest.raises(NotServedError, match="must be an EVM chain"):
        find_feed_chain(chain_id)


def test_a_chain_of_the_provider_is_not_covered(settings):
    settings.MARKET_PROVIDER_CHAINS = (CHAIN,)
    with pytest.raises(NotServedError):
        find_feed_chain(CHAIN)


def test_the_first_block_of_a_time_is_found(node):
    chain = installed_chain(CHAIN)
    for number in (0, 1, 24, 59, 60):
        time = node.blocks[number].time
        found = [first_block_from(chain, time + later, newest=60) for later in (-1, 0, 1)]
        assert found == [number, number, number + 1]
    assert first_block_from(chain, GENESIS_TIME - 3600, newest=60) == 0


def test_a_time_after_the_final_block_has_none_yet(node):
    ChainHeadFactory(chain_id=CHAIN, final=52)
    info = find_feed_chain(CHAIN)
    with pytest.raises(NotServedError, match="yet"):
        find_block_from(info, datetime.fromtimestamp(node.blocks[53].time, UTC))
    assert find_block_from(info, datetime.fromtimestamp(node.blocks[52].time, UTC)) == 52


def test_retention_of_trades_moves_the_first_block(node, settings):
    Coverage.objects.all().delete()
    follow_chain(first=0, final=52, followed_to=60)
    settings.TRADE_DAYS = 0
    assert served()[:2] == (0, 52)
    # All simulated blocks are older.
    settings.TRADE_DAYS = 7
    with pytest.raises(NotServedError):
        served()


def test_the_time_of_a_block_is_that_of_the_window_or_of_a_node(node):
    follow_chain()
    info = find_feed_chain(CHAIN)
    assert read_block_time(info, FINAL) == block_time(FINAL).timestamp()
    FollowedBlock.objects.all().delete()
    assert read_block_time(info, 20) == node.blocks[20].time


def test_the_youngest_block_of_at_most_a_time_is_found(node):
    ChainHeadFactory(chain_id=CHAIN, final=52)
    info = find_feed_chain(CHAIN)
    for number in (0, 1, 30, 51):
        time = node.blocks[number].time
        assert [find_block_at(info, time + later, newest=52) for later in (0, 1, 3599)] == [number] * 3


@pytest.mark.parametrize("newest", [52, 40])
def test_a_time_for_which_a_newer_block_may_be_younger_has_none(node, newest):
    ChainHeadFactory(chain_id=CHAIN, final=52)
    info = find_feed_chain(CHAIN)
    assert find_block_at(info, node.blocks[newest].time - 1, newest=newest) == newest - 1
    for later in (0, 1, 10**6):
        with pytest.raises(NotServedError):
            find_block_at(info, node.blocks[newest].time + later, newest=newest)
    with pytest.raises(NotServedError):
        find_block_at(info, GENESIS_TIME - 1, newest=newest)


def test_blocks_of_one_time_are_found_by_the_youngest(settings, forget_chains, tmp_path):
    chain = SimulatedChain(5, block_seconds=0)
    chain.mine(9)
    with serve(chain) as running:
        install(chain, running.url, settings=settings, forget=forget_chains, directory=tmp_path)
        ChainHeadFactory(chain_id=CHAIN, final=9)
        with pytest.raises(NotServedError):
            find_block_at(find_feed_chain(CHAIN), chain.blocks[3].time, newest=8)
