"""Launched tokens' current state on a real node: read when they are indexed, and dropped with its block."""

import json

import pytest
from django.db import connection, transaction

from development.devchain.anvil import CHAIN_ID
from development.devchain.launch_transactions import DevAirdropShare, DevLaunchConfig, Recipient
from tests.nodes.devchain_launches import SENDER
from tests.nodes.devchain_tests import OTHER, STRANGER
from tests.nodes.followed import Followed
from tests.nodes.relay import relay
from tests.tokens.indexing.test_events_on_devchain import DEPTH, columns, contract, index, transact
from tokens.indexing import chain_lock, index_requests
from tokens.indexing.writing import write_transactions
from tokens.installation.installed_chains import installed_chain
from tokens.models import FollowedBlock, IndexRequest, StoredState, Token, TokenEvent

pytestmark = pytest.mark.django_db

ROOT = "0x" + "07" * 32


def launch(launchpad, **config):
    """Launch without indexing; return hash and address."""
    tx_hash = launchpad.launch(DevLaunchConfig(**config))
    (found,) = installed_chain(CHAIN_ID).read_transaction(tx_hash).launches
    return tx_hash, found.token


def change_image(launchpad, address, image):
    """Change a token's image; return the transaction's hash."""
    return transact(launchpad, contract(launchpad, "Token", address).updateImage(image))


def image():
    return Token.objects.get().img_url


def status_of(tx_hash):
    return IndexRequest.objects.get(tx_hash=tx_hash).status


@pytest.fixture
def through(settings, forget_chains):
    """Return a function that puts a relay with hooks before the installed node."""
    opened = []

    def open_relay(**hooks):
        (url,) = settings.RPC_URLS[CHAIN_ID]
        running = relay(url, **hooks)
        opened.append(running)
        settings.RPC_URLS = {CHAIN_ID: (running.__enter__(),)}
        forget_chains()

    yield open_relay
    for running in opened:
        running.__exit__(None, None, None)


def test_a_launch_is_indexed_with_all_changes_since(launchpad):
    deployment = launchpad.deployment
    recipients = tuple(Recipient(admin=who, recipient=who, bps=5_000) for who in (SENDER, OTHER))
    tx_hash, address = launch(launchpad, recipients=recipients, airdrop=DevAirdropShare(admin=SENDER))
    token, locker = contract(launchpad, "Token", address), contract(launchpad, "Locker", deployment.locker)
    airdrop = contract(launchpad, "Airdrop", deployment.airdrop)
    for call in (
        token.updateImage("ipfs://new"),
        token.updateMetadata('{"description":"new"}'),
        token.verify(),
        token.updateAdmin(OTHER),
        locker.updateRewardRecipient(address, 0, STRANGER),
        locker.updateFeePreference(address, 0, 2),
        locker.updateRewardAdmin(address, 0, STRANGER),
        airdrop.updateMerkleRoot(address, bytes.fromhex(ROOT[2:])),
        airdrop.updateAdmin(address, OTHER),
    ):
        transact(launchpad, call)

    assert index(tx_hash) == (address,)
    found = Token.objects.get()
    assert (found.admin, found.img_url, found.description) == (OTHER, "ipfs://new", "new")
    assert found.verified_on_chain
    assert [found.launch.facts["admin"], *token.allData().call()[1:3]] == [SENDER, found.admin, found.img_url]
    assert found.extensions["fees"]["recipients"] == [
        {"admin": STRANGER, "recipient": STRANGER, "bps": 5_000, "token": "Clanker"},
        {"admin": OTHER, "recipient": OTHER, "bps": 5_000, "token": "Both"},
    ]
    assert (found.extensions["airdrop"]["admin"], found.extensions["airdrop"]["merkleRoot"]) == (OTHER, ROOT)
    assert not TokenEvent.objects.exists()


def test_several_tokens_of_a_transaction_have_their_own_state(launchpad):
    tx_hash = launchpad.launch_batch(DevLaunchConfig(admin=SENDER), DevLaunchConfig(admin=OTHER))
    first, second = (found.token for found in installed_chain(CHAIN_ID).read_transaction(tx_hash).launches)
    change_image(launchpad, first, "ipfs://first")
    transact(launchpad, contract(launchpad, "Token", second).updateImage("ipfs://second"), sender=OTHER)
    assert index(tx_hash) == (first, second)
    images = dict(Token.objects.values_list("contract_address", "img_url"))
    assert images == {first: "ipfs://first", second: "ipfs://second"}


def test_indexing_again_reads_the_state_anew(launchpad, client, index_key):
    tx_hash, address = launch(launchpad)
    body = json.dumps({"txHash": tx_hash, "chainId": CHAIN_ID})
    for name in ("ipfs://one", "ipfs://two"):
        change_image(launchpad, address, name)
        answer = client.post("/api/tokens/index", body, content_type="application/json", headers=index_key)
        assert (answer.status_code, answer.json()["address"]) == (200, address)
        assert image() == name
    assert StoredState.objects.get().facts["image"] == "ipfs://two"


def test_events_count_by_their_block(launchpad):
    tx_hash, address = launch(launchpad)
    earlier = change_image(launchpad, address, "ipfs://earlier")
    change_image(launchpad, address, "ipfs://read")
    index(tx_hash)
    index(earlier)
    assert image() == "ipfs://read"
    later = change_image(launchpad, address, "ipfs://later")
    assert image() == "ipfs://read"
    index(later)
    assert image() == "ipfs://later"
    index_requests.unwind_request(IndexRequest.objects.get(tx_hash=later))
    assert image() == "ipfs://read"
    index(later)
    # This stores the newest state, which includes the later event.
    index(tx_hash)
    index_requests.unwind_request(IndexRequest.objects.get(tx_hash=later))
    assert image() == "ipfs://later"


def test_a_state_that_was_read_earlier_replaces_no_later_one(launchpad):
    tx_hash, address = launch(launchpad)
    index(tx_hash)
    change_image(launchpad, address, "ipfs://new")
    index(tx_hash)
    StoredState.objects.update(block_number=10**6)
    change_image(launchpad, address, "ipfs://newer")
    index(tx_hash)
    assert image() == "ipfs://new"


def test_what_a_follower_reads_keeps_the_state_and_adds_to_it(launchpad):
    launchpad.mine(DEPTH + 1)
    followed = Followed(CHAIN_ID)
    followed.catch_up()
    tx_hash, address = launch(launchpad)
    change_image(launchpad, address, "ipfs://new")
    index(tx_hash)
    before = columns()
    followed.catch_up()
    assert columns() == before
    change_image(launchpad, address, "ipfs://newer")
    followed.catch_up()
    assert columns() == before | {"img_url": "ipfs://newer"}


def changed_then_dropped(own_launchpad):
    """Index a launch with a change whose block a reorg then drops. Return the launch's hash, and the earlier columns.

    The change is not made again.
    """
    tx_hash, address = launch(own_launchpad)
    index(tx_hash)
    before = columns()
    own_launchpad.mine()
    mark = own_launchpad.snapshot()
    change_image(own_launchpad, address, "ipfs://dropped")
    index(tx_hash)
    assert image() == "ipfs://dropped"
    own_launchpad.revert(mark)
    return tx_hash, before


def test_a_state_whose_block_is_dropped_does_not_survive(own_launchpad):
    tx_hash, before = changed_then_dropped(own_launchpad)
    assert index_requests.confirm_indexed(CHAIN_ID) == 0
    assert image() == "ipfs://dropped"
    own_launchpad.mine(DEPTH)
    assert index_requests.confirm_indexed(CHAIN_ID) == 0
    assert columns() == before
    request = IndexRequest.objects.get()
    assert (request.status, "reorg" in request.last_error) == ("pending", True)
    assert Token.objects.listed().exists() and not StoredState.objects.exists()

    index(tx_hash)
    assert columns() == before
    own_launchpad.mine(DEPTH)
    assert index_requests.confirm_indexed(CHAIN_ID) == 1
    assert StoredState.objects.exists()


def test_a_state_is_confirmed_only_once_its_own_block_is_final(own_launchpad):
    tx_hash, _ = launch(own_launchpad)
    own_launchpad.mine(DEPTH)
    index(tx_hash)
    assert index_requests.confirm_indexed(CHAIN_ID) == 0
    own_launchpad.mine(DEPTH)
    assert index_requests.confirm_indexed(CHAIN_ID) == 1
    assert status_of(tx_hash) == "confirmed"
    index(tx_hash)
    assert status_of(tx_hash) == "indexed"


@pytest.mark.django_db(transaction=True)
def test_a_state_that_is_read_during_a_confirmation_is_not_confirmed_by_it(own_launchpad, through):
    tx_hash, _ = launch(own_launchpad)
    index(tx_hash)
    own_launchpad.mine(DEPTH)
    read_again = []

    def index_meanwhile(body):
        if not isinstance(body, list) and body["method"] == "eth_getBlockByNumber" and not read_again:
            read_again.append(body)
            index(tx_hash)
            connection.close()

    through(before=index_meanwhile)
    assert index_requests.confirm_indexed(CHAIN_ID) == 0
    assert read_again and status_of(tx_hash) == "indexed"
    own_launchpad.mine(DEPTH)
    assert index_requests.confirm_indexed(CHAIN_ID) == 1


def test_a_follower_drops_the_state_of_blocks_that_it_replaces(own_launchpad):
    own_launchpad.mine(DEPTH + 1)
    followed = Followed(CHAIN_ID)
    tx_hash, address = launch(own_launchpad)
    followed.catch_up()
    index(tx_hash)
    before = columns()
    mark = own_launchpad.snapshot()
    change_image(own_launchpad, address, "ipfs://dropped")
    index(tx_hash)
    followed.catch_up()
    TokenEvent.objects.all().delete()
    assert image() == "ipfs://dropped"
    own_launchpad.revert(mark)
    own_launchpad.mine()
    followed.catch_up()
    assert columns() == before
    assert status_of(tx_hash) == "pending"


def test_a_follower_drops_the_state_of_a_rival_block_that_it_never_followed(own_launchpad):
    own_launchpad.mine(DEPTH + 1)
    followed = Followed(CHAIN_ID)
    followed.catch_up()
    tx_hash, before = changed_then_dropped(own_launchpad)
    followed.catch_up()
    assert columns() == before
    assert status_of(tx_hash) == "pending"
    assert not StoredState.objects.exists()


def test_a_state_of_a_block_that_the_follower_does_not_have_is_not_written(own_launchpad):
    own_launchpad.mine(DEPTH + 1)
    followed = Followed(CHAIN_ID)
    tx_hash, _ = launch(own_launchpad)
    own_launchpad.mine()
    followed.catch_up()
    number = max(followed.window())
    FollowedBlock.objects.filter(number=number).update(hash="0x" + "ee" * 32)
    with pytest.raises(index_requests.IndexingPostponedError, match="dropped"):
        index(tx_hash)
    assert not StoredState.objects.exists()


def test_a_launch_that_returns_in_another_block_brings_its_own_state(own_launchpad):
    mark = own_launchpad.snapshot()
    tx_hash, address = launch(own_launchpad)
    signed = own_launchpad.rpc("eth_getRawTransactionByHash", tx_hash)
    change_image(own_launchpad, address, "ipfs://dropped")
    index(tx_hash)
    own_launchpad.revert(mark)
    own_launchpad.mined(own_launchpad.rpc("eth_sendRawTransaction", signed))
    # As a follower does: without its own state, the launch must not keep the former one.
    chain = installed_chain(CHAIN_ID)
    with transaction.atomic():
        chain_lock.lock_exclusive(CHAIN_ID)
        write_transactions([chain.read_transaction(tx_hash)], chain=chain.info)
    assert image() != "ipfs://dropped"
    assert not StoredState.objects.exists()


def call_count(requests, method="eth_call"):
    return sum(call["method"] == method for body in requests for call in (body if isinstance(body, list) else [body]))


def test_the_state_costs_one_request(launchpad, through):
    recipients = tuple(Recipient(admin=who, recipient=who, bps=5_000) for who in (SENDER, OTHER))
    tx_hash, _ = launch(launchpad, recipients=recipients, airdrop=DevAirdropShare(admin=SENDER))
    requests = []
    through(before=requests.append)
    chain = installed_chain(CHAIN_ID)
    chain.read_head()
    requests.clear()
    chain.read_transaction(tx_hash)
    without, calls = len(requests), call_count(requests)
    requests.clear()
    index(tx_hash)
    assert len(requests) == without + 1
    assert call_count(requests) - calls == 4 + 1 + 2 + 1
    # The newest block comes with the transaction's own, and the state's block with the state.
    assert call_count(requests, "eth_getBlockByNumber") == 3
    requests.clear()
    assert index(transact(launchpad, contract(launchpad, "Token", Token.objects.get().contract_address).verify()))
    assert len(requests) == without


def failing(method_result):
    """Return a relay's function that changes the responses to `eth_call`."""

    def change(requested, answered):
        if not isinstance(requested, list):
            return change([requested], [answered])[0]
        calls = {call["id"] for call in requested if call["method"] == "eth_call"}
        return [{"jsonrpc": "2.0", "id": one["id"]} | method_result if one["id"] in calls else one for one in answered]

    return change


@pytest.mark.parametrize(
    "method_result",
    [
        {"error": {"code": -32000, "message": "missing trie node"}},
        {"error": {"code": -32601, "message": "the method eth_call does not exist"}},
        {"result": None},
    ],
)
def test_a_launch_whose_state_no_node_has_is_indexed_without_it(launchpad, through, caplog, method_result):
    tx_hash, address = launch(launchpad)
    change_image(launchpad, address, "ipfs://new")
    through(change=failing(method_result))
    assert index(tx_hash) == (address,)
    assert image() == DevLaunchConfig().image
    assert not StoredState.objects.exists()
    assert f"no current state of the tokens of {tx_hash}" in caplog.text


def test_what_a_contract_does_not_return_stays_as_launched(launchpad, through, caplog):
    tx_hash, address = launch(launchpad)
    through(change=failing({"error": {"code": 3, "message": "execution reverted", "data": "0x"}}))
    assert index(tx_hash) == (address,)
    assert StoredState.objects.get().facts == {}
    assert (image(), columns()["admin"]) == (DevLaunchConfig().image, SENDER)
    assert f"no current state of {address}" in caplog.text and "isVerified()" in caplog.text


def test_a_state_of_another_block_than_the_newest_is_not_used(launchpad, through, caplog):
    tx_hash, address = launch(launchpad)
    change_image(launchpad, address, "ipfs://new")
    seen = []

    def other_hash(requested, answered):
        if not isinstance(requested, list) or not any(call["method"] == "eth_call" for call in requested):
            return answered
        seen.append(requested)
        return [
            one | {"result": one["result"] | {"hash": "0x" + "ee" * 32}} if isinstance(one["result"], dict) else one
            for one in answered
        ]

    through(change=other_hash)
    assert index(tx_hash) == (address,)
    assert seen and image() == DevLaunchConfig().image
    assert "another block than the requested one" in caplog.text
