"""Tests of tokens/indexing/index_requests.py: from a hash to listed tokens and back, on a node with reorgs."""

from functools import partial

import pytest
from django.utils import timezone

from development.devchain.anvil import CHAIN_ID
from development.devchain.launch_transactions import DevLaunchConfig
from tests.nodes.devchain_launches import UNKNOWN_HASH
from tests.nodes.relay import relay
from tests.processes.at_once import call_at_once
from tests.rows.factories import IndexRequestFactory, TokenFactory
from tokens.chains.errors import LaunchNotFoundError, LogDecodingError, NodeUnavailableError, TransactionNotFoundError
from tokens.indexing import index_requests
from tokens.installation.installed_chains import UnsupportedChainError
from tokens.models import FollowedBlock, IndexRequest, Token

pytestmark = pytest.mark.django_db

DEPTH = 5


def index(tx_hash, **options):
    return index_requests.index_transaction(chain_id=CHAIN_ID, tx_hash=tx_hash, **options)


def request_of(tx_hash):
    return IndexRequest.objects.get(chain_id=CHAIN_ID, tx_hash=tx_hash)


def status_of(tx_hash):
    return request_of(tx_hash).status


def try_until_given_up(tx_hash):
    """Return the retry delays between a request's own attempts."""
    pauses = []
    while status_of(tx_hash) == "pending":
        with pytest.raises(index_requests.IndexingPostponedError) as postponed:
            index(tx_hash, scheduled=True)
        pauses.append(postponed.value.retry_after)
    return pauses


def ahead_by(blocks):
    """Make a node return blocks of its head that it can't show, as behind a balancer whose members differ."""

    def change(requested, answer):
        if isinstance(requested, dict) and requested["method"] == "eth_blockNumber":
            return answer | {"result": hex(int(answer["result"], 16) + blocks)}
        return answer

    return change


def take_node_away(settings, forget_chains):
    settings.RPC_URLS = {CHAIN_ID: ("http://127.0.0.1:9",)}
    settings.RPC_ATTEMPTS = 1
    forget_chains()


@pytest.mark.parametrize(("kind", "reason"), [("transfer", "no launch by a known factory"), ("reverted", "reverted")])
def test_it_keeps_a_permanent_failure_in_sight(launchpad, kind, reason):
    tx_hash = getattr(launchpad, kind)()
    with pytest.raises(LaunchNotFoundError):
        index(tx_hash)
    request = request_of(tx_hash)
    assert (request.status, request.attempts) == ("failed", 1)
    assert reason in request.last_error
    assert not Token.objects.exists()


def test_it_fails_on_a_chain_without_a_node(launchpad):
    with pytest.raises(UnsupportedChainError):
        index_requests.index_transaction(chain_id=8453, tx_hash=UNKNOWN_HASH)
    assert IndexRequest.objects.get().status == "failed"


def test_it_gives_up_on_an_unknown_transaction_after_the_last_attempt(launchpad, settings):
    settings.INDEX_MAX_ATTEMPTS = 4
    IndexRequestFactory(chain_id=CHAIN_ID, tx_hash=UNKNOWN_HASH)
    assert try_until_given_up(UNKNOWN_HASH) == [1, 2, 4, None]
    request = request_of(UNKNOWN_HASH)
    assert (request.status, request.attempts) == ("failed", 4)
    assert "has no such transaction" in request.last_error


def test_a_request_in_between_uses_up_no_attempt(launchpad):
    with pytest.raises(index_requests.IndexingPostponedError) as first:
        index(UNKNOWN_HASH)
    with pytest.raises(index_requests.IndexingPostponedError) as second:
        index(UNKNOWN_HASH)
    assert (first.value.retry_after, second.value.retry_after) == (1, None)
    request = request_of(UNKNOWN_HASH)
    assert (request.attempts, request.node_outage) == (1, False)


def test_an_outage_gives_nothing_up(launchpad, settings, forget_chains):
    settings.INDEX_MAX_ATTEMPTS = 1
    IndexRequestFactory(chain_id=CHAIN_ID, tx_hash=UNKNOWN_HASH)
    take_node_away(settings, forget_chains)
    for _ in range(3):
        with pytest.raises(index_requests.IndexingPostponedError) as postponed:
            index(UNKNOWN_HASH, scheduled=True)
        assert isinstance(postponed.value.reason, NodeUnavailableError)
        assert postponed.value.retry_after == index_requests.OUTAGE_RETRY_DELAY_SECONDS
    request = request_of(UNKNOWN_HASH)
    assert (request.status, request.attempts) == ("pending", 0)
    assert "out of reach" in request.last_error
    assert "127.0.0.1" not in request.last_error
    assert request.node_outage
    index_requests.reopen_requests([request])
    assert not request_of(UNKNOWN_HASH).node_outage


def test_an_outage_leaves_what_is_indexed(launchpad, settings, forget_chains):
    tx_hash = launchpad.launch()
    index(tx_hash)
    take_node_away(settings, forget_chains)
    with pytest.raises(index_requests.IndexingPostponedError) as postponed:
        index(tx_hash)
    assert postponed.value.retry_after is None
    assert status_of(tx_hash) == "indexed"
    assert Token.objects.listed().exists()


def test_it_lists_a_launch(launchpad):
    tx_hash = launchpad.launch(DevLaunchConfig(name="Higher ↑", symbol="HIGHER"))
    (address,) = index(tx_hash)
    token = Token.objects.listed().get()
    request = request_of(tx_hash)
    assert (token.contract_address, token.name, token.symbol) == (address, "Higher ↑", "HIGHER")
    assert (token.chain_id, token.tx_hash, token.generation, token.pair) == (CHAIN_ID, tx_hash, "v4", "WETH")
    assert (request.status, request.attempts, request.last_error) == ("indexed", 1, "")
    assert (request.block_number, request.block_hash) == (token.block_number, token.block_hash)
    assert request.updated_at > request.created_at


HOSTILE_CONTEXTS = [
    '{"n": 123456789012345678901234567890}',
    '{"n": 1e999}',
    '{"n": NaN}',
    '{"s": "\\u0000\\ud800"}',
    '{"\\u0000": "\\udfff"}',
    '{"a":' * 100 + "1" + "}" * 100,
    "[" * 5_000,
    "\x00" * 100,
    '{"id": "' + "9" * 5_000 + '", "platform": "farcaster"}',
    '{"id": "99999999999999999999", "platform": "farcaster"}',
    '{"id": "１２", "platform": "farcaster"}',
]


@pytest.mark.parametrize("text", HOSTILE_CONTEXTS)
def test_it_takes_whatever_a_launcher_writes(launchpad, client, text):
    config = DevLaunchConfig(name="a\0b", symbol="\0", image="\0", metadata=text, context=text)
    (address,) = index(launchpad.launch(config))
    answer = client.get("/api/tokens")
    assert answer.status_code == 200
    (record,) = answer.json()["data"]
    assert (record["contract_address"], record["name"], record["requestor_fid"]) == (address, "ab", None)


def test_it_takes_a_name_of_any_length_that_operators_then_verify(launchpad):
    index(launchpad.launch(DevLaunchConfig(name="".join(chr(0x4E00 + n) for n in range(1_500)))))
    assert Token.objects.update(verified=True) == 1


def test_it_confirms_at_the_chains_finality_and_not_before(own_launchpad):
    tx_hash = own_launchpad.launch()
    index(tx_hash)
    own_launchpad.mine(DEPTH - 1)
    assert index_requests.confirm_indexed(CHAIN_ID) == 0
    assert status_of(tx_hash) == "indexed"
    own_launchpad.mine()
    assert index_requests.confirm_indexed(CHAIN_ID) == 1
    assert status_of(tx_hash) == "confirmed"
    assert index_requests.confirm_indexed(CHAIN_ID) == 0


def test_a_launch_is_final_with_its_own_block_and_not_with_the_one_of_its_state(own_launchpad, client, read_key):
    tx_hash = own_launchpad.launch()
    own_launchpad.mine(DEPTH)
    (address,) = index(tx_hash)

    def reasons():
        answer = client.get("/api/get-token-by-address", {"address": address}, headers=read_key).json()
        return answer["data"]["trust"]["reasons"]

    assert "LAUNCH_FINAL" not in reasons()
    assert index_requests.confirm_indexed(CHAIN_ID) == 0
    assert status_of(tx_hash) == "indexed"
    assert "LAUNCH_FINAL" in reasons()
    own_launchpad.mine(DEPTH)
    assert index_requests.confirm_indexed(CHAIN_ID) == 1


def test_a_dropped_launch_is_unwound_before_the_block_of_its_state_is_final(own_launchpad):
    mark = own_launchpad.snapshot()
    tx_hash = own_launchpad.launch()
    own_launchpad.mine(DEPTH)
    index(tx_hash)
    own_launchpad.revert(mark)
    own_launchpad.mine(DEPTH + 1)
    assert index_requests.confirm_indexed(CHAIN_ID) == 0
    assert not Token.objects.on_chain().exists()


def test_it_does_not_confirm_an_unsupported_chain(launchpad):
    with pytest.raises(UnsupportedChainError):
        index_requests.confirm_indexed(8453)


def test_a_launch_that_comes_back_in_another_block_keeps_its_id_and_tags(own_launchpad):
    mark = own_launchpad.snapshot()
    first = own_launchpad.launch()
    signed = own_launchpad.rpc("eth_getRawTransactionByHash", first)
    index(first)
    Token.objects.update(champagne=True)
    before = Token.objects.get()
    own_launchpad.revert(mark)
    assert own_launchpad.mined(own_launchpad.rpc("eth_sendRawTransaction", signed)) == first
    own_launchpad.mine(DEPTH)

    assert index_requests.confirm_indexed(CHAIN_ID) == 0
    request = request_of(first)
    assert (request.status, request.attempts) == ("pending", 0)
    assert "reorg" in request.last_error
    assert not Token.objects.on_chain().exists()
    assert index_requests.claim_due_requests(timezone.now()) == [(CHAIN_ID, first)]

    index(first, scheduled=True)
    after = Token.objects.listed().get()
    assert (after.pk, after.champagne) == (before.pk, True)
    assert after.block_hash != before.block_hash
    # The block of its state is as new as the index call.
    assert index_requests.confirm_indexed(CHAIN_ID) == 0
    own_launchpad.mine(DEPTH)
    assert index_requests.confirm_indexed(CHAIN_ID) == 1
    assert status_of(first) == "confirmed"


def test_a_launch_that_never_comes_back_is_orphaned(own_launchpad, settings):
    settings.INDEX_MAX_ATTEMPTS = 2
    mark = own_launchpad.snapshot()
    tx_hash = own_launchpad.launch()
    index(tx_hash)
    own_launchpad.revert(mark)
    own_launchpad.mine(DEPTH)
    index_requests.confirm_indexed(CHAIN_ID)
    assert try_until_given_up(tx_hash) == [1, None]
    assert status_of(tx_hash) == "orphaned"
    assert not Token.objects.on_chain().exists()


def test_a_node_that_lacks_the_height_settles_nothing(own_launchpad, settings, forget_chains):
    mark = own_launchpad.snapshot()
    tx_hash = own_launchpad.launch()
    index(tx_hash)
    assert own_launchpad.rpc("evm_revert", mark)
    with relay(own_launchpad.deployment.rpc_url, change=ahead_by(100)) as url:
        settings.RPC_URLS = {CHAIN_ID: (url,)}
        forget_chains()
        assert index_requests.confirm_indexed(CHAIN_ID) == 0
        assert status_of(tx_hash) == "indexed"
        # The same, once the node has another block at that height.
        own_launchpad.mine()
        assert index_requests.confirm_indexed(CHAIN_ID) == 0
        assert status_of(tx_hash) == "pending"


def without_logs(kept):
    """Make a node leave logs out of its receipts: all but the first ones."""

    def change(requested, answer):
        requested, answer = (requested, answer) if isinstance(requested, list) else ([requested], [answer])
        for one in answer:
            if isinstance(one.get("result"), dict) and "logs" in one["result"]:
                one["result"]["logs"] = one["result"]["logs"][:kept]
        return answer if len(requested) > 1 else answer[0]

    return change


@pytest.mark.parametrize("share", [0, 0.6])
def test_a_node_that_leaves_logs_out_hides_nothing_that_its_block_holds(launchpad, settings, forget_chains, share):
    tx_hash = launchpad.launch_batch(DevLaunchConfig(), DevLaunchConfig())
    assert len(index(tx_hash)) == 2
    logs = launchpad.web3.eth.get_transaction_receipt(tx_hash)["logs"]
    with relay(launchpad.deployment.rpc_url, change=without_logs(int(len(logs) * share))) as url:
        settings.RPC_URLS = {CHAIN_ID: (url,)}
        forget_chains()
        if share:
            assert len(index(tx_hash)) == 1
        else:
            with pytest.raises(index_requests.IndexingPostponedError):
                index(tx_hash)
    assert Token.objects.on_chain().count() == 2
    assert status_of(tx_hash) == "indexed"


def test_a_node_that_leaves_all_logs_out_hides_nothing_that_the_follower_has_found(launchpad, settings, forget_chains):
    tx_hash = launchpad.launch()
    index(tx_hash)
    # Not requested yet.
    IndexRequest.objects.all().delete()
    with relay(launchpad.deployment.rpc_url, change=without_logs(0)) as url:
        settings.RPC_URLS = {CHAIN_ID: (url,)}
        forget_chains()
        with pytest.raises(index_requests.IndexingPostponedError, match="incomplete response"):
            index(tx_hash)
    assert Token.objects.on_chain().count() == 1
    assert status_of(tx_hash) == "pending"


def test_what_the_follower_has_found_in_another_block_meanwhile_is_kept(launchpad):
    tx_hash = launchpad.launch()
    index(tx_hash)
    launchpad.mine(10)
    IndexRequest.objects.update(block_hash="0xdropped")
    assert index_requests.confirm_indexed(CHAIN_ID) == 0
    assert status_of(tx_hash) == "pending"
    assert Token.objects.on_chain().count() == 1


def test_a_launch_whose_transaction_now_fails_is_orphaned_and_hidden(launchpad):
    tx_hash = launchpad.transfer()
    IndexRequestFactory(chain_id=CHAIN_ID, tx_hash=tx_hash, status="indexed", block_number=1, block_hash="0xold")
    TokenFactory(chain_id=CHAIN_ID, tx_hash=tx_hash, block_number=1, block_hash="0xold")
    with pytest.raises(LaunchNotFoundError):
        index(tx_hash)
    assert status_of(tx_hash) == "orphaned"
    assert not Token.objects.on_chain().exists()


def test_a_launch_that_the_new_block_no_longer_holds_is_hidden(launchpad):
    tx_hash = launchpad.launch()
    gone = TokenFactory(chain_id=CHAIN_ID, tx_hash=tx_hash)
    (address,) = index(tx_hash)
    gone.refresh_from_db()
    assert gone.unindexed
    assert Token.objects.listed().get().contract_address == address


def test_a_confirmation_that_comes_late_leaves_what_was_indexed_again(own_launchpad):
    tx_hash = own_launchpad.launch()
    index(tx_hash)
    stale = request_of(tx_hash)
    IndexRequest.objects.update(block_hash="0xnewer")
    index_requests.unwind_request(stale)
    assert status_of(tx_hash) == "indexed"
    assert Token.objects.listed().exists()


def test_a_block_that_the_follower_has_seen_dropped_is_not_written(launchpad):
    tx_hash = launchpad.launch()
    number = launchpad.web3.eth.get_transaction_receipt(tx_hash)["blockNumber"]
    there = FollowedBlock.objects.create(
        chain_id=CHAIN_ID, number=number, hash="0xanother", parent_hash="0x", at=timezone.now()
    )
    with pytest.raises(index_requests.IndexingPostponedError) as postponed:
        index(tx_hash)
    assert isinstance(postponed.value.reason, NodeUnavailableError)
    assert "dropped" in request_of(tx_hash).last_error
    assert not Token.objects.exists()
    # The follower has reached that branch, too.
    there.delete()
    assert len(index(tx_hash)) == 1


def test_a_failure_that_comes_late_leaves_what_was_indexed_meanwhile(launchpad):
    tx_hash = launchpad.transfer()
    request = IndexRequestFactory(chain_id=CHAIN_ID, tx_hash=tx_hash)
    # Another process finds the launch while this one waits for its node.
    IndexRequest.objects.update(status="indexed", block_number=1, block_hash="0xnewer")
    token = TokenFactory(chain_id=CHAIN_ID, tx_hash=tx_hash)
    for error in (LaunchNotFoundError("reverted"), LogDecodingError("odd"), UnsupportedChainError("no node")):
        index_requests._fail(request, error)
    token.refresh_from_db()
    assert (status_of(tx_hash), token.unindexed) == ("indexed", False)


def test_a_postponement_that_comes_late_leaves_what_was_indexed_meanwhile(launchpad, settings):
    request = IndexRequestFactory(chain_id=CHAIN_ID, tx_hash=UNKNOWN_HASH)
    IndexRequest.objects.update(status="indexed", block_number=1, block_hash="0xnewer")
    for limit in (12, 1):
        settings.INDEX_MAX_ATTEMPTS = limit
        postponed = index_requests._postpone(request, TransactionNotFoundError("unknown"), scheduled=True)
        assert postponed.retry_after is None
    assert status_of(UNKNOWN_HASH) == "indexed"


def test_of_two_tries_at_once_one_goes_on(launchpad):
    first = IndexRequestFactory(chain_id=CHAIN_ID, tx_hash=UNKNOWN_HASH)
    second = request_of(UNKNOWN_HASH)
    pauses = [
        index_requests._postpone(request, TransactionNotFoundError("unknown"), scheduled=True).retry_after
        for request in (first, second)
    ]
    assert pauses == [1, None]
    request = request_of(UNKNOWN_HASH)
    assert (request.attempts, request.node_outage) == (1, False)


@pytest.mark.django_db(transaction=True)
def test_writers_of_one_transaction_take_turns(launchpad):
    tx_hash = launchpad.launch_batch(*[DevLaunchConfig(name=str(number)) for number in range(3)])

    def work(number):
        for _ in range(5):
            index(tx_hash)
            if number % 2:
                index_requests.unwind_request(request_of(tx_hash))

    call_at_once([partial(work, number) for number in range(6)])
    index(tx_hash)
    assert Token.objects.listed().count() == 3
    assert IndexRequest.objects.count() == 1


@pytest.mark.parametrize("status", ["failed", "orphaned"])
def test_requesting_again_starts_a_request_anew(launchpad, status):
    tx_hash = launchpad.launch()
    IndexRequestFactory(chain_id=CHAIN_ID, tx_hash=tx_hash, status=status, attempts=12, last_error="old")
    index(tx_hash)
    request = request_of(tx_hash)
    assert (request.status, request.attempts, request.last_error) == ("indexed", 1, "")


def test_a_reopened_request_starts_its_attempts_anew():
    request = IndexRequestFactory(status="failed", attempts=12, last_error="gone")
    assert index_requests.reopen_requests([request]) == [(request.chain_id, request.tx_hash)]
    request.refresh_from_db()
    assert (request.status, request.attempts, request.last_error) == ("pending", 0, "")
    assert request.due_at > timezone.now()


@pytest.mark.parametrize("reason", ["unknown", "undecodable"])
def test_a_reopened_request_that_finds_nothing_new_is_indexed_as_before(launchpad, settings, reason):
    settings.INDEX_MAX_ATTEMPTS = 1
    request = IndexRequestFactory(
        chain_id=CHAIN_ID, tx_hash=UNKNOWN_HASH, status="confirmed", block_number=1, block_hash="0xold"
    )
    TokenFactory(chain_id=CHAIN_ID, tx_hash=UNKNOWN_HASH)
    index_requests.reopen_requests([request])
    request.refresh_from_db()
    if reason == "unknown":
        with pytest.raises(index_requests.IndexingPostponedError):
            index(UNKNOWN_HASH, scheduled=True)
    else:
        index_requests._fail(request, LogDecodingError("odd"))
    assert status_of(UNKNOWN_HASH) == "indexed"
    assert request_of(UNKNOWN_HASH).last_error
    assert Token.objects.listed().exists()
