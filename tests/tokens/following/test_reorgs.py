"""Reorgs of followed chains: orphaned blocks are unwound, and their replacements written; no deeper than finality."""

import dataclasses
import io
import json
from contextlib import ExitStack, contextmanager
from datetime import timedelta

import pytest
import requests
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from development.devchain import node_client as node
from development.devchain.anvil import CHAIN_ID
from tests.nodes.devchain_launches import SENDER
from tests.nodes.devchain_tests import OTHER
from tests.nodes.followed import Followed, listed
from tests.nodes.relay import relay
from tests.processes.waiting import wait_for
from tokens.following import reorgs
from tokens.following.coverage import open_live_coverage, open_run_coverage
from tokens.following.halts import ChainHaltedError
from tokens.following.head import HEAD, MAX_GAP_BLOCKS, CompetingBranchError, follow_head
from tokens.following.leader_loops import LeaderSession
from tokens.following.reorgs import check_votes
from tokens.indexing import index_requests
from tokens.models import Coverage, IndexRequest, Token, TokenEvent

pytestmark = pytest.mark.django_db

DEPTH = 5


@pytest.fixture
def followed(own_launchpad):
    """Return the head of a chain whose earlier blocks are final, at its newest."""
    own_launchpad.mine(DEPTH + 1)
    followed = Followed(CHAIN_ID)
    followed.catch_up()
    return followed


@contextmanager
def looping():
    """Run the head's loop as a thread during the block; yield its turn."""
    session = LeaderSession(CHAIN_ID)
    loop = session.start(HEAD, follow_head)
    try:
        yield session
    finally:
        session.ended.set()
        loop.join()


def orphan_launch(launchpad, followed, *, mined):
    """Follow a launch, replace its block by `mined` other blocks, and return the launch."""
    mark = launchpad.snapshot()
    launched = launchpad.launch()
    followed.catch_up()
    assert launched in listed()
    launchpad.revert(mark)
    launchpad.mine(mined)
    return launched


def send_again(launchpad, signed):
    """Mine a signed transaction once more, on another branch."""
    return launchpad.mined(launchpad.rpc("eth_sendRawTransaction", signed))


def signed(launchpad, tx_hash):
    return launchpad.rpc("eth_getRawTransactionByHash", tx_hash)


def assert_is_the_chains(launchpad, followed):
    """Assert that the reorg window has the node's blocks, up to its newest."""
    for number, block_hash in followed.window().items():
        assert launchpad.web3.eth.get_block(number)["hash"].to_0x_hex() == block_hash
    assert followed.row().followed == launchpad.web3.eth.block_number


def test_tokens_of_a_dropped_block_are_hidden(own_launchpad, followed):
    kept = own_launchpad.launch()
    dropped = orphan_launch(own_launchpad, followed, mined=1)
    assert set(listed()) == {kept, dropped}
    followed.catch_up()
    assert set(listed()) == {kept}
    assert Token.objects.get(tx_hash=dropped).unindexed
    assert_is_the_chains(own_launchpad, followed)


def test_a_token_that_is_launched_again_keeps_its_id(own_launchpad, followed):
    mark = own_launchpad.snapshot()
    tx_hash = own_launchpad.launch()
    again = signed(own_launchpad, tx_hash)
    followed.catch_up()
    before, was = listed(), Token.objects.get()
    own_launchpad.revert(mark)
    own_launchpad.mine()
    followed.catch_up()
    assert not listed()
    assert send_again(own_launchpad, again) == tx_hash
    followed.catch_up()
    now = Token.objects.get()
    assert (listed(), now.created_at) == (before, was.created_at)
    assert now.block_hash != was.block_hash


def test_a_token_that_is_on_both_branches_is_never_gone(own_launchpad, followed):
    mark = own_launchpad.snapshot()
    tx_hash = own_launchpad.launch()
    again = signed(own_launchpad, tx_hash)
    followed.catch_up()
    before = listed()
    own_launchpad.revert(mark)
    send_again(own_launchpad, again)
    # Both branches in one step: it is never hidden in between.
    assert followed.catch_up() == 1
    assert listed() == before
    assert_is_the_chains(own_launchpad, followed)


def test_what_a_dropped_block_changed_is_folded_back(own_launchpad, followed):
    own_launchpad.launch()
    followed.catch_up()
    token = node.bind_contract(own_launchpad.deployment.rpc_url, "Token", Token.objects.get().contract_address)
    mark = own_launchpad.snapshot()
    node.transact(own_launchpad.deployment.rpc_url, token.functions.updateAdmin(OTHER), sender=SENDER)
    followed.catch_up()
    assert (Token.objects.get().admin, TokenEvent.objects.count()) == (OTHER, 1)
    own_launchpad.revert(mark)
    own_launchpad.mine()
    followed.catch_up()
    assert (Token.objects.get().admin, TokenEvent.objects.count()) == (SENDER, 0)


def test_requests_of_a_dropped_block_are_pending_again(own_launchpad, followed):
    mark = own_launchpad.snapshot()
    tx_hash = own_launchpad.launch()
    index_requests.index_transaction(chain_id=CHAIN_ID, tx_hash=tx_hash)
    followed.catch_up()
    own_launchpad.revert(mark)
    own_launchpad.mine()
    followed.catch_up()
    assert IndexRequest.objects.get().status == "pending"


def test_coverage_goes_back_with_the_blocks_and_forth_with_the_branch(own_launchpad, followed):
    (row,) = open_live_coverage(followed.head.chain.info, final=followed.row().final)
    Coverage.objects.filter(pk=row.pk).update(followed_to=followed.row().followed)
    mark = own_launchpad.snapshot()
    own_launchpad.mine(3)
    followed.catch_up()
    own_launchpad.revert(mark)
    own_launchpad.mine(5)
    followed.catch_up()
    row.refresh_from_db()
    assert row.followed_to == followed.row().followed == own_launchpad.web3.eth.block_number


def test_a_reorganisation_of_any_depth_up_to_finality_is_followed(own_launchpad, followed):
    kept = set()
    for depth in range(1, DEPTH + 1):
        launched = [own_launchpad.launch() for _ in range(DEPTH)]
        followed.catch_up()
        assert set(listed()) == {*kept, *launched}
        own_launchpad.rpc("anvil_reorg", depth, [])
        own_launchpad.mine()
        later = own_launchpad.launch()
        followed.catch_up()
        kept |= {*launched[: DEPTH - depth], later}
        assert set(listed()) == kept
        assert_is_the_chains(own_launchpad, followed)


def test_a_long_branch_is_read_in_pieces(own_launchpad, followed):
    dropped = orphan_launch(own_launchpad, followed, mined=reorgs.PIECE_BLOCKS + 3)
    launched = own_launchpad.launch()
    assert followed.catch_up() == 2
    assert list(listed()) == [launched] and dropped not in listed()
    assert_is_the_chains(own_launchpad, followed)


@pytest.mark.parametrize("mined", [3 * DEPTH, MAX_GAP_BLOCKS + 2 * DEPTH])
def test_a_reorganisation_without_a_follower_is_found_at_the_start(own_launchpad, followed, mined):
    dropped = orphan_launch(own_launchpad, followed, mined=mined)
    followed.restart()
    followed.catch_up()
    assert dropped not in listed()
    assert_is_the_chains(own_launchpad, followed)


def test_a_branch_that_is_no_longer_is_followed_once_no_node_has_ours(own_launchpad, followed):
    mark = own_launchpad.snapshot()
    dropped = own_launchpad.launch()
    own_launchpad.mine(2)
    followed.catch_up()
    own_launchpad.revert(mark)
    followed.head.unconfirmed_timeout = 3_600.0
    with pytest.raises(CompetingBranchError):
        followed.catch_up()
    assert dropped in listed()
    followed.head.unconfirmed_timeout = 0.0
    followed.catch_up()
    assert dropped not in listed()
    assert_is_the_chains(own_launchpad, followed)


class Fork:
    """A node that has the blocks from a number on as another branch with the same contents and other hashes."""

    def __init__(self, launchpad, first):
        self._launchpad, self._first = launchpad, first

    @contextmanager
    def serve(self):
        """Serve the node and yield its URL."""
        with relay(self._launchpad.deployment.rpc_url, before=self._fetch, change=self._answer) as url:
            yield url

    def _hashes(self):
        eth = self._launchpad.web3.eth
        for number in range(self._first, eth.block_number + 1):
            block_hash = eth.get_block(number)["hash"].to_0x_hex()
            yield block_hash, "0xffff" + block_hash[6:]

    def _fetch(self, requested):
        for call in requested if isinstance(requested, list) else [requested]:
            text = json.dumps(call["params"])
            for real, other in self._hashes():
                text = text.replace(other, real)
            call["params"] = json.loads(text)

    def _answer(self, requested, answered):
        text = json.dumps(answered)
        for real, other in self._hashes():
            text = text.replace(real, other)
        return json.loads(text)


@pytest.fixture
def nodes(own_launchpad, settings, forget_chains):
    """Install several nodes, each the launchpad's or one on a wrong fork from a block on."""
    with ExitStack() as opened:

        def install(*forks):
            url = own_launchpad.deployment.rpc_url
            served = [Fork(own_launchpad, first).serve() if first else relay(url) for first in forks]
            settings.RPC_URLS = {CHAIN_ID: tuple(opened.enter_context(node) for node in served)}
            forget_chains()

        yield install


def test_one_node_on_a_wrong_fork_is_not_followed(own_launchpad, followed, nodes):
    newest = own_launchpad.web3.eth.block_number
    nodes(newest - 1, None, None)
    followed.restart()
    launched = own_launchpad.launch()
    with pytest.raises(CompetingBranchError):
        followed.catch_up()
    # The next attempt queries the others first.
    followed.catch_up()
    assert list(listed()) == [launched]
    assert_is_the_chains(own_launchpad, followed)


def test_a_branch_that_is_no_longer_is_followed_where_most_nodes_have_it(own_launchpad, followed, nodes):
    newest = own_launchpad.web3.eth.block_number
    nodes(newest + 1, None, None)
    followed.restart()
    followed.head.unconfirmed_timeout = 3_600.0
    own_launchpad.mine(2)
    followed.catch_up()
    assert followed.window()[newest + 2].startswith("0xffff")
    followed.head.switch_nodes()
    followed.catch_up()
    assert_is_the_chains(own_launchpad, followed)


@pytest.mark.django_db(transaction=True)
def test_a_node_that_goes_astray_at_the_head_is_left_for_the_others(own_launchpad, followed, nodes):
    newest = own_launchpad.web3.eth.block_number
    nodes(newest + 1, None, None)
    followed.restart()
    launched = own_launchpad.launch()
    with looping() as session:
        wait_for(lambda: launched in listed())
        assert followed.window()[newest + 1].startswith("0xffff")
        check_votes(session)
        own_launchpad.mine()
        right = own_launchpad.web3.eth.get_block(newest + 1)["hash"].to_0x_hex()
        wait_for(lambda: followed.window()[newest + 1] == right)
        check_votes(session)
        assert not session.outvoted.is_set()
    assert list(listed()) == [launched]


@pytest.mark.django_db(transaction=True)
def test_a_node_that_has_stopped_and_answers_all_the_same_is_left_for_another(
    own_launchpad, followed, settings, forget_chains
):
    url, last = own_launchpad.deployment.rpc_url, own_launchpad.web3.eth.block_number
    question = {"jsonrpc": "2.0", "id": 1, "method": "eth_getBlockByNumber", "params": [hex(last), False]}
    newest = requests.post(url, json=question, timeout=30).json()["result"]

    def stopped(call, answer):
        if call["method"] == "eth_blockNumber":
            return answer | {"result": hex(last)}
        if call["method"] == "eth_getBlockByNumber" and call["params"][0] == "latest":
            return answer | {"result": newest}
        if call["method"] == "eth_getBlockByNumber" and int(call["params"][0], 16) > last:
            return answer | {"result": None}
        return answer

    def change(requested, answered):
        if not isinstance(requested, list):
            return stopped(requested, answered)
        calls = {call["id"]: call for call in requested}
        return [stopped(calls[answer["id"]], answer) for answer in answered]

    with relay(url, change=change) as first:
        settings.RPC_URLS = {CHAIN_ID: (first, url)}
        forget_chains()
        launched = own_launchpad.launch()
        own_launchpad.mine()
        with looping() as session:
            wait_for(lambda: followed.row().error == "")
            behind = check_votes(session)
            assert not session.outvoted.is_set()
            check_votes(session, behind=behind)
            wait_for(lambda: launched in listed())
        assert check_votes(session) is None


def test_of_two_nodes_the_first_one_is_followed(own_launchpad, followed, nodes):
    newest = own_launchpad.web3.eth.block_number
    nodes(None, newest - 1)
    followed.restart()
    # Its newest block is the other node's.
    newest_header = followed.head.alternate.read_newest_header()
    own_launchpad.mine(2)
    ahead = dataclasses.replace(followed.head.alternate.read_newest_header(), parent_hash=newest_header.hash)
    before = followed.window()
    followed.head.chain, followed.head.alternate = followed.head.alternate, followed.head.chain
    with pytest.raises(CompetingBranchError):
        followed.head.advance(ahead)
    assert followed.window() == before


def test_most_nodes_are_followed_whichever_is_queried_first(own_launchpad, followed, nodes):
    launched = own_launchpad.launch()
    followed.catch_up()
    newest = own_launchpad.web3.eth.block_number
    nodes(newest - 1, None, newest - 1)
    followed.restart()
    own_launchpad.mine()
    before = listed()
    followed.catch_up()
    assert (listed(), list(before)) == (before, [launched])
    assert followed.window()[newest].startswith("0xffff")


def drop_what_is_final(launchpad, followed):
    """Have the chain replace our blocks, deeper than finality."""
    mark = launchpad.snapshot()
    launched = launchpad.launch()
    launchpad.mine(2 * DEPTH)
    followed.catch_up()
    launchpad.revert(mark)
    launchpad.mine(3 * DEPTH)
    return launched


def halt(launchpad, followed):
    launched = drop_what_is_final(launchpad, followed)
    with pytest.raises(ChainHaltedError):
        followed.catch_up()
    return launched


def test_it_halts_where_what_is_final_was_dropped(own_launchpad, followed):
    launched = drop_what_is_final(own_launchpad, followed)
    before = followed.window()
    anchor, theirs = min(before), own_launchpad.web3.eth.get_block(min(before))["hash"].to_0x_hex()
    followed.head.unconfirmed_timeout = 3_600.0
    with pytest.raises(CompetingBranchError):
        followed.catch_up()
    followed.head.unconfirmed_timeout = 0.0
    with pytest.raises(ChainHaltedError):
        followed.catch_up()
    row = followed.row()
    reason = row.halted
    assert timezone.now() - row.halted_at < timedelta(minutes=1) and row.resumed_at is None
    for part in (str(anchor), before[anchor], theirs, str(max(before)), before[max(before)]):
        assert part in reason
    assert (followed.window(), list(listed())) == (before, [launched])


@pytest.mark.django_db(transaction=True)
def test_a_halted_chain_stays_so_and_calls_for_an_operator(own_launchpad, followed, caplog):
    halt(own_launchpad, followed)
    before = followed.window()
    with looping():
        wait_for(lambda: f"manage.py rewind --chain {CHAIN_ID} --to" in caplog.text)
    assert followed.window() == before
    assert caplog.text.count("CRITICAL") == 1


def rewind(to, chain_id=CHAIN_ID, *options):
    call_command("rewind", "--chain", str(chain_id), "--to", str(to), *(options or ("--yes",)))


def test_an_operator_lets_a_halted_chain_go_on(own_launchpad, followed):
    launched = halt(own_launchpad, followed)
    (row,) = open_live_coverage(followed.head.chain.info, final=followed.row().final)
    Coverage.objects.filter(pk=row.pk).update(first_block=0, followed_to=followed.row().followed)
    block = Token.objects.get().block_number
    with pytest.raises(CommandError, match=f"has another block {block} now"):
        rewind(min(followed.window()) - 1)
    rewind(block - 1)
    row.refresh_from_db()
    assert (followed.row().halted, row.followed_to, launched in listed()) == ("", block - 1, False)
    assert followed.row().halted_at < followed.row().resumed_at
    followed.restart()
    followed.catch_up()
    assert_is_the_chains(own_launchpad, followed)


def test_rewind_names_the_runs_that_are_to_be_read_again(own_launchpad, followed, capsys):
    for first, last in ((0, 3), (2, 7)):
        row = open_run_coverage(followed.head.chain.info, first=first, last=last)
        Coverage.objects.filter(pk=row.pk).update(followed_to=last)
    rewind(5)
    output = capsys.readouterr().out
    assert f"manage.py backfill --chain {CHAIN_ID} --from 2 --to 7" in output
    assert "--from 0" not in output
    assert Coverage.objects.get(last_block=7).followed_to == 5


@pytest.mark.parametrize("beyond", [-10_000, 1, 10_000])
def test_rewind_refuses_blocks_that_were_not_followed(own_launchpad, followed, beyond):
    with pytest.raises(CommandError, match="no way back"):
        rewind(own_launchpad.web3.eth.block_number + beyond)


def test_rewind_refuses_a_block_that_the_chain_has_dropped(own_launchpad, followed):
    halt(own_launchpad, followed)
    with pytest.raises(CommandError, match="another block"):
        rewind(min(followed.window()))
    assert followed.row().halted


def test_rewind_refuses_chains_that_were_never_followed(own_launchpad):
    with pytest.raises(CommandError, match="never followed"):
        rewind(1)
    with pytest.raises(CommandError, match="not in the registry"):
        rewind(1, 424242)


@pytest.mark.parametrize(("answer", "changes"), [("y\n", True), ("\n", False), ("no\n", False)])
def test_rewind_confirms_before_it_does_anything(own_launchpad, followed, answer, changes, monkeypatch):
    newest = own_launchpad.web3.eth.block_number
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    if changes:
        rewind(newest - 2, CHAIN_ID, "--no-color")
    else:
        with pytest.raises(CommandError, match="Nothing was changed"):
            rewind(newest - 2, CHAIN_ID, "--no-color")
    assert (followed.row().followed == newest - 2) is changes


def test_a_chain_that_is_not_halted_can_be_rewound(own_launchpad, followed):
    launched = own_launchpad.launch()
    followed.catch_up()
    newest = own_launchpad.web3.eth.block_number
    rewind(newest - 2)
    assert launched not in listed() and max(followed.window()) == newest - 2
    assert followed.row().resumed_at is None
    followed.head.reload()
    followed.catch_up()
    assert launched in listed()


@pytest.mark.django_db(transaction=True)
def test_a_follower_at_work_goes_on_after_a_rewind_on_a_chain_that_has_lost_its_newest_blocks(own_launchpad, followed):
    block, snapshot = own_launchpad.web3.eth.block_number, own_launchpad.rpc("evm_snapshot")
    own_launchpad.mine(2 * DEPTH)
    followed.catch_up()
    own_launchpad.rpc("evm_revert", snapshot)
    with looping():
        # The shorter node may only lag, which is no reason to halt.
        wait_for(lambda: "lacks the blocks" in followed.row().error)
        rewind(block)
        # The backfill fetches nothing that no node has any more.
        assert followed.row().final <= block
        launched = own_launchpad.launch()
        wait_for(lambda: launched in listed())
