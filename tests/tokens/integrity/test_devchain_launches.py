"""Facts about launches on the development chain: bundles in real blocks, and balances that its node returns."""

from collections import defaultdict

import pytest

from development.devchain import node_client
from development.devchain.anvil import CHAIN_ID, TRADERS
from development.devchain.launch_transactions import DevLaunchConfig, LaunchPurchase
from tests.chaos.chaos_traders import ChaosTraders, TradedPool
from tests.nodes.devchain_launches import SENDER
from tests.nodes.followed import Followed
from tests.simulator import SimulatedChain
from tests.tokens.integrity.followed_launches import fetch_integrity
from tokens.integrity.bundle_detection import find_bundles
from tokens.integrity.first_trades import read_first_trades, read_launch_place
from tokens.models import Token

pytestmark = pytest.mark.django_db

ETHER = 10**18
# The numbers of tokens and blocks in the random test.
TOKENS, BLOCKS = 2, 60
RECIPIENT = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65"


@pytest.fixture
def followed(own_launchpad):
    own_launchpad.mine(10)
    followed = Followed(CHAIN_ID)
    followed.catch_up()
    return followed


def wallets(launchpad):
    return node_client.connect(launchpad.deployment.rpc_url).eth.accounts[-TRADERS:]


def pool_of(launchpad, address):
    locker = node_client.bind_contract(launchpad.deployment.rpc_url, "Locker", launchpad.deployment.locker)
    _, key, *_ = locker.functions.tokenRewards(address).call()
    return TradedPool(address, tuple(key))


def send_purchase(launchpad, address, wallet):
    """Send a purchase to the node's queue; return its hash."""
    at = launchpad.deployment
    router = node_client.bind_contract(at.rpc_url, "SwapRouter", at.swap_router)
    data = router.encode_abi("swap", [pool_of(launchpad, address).key, at.wrapped_native, ETHER // 100, 0])
    sent = node_client.send_transaction(
        at.rpc_url, sender=wallet, to=at.swap_router, data=data, value=ETHER // 100, gas=2_000_000
    )
    return sent.to_0x_hex()


def launched(launchpad, followed, **changes):
    tx_hash = launchpad.launch(DevLaunchConfig(**changes))
    followed.catch_up()
    return Token.objects.get(tx_hash=tx_hash)


def test_purchases_of_one_block_are_a_bundle_with_the_right_buyers(own_launchpad, followed):
    token = launched(own_launchpad, followed, own_buy=LaunchPurchase(recipient=RECIPIENT))
    buyers = wallets(own_launchpad)[:3]
    own_launchpad.rpc("evm_setAutomine", False)
    hashes = [send_purchase(own_launchpad, token.contract_address, buyer) for buyer in buyers]
    own_launchpad.mine()
    own_launchpad.rpc("evm_setAutomine", True)
    followed.catch_up()
    facts = fetch_integrity(token)
    (bundle,) = facts["bundles"]["list"]
    assert (bundle["kinds"], bundle["count"], bundle["buyers"]) == (["consecutive"], 3, 3)
    assert {made["txHash"] for made in bundle["purchases"]} == set(hashes)
    assert {made["account"] for made in bundle["purchases"]} == set(buyers)
    # The launch's own purchase is its recipient's, in a block before.
    assert [made["account"] for made in facts["firstBlock"]["purchases"]] == [RECIPIENT]
    assert facts["firstBlock"]["amount"] == token.extensions["devBuy"]["amount"]


def test_balances_are_those_of_the_chain_after_transfers(own_launchpad, followed):
    token = launched(own_launchpad, followed, own_buy=LaunchPurchase(recipient=RECIPIENT))
    at = own_launchpad.deployment
    contract = node_client.bind_contract(at.rpc_url, "Token", token.contract_address)
    (other,) = wallets(own_launchpad)[:1]
    node_client.transact(at.rpc_url, contract.functions.transfer(other, 1000), sender=RECIPIENT)
    followed.catch_up()
    facts = fetch_integrity(token)
    (holder,) = facts["holders"]["now"]
    balance = contract.functions.balanceOf(RECIPIENT).call()
    assert (holder["account"], holder["balance"]) == (RECIPIENT, str(balance))
    assert int(holder["amount"]) == balance + 1000
    assert facts["balancesBlock"] == own_launchpad.web3.eth.block_number
    accounts = {each["account"]: each["balance"] for each in facts["dev"]["accounts"]}
    assert accounts == {SENDER: "0", RECIPIENT: str(balance)}
    assert "balances" not in [each["fact"] for each in facts["unknown"]]


def neighbours_found(token):
    """Return transaction pairs that follow one another in a bundle from all trades."""
    first = read_first_trades(token)
    found = set()
    for bundle in find_bundles(first.trades, read_launch_place(token, first)):
        names = list(dict.fromkeys(one.tx_hash for one in bundle.purchases))
        found |= set(zip(names, names[1:], strict=False))
    return found


def neighbours_on_chain(launchpad, token):
    """Return transaction pairs that buy the token and are next to one another in their block."""
    by_block = defaultdict(dict)
    for one in read_first_trades(token).trades:
        if one.is_buy:
            receipt = launchpad.web3.eth.get_transaction_receipt(one.tx_hash)
            by_block[one.block][receipt["transactionIndex"]] = one.tx_hash
    return {(names[index], names[index + 1]) for names in by_block.values() for index in names if index + 1 in names}


def test_of_random_blocks_the_neighbours_are_found_and_no_others(own_launchpad, followed):
    tokens = [launched(own_launchpad, followed) for _ in range(TOKENS)]
    traders = ChaosTraders(own_launchpad, SimulatedChain(seed=3).rng)
    pools = [pool_of(own_launchpad, token.contract_address) for token in tokens]
    for _ in range(BLOCKS):
        traders.trade(pools)
        followed.catch_up()
    found = set().union(*map(neighbours_found, tokens))
    true = set().union(*(neighbours_on_chain(own_launchpad, token) for token in tokens))
    assert len(true) > 5 and true == found
