"""Events of a launched token on a real node: indexed, folded, and unwound with their block."""

from functools import partial

import pytest

from development.devchain import node_client
from development.devchain.anvil import CHAIN_ID
from development.devchain.launch_transactions import DevLaunchConfig, Recipient
from tests.development.devchain.test_devchain_changes import accrue
from tests.nodes.devchain_launches import SENDER
from tests.nodes.devchain_tests import OTHER
from tests.processes.at_once import call_at_once
from tokens.fees.claimed import read_claimed_fees
from tokens.indexing import index_requests
from tokens.models import IndexRequest, Token, TokenEvent

pytestmark = pytest.mark.django_db

DEPTH = 5


def index(tx_hash):
    return index_requests.index_transaction(chain_id=CHAIN_ID, tx_hash=tx_hash)


def launch(launchpad, **config):
    (address,) = index(launchpad.launch(DevLaunchConfig(**config)))
    return address


def transact(launchpad, call, *, sender=SENDER):
    """Return the hash of a mined call."""
    return node_client.transact(launchpad.deployment.rpc_url, call, sender=sender)["transactionHash"].to_0x_hex()


def contract(launchpad, name, address):
    return node_client.bind_contract(launchpad.deployment.rpc_url, name, address).functions


def columns():
    return Token.objects.values("admin", "img_url", "description", "verified_on_chain", "extensions").get()


def test_a_token_follows_its_admin(launchpad):
    address = launch(launchpad)
    token = contract(launchpad, "Token", address)
    for call, sender in (
        (token.updateImage("ipfs://new"), SENDER),
        (token.updateMetadata('{"description":"new"}'), SENDER),
        (token.updateAdmin(OTHER), SENDER),
        (token.verify(), SENDER),
    ):
        assert index(transact(launchpad, call, sender=sender)) == (address,)
    found = Token.objects.get()
    assert (found.img_url, found.description, found.admin) == ("ipfs://new", "new", OTHER)
    admin, image, metadata = token.allData().call()[1:4]
    assert (found.admin, found.img_url, found.launch.facts["admin"]) == (admin, image, SENDER)
    assert metadata == '{"description":"new"}'
    assert found.verified_on_chain


def test_a_reward_follows_its_admin(launchpad):
    recipients = tuple(Recipient(admin=who, recipient=who, bps=5_000) for who in (SENDER, OTHER))
    address = launch(launchpad, recipients=recipients)
    locker = contract(launchpad, "Locker", launchpad.deployment.locker)
    for call in (
        locker.updateRewardRecipient(address, 1, SENDER),
        locker.updateFeePreference(address, 1, 2),
        locker.updateRewardAdmin(address, 1, SENDER),
    ):
        index(transact(launchpad, call, sender=OTHER))
    assert columns()["extensions"]["fees"]["recipients"] == [
        {"admin": SENDER, "recipient": SENDER, "bps": 5_000, "token": "Both"},
        {"admin": SENDER, "recipient": SENDER, "bps": 5_000, "token": "Clanker"},
    ]


def test_fees_that_were_collected_and_claimed_add_up(launchpad):
    deployment = launchpad.deployment
    address = launch(launchpad, recipients=(Recipient(admin=SENDER, recipient=OTHER, bps=10_000),))
    locker = contract(launchpad, "Locker", deployment.locker)
    fee_locker = contract(launchpad, "FeeLocker", deployment.fee_locker)
    token = contract(launchpad, "Token", address)
    for amount in (3_001, 40_007):
        accrue(deployment, address, paired=0, launched=amount)
        assert index(transact(launchpad, locker.collectRewards(address))) == (address,)
        assert index(transact(launchpad, fee_locker.claim(OTHER, address))) == (address,)
    claimed = read_claimed_fees(chain_id=CHAIN_ID, currency=address, recipient=OTHER, limit=1, offset=0)
    assert (claimed.total, claimed.count, len(claimed.tx_hashes)) == (43_008, 2, 1)
    assert claimed.total == token.balanceOf(OTHER).call()
    assert set(TokenEvent.objects.values_list("kind", flat=True)) == {"fees_collected", "fees_claimed"}


def test_a_change_whose_block_is_dropped_is_undone_until_it_comes_back(own_launchpad):
    address = launch(own_launchpad)
    token = contract(own_launchpad, "Token", address)
    index(transact(own_launchpad, token.updateImage("ipfs://first")))
    before = columns()
    mark = own_launchpad.snapshot()
    tx_hash = transact(own_launchpad, token.updateAdmin(OTHER))
    signed = own_launchpad.rpc("eth_getRawTransactionByHash", tx_hash)
    index(tx_hash)
    assert columns()["admin"] == OTHER
    own_launchpad.revert(mark)
    assert own_launchpad.mined(own_launchpad.rpc("eth_sendRawTransaction", signed)) == tx_hash
    own_launchpad.mine(DEPTH)

    index_requests.confirm_indexed(CHAIN_ID)
    assert columns() == before
    assert IndexRequest.objects.get(tx_hash=tx_hash).status == "pending"
    index(tx_hash)
    assert columns() == before | {"admin": OTHER}
    assert index_requests.confirm_indexed(CHAIN_ID) == 1


@pytest.mark.django_db(transaction=True)
def test_writers_of_one_token_lose_none_of_its_changes(launchpad):
    launch_hash = launchpad.launch()
    (address,) = index(launch_hash)
    token = contract(launchpad, "Token", address)
    hashes = [
        launch_hash,
        transact(launchpad, token.updateImage("ipfs://new")),
        transact(launchpad, token.updateMetadata('{"description":"new"}')),
        transact(launchpad, token.verify()),
        transact(launchpad, token.updateAdmin(OTHER)),
    ]

    def work(tx_hash):
        for round in range(6):
            index(tx_hash)
            if round % 2:
                index_requests.unwind_request(IndexRequest.objects.get(tx_hash=tx_hash))
        index(tx_hash)

    call_at_once([partial(work, tx_hash) for tx_hash in hashes])
    found = Token.objects.listed().get()
    assert (found.img_url, found.description, found.admin, found.verified_on_chain) == (
        "ipfs://new",
        "new",
        OTHER,
        True,
    )
    assert TokenEvent.objects.count() == 4
