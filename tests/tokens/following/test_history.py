"""A followed chain's backfill (tokens/following/history.py): written in order, up to the head."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.nodes.followed import Followed
from tests.nodes.following_chain import control, final, install, launched, wrong_rows
from tests.nodes.relay import relay
from tests.processes.waiting import wait_for
from tests.simulator import SimulatedChain, Traffic, serve
from tokens.following import coverage
from tokens.following.coverage import ProgressConflictError
from tokens.following.history import HistoryStep, join_head, read_history
from tokens.installation.installed_chains import installed_chain
from tokens.models import Coverage, FollowedBlock, Token

pytestmark = pytest.mark.django_db

# The simulated chains' id.
CHAIN = 8453


@pytest.fixture
def chain():
    grown = SimulatedChain(41, traffic=Traffic(launches=0.6, events=1.5, noise=0.2))
    grown.mine(100)
    return grown


@pytest.fixture
def node(chain, settings, forget_chains, tmp_path):
    settings.FOLLOW_FROM = {CHAIN: 0}
    with serve(chain) as running:
        install(chain, running.url, settings=settings, forget=forget_chains, directory=tmp_path)
        yield running


def live(chain: SimulatedChain) -> Coverage:
    (row,) = coverage.open_live_coverage(installed_chain(CHAIN).info, final=final(chain))
    return row


def reading(row: Coverage, *, to: int, **watched: Any) -> Iterator[HistoryStep]:
    watching = replace(control(), **watched)
    return read_history(row, chain=installed_chain(CHAIN), target=lambda: to, control=watching)


def read(row: Coverage, *, to: int) -> list[HistoryStep]:
    return list(reading(row, to=to))


def meet(row: Coverage) -> bool:
    return join_head(row, chain=installed_chain(CHAIN), stop=control().stop)


def test_what_was_fetched_before_the_reorg_is_not_written(chain, node):
    row, target = live(chain), [final(chain)]
    steps = read_history(row, chain=installed_chain(CHAIN), target=lambda: target[0], control=control())
    # After this step, the next ranges are already being read.
    target[0] = next(steps).to
    with pytest.raises(ProgressConflictError):
        next(steps)
    row.refresh_from_db()
    assert row.followed_to == target[0]
    assert wrong_rows(chain, to=target[0]) == []


def test_nothing_behind_a_range_that_is_not_fetched_yet_is_written(chain, node, settings, forget_chains):
    requested: list[int] = []
    opened, reached = threading.Event(), [-1]

    def hold_up(body: Any) -> None:
        first = next((int(call["params"][0]["fromBlock"], 16) for call in body if call["method"] == "eth_getLogs"), -1)
        requested.append(first)
        if 20 <= first < 30:
            opened.wait()

    def open_when_others_are_read() -> None:
        wait_for(lambda: sum(first >= 30 for first in requested) >= 2 and reached[-1] == 19)
        reached.append(-2)
        opened.set()

    settings.FOLLOW_LONGEST_RANGE_BLOCKS = 10
    with relay(node.url, before=lambda body: hold_up(body if isinstance(body, list) else [body])) as url:
        settings.RPC_URLS = {CHAIN: (url,)}
        forget_chains()
        opener = threading.Thread(target=open_when_others_are_read)
        opener.start()
        for step in reading(live(chain), to=80):
            reached.append(step.to)
        opener.join()
    # The opener's mark is right after 19: nothing else was written before it.
    assert reached[reached.index(-2) - 1] == 19 and reached[reached.index(-2) + 1] >= 29
    assert wrong_rows(chain, to=80) == []


def test_only_so_many_ranges_are_read_before_they_can_be_written(chain, node, settings, forget_chains):
    settings.FOLLOW_CONCURRENCY, settings.FOLLOW_RANGE_BLOCKS, settings.FOLLOW_LONGEST_RANGE_BLOCKS = 2, 4, 4
    forget_chains()
    steps = reading(live(chain), to=final(chain))
    next(steps)
    # 24 ranges, each with four filters: five ranges are requested ahead. The first one was written, and the next part
    # has five at most.
    assert node.received["eth_getLogs"] <= 4 * 11
    steps.close()


def test_a_row_that_another_process_advances_is_left_to_it(chain, node):
    row = live(chain)
    steps = reading(row, to=final(chain))
    next(steps)
    before = launched()
    Coverage.objects.update(followed_to=row.followed_to + 3)
    with pytest.raises(ProgressConflictError):
        next(steps)
    assert launched() == before


def test_it_stops_on_a_signal(chain, node):
    watching = control()
    steps = read_history(live(chain), chain=installed_chain(CHAIN), target=lambda: final(chain), control=watching)
    to = next(steps).to
    watching.stop.set()
    assert [step.to for step in steps] == []
    assert Coverage.objects.get().followed_to == to


def test_it_goes_on_to_what_has_become_final_meanwhile(chain, node):
    row, target = live(chain), [30]
    reached = []
    for step in read_history(row, chain=installed_chain(CHAIN), target=lambda: target[0], control=control()):
        reached.append(step.to)
        target[0] = final(chain)
    assert reached[-1] == row.followed_to == final(chain)


def test_it_joins_the_head_and_reads_the_window_with_the_tokens_known(chain, node):
    followed = Followed(CHAIN)
    followed.catch_up()
    # The head has written its reorg window, and trusted no event about an earlier token.
    assert any(line.startswith("event") and "is missing" in line for line in wrong_rows(chain, to=chain.head.number))
    row = live(chain)
    read(row, to=final(chain))
    assert meet(row)
    assert row.followed_to == followed.row().followed == chain.head.number
    assert wrong_rows(chain, to=chain.head.number) == []


@pytest.mark.parametrize("grow", [lambda chain: chain.mine(5), lambda chain: chain.reorg(4, length=6)])
def test_from_then_on_the_head_moves_it_also_in_a_reorganisation(chain, node, grow):
    followed, row = Followed(CHAIN), live(chain)
    followed.catch_up()
    read(row, to=final(chain))
    assert meet(row)
    grow(chain)
    followed.catch_up()
    assert meet(row)
    assert row.followed_to == followed.row().followed == chain.head.number
    assert wrong_rows(chain, to=chain.head.number) == []


def test_it_does_not_join_before_it_has_read_what_is_final(chain, node):
    followed, row = Followed(CHAIN), live(chain)
    followed.catch_up()
    read(row, to=50)
    assert not meet(row)
    assert row.followed_to == 50
    chain.mine(1)
    followed.catch_up()
    row.refresh_from_db()
    assert row.followed_to == 50


def test_it_writes_nothing_of_a_window_that_the_node_has_left(chain, node):
    """Check a head that has not seen the new branch yet, and will unwind the old one."""
    followed, row = Followed(CHAIN), live(chain)
    followed.catch_up()
    read(row, to=final(chain))
    before = Token.objects.count()
    chain.reorg(5, length=7)
    assert not meet(row)
    assert (row.followed_to, Token.objects.count()) == (final(chain) - 2, before)
    assert FollowedBlock.objects.filter(hash=chain.head.hash).count() == 0
