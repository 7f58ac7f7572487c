"""The head of a chain (tokens/following/head.py): its newest blocks, written as they come."""

import os

import pytest

from development.devchain.anvil import CHAIN_ID, run_anvil
from tests.nodes.followed import Followed, listed
from tests.nodes.relay import relay
from tokens.chains.errors import BlockNotCanonicalError
from tokens.following import reorgs
from tokens.following.coverage import open_live_coverage
from tokens.following.head import MAX_GAP_BLOCKS
from tokens.following.reorg_window import WindowChangedError
from tokens.indexing import index_requests
from tokens.models import ChainHead, Coverage, FollowedBlock, IndexRequest

pytestmark = pytest.mark.django_db

DEPTH = 5


@pytest.fixture
def followed(launchpad):
    """Return the head of a chain whose earlier blocks are final, at its newest."""
    launchpad.mine(DEPTH + 1)
    followed = Followed(CHAIN_ID)
    followed.catch_up()
    return followed


def number_of(launchpad):
    return launchpad.web3.eth.block_number


@pytest.fixture
def relayed(launchpad, settings, forget_chains):
    """Put a relay before the node, with responses as a function changes them; return the head that queries it."""
    opened = []

    launchpad.mine(DEPTH + 1)

    def follow_through(change, *, beside=()):
        running = relay(launchpad.deployment.rpc_url, change=change)
        opened.append(running)
        settings.RPC_URLS = {CHAIN_ID: (running.__enter__(), *beside)}
        forget_chains()
        return Followed(CHAIN_ID)

    yield follow_through
    for running in opened:
        running.__exit__(None, None, None)


def changing(method, change):
    """Return a relay function that changes the results of one method: `change` takes the parameters and the result."""

    def answer(requested, answered):
        if not isinstance(requested, list):
            return answer([requested], [answered])[0]
        calls = {call["id"]: call for call in requested}
        return [
            entry | {"result": change(calls[entry["id"]]["params"], entry["result"])}
            if calls[entry["id"]]["method"] == method and "result" in entry
            else entry
            for entry in answered
        ]

    return answer


def test_it_begins_with_the_blocks_that_are_not_final(launchpad):
    launchpad.mine(10)
    before = launchpad.launch()
    newest = number_of(launchpad)
    followed = Followed(CHAIN_ID)
    followed.catch_up()
    assert list(followed.window()) == list(range(newest - DEPTH, newest + 1))
    assert list(listed()) == [before]


def test_it_begins_at_the_first_block_of_a_young_chain(settings, forget_chains, chains_file, deployment):
    with run_anvil() as url:
        settings.CHAINS_FILES, settings.RPC_URLS = (str(chains_file),), {CHAIN_ID: (url,)}
        forget_chains()
        followed = Followed(CHAIN_ID)
        followed.catch_up()
        assert list(followed.window()) == [0]
        assert (followed.row().head, followed.row().final, followed.row().followed) == (0, 0, 0)


def test_launches_appear_without_a_request(launchpad, followed):
    launched = [launchpad.launch() for _ in range(3)]
    followed.catch_up()
    assert set(listed()) == set(launched)
    assert not IndexRequest.objects.exists()


def test_a_block_that_follows_ours_is_one_step(launchpad, followed):
    launched = launchpad.launch()
    assert not followed.head.advance(followed.newest())
    assert list(listed()) == [launched]


def test_it_reports_where_the_chain_is(launchpad, followed):
    launchpad.mine(3)
    followed.catch_up()
    newest, row = followed.newest(), followed.row()
    assert (row.head, row.final, row.followed) == (newest.number, newest.number - DEPTH, newest.number)
    assert int(row.head_at.timestamp()) == newest.time
    assert row.follower.endswith(f":{os.getpid()}")


def test_blocks_that_are_final_are_forgotten_but_for_the_newest_of_them(launchpad, followed):
    launchpad.mine(20)
    followed.catch_up()
    newest = number_of(launchpad)
    assert list(followed.window()) == list(range(newest - DEPTH, newest + 1))


def test_a_gap_is_read_in_pieces(launchpad, followed):
    first = launchpad.launch()
    launchpad.mine(2 * reorgs.PIECE_BLOCKS)
    last = launchpad.launch()
    assert followed.catch_up() == 3
    assert set(listed()) == {first, last}


def test_it_goes_on_where_the_process_before_ended(launchpad, followed):
    launched = launchpad.launch()
    launchpad.mine(2 * DEPTH)
    followed.restart()
    followed.catch_up()
    assert list(listed()) == [launched]


def test_a_long_gap_is_left_to_history(launchpad, followed):
    (row,) = open_live_coverage(followed.head.chain.info, final=followed.row().final)
    Coverage.objects.filter(pk=row.pk).update(followed_to=followed.row().followed)
    left = launchpad.launch()
    launchpad.mine(MAX_GAP_BLOCKS + DEPTH)
    last = launchpad.launch()
    before = followed.row().followed
    followed.restart()
    followed.catch_up()
    assert list(listed()) == [last]
    assert left not in listed()
    newest = number_of(launchpad)
    assert list(followed.window()) == list(range(newest - DEPTH, newest + 1))
    row.refresh_from_db()
    assert row.followed_to == before


def test_what_is_read_moves_the_rows_that_have_read_all_before(launchpad, followed):
    (row,) = open_live_coverage(followed.head.chain.info, final=followed.row().final)
    launchpad.mine()
    followed.catch_up()
    row.refresh_from_db()
    assert row.followed_to < followed.row().followed
    Coverage.objects.filter(pk=row.pk).update(followed_to=followed.row().followed)
    launchpad.mine(3)
    followed.catch_up()
    row.refresh_from_db()
    assert row.followed_to == followed.row().followed == number_of(launchpad)


def test_a_repeated_block_changes_nothing(launchpad, followed):
    before = followed.window()
    followed.catch_up()
    assert followed.window() == before


def test_a_head_that_goes_backwards_changes_nothing(launchpad, followed):
    launchpad.launch()
    behind = followed.newest()
    launchpad.mine(2)
    followed.catch_up()
    before, tokens = followed.window(), listed()
    with pytest.raises(BlockNotCanonicalError, match="2 blocks behind"):
        followed.head.advance(behind)
    assert (followed.window(), listed()) == (before, tokens)


def test_a_node_that_lags_behind_a_notification_is_waited_for(launchpad, relayed):
    lacking = set()
    hide = changing("eth_getBlockByNumber", lambda params, block: None if params[0] in lacking else block)
    followed = relayed(hide)
    followed.catch_up()
    lacking |= {hex(number_of(launchpad) + ahead) for ahead in (1, 2)}
    launched = launchpad.launch()
    launchpad.mine(2)
    newest = followed.newest()
    with pytest.raises(BlockNotCanonicalError):
        followed.head.advance(newest)
    assert not listed()
    lacking.clear()
    followed.catch_up()
    assert list(listed()) == [launched]


def test_a_block_that_no_other_node_has_is_not_written(launchpad, followed):
    newest = followed.newest()
    made_up = type(newest)(
        number=newest.number + 1, hash="0x" + "ab" * 32, parent_hash=newest.hash, time=newest.time, logs_bloom=0
    )
    before = followed.window()
    with pytest.raises(BlockNotCanonicalError):
        followed.head.advance(made_up)
    assert followed.window() == before


def test_blocks_that_dont_build_on_each_other_are_not_written(launchpad, relayed):
    strange = set()

    def other_parent(params, block):
        return block | {"parentHash": "0x" + "ab" * 32} if block and block["number"] in strange else block

    followed = relayed(changing("eth_getBlockByNumber", other_parent))
    followed.catch_up()
    strange.add(hex(number_of(launchpad) + 1))
    launchpad.mine(3)
    before = followed.window()
    with pytest.raises(BlockNotCanonicalError):
        followed.catch_up()
    assert followed.window() == before


def test_a_block_whose_logs_are_left_out_is_read_again(launchpad, relayed, caplog):
    followed = relayed(changing("eth_getLogs", lambda params, logs: []))
    followed.catch_up()
    launched = launchpad.launch()
    followed.catch_up()
    assert list(listed()) == [launched]
    assert "a node had omitted its logs" in caplog.text


def test_a_block_whose_logs_are_left_out_is_read_of_another_node(launchpad, relayed):
    def silent(requested, answered):
        return changing("eth_getBlockReceipts", lambda params, receipts: [])(
            requested, changing("eth_getLogs", lambda params, logs: [])(requested, answered)
        )

    followed = relayed(silent, beside=[launchpad.deployment.rpc_url])
    followed.catch_up()
    launched = launchpad.launch()
    followed.catch_up()
    assert list(listed()) == [launched]


def test_nothing_is_written_where_another_process_has_moved_the_window(launchpad, followed):
    other = Followed(CHAIN_ID)
    launchpad.mine()
    other.catch_up()
    launchpad.launch()
    before = followed.window()
    with pytest.raises(WindowChangedError):
        followed.catch_up()
    assert not listed() and followed.window() == before
    followed.head.reload()
    followed.catch_up()
    assert listed()


def test_two_that_begin_at_once_notice_each_other(launchpad):
    launchpad.mine()
    first, second = Followed(CHAIN_ID), Followed(CHAIN_ID)
    first.catch_up()
    with pytest.raises(WindowChangedError):
        second.catch_up()


def test_what_was_indexed_by_hash_from_a_block_that_the_chain_dropped_is_unwound(own_launchpad):
    followed = Followed(CHAIN_ID)
    followed.catch_up()
    mark = own_launchpad.snapshot()
    lost = own_launchpad.launch()
    index_requests.index_transaction(chain_id=CHAIN_ID, tx_hash=lost)
    own_launchpad.revert(mark)
    assert lost in listed()
    followed.catch_up()
    assert lost not in listed()
    assert IndexRequest.objects.get().status == "pending"


def test_what_was_indexed_by_hash_before_is_kept(launchpad, followed):
    launched = launchpad.launch()
    index_requests.index_transaction(chain_id=CHAIN_ID, tx_hash=launched)
    before = listed()
    followed.catch_up()
    assert listed() == before
    assert IndexRequest.objects.get().status == "indexed"


def test_chains_are_followed_by_themselves(launchpad, followed):
    FollowedBlock.objects.create(chain_id=1, number=10**6, hash="0x1", parent_hash="0x0", at=followed.row().head_at)
    launchpad.mine(30)
    followed.catch_up()
    assert FollowedBlock.objects.filter(chain_id=1).exists()
    assert not ChainHead.objects.filter(pk=1).exists()
