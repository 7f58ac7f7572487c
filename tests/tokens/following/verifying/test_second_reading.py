"""tokens/following/verifying/second_reading.py: receipts that nodes lack, times out of order, and suspect blocks."""

from dataclasses import replace

import pytest

from tests.nodes.following_chain import final, install, wrong_rows
from tests.simulator import Faults, SimulatedChain, serve
from tests.tokens.following.test_verified_completeness import BUSY, CHAIN, check, read
from tokens.following.coverage import event_contracts
from tokens.following.followed_pools import FollowedPools, select_followed_pools
from tokens.following.verifying.pool_log_repair import repair_pool_logs
from tokens.following.verifying.second_reading import SecondReading, UnprovenError, read_from_receipts, read_second
from tokens.installation.installed_chains import installed_chain, installed_chain_second_node_first
from tokens.models import Coverage, CoverageAlarm, PoolTrade

pytestmark = pytest.mark.django_db


@pytest.fixture
def chain():
    grown = SimulatedChain(21, traffic=BUSY)
    grown.mine(26)
    return grown


@pytest.fixture
def nodes(chain, settings, forget_chains, tmp_path):
    settings.RPC_PATIENCE_SECONDS = 1.0
    with serve(chain, seed=1) as first, serve(chain, seed=2) as second:
        install(chain, first.url, second.url, settings=settings, forget=forget_chains, directory=tmp_path)
        yield first, second


def read_again(run: Coverage, chain: SimulatedChain) -> SecondReading:
    """Return a run's second reading, from receipts."""
    ours, alternate = installed_chain(CHAIN), installed_chain_second_node_first(CHAIN)
    return read_second(
        ours,
        alternate,
        0,
        final(chain),
        addresses=event_contracts(run, ours.info),
        pools=FollowedPools(select_followed_pools(ours.info)).selection,
        method="receipts",
    )


def test_a_thorough_reading_keeps_the_receipts_that_nodes_return(chain, nodes):
    run = read(chain)
    for node in nodes:
        node.faults = Faults(pruned_to=8, prunes_receipts=True)
    reading = read_again(run, chain)
    assert reading.unread == frozenset(range(final(chain) + 1))
    addresses = event_contracts(run, reading.chain.info)
    thorough = read_from_receipts(reading, reading.unread, addresses=addresses, thorough=True)
    # The receipts that nodes still return are kept. Blocks without transactions have no receipts that could be pruned.
    assert thorough.unread == {number for number in range(9) if chain.blocks[number].transactions}
    for node in nodes:
        node.faults = Faults()
    whole = read_again(run, chain)
    assert thorough.transactions == tuple(facts for facts in whole.transactions if facts.block_number > 8)


def test_headers_whose_times_go_back_are_verified(chain, nodes):
    block = chain.blocks[10]
    chain.replace_blocks({10: replace(block, time=chain.blocks[9].time - 60)})
    run = read(chain)
    check(run, once=True)
    assert run.verified_to == final(chain) and wrong_rows(chain, to=final(chain)) == []
    assert not CoverageAlarm.objects.exists()


def test_all_unproven_blocks_are_suspect_once_a_trade_differs_in_a_proven_one(chain, nodes):
    run = read(chain)
    reading = read_again(run, chain)
    trade = PoolTrade.objects.earliest("position")
    unproven = {trade.block_number + 1, trade.block_number + 2}
    reading = replace(reading, proven_pools=reading.proven_pools - unproven)
    assert trade.block_number in reading.proven_pools
    # Without a difference, no proof is necessary.
    assert repair_pool_logs(run, reading).missing == 0
    PoolTrade.objects.filter(position=trade.position).delete()
    with pytest.raises(UnprovenError) as error:
        repair_pool_logs(run, reading)
    assert set(error.value.numbers) == unproven
