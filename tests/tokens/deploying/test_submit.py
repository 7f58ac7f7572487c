"""Submission of a queued deployment: signed once, with a nonce of its own, and stored before it is sent."""

import logging
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from eth_account import Account
from eth_account.typed_transactions import TypedTransaction
from hexbytes import HexBytes

from development.devchain.anvil import CHAIN_ID
from development.devchain.launch_transactions import DevLaunchConfig, LaunchPurchase
from tests.nodes.remote_signer import refusal, remote_signer
from tests.processes.at_once import blocked_sessions, own_connection
from tests.processes.waiting import wait_for
from tests.rows.deploying import KEYS, SECOND, THIRD, WALLET, attempts, long_ago, row, secret_of, versions, wallet
from tokens.deploying import tasks
from tokens.deploying.enqueueing import enqueue_deployment
from tokens.deploying.sending.state_transitions import NotRetryableError, retry_failed
from tokens.deploying.sending.submit import (
    BATCH,
    SubmissionDeferredError,
    chains_with_unsent,
    submit_deployment,
    submit_unsent,
)
from tokens.indexing.tasks import enqueue_index_request
from tokens.installation.installed_signers import installed_signers
from tokens.models import Deployment, DeploySwitch, DeployWallet, SignedTransaction

pytestmark = pytest.mark.django_db

ETHER = 10**18


@pytest.fixture
def signer(ground, settings):
    """Use a remote signer for the wallets' keys."""
    with remote_signer(*KEYS.values()) as there:
        settings.DEPLOYER_KEYS, settings.DEPLOYER_REMOTE = {}, {CHAIN_ID: (WALLET,)}
        settings.DEPLOYER_SIGNER_URL = there.url
        installed_signers.cache_clear()
        yield there


def refused_with(order, words):
    with pytest.raises(SubmissionDeferredError) as caught:
        submit_deployment(order.pk)
    assert str(caught.value) == words
    assert (row(order).status, row(order).error, row(order).attempts) == ("enqueued", words, 0)
    assert not attempts() and not SignedTransaction.objects.exists()
    return caught.value


def test_it_signs_nothing_while_operators_have_paused_the_chain(ground):
    order = ground.order()
    DeploySwitch.objects.create(chain_id=CHAIN_ID, paused=True)
    assert refused_with(order, "waiting: deployments on this chain are paused").chain_wide


@pytest.mark.parametrize("missing", [{"enabled": False}, {"signable": False}])
def test_it_signs_nothing_without_a_wallet(ground, missing):
    order = ground.order()
    DeployWallet.objects.update(**missing)
    assert refused_with(order, "waiting: the service can't send transactions on this chain now").chain_wide


def test_it_signs_nothing_while_no_node_answers(ground, settings, forget_chains, unused_port):
    order = ground.order()
    settings.RPC_URLS, settings.RPC_ATTEMPTS = {CHAIN_ID: (f"http://127.0.0.1:{unused_port}",)}, 1
    forget_chains()
    assert refused_with(order, "waiting: the chain can't be reached now").chain_wide


def test_it_signs_nothing_above_the_cap_and_goes_on_by_itself(ground, settings):
    order = ground.order()
    settings.DEPLOY_MAX_FEES_GWEI = {CHAIN_ID: Decimal("0.001")}
    refused_with(order, "waiting: the chain's fees are higher than the service pays")
    assert wallet().alerts == {"fees": "the chain wants more for a gas than the cap of 0.001 gwei"}
    settings.DEPLOY_MAX_FEES_GWEI = {}
    long_ago(row(order))
    assert submit_unsent(CHAIN_ID) == 1
    assert (row(order).status, row(order).error, wallet().alerts) == ("submitted", "", {})


def test_a_wallet_that_can_not_pay_is_not_used_until_it_can(ground):
    expensive = DevLaunchConfig(own_buy=LaunchPurchase(recipient=WALLET, value=ETHER))
    order, another, cheap = ground.order(config=expensive), ground.order(config=expensive), ground.order()
    ground.rpc("anvil_setBalance", WALLET, hex(ETHER))
    error = refused_with(order, "waiting: the service can't pay for it on this chain now")
    # A smaller one may be sent.
    assert not error.chain_wide
    assert wallet().alerts["sending"].startswith("it lacks ")
    ground.rpc("anvil_setBalance", WALLET, hex(2 * ETHER))
    assert submit_deployment(order.pk)
    # A second one is too much: the first is not mined, and may still cost its maximum.
    with pytest.raises(SubmissionDeferredError, match="pay"):
        submit_deployment(another.pk)
    assert submit_deployment(cheap.pk)


def test_a_signer_that_is_away_leaves_nothing_behind(ground, signer, settings):
    signer.status = 503
    order = ground.order()
    refused_with(order, "waiting: the service can't send transactions on this chain now")
    assert wallet().next_nonce == 0
    assert (
        wallet().alerts["signer"].startswith("the signer is not available")
        and signer.url not in wallet().alerts["signer"]
    )
    signer.status = 200
    assert submit_deployment(order.pk)
    assert wallet().alerts == {}


def test_a_signer_that_refuses_one_wallet_is_called_for_another(ground, signer, settings, use_wallets):
    settings.DEPLOYER_REMOTE = {CHAIN_ID: (WALLET, SECOND)}
    installed_signers.cache_clear()
    DeployWallet.objects.create(chain_id=CHAIN_ID, address=SECOND, signable=True)
    signer.change = lambda requested, answer: refusal("not today") if requested["from"] == WALLET else answer
    # Every eighth deployment goes to a wallet in trouble.
    ground.submitted(id=1)
    ground.submitted(id=2)
    assert attempts() == [(SECOND, 0, "open"), (SECOND, 1, "open")]
    assert "not today" in wallet().alerts["signer"]
    # A wallet in trouble is tried last.
    assert Counter(requested["from"] for requested in signer.received) == {WALLET: 1, SECOND: 2}


def test_a_wallet_in_trouble_gets_a_chance_now_and_then(ground, use_wallets):
    use_wallets([WALLET, SECOND])
    DeployWallet.objects.filter(address=WALLET).update(alerts={"signer": "it was away"})
    for number in range(1, 9):
        ground.submitted(pk=8000 + number)
    assert Counter(address for address, _, _ in attempts()) == {SECOND: 7, WALLET: 1}
    assert wallet().alerts == {}


def test_it_stores_exactly_what_the_node_gets(ground, caplog):
    with caplog.at_level(logging.INFO):
        order = ground.submitted()
    (version,) = versions(order)
    assert (order.status, order.attempts, order.tx_hash, order.error) == ("submitted", 1, version.tx_hash, "")
    assert ground.pending() == [version.tx_hash]
    raw = bytes(version.raw)
    assert Account.recover_transaction(raw) == WALLET
    sent = TypedTransaction.from_bytes(HexBytes(raw)).as_dict()
    assert (sent["nonce"], sent["gas"], sent["value"]) == (0, order.gas, order.value)
    assert (sent["maxFeePerGas"], sent["maxPriorityFeePerGas"]) == (version.max_fee, version.priority_fee)
    assert (version.sent_at is not None, version.error_code, version.error) == (True, "", "")
    assert f"chain {CHAIN_ID}: signed {order.request_key} with nonce 0 of {WALLET}: {version.tx_hash}" in caplog.text
    assert KEYS[WALLET] not in caplog.text and raw.hex() not in caplog.text


def test_a_deployment_that_is_not_queued_is_not_submitted(ground):
    order = ground.submitted()
    assert not submit_deployment(order.pk)
    assert not submit_deployment(0)
    assert len(versions(order)) == 1


def test_a_nonce_comes_from_the_chain_where_that_is_further(ground):
    ground.rpc("anvil_setNonce", WALLET, hex(7))
    ground.submitted()
    ground.submitted()
    assert attempts() == [(WALLET, 7, "open"), (WALLET, 8, "open")]


def test_a_nonce_comes_from_the_rows_where_the_wallet_s_is_older(ground):
    ground.submitted()
    DeployWallet.objects.update(next_nonce=0)
    ground.submitted()
    assert attempts() == [(WALLET, 0, "open"), (WALLET, 1, "open")]


def test_what_waited_for_long_is_simulated_before_it_is_signed(ground):
    order = ground.doomed()
    long_ago(order)
    assert not submit_deployment(order.pk)
    assert (row(order).status, attempts()) == ("failed", [])
    assert row(order).error


def test_what_is_there_already_is_not_launched_again(ground):
    order = ground.order()
    node_sent = ground.launch_outside(order, sender=WALLET)
    ground.mine()
    long_ago(order)
    assert not submit_deployment(order.pk)
    assert (row(order).status, row(order).tx_hash, attempts()) == ("mined", "", [])
    ground.watch()
    ground.confirm()
    assert (row(order).status, row(order).tx_hash) == ("indexed", node_sent)
    assert row(order).token.contract_address == order.expected_address


def test_what_a_stranger_launched_at_the_address_is_not_ours(ground):
    order = ground.order()
    node_sent = ground.launch_outside(order, sender=THIRD)
    ground.mine()
    long_ago(order)
    submit_deployment(order.pk)
    ground.confirm()
    assert row(order).status == "failed"
    assert row(order).error == f"another account launched at its address, with {node_sent}"


def test_the_sweeper_leaves_fresh_orders_to_their_messages(ground):
    order = ground.order()
    assert submit_unsent(CHAIN_ID) == 0
    long_ago(order)
    assert chains_with_unsent() == [CHAIN_ID]
    assert submit_unsent(CHAIN_ID) == 1
    assert chains_with_unsent() == []


def test_the_sweeper_comes_to_what_can_be_paid_for_however_much_can_not(ground):
    expensive = DevLaunchConfig(own_buy=LaunchPurchase(recipient=WALLET, value=ETHER))
    first, last = ground.order(config=expensive), ground.order()
    many = [Deployment(**copied(first, request_key=f"{number:032}")) for number in range(BATCH)]
    Deployment.objects.bulk_create(many)
    Deployment.objects.filter(pk=last.pk).update(id=many[-1].pk + 1)
    ground.rpc("anvil_setBalance", WALLET, hex(ETHER))
    Deployment.objects.update(updated_at=first.updated_at.replace(year=2020))
    assert submit_unsent(CHAIN_ID) == 1
    assert attempts() == [(WALLET, 0, "open")]


def copied(order, **changes):
    """Return the values of a deployment's columns, for another row."""
    names = [field.attname for field in order._meta.concrete_fields if not field.primary_key]
    return {name: getattr(order, name) for name in names} | changes


def test_the_sweeper_passes_over_an_order_that_the_signer_refuses(ground, signer):
    signer.change = lambda requested, answer: refusal("too much") if int(requested["value"], 16) else answer
    expensive = ground.order(config=DevLaunchConfig(own_buy=LaunchPurchase(recipient=WALLET, value=ETHER)))
    cheap = ground.order()
    long_ago(expensive, cheap)
    assert submit_unsent(CHAIN_ID) == 1
    assert (row(expensive).status, row(cheap).status) == ("enqueued", "submitted")


def test_what_waited_for_long_is_tried_by_a_wallet_that_has_its_value(ground, use_wallets):
    use_wallets([WALLET, SECOND])
    order = ground.order(config=DevLaunchConfig(own_buy=LaunchPurchase(recipient=WALLET, value=ETHER)))
    ground.rpc("anvil_setBalance", WALLET, hex(ETHER // 2))
    long_ago(order)
    assert submit_deployment(order.pk)
    assert attempts() == [(SECOND, 0, "open")]


def test_a_failed_order_is_tried_again_under_its_key(ground):
    order = ground.order(status="failed", error="out of luck", tx_hash="0x01")
    retry_failed(order.pk)
    assert (row(order).status, row(order).error, row(order).tx_hash) == ("enqueued", "", "")
    assert submit_deployment(order.pk)
    with pytest.raises(NotRetryableError):
        retry_failed(order.pk)


@pytest.mark.parametrize(
    ("changes", "words"), [({"presale_id": 1}, "took place"), ({"status": "submitted"}, "failed"), ({}, None)]
)
def test_a_presale_is_not_started_twice(ground, changes, words):
    order = ground.submitted()
    Deployment.objects.update(status="failed", config={"presale": {"presaleDuration": 60}})
    Deployment.objects.update(**changes)
    with pytest.raises(NotRetryableError, match=words or "twice"):
        retry_failed(order.pk)


def test_no_backlog_holds_up_another_queue(queue):
    for number in range(5):
        enqueue_index_request(CHAIN_ID, f"0x{number}")
        enqueue_deployment(number)
    tasks.watch_chain.apply_async((CHAIN_ID,))
    taken = []
    with tasks.app.connection_for_read() as broker, tasks.app.amqp.TaskConsumer(broker) as consumer:
        consumer.qos(prefetch_count=1)
        consumer.register_callback(lambda body, message: (taken.append(message.headers["task"]), message.ack()))
        for _ in range(3):
            broker.drain_events(timeout=5)
    assert set(taken) == {f"tokens.tasks.{name}" for name in ("index_transaction", "submit_deployment", "watch_chain")}


def at_once(number, ids):
    """Submit these deployments in so many threads."""
    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(own_connection(submit_deployment), ids))


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_with_one_order_one_signs_it(ground):
    order = ground.order()
    assert sorted(at_once(4, [order.pk] * 4)) == [False, False, False, True]
    assert (attempts(), len(versions(order))) == ([(WALLET, 0, "open")], 1)


@pytest.mark.django_db(transaction=True)
def test_orders_of_one_wallet_take_turns(ground):
    orders = [ground.order() for _ in range(4)]
    assert all(at_once(4, [order.pk for order in orders]))
    assert sorted(attempts()) == [(WALLET, nonce, "open") for nonce in range(4)]


@pytest.mark.django_db(transaction=True)
def test_orders_spread_over_wallets(ground, use_wallets):
    use_wallets([WALLET, SECOND, THIRD])
    orders = [ground.order() for _ in range(8)]
    assert all(at_once(4, [order.pk for order in orders]))
    held = Counter(address for address, _, _ in attempts())
    assert sum(held.values()) == 8 and set(held) == {WALLET, SECOND, THIRD}
    for address, number in held.items():
        assert sorted(nonce for who, nonce, _ in attempts() if who == address) == list(range(number))


@pytest.mark.django_db(transaction=True)
def test_a_wallet_that_waits_for_its_signer_holds_up_no_other(ground, signer, settings):
    first, second = ground.order(), ground.order()
    signer.hold()
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(at_once, 1, [first.pk])
        wait_for(lambda: signer.waiting)
        DeployWallet.objects.create(chain_id=CHAIN_ID, address=SECOND, signable=True)
        settings.DEPLOYER_KEYS = {CHAIN_ID: (secret_of(SECOND),)}
        installed_signers.cache_clear()
        assert submit_deployment(second.pk)
        signer.release()
        assert slow.result() == [True]
    assert sorted(attempts()) == sorted([(WALLET, 0, "open"), (SECOND, 0, "open")])


@pytest.mark.django_db(transaction=True)
def test_an_order_waits_for_the_only_wallet(ground, signer):
    orders = [ground.order(), ground.order()]
    signer.hold()
    with ThreadPoolExecutor(1) as pool:
        both = pool.submit(at_once, 2, [order.pk for order in orders])
        wait_for(lambda: signer.waiting)
        wait_for(blocked_sessions)
        signer.release()
        assert both.result() == [True, True]
    assert sorted(attempts()) == [(WALLET, 0, "open"), (WALLET, 1, "open")]
