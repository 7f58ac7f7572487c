"""Rewinds: rows in final blocks that the chain still has stay, whatever its nodes return about them now."""

from dataclasses import replace

import pytest
from django.core.management import call_command

from tests.nodes.followed import Followed
from tests.nodes.following_chain import control, final, install, wrong_rows
from tests.simulator import Faults, SimulatedChain, serve
from tests.tokens.following.test_verified_completeness import BUSY, CHAIN, check
from tokens.chains.evm.logs.blooms import BITS
from tokens.chains.pool_types import chain_position
from tokens.following.coverage import live_rows, open_live_coverage
from tokens.following.history import join_head, read_history, sum_up
from tokens.installation.installed_chains import installed_chain
from tokens.models import Coverage, PoolTrade, Token

pytestmark = pytest.mark.django_db(transaction=True)
# The newest block whose logs the nodes have pruned.
PRUNED_TO = 24


@pytest.fixture
def chain():
    grown = SimulatedChain(21, traffic=BUSY)
    grown.mine(36)
    return grown


@pytest.fixture
def nodes(chain, settings, forget_chains, tmp_path):
    settings.RPC_PATIENCE_SECONDS, settings.FOLLOW_FROM = 2.0, {CHAIN: 0}
    with serve(chain, seed=1) as first, serve(chain, seed=2) as second:
        install(chain, first.url, second.url, settings=settings, forget=forget_chains, directory=tmp_path)
        open_live_coverage(installed_chain(CHAIN).info, final=-1)
        yield first, second


def follow(chain: SimulatedChain) -> None:
    """Follow and verify all blocks once."""
    Followed(CHAIN).catch_up()
    for row in live_rows(CHAIN):
        for _ in read_history(row, chain=installed_chain(CHAIN), target=lambda: final(chain), control=control()):
            pass
        assert join_head(row, chain=installed_chain(CHAIN), stop=control().stop)
        sum_up(row, chain=installed_chain(CHAIN).info, stop=control().stop)
    for row in live_rows(CHAIN):
        check(row, to=final(chain), once=True)


def rewind(to: int) -> None:
    call_command("rewind", "--chain", str(CHAIN), "--to", str(to), "--yes")


def stored(chain: SimulatedChain) -> tuple[set[str], set[int]]:
    """Return final blocks' listed tokens, and their trades' positions."""
    tokens = Token.objects.listed().filter(block_number__lte=final(chain))
    trades = PoolTrade.objects.filter(position__lt=chain_position(final(chain) + 1, 0))
    return set(tokens.values_list("contract_address", flat=True)), set(trades.values_list("position", flat=True))


def wrong(chain: SimulatedChain) -> list[str]:
    """Return the differences between the rows and the chain."""
    return wrong_rows(chain, to=chain.head.number)


def with_full_filters(chain: SimulatedChain) -> None:
    """Fill the chain's filters, so that they exclude nothing."""
    chain.replace_blocks({block.number: replace(block, logs_bloom=2**BITS - 1) for block in chain.blocks})


@pytest.mark.parametrize("are_full", [True, False], ids=["full filters", "filters of the logs"])
@pytest.mark.parametrize("lacks_receipts", [True, False], ids=["pruned receipts", "receipts"])
def test_a_rewind_loses_nothing_to_nodes_that_pruned_their_logs(chain, nodes, are_full, lacks_receipts):
    if are_full:
        with_full_filters(chain)
    follow(chain)
    before = stored(chain)
    assert wrong(chain) == []
    for node in nodes:
        node.faults = Faults(pruned_to=PRUNED_TO, prunes_receipts=lacks_receipts)
    rewind(8)
    assert Coverage.objects.get().followed_to == Coverage.objects.get().verified_to == 8
    assert stored(chain) == before
    follow(chain)
    assert stored(chain) == before and wrong(chain) == []


def test_a_second_rewind_keeps_the_same_rows(chain, nodes):
    follow(chain)
    before = stored(chain)
    for node in nodes:
        node.faults = Faults(pruned_to=PRUNED_TO, prunes_receipts=True)
    rewind(33)
    rewind(8)
    Followed(CHAIN).catch_up()
    assert stored(chain) == before


def test_a_rewind_unwinds_final_blocks_that_the_chain_dropped(chain, nodes, capsys):
    follow(chain)
    chain.reorg(18)
    # No launch above this block is in a block that both branches have.
    rewind(chain.head.number - 18)
    assert "are the same on the chain" not in capsys.readouterr().out
    follow(chain)
    assert wrong(chain) == []


def test_a_rewind_below_the_dropped_blocks_keeps_the_rows_before_them(chain, nodes, capsys):
    follow(chain)
    ancestor = chain.head.number - 18
    kept = max(Token.objects.filter(block_number__lte=ancestor).values_list("block_number", flat=True))
    chain.reorg(18)
    rewind(5)
    assert f"blocks 6 to {kept} are the same on the chain" in capsys.readouterr().out
    assert not Token.objects.on_chain().filter(block_number__gt=ancestor).exists()
    follow(chain)
    assert wrong(chain) == []
