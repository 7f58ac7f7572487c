"""Replacement of stuck transactions: fee bumps, cancellations, and filled nonce gaps."""

from decimal import Decimal

import pytest

from development.devchain.anvil import CHAIN_ID
from tests.nodes.remote_signer import remote_signer
from tests.rows.deploying import WALLET, attempts, long_ago, row, unsent, versions, wallet
from tokens.chains.transaction_types import FeeQuote
from tokens.deploying.sending.gas import FeeCapExceededError, GasFees, bumped_fees, initial_fees
from tokens.deploying.sending.submit import submit_deployment
from tokens.installation.installed_signers import installed_signers
from tokens.models import DeployAttempt, Deployment, DeploySwitch, DeployWallet, SignedTransaction

pytestmark = pytest.mark.django_db

GWEI = 10**9


@pytest.fixture
def capped(settings):
    settings.DEPLOY_MAX_FEE_GWEI, settings.DEPLOY_MAX_FEES_GWEI = Decimal(10), {}
    return settings


@pytest.mark.parametrize(
    ("base", "tip", "offered"),
    [
        (3 * GWEI, GWEI, (7 * GWEI, GWEI)),
        (5 * GWEI, GWEI, (10 * GWEI, GWEI)),
        (10 * GWEI, GWEI, (10 * GWEI, GWEI)),
        (0, 0, (0, 0)),
        (0, 20 * GWEI, (10 * GWEI, 10 * GWEI)),
    ],
)
def test_a_new_transaction_offers_twice_the_base_fee_up_to_the_cap(capped, base, tip, offered):
    fees = initial_fees(1, FeeQuote(base_fee=base, priority_fee=tip))
    assert (fees.max_fee, fees.priority_fee) == offered


def test_nothing_is_offered_where_the_base_fee_is_above_the_cap(capped):
    with pytest.raises(FeeCapExceededError, match="cap of 10 gwei"):
        initial_fees(1, FeeQuote(base_fee=10 * GWEI + 1, priority_fee=0))
    capped.DEPLOY_MAX_FEES_GWEI = {1: Decimal(11)}
    assert initial_fees(1, FeeQuote(base_fee=10 * GWEI + 1, priority_fee=0)).max_fee == 11 * GWEI


@pytest.mark.parametrize(
    ("before", "quote", "offered"),
    [
        # An eighth, rounded up.
        ((1001, 9), (0, 0), (1127, 11)),
        # As much as a new transaction would offer.
        ((1000, 10), (4000, 500), (8500, 500)),
        # More than nothing.
        ((0, 0), (0, 0), (1, 1)),
        # Up to the cap, if that is an eighth more.
        ((8 * GWEI, GWEI), (9 * GWEI, 0), (10 * GWEI, GWEI * 9 // 8)),
        ((8 * GWEI, 8 * GWEI), (0, 0), (9 * GWEI, 9 * GWEI)),
        # A tip is at most the maximum fee.
        ((1000, 10), (0, 20 * GWEI), (10 * GWEI, 10 * GWEI)),
    ],
)
def test_a_replacement_pays_an_eighth_more_of_both(capped, before, quote, offered):
    over, now = GasFees(max_fee=before[0], priority_fee=before[1]), FeeQuote(base_fee=quote[0], priority_fee=quote[1])
    fees = bumped_fees(1, now, over=over)
    assert (fees.max_fee, fees.priority_fee) == offered
    assert fees.max_fee * 8 >= over.max_fee * 9 and fees.priority_fee * 8 >= over.priority_fee * 9


def test_a_replacement_above_the_cap_is_none(capped):
    with pytest.raises(FeeCapExceededError):
        bumped_fees(1, FeeQuote(base_fee=0, priority_fee=0), over=GasFees(max_fee=9 * GWEI, priority_fee=1))


def stick(ground, order):
    """Have a block come without the transaction that was sent long ago."""
    base = versions(order)[-1].max_fee * 3 // 2
    long_ago(*versions(order), seconds=16)
    ground.set_base_fee(base)


def test_what_no_block_takes_is_replaced_with_its_nonce(ground):
    order = ground.submitted()
    (first,) = versions(order)
    stick(ground, order)
    ground.watch()
    _, second = versions(order)
    assert second.max_fee * 8 >= first.max_fee * 9 and second.priority_fee * 8 >= first.priority_fee * 9
    assert (row(order).tx_hash, attempts()) == (second.tx_hash, [(WALLET, 0, "open")])
    assert ground.pending() == [second.tx_hash]
    ground.mine()
    ground.watch()
    assert (row(order).status, row(order).tx_hash, row(order).attempts) == ("indexed", second.tx_hash, 1)


def test_whichever_version_is_mined_counts(ground):
    order = ground.submitted()
    stick(ground, order)
    ground.watch()
    first, second = versions(order)
    ground.set_base_fee(10**9)
    ground.rpc("eth_sendRawTransaction", "0x" + bytes(first.raw).hex())
    ground.mine()
    ground.watch()
    assert (row(order).status, row(order).tx_hash) == ("indexed", first.tx_hash)


def test_it_is_replaced_again_and_again_up_to_the_cap(ground, settings):
    order = ground.submitted()
    for number in range(2, 5):
        stick(ground, order)
        ground.watch()
        assert len(versions(order)) == number
    settings.DEPLOY_MAX_FEES_GWEI = {CHAIN_ID: Decimal(versions(order)[-1].max_fee) / GWEI}
    stick(ground, order)
    unsent(*versions(order))
    ground.watch()
    # It is only sent again.
    assert len(versions(order)) == 4 and versions(order)[-1].sent_at
    assert wallet().alerts["fees"].startswith("nonce 0 waits: ")
    assert row(order).status == "submitted"


def test_nothing_is_replaced_before_its_time(ground):
    order = ground.submitted()
    long_ago(*versions(order), seconds=14)
    ground.set_base_fee(versions(order)[0].max_fee * 2)
    ground.watch()
    assert len(versions(order)) == 1


def test_nothing_is_replaced_while_the_chain_makes_no_blocks(ground, settings):
    settings.DEPLOY_STUCK_SECONDS = 0
    order = ground.submitted()
    newest = int(ground.rpc("eth_getBlockByNumber", "latest", False)["timestamp"], 16)
    SignedTransaction.objects.update(signed_at=ground.time(newest + 1))
    ground.watch()
    assert len(versions(order)) == 1
    stick(ground, order)
    ground.watch()
    assert len(versions(order)) == 2


def test_a_transaction_new_at_the_head_of_the_queue_has_time(ground):
    first, second = ground.submitted(), ground.submitted()
    long_ago(*versions(second))
    ground.drop_all()
    unsent(*versions(first))
    ground.rpc("eth_sendRawTransaction", "0x" + bytes(versions(first)[0].raw).hex())
    ground.mine()
    ground.watch()
    assert (row(first).status, len(versions(second))) == ("indexed", 1)


def test_a_transaction_behind_the_head_is_not_replaced(ground):
    _, second = ground.submitted(), ground.submitted()
    long_ago(*versions(second))
    ground.set_base_fee(10**11)
    ground.watch()
    assert len(versions(second)) == 1


def test_those_behind_one_that_is_stuck_are_replaced_with_it_where_they_offer_too_little(ground):
    orders = [ground.submitted() for _ in range(3)]
    enough = versions(orders[2])[-1].max_fee * 3
    SignedTransaction.objects.filter(attempt__deployment=orders[2]).update(max_fee=enough)
    stick(ground, orders[0])
    ground.watch()
    assert [len(versions(order)) for order in orders] == [2, 2, 1]
    ground.mine()
    ground.watch()
    assert [row(order).status for order in orders[:2]] == ["indexed", "indexed"]


def test_a_signer_that_is_away_is_called_once_for_a_nonce_queue(ground, settings):
    orders = [ground.submitted() for _ in range(3)]
    Deployment.objects.update(status="failed")
    with remote_signer() as there:
        settings.DEPLOYER_KEYS, settings.DEPLOYER_REMOTE = {}, {CHAIN_ID: (WALLET,)}
        settings.DEPLOYER_SIGNER_URL = there.url
        there.status = 503
        installed_signers.cache_clear()
        ground.watch()
        assert len(there.received) == 1
    assert [len(versions(order)) for order in orders] == [1, 1, 1]


def test_what_a_wallet_can_pay_for_is_sent_where_its_replacement_is_too_expensive(ground):
    order = ground.submitted()
    (first,) = versions(order)
    ground.rpc("anvil_setBalance", WALLET, hex(order.gas * first.max_fee))
    stick(ground, order)
    ground.watch()
    assert versions(order)[1].error_code == "insufficient_funds"
    ground.set_base_fee(10**8)
    ground.watch()
    ground.mine()
    ground.watch()
    assert (row(order).status, row(order).tx_hash) == ("indexed", first.tx_hash)


def test_gaps_without_end_are_filled_from_the_front(ground):
    ground.submitted()
    DeployAttempt.objects.update(nonce=2**62)
    ground.watch()
    assert sorted(nonce for _, nonce, _ in attempts()) == [*range(16), 2**62]


def test_what_is_in_flight_is_replaced_while_the_chain_is_paused(ground):
    order = ground.submitted()
    DeploySwitch.objects.create(chain_id=CHAIN_ID, paused=True)
    stick(ground, order)
    ground.watch()
    assert len(versions(order)) == 2


def test_a_signer_that_is_away_holds_up_no_sending(ground, settings):
    order = ground.submitted()
    with remote_signer() as there:
        settings.DEPLOYER_KEYS, settings.DEPLOYER_REMOTE = {}, {CHAIN_ID: (WALLET,)}
        settings.DEPLOYER_SIGNER_URL = there.url
        there.status = 503
        installed_signers.cache_clear()
        stick(ground, order)
        unsent(*versions(order))
        ground.watch()
    assert len(versions(order)) == 1 and versions(order)[0].sent_at
    assert wallet().alerts["signer"].startswith("")


def test_a_transaction_of_another_sender_with_the_nonce_is_outbid_once_it_is_stuck(ground):
    ground.send_outside(0, gas_price=30 * GWEI)
    order = ground.submitted()
    assert versions(order)[0].error_code == "underpriced" and "nonce 0" in wallet().alerts["sending"]
    long_ago(*versions(order), seconds=16)
    ground.rpc("anvil_setNextBlockBaseFeePerGas", hex(40 * GWEI))
    ground.mine()
    ground.watch()
    assert len(versions(order)) == 2


def test_what_nodes_refuse_for_good_fails_and_its_nonce_is_filled(ground):
    # More gas than any block holds.
    order, later = ground.order(gas=2**40), ground.order()
    assert submit_deployment(order.pk)
    assert row(order).status == "failed" and "reject the transaction" in row(order).error
    assert submit_deployment(later.pk)
    ground.watch()
    deploy, empty = versions(order)
    assert (deploy.purpose, empty.purpose) == ("deploy", "cancel")
    ground.mine()
    ground.watch()
    assert attempts() == [(WALLET, 0, "cancelled"), (WALLET, 1, "mined")]
    assert (row(order).status, row(later).status) == ("failed", "indexed")


def test_a_gap_is_filled(ground):
    order = ground.submitted()
    # As if no node had ever received the transactions before it.
    DeployAttempt.objects.update(nonce=2)
    SignedTransaction.objects.all().delete()
    ground.drop_all()
    Deployment.objects.update(status="failed")
    ground.watch()
    ground.mine()
    ground.watch()
    assert sorted(attempts()) == [(WALLET, nonce, "cancelled") for nonce in range(3)]
    assert DeployAttempt.objects.filter(deployment__isnull=True).count() == 2
    assert wallet().next_nonce == 1
    assert order.pk


def test_a_wallet_that_is_switched_off_is_tended(ground):
    order = ground.submitted()
    DeployWallet.objects.update(enabled=False)
    stick(ground, order)
    ground.watch()
    ground.mine()
    ground.watch()
    assert row(order).status == "indexed"


def test_an_empty_transaction_that_is_stuck_is_replaced_by_an_empty_one(ground):
    order = ground.submitted()
    Deployment.objects.update(status="failed")
    ground.watch()
    stick(ground, order)
    ground.watch()
    assert [version.purpose for version in versions(order)] == ["deploy", "cancel", "cancel"]
    ground.mine()
    ground.watch()
    assert attempts() == [(WALLET, 0, "cancelled")]
