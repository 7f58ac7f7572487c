"""Lists on the operators' site in general, the audit log, and the operators' own accounts."""

import pytest
from django.contrib import admin
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.auth.models import Group, User
from django.contrib.contenttypes.models import ContentType
from django.urls import reverse
from django.utils.html import escape

from accounts.models import (
    Administrator,
    AdminSession,
    PartnerKey,
    Person,
    SocialProfile,
    WebhookDelivery,
    WebhookEndpoint,
)
from accounts.subscriptions.deliveries import publish_and_queue
from config.events.models import Event
from leaderboard.models import HubCast, HubCursor, HubQuote
from pretokens.models import Pretoken
from tests.accounts.subscriptions.subscribers import store_event
from tests.config.operators.admin_pages import page_of, shown
from tests.rows.agent_factories import HubCastFactory, HubCursorFactory, HubQuoteFactory
from tests.rows.airdrop_entries import sample_entries
from tests.rows.factories import (
    AdministratorFactory,
    AdminSessionFactory,
    ChainHeadFactory,
    CoverageAlarmFactory,
    CoverageFactory,
    DeployAttemptFactory,
    DeploymentFactory,
    DeployWalletFactory,
    FeeClaimFactory,
    FollowedAccountFactory,
    IndexRequestFactory,
    PartnerKeyFactory,
    PartnerKeySecretFactory,
    PersonFactory,
    PoolBacklogFactory,
    PretokenFactory,
    ProviderRefreshFactory,
    SavedTokenFactory,
    SocialProfileFactory,
    TokenDocumentFactory,
    TokenEventFactory,
    TokenFactory,
    UploadFactory,
    WebhookDeliveryFactory,
    WebhookEndpointFactory,
)
from tokens.chains.launching.merkle import build_tree
from tokens.deploying.saved_airdrops import save_tree
from tokens.models import (
    ChainHead,
    Coverage,
    CoverageAlarm,
    Deployment,
    DeployQuota,
    DeploySwitch,
    DeployWallet,
    FeeClaim,
    FollowedAccount,
    IndexRequest,
    PoolBacklog,
    ProviderRefresh,
    SavedToken,
    SavedTree,
    SpendingLimit,
    Token,
    TokenDocument,
    TokenEvent,
    TreeKind,
    Upload,
)

pytestmark = pytest.mark.django_db

AUDIT_LOG = "admin:admin_logentry_changelist"
# More than a list may take queries.
ROWS = 12


def make_users():
    for number in range(ROWS):
        User.objects.create_user(f"user-{number}")


def make_groups():
    for number in range(ROWS):
        Group.objects.create(name=f"group {number}")


def make_keys():
    for key in PartnerKeyFactory.create_batch(ROWS):
        PartnerKeySecretFactory.create_batch(2, partner_key=key)


def make_entries():
    make_users()
    tokens = TokenFactory.create_batch(ROWS // 2) + PartnerKeyFactory.create_batch(ROWS // 2)
    for user, row in zip(User.objects.all(), tokens, strict=False):
        note(user, row, "verified = True")


def note(user, row, message, *, flag=CHANGE):
    return LogEntry.objects.create(
        user=user,
        content_type=ContentType.objects.get_for_model(row),
        object_id=str(row.pk),
        object_repr=str(row)[:200],
        action_flag=flag,
        change_message=message,
    )


def make_quotas():
    for key in PartnerKeyFactory.create_batch(ROWS):
        DeployQuota.objects.create(partner_key=key, chain_id=8453, per_day=5)


def make_spending_limits():
    for key in PartnerKeyFactory.create_batch(ROWS):
        SpendingLimit.objects.create(partner_key=key, chain_id=8453, eth_per_day=1)


def make_event():
    store_event()
    publish_and_queue()
    return Event.objects.latest("id")


def make_saved_tree():
    entries = sample_entries(5)
    return save_tree(build_tree(entries), entries, kind=TreeKind.AIRDROP, partner=PartnerKeyFactory())


MAKERS = {
    Token: lambda: TokenFactory.create_batch(ROWS),
    TokenEvent: lambda: [TokenEventFactory(token=token) for token in TokenFactory.create_batch(ROWS)],
    FeeClaim: lambda: FeeClaimFactory.create_batch(ROWS),
    IndexRequest: lambda: IndexRequestFactory.create_batch(ROWS),
    PoolBacklog: lambda: PoolBacklogFactory.create_batch(ROWS),
    TokenDocument: lambda: TokenDocumentFactory.create_batch(ROWS),
    SavedToken: lambda: SavedTokenFactory.create_batch(ROWS),
    ChainHead: lambda: [ChainHeadFactory(chain_id=number) for number in range(1, ROWS + 1)],
    Coverage: lambda: CoverageFactory.create_batch(ROWS),
    FollowedAccount: lambda: [FollowedAccountFactory(listing_slot=5, listed=True) for _ in range(ROWS)],
    CoverageAlarm: lambda: CoverageAlarmFactory.create_batch(ROWS),
    Deployment: lambda: [DeploymentFactory(token=token) for token in TokenFactory.create_batch(ROWS)],
    Upload: lambda: UploadFactory.create_batch(ROWS),
    DeployWallet: lambda: [DeployAttemptFactory(wallet=wallet) for wallet in DeployWalletFactory.create_batch(ROWS)],
    DeploySwitch: lambda: [DeploySwitch.objects.create(chain_id=number) for number in range(1, ROWS + 1)],
    DeployQuota: make_quotas,
    SpendingLimit: make_spending_limits,
    SavedTree: lambda: [make_saved_tree() for _ in range(ROWS)],
    Pretoken: lambda: [PretokenFactory(deployed=number % 2 == 0) for number in range(ROWS)],
    PartnerKey: make_keys,
    Person: lambda: [PersonFactory(linked=True, linked_to=PersonFactory()) for _ in range(ROWS // 2)],
    Administrator: lambda: AdministratorFactory.create_batch(ROWS),
    AdminSession: lambda: AdminSessionFactory.create_batch(ROWS),
    SocialProfile: lambda: SocialProfileFactory.create_batch(ROWS),
    WebhookEndpoint: lambda: [WebhookEndpointFactory(partner_key=key) for key in PartnerKeyFactory.create_batch(ROWS)],
    WebhookDelivery: lambda: WebhookDeliveryFactory.create_batch(ROWS),
    Event: lambda: [make_event() for _ in range(ROWS)],
    ProviderRefresh: lambda: ProviderRefreshFactory.create_batch(ROWS),
    HubCursor: lambda: HubCursorFactory.create_batch(ROWS),
    HubCast: lambda: HubCastFactory.create_batch(ROWS),
    HubQuote: lambda: HubQuoteFactory.create_batch(ROWS),
    User: make_users,
    Group: make_groups,
    LogEntry: make_entries,
}


def list_of(model):
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def test_strangers_see_the_login(client):
    for model in MAKERS:
        assert "/admin/login/" in client.get(list_of(model)).headers["Location"]


@pytest.mark.parametrize("model", MAKERS)
def test_a_list_says_what_would_fill_it_is_searchable_and_takes_few_queries(
    support, model, django_assert_max_num_queries
):
    text = admin.site.get_model_admin(model).empty_text
    assert text.endswith(".") and ". " not in text
    # There is always the operator's account.
    if model is not User:
        model.objects.all().delete()
        assert escape(text) in support.get(list_of(model)).text
    MAKERS[model]()
    with django_assert_max_num_queries(9):
        answer = support.get(list_of(model))
    changes = answer.context["cl"]
    assert len(changes.result_list) >= ROWS
    assert changes.list_per_page == 50
    assert admin.site.get_model_admin(model).search_fields
    unmatched = support.get(list_of(model), {"q": "nobody-has-this-name"}).text
    assert escape(text) not in unmatched and "No row matches the search and the filters." in unmatched


def test_a_filter_by_what_no_text_can_be_is_an_invalid_one(operator):
    answer = operator.get(f"{list_of(IndexRequest)}?status__exact=%00")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"{list_of(IndexRequest)}?e=1")


def test_every_list_of_ours_is_tried_here():
    ours = {
        model
        for model in admin.site._registry
        if model._meta.app_label in ("accounts", "events", "tokens", "pretokens", "admin", "auth")
    }
    assert ours <= set(MAKERS)


# Rows that only the service writes: how one is made, and what a form may not change.
SERVICE_ROWS = {
    Token: (TokenFactory, {"name": "Lower", "contract_address": "0x0", "chain_id": 1, "blocked": "on"}),
    TokenEvent: (TokenEventFactory, {"chain_id": 1}),
    FeeClaim: (FeeClaimFactory, {"chain_id": 1}),
    IndexRequest: (IndexRequestFactory, {"status": "indexed"}),
    PoolBacklog: (PoolBacklogFactory, {"next_block": 0}),
    TokenDocument: (TokenDocumentFactory, {"uri": "http://evil.example/", "status": "fetched", "content": "{}"}),
    SavedToken: (SavedTokenFactory, {"contract_address": "0x"}),
    Upload: (UploadFactory, {"url": "https://evil.example/", "blocked_at": ""}),
    ChainHead: (ChainHeadFactory, {"head": 1, "halted": "x"}),
    Coverage: (CoverageFactory, {"followed_to": 1}),
    FollowedAccount: (FollowedAccountFactory, {"complete_to": 1}),
    CoverageAlarm: (CoverageAlarmFactory, {"missing": 1, "seen_at": ""}),
    SavedTree: (make_saved_tree, {"kind": "allowlist", "root": "0x"}),
    Pretoken: (PretokenFactory, {"state": "deleted", "keyword": "other"}),
    SocialProfile: (SocialProfileFactory, {"username": "other"}),
    WebhookDelivery: (WebhookDeliveryFactory, {"status": "delivered", "log": "[]"}),
    Event: (make_event, {"type": "other", "data": "{}"}),
    ProviderRefresh: (ProviderRefreshFactory, {"due_at": ""}),
    HubCursor: (HubCursorFactory, {"fid": 1}),
    HubCast: (HubCastFactory, {"fid": 1}),
    HubQuote: (HubQuoteFactory, {"fid": 1}),
    LogEntry: (lambda: note(User.objects.get(), PartnerKeyFactory(), "verified = True"), {"change_message": "nothing"}),
}


@pytest.mark.parametrize("model", SERVICE_ROWS)
def test_rows_of_the_service_are_not_added_changed_or_deleted_by_hand(operator, model):
    make, posted = SERVICE_ROWS[model]
    row, page = make(), list_of(model)

    def stored():
        return {name: value for name, value in model.objects.values().get().items() if name != "updated_at"}

    before = stored()
    assert operator.get(page_of(row)).status_code == 200
    assert operator.get(f"{page}add/").status_code == 403
    operator.post(page_of(row), posted)
    assert stored() == before
    assert operator.post(f"{page}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    operator.post(page, {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"})
    assert stored() == before


def test_the_audit_log_is_searched_and_filtered(operator):
    other = User.objects.create_user("other")
    token, key = TokenFactory(symbol="WHALE"), PartnerKeyFactory(name="Acme")
    tagged = note(User.objects.get(username="operator"), token, "blocked = True: a scam")
    issued = note(other, key, '[{"added": {}}]', flag=ADDITION)
    assert shown(operator, AUDIT_LOG) == [issued.pk, tagged.pk]
    assert shown(operator, AUDIT_LOG, q="whale") == [tagged.pk]
    assert shown(operator, AUDIT_LOG, q="scam") == [tagged.pk]
    assert shown(operator, AUDIT_LOG, q="OTHER") == [issued.pk]
    assert shown(operator, AUDIT_LOG, user__id__exact=other.pk) == [issued.pk]
    assert shown(operator, AUDIT_LOG, action_flag__exact=ADDITION) == [issued.pk]


def test_the_audit_log_leads_to_rows_that_have_a_page(operator):
    user, token = User.objects.get(), TokenFactory(symbol="<b>W</b>")
    note(user, token, "verified = True")
    note(user, PartnerKeyFactory(name="Gone"), "", flag=DELETION)
    text = operator.get(reverse(AUDIT_LOG)).text
    assert reverse("admin:tokens_token_change", args=[token.pk]) in text
    assert "&lt;b&gt;W&lt;/b&gt;" in text
    assert "Gone" in text
    assert "/admin/accounts/partnerkey/1" not in text


def test_an_account_in_the_audit_log_can_not_be_deleted(operator):
    other = User.objects.create_user("other")
    note(other, TokenFactory(), "verified = True")
    answer = operator.post(reverse("admin:auth_user_delete", args=[other.pk]), {"post": "yes"})
    assert answer.status_code == 403
    operator.post(list_of(User), {"action": "delete_selected", "_selected_action": [other.pk], "post": "yes"})
    assert LogEntry.objects.filter(user=other).exists()


def test_accounts_and_roles_are_made_and_changed(operator):
    password = {"password1": "a long pass phrase", "password2": "a long pass phrase", "usable_password": "true"}
    added = operator.post(reverse("admin:auth_user_add"), {"username": "anna", **password}, follow=True)
    anna = User.objects.get(username="anna")
    assert added.status_code == 200
    assert anna.check_password("a long pass phrase")
    operator.post(reverse("admin:auth_group_add"), {"name": "auditors"})
    assert Group.objects.filter(name="auditors").exists()
    assert operator.get(reverse("admin:auth_user_password_change", args=[anna.pk])).status_code == 200
