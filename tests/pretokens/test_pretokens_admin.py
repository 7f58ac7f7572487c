"""The pretokens' admin pages."""

import uuid

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from development.devchain.anvil import CHAIN_ID
from pretokens import lifecycle
from pretokens.models import Pretoken, PretokenState
from tests.config.operators.admin_pages import messages, shown
from tests.rows.factories import DeploymentFactory, DeployWalletFactory, PersonFactory, PretokenFactory
from tests.rows.launch_requests import WALLET, pretoken
from tokens.models import Deployment

pytestmark = pytest.mark.django_db

PRETOKENS = reverse("admin:pretokens_pretoken_changelist")


def page_of(row, action="change"):
    return f"{PRETOKENS}{row.pk}/{action}/"


def test_support_sees_all_of_it_and_changes_nothing(support):
    deleted, pending = PretokenFactory(deleted=True), PretokenFactory()
    assert shown(support, PRETOKENS) == [pending.pk, deleted.pk]
    assert support.get(page_of(deleted)).status_code == 200
    support.post(PRETOKENS, {"action": "restore", "_selected_action": [deleted.pk]})
    assert support.post(page_of(deleted, "restore")).status_code == 403
    assert support.post(page_of(pending, "deploy")).status_code == 403
    text = support.get(page_of(deleted)).text + support.get(page_of(pending)).text
    assert "/restore/" not in text and "/deploy/" not in text
    assert sorted(Pretoken.objects.values_list("state", flat=True)) == ["deleted", "pending"]
    assert not LogEntry.objects.exists()


def test_all_states_are_listed_newest_first_and_filtered(operator):
    expired, late = PretokenFactory(state="expired"), PretokenFactory(overdue=True, chain_id=1)
    deleted, deployed = PretokenFactory(deleted=True), PretokenFactory(deployed=True)
    assert shown(operator, PRETOKENS) == [deployed.pk, deleted.pk, expired.pk, late.pk]
    assert shown(operator, PRETOKENS, state__exact="deleted") == [deleted.pk]
    assert shown(operator, PRETOKENS, chain_id=1) == [late.pk]
    text = operator.get(PRETOKENS, {"chain_id": 1}).text
    assert "Ethereum" in text and "Expired" in text
    assert reverse("admin:tokens_deployment_change", args=[deployed.deployment.pk]) in operator.get(PRETOKENS).text


def test_they_are_found_by_keyword_id_and_user(operator):
    owner = PersonFactory(fid=4321)
    first, second = PretokenFactory(owner=owner, keyword="Doge", deleted=True), PretokenFactory(keyword="4321")
    linked = PretokenFactory(owner=PersonFactory(linked=True, linked_to=owner))
    assert shown(operator, PRETOKENS, q=" dOGE ") == [first.pk]
    assert shown(operator, PRETOKENS, q=str(second.pk)) == shown(operator, PRETOKENS, q=second.pk.hex) == [second.pk]
    assert shown(operator, PRETOKENS, q="4321") == [linked.pk, second.pk, first.pk]
    assert shown(operator, PRETOKENS, q="no such thing") == shown(operator, PRETOKENS, q=str(uuid.uuid4())) == []
    assert "FID 4321" in operator.get(page_of(linked)).text


def test_a_page_shows_the_configuration_and_leads_to_the_deployment(operator, django_assert_max_num_queries):
    entries = [{"account": WALLET, "amount": 1}] * 1_234
    body = {"keyword": "<b>W</b>", "airdrop": {"entries": entries, "lockupDuration": 1}}
    row = PretokenFactory(keyword="<b>W</b>", body=body, deployment=DeploymentFactory(), state=PretokenState.DEPLOYED)
    with django_assert_max_num_queries(9):
        text = operator.get(page_of(row)).text
    assert "&lt;b&gt;W&lt;/b&gt;" in text and "<b>W</b>" not in text
    assert "1,234 accounts" in text and WALLET not in text
    assert reverse("admin:tokens_deployment_change", args=[row.deployment.pk]) in text
    assert "/restore/" not in text and "/deploy/" not in text


def test_the_list_takes_as_many_queries_however_long_it_is(operator, django_assert_max_num_queries):
    PretokenFactory.create_batch(5)
    PretokenFactory.create_batch(5, deployed=True)
    with django_assert_max_num_queries(9) as captured:
        operator.get(PRETOKENS)
    assert not any('"body"' in query["sql"] for query in captured.captured_queries)


def test_what_was_deleted_is_restored_where_rules_allow_and_recorded_in_the_audit_log(operator):
    owner = PersonFactory()
    deleted, twin = (PretokenFactory(owner=owner, keyword=keyword, deleted=True) for keyword in ("doge", "Doge"))
    pending = PretokenFactory(keyword="cat")
    rows = [deleted.pk, twin.pk, pending.pk]
    answer = operator.post(PRETOKENS, {"action": "restore", "_selected_action": rows}, follow=True)
    first, second = messages(answer)
    assert first == "1 pending again."
    assert second.startswith("Not restored: 2. ")
    assert "a pretoken with this keyword is pending" in second
    assert "cat: only a deleted pretoken can be restored" in second
    assert Pretoken.objects.filter(state=PretokenState.PENDING).count() == 2
    [entry] = LogEntry.objects.all()
    assert (uuid.UUID(entry.object_id) in (deleted.pk, twin.pk), entry.change_message) == (True, "restore")


def test_restoring_a_deleted_one_needs_a_confirmation(operator):
    row = PretokenFactory(deleted=True)
    assert page_of(row, "restore") in operator.get(page_of(row)).text
    assert "Yes, restore" in operator.get(page_of(row, "restore")).text
    assert Pretoken.objects.get().state == PretokenState.DELETED
    assert operator.post(page_of(row, "restore")).headers["Location"] == page_of(row)
    assert Pretoken.objects.get().state == PretokenState.PENDING


@pytest.mark.parametrize("columns", [{"deleted": True, "overdue": True}, {"overdue": True}, {"state": "expired"}])
def test_a_page_offers_nothing_that_would_be_refused(operator, columns):
    row = PretokenFactory(**columns)
    text = operator.get(page_of(row)).text
    assert "/restore/" not in text and "/deploy/" not in text
    operator.post(page_of(row, "deploy"))
    operator.post(page_of(row, "restore"))
    assert Pretoken.objects.get().state == row.state
    assert not LogEntry.objects.exists() and not Deployment.objects.exists()


def test_deploying_a_pending_one_needs_a_confirmation_and_happens_once(
    operator, launchpad, queue, django_capture_on_commit_callbacks
):
    DeployWalletFactory(chain_id=CHAIN_ID, address=WALLET)
    row = lifecycle.create_pretoken(pretoken(), person_id=PersonFactory().pk)
    assert page_of(row, "deploy") in operator.get(page_of(row)).text
    assert "Yes, deploy" in operator.get(page_of(row, "deploy")).text
    assert not Deployment.objects.exists()
    with django_capture_on_commit_callbacks(execute=True):
        answer = operator.post(page_of(row, "deploy"), follow=True)
    assert messages(answer) == [f"Deployment {row.pk.hex} is enqueued."]
    order = Deployment.objects.get()
    assert Pretoken.objects.get().deployment == order
    assert [(message.task, message.args) for message in queue()] == [("tokens.tasks.submit_deployment", [order.pk])]
    answer = operator.post(page_of(row, "deploy"), follow=True)
    assert messages(answer) == ["Not deployed: only a pending pretoken can be deployed"]
    [entry] = LogEntry.objects.all()
    assert (entry.object_id, entry.change_message, Deployment.objects.count()) == (str(row.pk), "deploy", 1)


def test_a_launch_without_a_sender_is_reported_and_changes_nothing(operator, launchpad, settings):
    settings.DEPLOYER_KEYS = settings.DEPLOYER_KEYSTORES = settings.DEPLOYER_REMOTE = {}
    row = lifecycle.create_pretoken(pretoken(), person_id=PersonFactory().pk)
    [text] = messages(operator.post(page_of(row, "deploy"), follow=True))
    assert text.startswith("Not deployed: no wallet")
    assert (Pretoken.objects.get().state, LogEntry.objects.count()) == (PretokenState.PENDING, 0)
