"""Deployments in flight, until the token is listed and the block final: mined, reverted, lost, dropped, found again."""

import pytest

from config.postgresql.advisory_locks import LockHeldError, session_lock
from development.devchain.anvil import CHAIN_ID
from tests.nodes.relay import relay
from tests.rows.deploying import SECOND, WALLET, attempts, long_ago, row, unsent, versions
from tests.rows.factories import DeploymentFactory
from tokens.deploying import tasks
from tokens.deploying.sending import watch
from tokens.deploying.sending.submit import submit_deployment
from tokens.indexing import unwinding
from tokens.indexing.chain_lock import ChainLockPurpose, chain_lock_key
from tokens.indexing.tasks import index_transaction
from tokens.models import DeployAttempt, Deployment, IndexRequest, Token

pytestmark = pytest.mark.django_db


def attempt():
    return DeployAttempt.objects.get()


def decided(order):
    return {(one.nonce, one.state) for one in DeployAttempt.objects.filter(deployment=order)}


def test_it_takes_turns(ground):
    ground.submitted()
    with session_lock(chain_lock_key(ChainLockPurpose.DEPLOYING, CHAIN_ID)), pytest.raises(LockHeldError):
        ground.watch()


def test_it_changes_nothing_before_a_block_comes(ground):
    order = ground.submitted()
    assert ground.watch() == []
    assert (row(order).status, attempts()) == ("submitted", [(WALLET, 0, "open")])


def test_what_is_mined_is_listed_at_once_and_then_final(ground):
    order = ground.submitted()
    ground.mine()
    ground.watch()
    token = Token.objects.get()
    (version,) = versions(order)
    assert (row(order).status, row(order).token, row(order).tx_hash) == ("indexed", token, version.tx_hash)
    assert (token.contract_address, token.tx_hash) == (order.expected_address, version.tx_hash)
    assert IndexRequest.objects.get().status == "indexed"
    mined = attempt()
    assert (mined.state, mined.block_number, mined.block_hash) == ("mined", token.block_number, token.block_hash)
    assert 0 < mined.gas_used <= order.gas and 0 < mined.gas_price <= version.max_fee
    ground.confirm()
    assert row(order).final_at is None
    ground.mine(30)
    ground.confirm()
    assert row(order).final_at and attempt().final_at
    assert (watch.chains_in_flight(), watch.chains_with_unsettled()) == ([], [])


def test_a_token_that_the_follower_listed_first_is_taken_as_it_is(ground):
    order = ground.submitted()
    ground.mine()
    index_transaction(CHAIN_ID, order.tx_hash)
    IndexRequest.objects.create(chain_id=CHAIN_ID, tx_hash=order.tx_hash, due_at=order.created_at)
    index_transaction(CHAIN_ID, order.tx_hash)
    IndexRequest.objects.all().delete()
    ground.watch()
    assert (row(order).status, IndexRequest.objects.count()) == ("indexed", 0)


def test_several_orders_are_settled_in_one_go(ground):
    orders = [ground.submitted() for _ in range(3)]
    ground.mine()
    ground.watch()
    assert {row(order).status for order in orders} == {"indexed"}
    assert {row(order).token.contract_address for order in orders} == {order.expected_address for order in orders}


def test_bytes_that_were_stored_and_never_sent_are_sent(ground):
    order = ground.submitted()
    ground.drop_all()
    (version,) = versions(order)
    unsent(version)
    ground.watch()
    assert ground.pending() == [version.tx_hash]


def test_what_nodes_forgot_is_sent_again_after_some_seconds(ground):
    order = ground.submitted()
    ground.drop_all()
    ground.watch()
    assert ground.pending() == []
    (version,) = versions(order)
    long_ago(version, seconds=6)
    ground.watch()
    assert ground.pending() == [version.tx_hash]


def test_a_reverted_one_fails_with_its_reason_and_what_it_cost(ground):
    order = ground.doomed()
    submit_deployment(order.pk)
    ground.mine()
    ground.watch()
    failed = attempt()
    assert (row(order).status, failed.state) == ("failed", "reverted")
    assert row(order).error == f"the transaction was reverted: {failed.reason}"
    assert "OnlyOriginatingChain" in failed.reason
    assert failed.gas_used > 0 and failed.gas_price > 0
    ground.mine(30)
    ground.confirm()
    assert row(order).final_at


def test_a_reverted_one_whose_token_is_there_by_an_earlier_version_is_indexed(ground):
    order = ground.submitted()
    ground.drop_all()
    # As if an older backup had been restored: the wallet sent it already, and no row has it.
    launched = ground.launch_outside(order, sender=SECOND)
    ground.mine()
    unsent(*versions(order))
    ground.own(SECOND)
    ground.watch()
    ground.mine()
    ground.watch()
    assert decided(order) == {(0, "reverted")}
    ground.confirm()
    assert (row(order).status, row(order).tx_hash) == ("indexed", launched)
    assert Token.objects.get().tx_hash == launched


def test_a_nonce_that_another_sender_used_is_replaced_by_a_new_one(ground):
    order = ground.submitted()
    ground.drop_all()
    ground.send_outside(0)
    ground.mine()
    ground.watch()
    ground.watch()
    assert attempt().missing_since and attempt().state == "open"
    long_ago(attempt(), seconds=11)
    assert ground.watch() == [order.pk]
    assert (row(order).status, row(order).error, decided(order)) == ("enqueued", "", {(0, "lost")})
    assert submit_deployment(order.pk)
    ground.mine()
    ground.watch()
    assert (row(order).status, row(order).attempts) == ("indexed", 2)
    assert decided(order) == {(0, "lost"), (1, "mined")}


def test_a_receipt_that_comes_late_is_not_lost(ground):
    order = ground.submitted()
    ground.mine()
    DeployAttempt.objects.update(missing_since=order.created_at)
    ground.watch()
    assert (row(order).status, attempt().missing_since) == ("indexed", None)


def test_what_was_missing_is_forgotten_where_the_nonce_is_free_again(ground):
    order = ground.submitted()
    DeployAttempt.objects.update(missing_since=order.created_at)
    ground.watch()
    assert (attempt().state, attempt().missing_since) == ("open", None)


def without_receipts(requested, answer):
    """Return the responses of a node that has not reached the block yet."""
    calls, answers = (requested, answer) if isinstance(requested, list) else ([requested], [answer])
    for call, response in zip(calls, answers, strict=True):
        if call["method"] == "eth_getTransactionReceipt":
            response["result"] = None
    return answer


def test_a_receipt_is_requested_from_every_node_before_a_nonce_counts_as_lost(ground, settings, forget_chains):
    order = ground.submitted()
    ground.mine()
    (url,) = settings.RPC_URLS[CHAIN_ID]
    with relay(url, change=without_receipts) as behind:
        settings.RPC_URLS = {CHAIN_ID: (behind, url)}
        forget_chains()
        ground.watch()
        assert attempt().missing_since and row(order).status == "submitted"
        long_ago(attempt(), seconds=11)
        assert ground.watch() == []
    assert (row(order).status, attempt().state) == ("indexed", "mined")


def test_one_that_seemed_lost_and_was_mined_is_found_before_a_second_is_signed(ground):
    order = ground.submitted()
    ground.mine()
    # All nodes were behind when they were queried.
    DeployAttempt.objects.update(state="lost", block_number=1, block_hash=ground.block_hash(1))
    Deployment.objects.update(status="enqueued", tx_hash="")
    assert not submit_deployment(order.pk)
    ground.confirm()
    assert (row(order).status, row(order).tx_hash) == ("indexed", versions(order)[0].tx_hash)
    assert len(versions(order)) == 1


@pytest.mark.parametrize("hidden", [True, False])
@pytest.mark.parametrize("again", [True, False])
def test_a_reorg_puts_it_back_and_sends_the_same_bytes(ground, again, hidden):
    order = ground.submitted()
    ground.mine()
    ground.watch()
    (version,) = versions(order)
    dropped = attempt().block_hash
    ground.reorg(1, *([("0x" + bytes(version.raw).hex(), 0)] if again else []))
    ground.confirm()
    assert (row(order).status, row(order).token, attempt().state) == ("submitted", None, "open")
    if hidden:
        # As the follower or the confirming task does.
        unwinding.unwind_transactions(CHAIN_ID, [order.tx_hash], block_hash=dropped)
    unsent(version)
    ground.watch()
    if not again:
        assert ground.pending() == [version.tx_hash]
        ground.mine()
        ground.watch()
    assert (row(order).status, attempt().state) == ("indexed", "mined")
    assert attempt().block_hash == Token.objects.get().block_hash != dropped
    assert len(versions(order)) == 1


def test_a_reorg_takes_a_failure_back(ground):
    order = ground.doomed()
    submit_deployment(order.pk)
    ground.mine()
    ground.watch()
    ground.reorg(1)
    ground.confirm()
    assert (row(order).status, row(order).error, attempt().state, attempt().reason) == ("submitted", "", "open", "")


def test_a_token_that_was_there_without_any_attempt_and_is_gone_is_launched(ground):
    order = ground.order()
    ground.launch_outside(order, sender=WALLET)
    ground.mine()
    long_ago(order)
    assert not submit_deployment(order.pk)
    assert (row(order).status, attempts()) == ("mined", [])
    ground.reorg(1)
    assert ground.confirm() == [order.pk]
    assert row(order).status == "enqueued"


def test_a_node_that_is_behind_is_not_queried_whether_its_token_is_there(ground, settings, forget_chains):
    order = ground.submitted()
    ground.mine(3)
    number = int(ground.rpc("eth_blockNumber"), 16)
    DeployAttempt.objects.update(state="lost", block_number=number, block_hash=ground.block_hash(number))
    Deployment.objects.update(status="enqueued")

    def behind(requested, answer):
        calls, answers = (requested, answer) if isinstance(requested, list) else ([requested], [answer])
        results = {"eth_getCode": "0x", "eth_blockNumber": hex(number - 1)}
        for call, response in zip(calls, answers, strict=True):
            response["result"] = results.get(call["method"], response.get("result"))
        return answer

    with relay(ground.contracts.rpc_url, change=behind) as late:
        settings.RPC_URLS, settings.RPC_ATTEMPTS = {CHAIN_ID: (late, ground.contracts.rpc_url)}, 1
        forget_chains()
        assert not submit_deployment(order.pk)
    assert (row(order).status, attempts()) == ("mined", [(WALLET, 0, "lost")])


def test_a_lost_one_that_a_reorg_brings_back_goes_on_where_nothing_else_was_signed(ground):
    order = ground.submitted()
    ground.drop_all()
    ground.send_outside(0)
    ground.mine()
    ground.watch()
    long_ago(attempt())
    ground.watch()
    ground.reorg(1)
    ground.confirm()
    assert (row(order).status, decided(order)) == ("submitted", {(0, "open")})
    ground.drop_all()
    unsent(*versions(order))
    ground.watch()
    ground.mine()
    ground.watch()
    assert (row(order).status, row(order).attempts) == ("indexed", 1)


def test_a_lost_one_that_comes_back_beside_a_new_one_is_emptied(ground):
    order = ground.submitted()
    ground.drop_all()
    ground.send_outside(0)
    ground.mine()
    ground.watch()
    long_ago(attempt())
    ground.watch()
    submit_deployment(order.pk)
    ground.reorg(1)
    ground.confirm()
    assert decided(order) == {(0, "open"), (1, "open")}
    ground.drop_all()
    unsent(*versions(order))
    ground.watch()
    ground.watch()
    ground.mine()
    ground.watch()
    assert decided(order) == {(0, "cancelled"), (1, "mined")}
    assert (row(order).status, Token.objects.count()) == ("indexed", 1)


def test_a_lost_one_whose_nonce_is_free_is_in_flight_again_though_its_block_is_there(ground):
    order = ground.submitted()
    ground.submitted()
    # As returned by a node that was behind: the block is older than the foreign transaction.
    DeployAttempt.objects.filter(deployment=order).update(state="lost", block_number=1, block_hash=ground.block_hash(1))
    Deployment.objects.filter(pk=order.pk).update(status="enqueued", tx_hash="")
    ground.watch()
    assert (row(order).status, decided(order)) == ("submitted", {(0, "open")})
    ground.mine()
    ground.watch()
    assert attempts() == [(WALLET, 0, "mined"), (WALLET, 1, "mined")]


def test_what_is_dropped_beyond_finality_is_sent_again_where_others_wait_for_it(ground):
    order = ground.submitted()
    ground.mine()
    ground.watch()
    ground.mine(25)
    ground.confirm()
    assert row(order).final_at
    ground.reorg(26)
    later = ground.submitted()
    assert attempts() == [(WALLET, 0, "mined"), (WALLET, 1, "open")]
    ground.watch()
    assert (row(order).status, row(order).final_at) == ("submitted", None)
    unsent(*versions(order))
    ground.watch()
    ground.mine()
    ground.watch()
    assert (row(later).status, row(order).status) == ("indexed", "indexed")


def test_a_crash_between_a_revert_and_what_follows_is_made_up_for(ground):
    order = ground.doomed()
    submit_deployment(order.pk)
    ground.mine()
    ground.watch()
    Deployment.objects.update(status="submitted", error="")
    assert ground.confirm() == []
    assert row(order).status == "failed" and "reverted" in row(order).error


def test_the_watcher_s_task_goes_on_where_it_can_not(ground, settings, forget_chains, unused_port, queue, caplog):
    ground.submitted()
    settings.RPC_URLS, settings.RPC_ATTEMPTS = {CHAIN_ID: (f"http://127.0.0.1:{unused_port}",)}, 1
    forget_chains()
    tasks.watch_chain(CHAIN_ID)
    tasks.confirm_deployed(CHAIN_ID)
    assert f"can't watch deployments on chain {CHAIN_ID}" in caplog.text
    assert f"can't confirm deployments on chain {CHAIN_ID}" in caplog.text


def test_the_first_chain_in_flight_is_watched_without_another_message(ground, queue):
    order = ground.submitted()
    ground.mine()
    DeploymentFactory(chain_id=CHAIN_ID + 1, status="mined", expected_address=SECOND)
    tasks.watch_deployments()
    assert row(order).status == "indexed"
    assert [(message.task, message.args) for message in queue()] == [("tokens.tasks.watch_chain", [CHAIN_ID + 1])]


def test_looking_at_many_in_flight_takes_as_few_queries_as_at_one(ground, django_assert_max_num_queries):
    for _ in range(5):
        ground.submitted()
    with django_assert_max_num_queries(12):
        ground.watch()
