"""Deployments with a presale: dry run, start, and the sale up to launch or failure."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from secrets import token_hex
from typing import Any

import pytest
from django.utils import timezone
from hexbytes import HexBytes

from config.environment.secret import Secret
from development.devchain import node_client
from development.devchain.anvil import CHAIN_ID, DEPLOYER, DEPLOYER_KEY
from development.devchain.deploy_contracts import DevelopmentContracts
from tests.nodes.devchain_launches import UNKNOWN_HASH
from tests.nodes.devchain_tests import OTHER, SENDER, let_pass
from tests.processes.waiting import wait_for
from tests.rows import launch_requests as orders
from tests.rows.factories import DeploymentFactory
from tokens import models
from tokens.chains.errors import LaunchOptionUnavailableError, NodeUnavailableError, WouldRevertError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.launching.launch_calls import encode_launch
from tokens.chains.launching.launch_config import LaunchConfig, PresaleTerms, Reward, StaticFee, VaultShare
from tokens.chains.launching.launch_ticks import place_liquidity
from tokens.chains.transaction_types import ContractCall
from tokens.deploying.sending import presales, wallets
from tokens.deploying.sending.submit import SubmissionDeferredError, submit_deployment
from tokens.deploying.sending.watch import confirm_chain, watch_chain
from tokens.indexing.index_requests import index_transaction
from tokens.installation.installed_chains import installed_chain
from tokens.installation.installed_registry import registry
from tokens.installation.installed_signers import installed_signers
from tokens.models import DeploymentStatus, Token

# Account 6 of the node, which is not on the presale contract's allow-list.
STRANGER = "0x976EA74026E726554dB657fA54763abd0C3a0aa9"
STRANGER_KEY = "92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e"
DAY = 86_400
HOUR = 3_600
MINUTE = 60
ETHER = 10**18

pytestmark = pytest.mark.django_db


@pytest.fixture
def contracts(own_launchpad) -> DevelopmentContracts:
    return own_launchpad.deployment


@pytest.fixture
def chain(contracts) -> Chain:
    return installed_chain(CHAIN_ID)


TERMS = PresaleTerms(
    bps=5_000,
    min_goal=ETHER,
    max_goal=2 * ETHER,
    duration=HOUR,
    recipient=SENDER,
    lockup=7 * DAY,
    vesting=0,
    allowlist=(),
)


def launch(chain: Chain, **changes) -> LaunchConfig:
    return LaunchConfig(
        **{
            "chain_id": CHAIN_ID,
            "name": "Presold",
            "symbol": "PRE",
            "admin": SENDER,
            "context": {"interface": "SDK"},
            "paired_token": chain.info.wrapped_native,
            "preset": registry().presets["standard"],
            "market_cap": Decimal(10),
            "liquidity": place_liquidity(Decimal(10), decimals=18, preset=registry().presets["standard"]),
            "fees": StaticFee(clanker=10_000, paired=10_000),
            "rewards": (Reward(admin=SENDER, recipient=SENDER, bps=10_000, currency="Both"),),
            "presale": TERMS,
        }
        | changes
    )


def simulate(
    chain: Chain, config: LaunchConfig, *, sender: str = DEPLOYER, salt: str | None = None
) -> tuple[ContractCall, int]:
    """Return the call that starts a launch's presale, and the gas that it needs."""
    calls = encode_launch(chain.info, config, salt=salt or "0x" + token_hex(32))
    assert calls.presale_start is not None
    simulation = presales.simulate_presale(chain, calls.launch, calls.presale_start, senders=[sender])
    return calls.presale_start, simulation.gas


def start(
    chain: Chain,
    contracts: DevelopmentContracts,
    *,
    max_goal: int = TERMS.max_goal,
    allowlist: tuple[str, ...] = (),
) -> tuple[models.Deployment, str]:
    """Store a deployment whose presale our wallet started, as the watcher does; return both."""
    config = launch(chain, presale=replace(TERMS, max_goal=max_goal, allowlist=allowlist))
    shown = SALE | {"maxEthGoal": max_goal / ETHER, "allowlist": [*allowlist] or None}
    salt = "0x" + token_hex(32)
    call, gas = simulate(chain, config, salt=salt)
    sent = node_client.send_transaction(
        contracts.rpc_url, sender=DEPLOYER, to=call.to, data=call.data, value=call.value, gas=gas * 2
    )
    node_client.wait_for_receipt(contracts.rpc_url, sent)
    order = DeploymentFactory(
        chain_id=CHAIN_ID,
        config={"presale": {name: value for name, value in shown.items() if value is not None}},
        salt=salt,
        to_address=call.to,
        expected_address="",
        status=DeploymentStatus.MINED,
        tx_hash=sent.to_0x_hex(),
        # Before the block, whose time is in whole seconds.
        created_at=timezone.now() - timedelta(minutes=1),
    )
    order.presale_id = presales.read_started_presale(chain, order, tx_hash=order.tx_hash)
    order.save()
    return order, sent.to_0x_hex()


@pytest.fixture
def fetch(client, deploy_key, contracts, settings) -> Iterator[Callable[..., dict[str, Any]]]:
    """Send a request with a partner's key, a body by POST, with the deployer's wallet as ours; return its JSON."""
    settings.DEPLOYER_KEYS = {CHAIN_ID: (Secret(DEPLOYER_KEY),)}
    settings.DEPLOYER_KEYSTORES, settings.DEPLOYER_REMOTE = {}, {}
    installed_signers.cache_clear()

    def answer(path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        if body is None:
            found = client.get(path, headers=deploy_key)
        else:
            found = client.post(path, body, content_type="application/json", headers=deploy_key)
        parsed: dict[str, Any] = found.json()
        return parsed

    yield answer
    installed_signers.cache_clear()


def sign_with(settings, *keys: str) -> None:
    """Have these private keys' wallets as ours, as the worker's task stores them."""
    settings.DEPLOYER_KEYS = {CHAIN_ID: tuple(map(Secret, keys))}
    installed_signers.cache_clear()
    wallets.refresh_wallets(CHAIN_ID, addresses=installed_signers(CHAIN_ID).keys())


SALE = {
    "minEthGoal": 1,
    "maxEthGoal": 2,
    "presaleDuration": HOUR,
    "recipient": SENDER,
    "lockupDuration": 7,
    "vestingDuration": 0,
}


def buy(contracts: DevelopmentContracts, order: models.Deployment, *, value: int) -> None:
    presale = node_client.bind_contract(contracts.rpc_url, "Presale", contracts.presale)
    node_client.transact(
        contracts.rpc_url, presale.functions.buyIntoPresale(int(order.presale_id)), sender=OTHER, value=value
    )


def end(contracts: DevelopmentContracts, order: models.Deployment) -> str:
    """Have a buyer end the sale, a day after it; return the transaction."""
    let_pass(contracts, HOUR + DAY)
    presale = node_client.bind_contract(contracts.rpc_url, "Presale", contracts.presale)
    call = presale.functions.endPresale(int(order.presale_id), HexBytes(token_hex(32)))
    return node_client.transact(contracts.rpc_url, call, sender=OTHER)["transactionHash"].to_0x_hex()


def state(order: models.Deployment) -> tuple:
    order.refresh_from_db()
    return order.status, order.error, order.expected_address, order.final_at is not None


# Dry run


def test_a_wallet_that_may_start_none_is_refused(chain):
    with pytest.raises(LaunchOptionUnavailableError, match="does not allow this service to start presales") as caught:
        simulate(chain, launch(chain), sender=STRANGER)
    assert caught.value.field == "presale"


def test_a_launch_that_would_fail_after_the_sale_is_refused_before_it(chain):
    short = VaultShare(recipient=SENDER, bps=1_000, lockup=7 * DAY - 1, vesting=0)
    with pytest.raises(WouldRevertError) as caught:
        simulate(chain, launch(chain, vault=short))
    assert caught.value.reason == "VaultLockupDurationTooShort()"


def test_terms_that_the_contract_does_not_take_are_refused_in_its_words(chain):
    short = launch(chain, presale=replace(TERMS, lockup=7 * DAY - 1))
    with pytest.raises(WouldRevertError) as caught:
        simulate(chain, short)
    assert caught.value.reason == "LockupDurationTooShort()"


def test_a_call_that_would_start_it_comes_with_its_gas(chain, contracts):
    listed = replace(TERMS, allowlist=(OTHER, STRANGER))
    call, gas = simulate(chain, launch(chain, presale=listed))
    assert (call.to, call.value) == (contracts.presale, 0)
    assert 500_000 < gas < 5_000_000


# The whole way


def is_mined():
    """Watch the chain once; the node mines what it accepts a moment after its response."""
    watch_chain(CHAIN_ID)
    return models.Deployment.objects.get().status == "mined"


def test_an_order_goes_from_its_body_to_the_token_that_a_buyer_launched(fetch, chain, contracts):
    body = orders.order(presale=SALE)
    accepted = fetch("/api/tokens/deploy", body)
    assert (accepted["success"], accepted["expectedAddress"]) == (True, None), accepted
    path = f"/api/tokens/deploy/status/{accepted['requestKey']}"
    row = models.Deployment.objects.get()

    assert submit_deployment(row.pk)
    wait_for(is_mined)
    shown = fetch(path)
    assert (shown["status"], shown["address"], shown["error"]) == ("mined", None, None)
    row.refresh_from_db()
    sold = chain.read_presale(int(row.presale_id), contract=contracts.presale)
    assert (sold.min_goal, sold.raised, sold.salt) == (ETHER, 0, row.salt)

    buy(contracts, row, value=2 * ETHER)
    (address,) = index_transaction(chain_id=CHAIN_ID, tx_hash=end(contracts, row))
    confirm_chain(CHAIN_ID)
    assert (fetch(path)["status"], fetch(path)["address"]) == ("indexed", address)
    # A request has one response for ever.
    assert fetch("/api/tokens/deploy", body) == accepted
    assert models.DeployAttempt.objects.count() == 1


def test_whichever_wallet_may_start_presales_does(fetch, contracts, settings):
    # Only the second wallet is on the contract's allow-list, and it would be the last choice.
    sign_with(settings, STRANGER_KEY, DEPLOYER_KEY)
    models.DeployWallet.objects.filter(address=STRANGER).update(balance=10**24)
    models.DeployWallet.objects.filter(address=DEPLOYER).update(alerts={"fees": "high"})
    accepted = fetch("/api/tokens/deploy", orders.order(presale=SALE))
    assert accepted["success"], accepted

    assert submit_deployment(models.Deployment.objects.get().pk)
    assert models.DeployAttempt.objects.get().wallet.address == DEPLOYER
    wait_for(is_mined)
    assert fetch(f"/api/tokens/deploy/status/{accepted['requestKey']}")["status"] == "mined"


def test_an_order_waits_while_the_only_wallet_that_may_start_presales_is_switched_off(fetch, contracts, settings):
    sign_with(settings, STRANGER_KEY, DEPLOYER_KEY)
    accepted = fetch("/api/tokens/deploy", orders.order(presale=SALE))
    able = models.DeployWallet.objects.filter(address=DEPLOYER)
    able.update(enabled=False)
    with pytest.raises(SubmissionDeferredError):
        submit_deployment(models.Deployment.objects.get().pk)
    assert fetch(f"/api/tokens/deploy/status/{accepted['requestKey']}")["status"] == "enqueued"
    able.update(enabled=True)
    assert submit_deployment(models.Deployment.objects.get().pk)


def test_an_order_is_refused_where_no_wallet_may_start_presales(fetch, settings):
    sign_with(settings, STRANGER_KEY)
    refused = fetch("/api/tokens/deploy", orders.order(presale=SALE))
    assert (refused["success"], refused["details"][0]["field"]) == (False, "presale")
    assert not models.Deployment.objects.exists()


def test_a_start_that_was_dropped_is_started_again_once(fetch, own_launchpad):
    accepted = fetch("/api/tokens/deploy", orders.order(presale=SALE))
    row = models.Deployment.objects.get()
    mark = own_launchpad.snapshot()
    assert submit_deployment(row.pk)
    wait_for(is_mined)
    row.refresh_from_db()
    started = int(row.presale_id)

    own_launchpad.revert(mark)
    confirm_chain(CHAIN_ID)
    row.refresh_from_db()
    assert (row.status, row.presale_id) == ("submitted", None)
    # The bytes that were signed are sent to the node again.
    models.SignedTransaction.objects.update(sent_at=None)
    wait_for(is_mined)
    row.refresh_from_db()
    assert (row.presale_id, row.attempts) == (started, 1)
    assert fetch(f"/api/tokens/deploy/status/{accepted['requestKey']}")["status"] == "mined"


def test_a_presale_that_no_wallet_may_start_any_more_fails_without_gas(fetch, contracts, settings):
    fetch("/api/tokens/deploy", orders.order(presale=SALE))
    row = models.Deployment.objects.get()
    sign_with(settings, STRANGER_KEY)
    assert not submit_deployment(row.pk)
    row.refresh_from_db()
    assert (row.status, row.error) == ("failed", "Unauthorized()")
    assert not models.DeployAttempt.objects.exists()


def test_a_start_that_seemed_lost_is_found_though_its_sale_has_ended(fetch, contracts):
    fetch("/api/tokens/deploy", orders.order(presale=SALE))
    row = models.Deployment.objects.get()
    assert submit_deployment(row.pk)
    wait_for(is_mined)
    row.refresh_from_db()
    started = row.presale_id
    assert started is not None
    buy(contracts, row, value=ETHER)
    end(contracts, row)
    # All nodes lagged when they were queried, and then that moment's block became final.
    models.DeployAttempt.objects.update(state="lost", final_at=row.created_at)
    models.Deployment.objects.update(status="submitted", presale_id=None)

    assert confirm_chain(CHAIN_ID) == []
    watch_chain(CHAIN_ID)
    row.refresh_from_db()
    assert (row.status, row.presale_id, row.attempts) == ("mined", started, 1)


# Finding what was started


def test_a_sale_is_known_by_its_receipt_and_by_its_salt(chain, contracts):
    orders = [start(chain, contracts)[0] for _ in range(3)]
    ids = [int(order.presale_id) for order in orders]
    assert ids == list(range(ids[0], ids[0] + 3))
    assert [presales.find_started_presale(chain, order) for order in orders] == ids


def test_nothing_was_started_by_other_transactions_and_salts(chain, contracts):
    order, _ = start(chain, contracts)
    assert presales.read_started_presale(chain, order, tx_hash=UNKNOWN_HASH) is None
    buy(contracts, order, value=1)
    bought = node_client.connect(contracts.rpc_url).eth.get_block("latest")["transactions"][0].to_0x_hex()
    assert presales.read_started_presale(chain, order, tx_hash=bought) is None
    order.salt = "0x" + token_hex(32)
    assert presales.find_started_presale(chain, order) is None
    order.to_address = contracts.factory
    assert presales.read_started_presale(chain, order, tx_hash=order.tx_hash) is None


def test_a_contract_that_holds_no_sales_is_called_without_harm(chain, contracts):
    # The factory lacks these functions.
    assert chain.read_presale(1, contract=contracts.factory) is None
    with pytest.raises(NodeUnavailableError, match="does not report its sales"):
        chain.find_presale("0x" + "00" * 32, contract=contracts.factory)
    assert chain.read_head() > 0


# Following


def test_a_sale_that_runs_leaves_its_order_mined(chain, contracts):
    order, _ = start(chain, contracts)
    buy(contracts, order, value=ETHER)
    assert presales.settle_presales(chain) == 0
    assert state(order) == ("mined", "", "", False)


def test_an_order_is_indexed_with_the_token_that_a_buyer_launched(chain, contracts, own_launchpad):
    order, _ = start(chain, contracts)
    other, _ = start(chain, contracts)
    buy(contracts, order, value=2 * ETHER)
    launched = end(contracts, order)
    assert presales.settle_presales(chain) == 1
    assert state(order) == ("mined", "", "", False)
    assert state(other)[0] == "failed"

    # The follower reads it from the block's logs, to the same effect.
    block = chain.read_head()
    (read,) = chain.read_range(block, block).transactions
    assert [launch.presale_id for launch in read.launches] == [int(order.presale_id)]
    (address,) = index_transaction(chain_id=CHAIN_ID, tx_hash=launched)
    assert presales.settle_presales(chain) == 1
    assert state(order) == ("indexed", "", address, False)
    assert order.token == Token.objects.get(contract_address=address)
    assert (order.token.presale_id, order.token.admin) == (str(order.presale_id), SENDER)

    # It is not watched once its block is too deep to be dropped.
    assert presales.settle_presales(chain) == 0
    own_launchpad.mine(5)
    assert presales.settle_presales(chain) == 1
    assert state(order) == ("indexed", "", address, True)
    assert presales.settle_presales(chain) == 0


def test_a_launch_that_was_dropped_takes_its_order_back(chain, contracts):
    order, _ = start(chain, contracts)
    buy(contracts, order, value=2 * ETHER)
    (address,) = index_transaction(chain_id=CHAIN_ID, tx_hash=end(contracts, order))
    presales.settle_presales(chain)
    assert state(order)[0] == "indexed"

    # As a reorganisation leaves it.
    Token.objects.filter(contract_address=address).update(unindexed=True)
    assert presales.settle_presales(chain) == 1
    assert state(order) == ("mined", "", "", False)
    assert order.token is None

    Token.objects.filter(contract_address=address).update(unindexed=False)
    assert presales.settle_presales(chain) == 1
    assert state(order) == ("indexed", "", address, False)


def test_a_token_of_another_sender_with_the_same_id_is_none_of_it(chain, contracts):
    order, _ = start(chain, contracts)
    buy(contracts, order, value=2 * ETHER)
    (address,) = index_transaction(chain_id=CHAIN_ID, tx_hash=end(contracts, order))
    Token.objects.filter(contract_address=address).update(msg_sender=STRANGER)
    assert presales.settle_presales(chain) == 0
    Token.objects.filter(contract_address=address).update(msg_sender=contracts.presale, chain_id=8453)
    assert presales.settle_presales(chain) == 0
    assert state(order)[0] == "mined"


def test_an_order_fails_with_a_sale_that_ended_below_its_goal(chain, contracts):
    order, _ = start(chain, contracts)
    buy(contracts, order, value=ETHER - 1)
    let_pass(contracts, HOUR + 1)

    assert presales.settle_presales(chain) == 1
    assert state(order) == ("failed", "the presale has failed: it ended below its minEthGoal", "", False)
    assert presales.settle_presales(chain) == 0
    let_pass(contracts, 3 * DAY + 1)
    assert presales.settle_presales(chain) == 1
    assert state(order)[3]


def test_an_order_fails_with_a_sale_whose_token_was_not_launched(chain, contracts):
    order, _ = start(chain, contracts)
    buy(contracts, order, value=2 * ETHER)
    # The purchase came up to a minute after the start, from which the sale's hour counts.
    let_pass(contracts, HOUR + 3 * DAY - MINUTE)
    assert presales.settle_presales(chain) == 0
    let_pass(contracts, MINUTE + 1)

    assert presales.settle_presales(chain) == 1
    assert state(order) == ("failed", "the presale has failed: its token was not launched in time", "", True)


def test_a_failure_that_was_dropped_is_undone(chain, contracts):
    order, _ = start(chain, contracts)
    buy(contracts, order, value=ETHER)
    # As a reorganisation leaves it: another block holds the purchase.
    models.Deployment.objects.filter(pk=order.pk).update(status=DeploymentStatus.FAILED, error="below")
    let_pass(contracts, HOUR + 1)

    assert presales.settle_presales(chain) == 1
    assert state(order) == ("mined", "", "", False)


def test_a_sale_that_is_unknown_to_the_node_changes_nothing(chain, contracts):
    order, _ = start(chain, contracts)
    models.Deployment.objects.filter(pk=order.pk).update(presale_id=10**6)
    let_pass(contracts, HOUR + 1)
    assert presales.settle_presales(chain) == 0
    assert state(order)[0] == "mined"


def test_the_chain_is_not_queried_while_there_is_no_sale(contracts, settings, forget_chains):
    # No server listens there.
    settings.RPC_URLS = {CHAIN_ID: ("http://127.0.0.1:9",)}
    forget_chains()
    DeploymentFactory(chain_id=CHAIN_ID, status=DeploymentStatus.MINED)
    assert presales.settle_presales(installed_chain(CHAIN_ID)) == 0
