"""The admin pages of deployments and wallets, and the dashboard's panel about deployments."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone
from django_otp import DEVICE_ID_SESSION_KEY
from django_otp.plugins.otp_totp.models import TOTPDevice

from tests.accounts.test_second_factor import code_of, wrong_code_of
from tests.config.operators.admin_pages import figures, messages, page_of, panels, shown
from tests.rows.airdrop_entries import sample_entries
from tests.rows.factories import (
    DeployAttemptFactory,
    DeploymentFactory,
    DeployWalletFactory,
    PartnerKeyFactory,
    SignedTransactionFactory,
    TokenFactory,
)
from tokens.chains.launching.merkle import build_tree
from tokens.deploying import airdrop_proofs
from tokens.models import (
    DeployAttempt,
    Deployment,
    DeploymentStatus,
    DeployQuota,
    DeploySwitch,
    DeployWallet,
    SpendingLimit,
)

pytestmark = pytest.mark.django_db

DEPLOYMENTS, WALLETS, SWITCHES, QUOTAS, SPENDING = (
    reverse(f"admin:tokens_{name}_changelist")
    for name in ("deployment", "deploywallet", "deployswitch", "deployquota", "spendinglimit")
)
KEY = "k" * 32


def test_deployments_cannot_be_added_changed_or_deleted_by_hand(operator):
    deployment = DeployAttemptFactory().deployment
    before, attempt = Deployment.objects.values().get(), DeployAttempt.objects.values().get()
    assert operator.get(f"{DEPLOYMENTS}add/").status_code == 403
    operator.post(page_of(deployment), {"status": "failed", "tries-0-state": "mined", "tries-TOTAL_FORMS": 1})
    assert operator.post(f"{DEPLOYMENTS}{deployment.pk}/delete/", {"post": "yes"}).status_code == 403
    operator.post(DEPLOYMENTS, {"action": "delete_selected", "_selected_action": [deployment.pk], "post": "yes"})
    assert (Deployment.objects.values().get(), DeployAttempt.objects.values().get()) == (before, attempt)


def test_support_sees_all_of_it_and_changes_nothing(support):
    failed = DeploymentFactory(status=DeploymentStatus.FAILED)
    attempt = DeployAttemptFactory()
    switch = DeploySwitch.objects.create(chain_id=8453, paused=True)
    quota = DeployQuota.objects.create(partner_key=failed.partner_key, chain_id=8453, per_day=5)
    for address, row in zip(
        (DEPLOYMENTS, WALLETS, SWITCHES, QUOTAS), (failed, attempt.wallet, switch, quota), strict=True
    ):
        assert support.get(address).status_code == 200
        assert support.get(page_of(row)).status_code == 200
        assert support.post(page_of(row), {"paused": "", "per_day": 9}).status_code == 403
    support.post(DEPLOYMENTS, {"action": "retry", "_selected_action": [failed.pk]})
    support.post(WALLETS, {"action": "disable", "_selected_action": [attempt.wallet.pk]})
    assert support.post(f"{DEPLOYMENTS}{failed.pk}/retry/").status_code == 403
    assert "Try again" not in support.get(page_of(failed)).text
    assert support.get(f"{SWITCHES}add/").status_code == support.get(f"{QUOTAS}add/").status_code == 403
    assert Deployment.objects.get(pk=failed.pk).status == DeploymentStatus.FAILED
    assert DeployWallet.objects.get().enabled
    assert (DeploySwitch.objects.get().paused, DeployQuota.objects.get().per_day) == (True, 5)
    assert not LogEntry.objects.exists()


def test_deployments_are_found_by_key_address_and_any_versions_hash(operator):
    first, own = DeploymentFactory(), DeploymentFactory(partner_key=None, request_key=KEY)
    DeploymentFactory()
    version = SignedTransactionFactory(attempt__deployment=first)
    SignedTransactionFactory(attempt=version.attempt)
    assert shown(operator, DEPLOYMENTS, q=first.request_key) == [first.pk]
    assert shown(operator, DEPLOYMENTS, q=KEY) == [own.pk]
    assert shown(operator, DEPLOYMENTS, q=first.expected_address.lower()) == [first.pk]
    assert shown(operator, DEPLOYMENTS, q=version.tx_hash.upper().replace("0X", "0x")) == [first.pk]
    assert shown(operator, DEPLOYMENTS, q="0x" + "ab" * 32) == []


def test_deployments_are_listed_newest_first_and_filtered(operator):
    first = DeploymentFactory(status=DeploymentStatus.FAILED, error="HookNotEnabled()")
    second = DeploymentFactory(chain_id=1)
    assert shown(operator, DEPLOYMENTS) == [second.pk, first.pk]
    assert shown(operator, DEPLOYMENTS, status__exact="failed") == [first.pk]
    assert shown(operator, DEPLOYMENTS, chain_id=1) == [second.pk]
    assert shown(operator, DEPLOYMENTS, partner_key__id__exact=first.partner_key.pk) == [first.pk]
    text = operator.get(DEPLOYMENTS).text
    assert "HookNotEnabled()" in text and first.partner_key.name in text and "Ethereum" in text


def test_a_deployments_page_shows_the_order_and_what_was_sent_for_it(operator, django_assert_max_num_queries):
    token = TokenFactory(symbol="<b>W</b>")
    deployment = DeploymentFactory(
        status=DeploymentStatus.INDEXED,
        token=token,
        expected_address=token.contract_address,
        tx_hash=token.tx_hash,
        config={"token": {"name": "Wh<i>ale"}},
        calldata=bytes(1_234),
        value=10**17,
    )
    entries = sample_entries(7)
    tree = build_tree(entries)
    airdrop_proofs.store_tree(deployment, tree=tree, entries=entries)
    lost = DeployAttemptFactory(deployment=deployment, state="lost")
    attempts = [
        lost,
        DeployAttemptFactory(deployment=deployment, state="mined", tx_hash=token.tx_hash, block_number=77),
    ]
    DeployAttempt.objects.filter(state="mined").update(gas_used=5_000_000, gas_price=2 * 10**9)
    versions = [SignedTransactionFactory(attempt=attempt) for attempt in attempts for _ in range(2)]
    sent = {"sent_at": timezone.now(), "error": "already known"}
    type(versions[0]).objects.filter(pk=versions[0].pk).update(**sent)
    with django_assert_max_num_queries(9):
        text = operator.get(page_of(deployment)).text
    explorer = "https://basescan.org"
    assert f"{explorer}/tx/{token.tx_hash}" in text
    assert f"{explorer}/token/{token.contract_address}" in text
    assert page_of(token) in text and reverse("token-page", args=[8453, token.contract_address]) in text
    assert "&lt;b&gt;W&lt;/b&gt;" in text and "Wh&lt;i&gt;ale" in text and "<b>W</b>" not in text
    for expected in ("1,234 bytes", "0.100000 ETH", f"7 entries, root {tree.root}", "in block 77"):
        assert expected in text
    assert "5,000,000 gas, 0.010000 ETH" in text
    assert all(version.tx_hash in text for version in versions)
    assert "already known" in text and "not sent yet" in text and "up to 2 gwei, tip 0.001 gwei" in text
    assert f"{DEPLOYMENTS}{deployment.pk}/retry/" not in text


def test_a_page_takes_as_many_queries_however_often_it_was_tried(operator, django_assert_max_num_queries):
    deployment = DeploymentFactory()
    for _ in range(12):
        SignedTransactionFactory(attempt__deployment=deployment)
    with django_assert_max_num_queries(9):
        operator.get(page_of(deployment))


def test_an_operators_own_order_of_a_presale_has_a_page(operator):
    presale = DeploymentFactory(
        partner_key=None, expected_address="", presale_id=5, status=DeploymentStatus.MINED, chain_id=999
    )
    text = operator.get(page_of(presale)).text
    assert "an operator" in text and "until its presale ends" in text and "not listed" in text and "Chain 999" in text


def test_what_failed_is_retried_once_and_the_audit_log_records_it(operator, django_capture_on_commit_callbacks, queue):
    failed = DeploymentFactory(status=DeploymentStatus.FAILED, error="reverted", final_at=timezone.now())
    indexed = DeploymentFactory(status=DeploymentStatus.INDEXED)
    with django_capture_on_commit_callbacks(execute=True):
        answer = operator.post(
            DEPLOYMENTS, {"action": "retry", "_selected_action": [failed.pk, indexed.pk]}, follow=True
        )
    assert messages(answer) == [
        "1 enqueued again.",
        f"Skipped: 1. {indexed.request_key}: only a failed deployment can be retried.",
    ]
    failed.refresh_from_db()
    assert (failed.status, failed.error, failed.final_at) == (DeploymentStatus.ENQUEUED, "", None)
    assert Deployment.objects.get(pk=indexed.pk).status == DeploymentStatus.INDEXED
    [entry] = LogEntry.objects.all()
    assert (entry.object_id, entry.change_message) == (str(failed.pk), "try again")
    assert [(message.task, message.args) for message in queue()] == [("tokens.tasks.submit_deployment", [failed.pk])]


def test_a_failed_ones_page_confirms_before_it_is_retried(operator):
    failed = DeploymentFactory(status=DeploymentStatus.FAILED)
    retry = page_of(failed).replace("/change/", "/retry/")
    assert retry in operator.get(page_of(failed)).text
    assert "Yes, try again" in operator.get(retry).text
    assert Deployment.objects.get().status == DeploymentStatus.FAILED
    assert operator.post(retry).headers["Location"] == page_of(failed)
    assert Deployment.objects.get().status == DeploymentStatus.ENQUEUED
    operator.post(retry)
    assert LogEntry.objects.count() == 1


def test_a_presale_is_not_started_again_while_its_last_start_may_come_back(operator):
    presale = DeploymentFactory(
        status=DeploymentStatus.FAILED, expected_address="", config={"presale": {"minEthGoal": "1"}}
    )
    DeployAttemptFactory(deployment=presale, state="reverted")
    answer = operator.post(DEPLOYMENTS, {"action": "retry", "_selected_action": [presale.pk]}, follow=True)
    assert "a presale could be started twice" in messages(answer)[0]
    assert Deployment.objects.get().status == DeploymentStatus.FAILED


def test_wallets_show_what_they_own_and_what_troubles_them(operator):
    poor = DeployWalletFactory(balance=12_345_678 * 10**9, alerts={"balance": "less than 0.05 is left"})
    unknown = DeployWalletFactory(chain_id=1, balance=None, signable=False)
    first = DeployAttemptFactory(wallet=poor)
    DeployAttemptFactory(wallet=poor, deployment=None)
    DeployAttemptFactory(wallet=poor, state="mined")
    DeployAttemptFactory(wallet=poor, final_at=timezone.now())
    answer = operator.get(WALLETS)
    assert [row.open_count for row in answer.context["cl"].result_list] == [0, 2]
    assert "0.012345 ETH" in answer.text and "less than 0.05 is left" in answer.text and "unknown" in answer.text
    assert shown(operator, WALLETS, q=poor.address.lower()) == [poor.pk]
    assert shown(operator, WALLETS, q="ethereum") == [unknown.pk]
    assert shown(operator, WALLETS, alerts="balance") == [poor.pk]
    page = operator.get(page_of(poor)).text
    assert f"https://basescan.org/address/{poor.address}" in page
    assert page_of(first.deployment) in page and "none, only fills the nonce" in page


def test_a_wallet_is_switched_off_and_on_and_nothing_else_of_it_is_written(operator):
    wallet = DeployWalletFactory(next_nonce=7)
    operator.post(WALLETS, {"action": "disable", "_selected_action": [wallet.pk]})
    assert not DeployWallet.objects.get().enabled
    operator.post(WALLETS, {"action": "disable", "_selected_action": [wallet.pk]})
    operator.post(page_of(wallet), {"enabled": "on", "next_nonce": 0, "signable": "", "alerts": "{}"})
    found = DeployWallet.objects.get()
    assert (found.enabled, found.next_nonce, found.signable, found.alerts) == (True, 7, True, {})
    operator.post(page_of(wallet), {"enabled": ""})
    operator.post(WALLETS, {"action": "enable", "_selected_action": [wallet.pk]})
    assert DeployWallet.objects.get().enabled
    assert LogEntry.objects.count() == 4
    assert operator.get(f"{WALLETS}add/").status_code == 403


def test_a_chain_is_paused_and_resumed(operator):
    assert operator.post(f"{SWITCHES}add/", {"chain_id": 424_242, "paused": "on"}).status_code == 200
    assert not DeploySwitch.objects.exists()
    page = operator.get(f"{SWITCHES}add/").text
    assert "Base (8453)" in page
    operator.post(f"{SWITCHES}add/", {"chain_id": 8453, "paused": "on", "reason": "the hook is being replaced"})
    switch = DeploySwitch.objects.get()
    assert (switch.chain_id, switch.paused) == (8453, True)
    again = operator.post(f"{SWITCHES}add/", {"chain_id": 8453, "paused": ""})
    assert (again.status_code, DeploySwitch.objects.get().paused) == (200, True)
    operator.post(page_of(switch), {"chain_id": 1, "paused": "", "reason": ""})
    assert list(DeploySwitch.objects.values_list("chain_id", "paused", "reason")) == [(8453, False, "")]
    assert shown(operator, SWITCHES, q="base") == [8453]
    assert LogEntry.objects.count() == 2


def test_a_key_gets_a_quota_on_a_chain(operator, settings):
    key = PartnerKeyFactory(name="Acme")
    operator.post(f"{QUOTAS}add/", {"partner_key": key.pk, "chain_id": 8453, "per_day": 50})
    quota = DeployQuota.objects.get()
    assert (quota.partner_key, quota.chain_id, quota.per_day) == (key, 8453, 50)
    twice = operator.post(f"{QUOTAS}add/", {"partner_key": key.pk, "chain_id": 8453, "per_day": 60})
    assert twice.status_code == 200
    assert operator.post(f"{QUOTAS}add/", {"partner_key": key.pk, "chain_id": 1, "per_day": -1}).status_code == 200
    operator.post(page_of(quota), {"partner_key": PartnerKeyFactory().pk, "per_day": 0})
    assert list(DeployQuota.objects.values_list("partner_key", "per_day")) == [(key.pk, 0)]
    assert shown(operator, QUOTAS, q="acme") == [quota.pk]
    settings.RATE_LIMIT_DEPLOY = 1
    assert operator.post(f"{QUOTAS}{quota.pk}/delete/", {"post": "yes"}).status_code == 403
    operator.post(QUOTAS, {"action": "delete_selected", "_selected_action": [quota.pk], "post": "yes"})
    # Without the quota the default would apply, which is higher.
    assert DeployQuota.objects.exists()
    DeployQuota.objects.update(per_day=1)
    operator.post(f"{QUOTAS}{quota.pk}/delete/", {"post": "yes"})
    assert not DeployQuota.objects.exists()


@pytest.fixture
def device(operator):
    """Set up the second factor of an operator who has entered a code at the log-in."""
    device = TOTPDevice.objects.create(user=User.objects.get(), name="app")
    session = operator.session
    session[DEVICE_ID_SESSION_KEY] = device.persistent_id
    session.save()
    return device


def changes():
    return list(LogEntry.objects.order_by("id").values_list("action_flag", "change_message"))


def test_a_spending_limit_is_granted_with_a_code_and_logged(operator, device):
    key = PartnerKeyFactory(name="Acme")
    page, fields = f"{SPENDING}add/", {"chain_id": 8453, "eth_per_day": "0.5", "partner_key": key.pk}
    # A form without a code is no attempt, after which codes would be throttled.
    for code in (wrong_code_of(device), ""):
        refused = operator.post(page, fields | {"code": code})
        assert "Allowing more needs a current code" in refused.text
    code = code_of(device)
    # An error elsewhere uses no code up.
    assert operator.post(page, fields | {"code": code, "eth_per_day": "-1"}).status_code == 200
    assert operator.post(page, fields | {"code": f"{code[:3]} {code[3:]}"}).status_code == 302
    limit = SpendingLimit.objects.get()
    assert (limit.partner_key, limit.chain_id, limit.eth_per_day) == (key, 8453, Decimal("0.5"))
    # A code is accepted once, also for all keys together.
    assert operator.post(page, fields | {"code": code, "partner_key": ""}).status_code == 200
    assert operator.post(page, fields | {"code": code_of(device), "partner_key": ""}).status_code == 302

    def change(eth, **more):
        return operator.post(page_of(limit), {"eth_per_day": eth, **more}).status_code

    assert [change("0.6"), change("0.4"), change("0.5"), change("0.5", code=code_of(device))] == [200, 302, 200, 302]
    limit.refresh_from_db()
    assert limit.eth_per_day == Decimal("0.5")
    operator.post(f"{SPENDING}{limit.pk}/delete/", {"post": "yes"})
    assert changes() == [
        (ADDITION, "ETH per day: 0.5, before 0."),
        (ADDITION, "ETH per day: 0.5, before 0."),
        (CHANGE, "ETH per day: 0.4, before 0.5."),
        (CHANGE, "ETH per day: 0.5, before 0.4."),
        (DELETION, ""),
    ]
    assert str(limit) == "0.5 ETH a day on 8453 for Acme" == LogEntry.objects.latest("id").object_repr
    assert "all keys together" in operator.get(SPENDING).text


def test_without_a_second_factor_an_operator_grants_nothing(operator):
    answer = operator.post(f"{SPENDING}add/", {"chain_id": 8453, "eth_per_day": "0.5", "code": "123456"})
    assert "Allowing more needs a second factor" in answer.text
    assert operator.post(f"{SPENDING}add/", {"chain_id": 8453, "eth_per_day": "0"}).status_code == 302
    assert SpendingLimit.objects.get().eth_per_day == 0


def test_a_quota_is_raised_with_a_code_and_lowered_without_one(operator, device, settings):
    settings.RATE_LIMIT_DEPLOY = 100
    fields = {"partner_key": PartnerKeyFactory().pk, "chain_id": 8453}
    assert operator.post(f"{QUOTAS}add/", fields | {"per_day": 101}).status_code == 200
    assert operator.post(f"{QUOTAS}add/", fields | {"per_day": 99}).status_code == 302
    quota = DeployQuota.objects.get()
    assert operator.post(page_of(quota), {"per_day": 100}).status_code == 200
    assert operator.post(page_of(quota), {"per_day": 100, "code": code_of(device)}).status_code == 302
    assert changes() == [(ADDITION, "Per day: 99, before 100."), (CHANGE, "Per day: 100, before 99.")]


def test_codes_of_grants_count_as_log_in_attempts(operator, device, settings, no_calls):
    settings.RATE_LIMIT_LOGIN = 1
    fields = {"chain_id": 8453, "eth_per_day": "0.5"}
    operator.post(f"{SPENDING}add/", fields | {"code": wrong_code_of(device)})
    refused = operator.post(f"{SPENDING}add/", fields | {"code": code_of(device)})
    assert "Too many codes" in refused.text
    assert not SpendingLimit.objects.exists()


def test_support_sees_spending_limits(support):
    limit = SpendingLimit.objects.create(chain_id=8453, eth_per_day=1)
    page = support.get(page_of(limit))
    assert (page.status_code, "Code of your" in page.text) == (200, False)
    assert support.post(page_of(limit), {"eth_per_day": 0}).status_code == 403


def test_without_wallets_and_deployments_the_panel_says_what_to_set(operator):
    panel = panels(operator)["Deployments in flight"]
    assert "DEPLOYER_KEYS_<chainId>" in panel.empty_text
    assert [(figure.label, figure.value) for figure in panel.figures] == [("Pauses", "none")]
    DeployWalletFactory()
    assert panels(operator)["Deployments in flight"].empty_text == ""


def test_the_panel_counts_what_is_in_flight_by_chain(operator):
    DeploymentFactory.create_batch(2)
    DeploymentFactory(status=DeploymentStatus.SUBMITTED)
    DeploymentFactory(status=DeploymentStatus.MINED)
    # A running sale, and a finished deployment.
    DeploymentFactory(status=DeploymentStatus.MINED, expected_address="", presale_id=1)
    DeploymentFactory(status=DeploymentStatus.INDEXED)
    old = DeploymentFactory(
        chain_id=1, status=DeploymentStatus.SUBMITTED, created_at=timezone.now() - timedelta(minutes=6)
    )
    DeployWalletFactory()
    by_label = figures(operator, "Deployments in flight")
    base, ethereum = by_label["Base"], by_label["Ethereum"]
    assert (base.value, base.is_alarming) == ("2 enqueued, 1 submitted, 1 mined", False)
    assert base.note == "the oldest was accepted just now"
    assert (ethereum.value, ethereum.is_alarming) == ("1 submitted", True)
    assert shown(operator, ethereum.page) == [old.pk]
    assert (by_label["Failed"].value, by_label["Failed"].is_alarming) == ("none in the last day", False)
    assert (by_label["Wallets"].value, by_label["Wallets"].is_alarming) == ("1 of 1 may send", False)


def test_the_panel_alarms_of_failures_of_the_last_day(operator):
    failed = DeploymentFactory(status=DeploymentStatus.FAILED)
    figure = figures(operator, "Deployments in flight")["Failed"]
    assert (figure.value, figure.is_alarming) == ("1 in the last day", True)
    assert shown(operator, figure.page) == [failed.pk]
    Deployment.objects.update(updated_at=timezone.now() - timedelta(days=2))
    assert not figures(operator, "Deployments in flight")["Failed"].is_alarming


def test_the_panel_names_wallets_in_trouble_and_paused_chains(operator, settings):
    settings.DEPLOY_LOW_BALANCE_ETH = 2
    low = DeployWalletFactory()
    stuck = DeployWalletFactory(balance=3 * 10**18, alerts={"signer": "no answer", "fees": "over the cap"})
    DeployWalletFactory(enabled=False, alerts={"signer": "no answer"})
    DeployWalletFactory(signable=False)
    DeploySwitch.objects.create(chain_id=8453, paused=True, reason="the hook is being replaced")
    DeploySwitch.objects.create(chain_id=1)
    in_flight = list(figures(operator, "Deployments in flight").values())
    assert [(figure.value, figure.note, figure.is_alarming) for figure in in_flight[1:]] == [
        ("2 of 4 may send", "2 in trouble", False),
        ("1.0000 left", "it runs low", True),
        ("3.0000 left", "fees: over the cap; signer: no answer", True),
        ("1", "", False),
        ("accepts and sends none", "the hook is being replaced", False),
    ]
    assert [figure.page for figure in in_flight[2:4]] == [page_of(low), page_of(stuck)]


def test_a_missing_sending_wallet_is_alarming(operator):
    DeployWalletFactory(signable=False)
    assert figures(operator, "Deployments in flight")["Wallets"].is_alarming
