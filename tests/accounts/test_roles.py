"""Operators' and support's permissions in the admin site, by the groups that `migrate` creates."""

import re

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.db.migrations.state import StateApps
from django.test import Client

from accounts.keys import credentials
from accounts.models import Administrator, KeyState, PartnerKey, WebhookDelivery, WebhookEndpoint
from accounts.operators import roles
from tests.rows.agent_factories import HubCastFactory, HubCursorFactory
from tests.rows.airdrop_entries import sample_entries
from tests.rows.factories import (
    AdminSessionFactory,
    ChainHeadFactory,
    CoverageAlarmFactory,
    CoverageFactory,
    DeployAttemptFactory,
    FollowedAccountFactory,
    IndexRequestFactory,
    PartnerKeyFactory,
    PersonFactory,
    PretokenFactory,
    ProviderRefreshFactory,
    SavedTokenFactory,
    SocialProfileFactory,
    TokenFactory,
    UploadFactory,
    WebhookDeliveryFactory,
    WebhookEndpointFactory,
)
from tokens.chains.launching.merkle import build_tree
from tokens.deploying.saved_airdrops import save_tree
from tokens.models import DeployQuota, DeploySwitch, SpendingLimit, TreeKind

pytestmark = pytest.mark.django_db

KEYS, TOKENS, REQUESTS = "/admin/accounts/partnerkey/", "/admin/tokens/token/", "/admin/tokens/indexrequest/"
PROFILES = "/admin/accounts/socialprofile/"
REFRESHES = "/admin/tokens/providerrefresh/"
HUB = ("/admin/leaderboard/hubcursor/", "/admin/leaderboard/hubcast/")
DEPLOYING = [
    f"/admin/tokens/{name}/"
    for name in ("deployment", "deploywallet", "deployswitch", "deployquota", "spendinglimit", "savedtree")
]
SAVED = "/admin/tokens/savedtoken/"
UPLOADS = "/admin/tokens/upload/"
PRETOKENS = "/admin/pretokens/pretoken/"
USERS = [f"/admin/accounts/{name}/" for name in ("person", "administrator", "adminsession")]
ENDPOINTS, DELIVERIES = "/admin/accounts/webhookendpoint/", "/admin/accounts/webhookdelivery/"
FOLLOWING = tuple(f"/admin/tokens/{name}/" for name in ("chainhead", "coverage", "coveragealarm", "followedaccount"))


def client_in(group: str) -> Client:
    user = User.objects.create_user(group, is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    client = Client()
    client.force_login(user)
    return client


def deploying_rows():
    """Create a row for each list about deployments, in the lists' sequence."""
    attempt = DeployAttemptFactory()
    key = attempt.deployment.partner_key
    switch = DeploySwitch.objects.create(chain_id=8453, paused=True)
    quota = DeployQuota.objects.create(partner_key=key, chain_id=8453, per_day=5)
    limit = SpendingLimit.objects.create(partner_key=key, chain_id=8453, eth_per_day=1)
    entries = sample_entries(2)
    tree = save_tree(build_tree(entries), entries, kind=TreeKind.ALLOWLIST, partner=key)
    return attempt.deployment, attempt.wallet, switch, quota, limit, tree


@pytest.fixture
def operator(db: None) -> Client:
    return client_in(roles.OPERATOR)


@pytest.fixture
def support(db: None) -> Client:
    return client_in(roles.SUPPORT)


@pytest.mark.parametrize("action", ["rotate", "revoke", "change"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_support_changes_no_key(support, action, method):
    key = PartnerKeyFactory()
    answer = getattr(support, method)(f"{KEYS}{key.pk}/{action}/", {"name": "Other", "scopes": ["read"]})
    # Its page may be looked at.
    assert answer.status_code == (200 if (action, method) == ("change", "get") else 403)
    key.refresh_from_db()
    assert (key.state, key.secrets.exists()) == (KeyState.ACTIVE, False)


@pytest.mark.parametrize("address", [KEYS, TOKENS, REQUESTS, PROFILES])
def test_support_adds_and_deletes_nothing(support, address):
    assert support.get(f"{address}add/").status_code == 403
    for row in (PartnerKeyFactory(), TokenFactory(), IndexRequestFactory(), SocialProfileFactory()):
        assert support.post(f"{address}{row.pk}/delete/", {"post": "yes"}).status_code in (302, 403)
        assert type(row).objects.filter(pk=row.pk).exists()


@pytest.mark.parametrize("action", ["block", "unblock", "add_champagne", "remove_champagne"])
def test_support_tags_no_token(support, action):
    token = TokenFactory(blocked=action == "unblock", champagne=action == "remove_champagne")
    before = token.blocked, token.champagne
    support.post(TOKENS, {"action": action, "_selected_action": [token.pk], "reason": "a scam"})
    support.post(f"{TOKENS}{token.pk}/change/", {"champagne": "" if token.champagne else "on"})
    token.refresh_from_db()
    assert (token.blocked, token.champagne) == before


def test_support_has_nothing_indexed_again(support):
    request = IndexRequestFactory(status="failed")
    support.post(REQUESTS, {"action": "retry", "_selected_action": [request.pk]})
    request.refresh_from_db()
    assert request.status == "failed"


def test_support_sees_alarms_and_does_not_mark_them(support):
    alarm = CoverageAlarmFactory()
    support.post(FOLLOWING[2], {"action": "see", "_selected_action": [alarm.pk]})
    assert support.post(f"{FOLLOWING[2]}{alarm.pk}/see/").status_code == 403
    alarm.refresh_from_db()
    assert alarm.seen_at is None


@pytest.mark.parametrize("group", [roles.OPERATOR, roles.SUPPORT])
@pytest.mark.parametrize(
    "address", ["auth/user/", "auth/group/", "auth/user/add/", "otp_totp/totpdevice/", "axes/accessattempt/"]
)
def test_neither_group_reaches_accounts_of_people(group, address):
    assert client_in(group).get(f"/admin/{address}").status_code in (403, 404)


# In tests/config/operators, a user with support's permissions sees all lists.
@pytest.mark.parametrize(("group", "pages"), [(roles.OPERATOR, ["", "{}/change/"]), (roles.SUPPORT, ["{}/change/"])])
def test_both_see_all_lists(group, pages):
    client = client_in(group)
    rows = {KEYS: PartnerKeyFactory(), TOKENS: TokenFactory(), REQUESTS: IndexRequestFactory()}
    followed = ChainHeadFactory(), CoverageFactory(), CoverageAlarmFactory(), FollowedAccountFactory()
    rows |= dict(zip(FOLLOWING, followed, strict=True))
    rows |= dict(zip(DEPLOYING, deploying_rows(), strict=True))
    rows |= {PROFILES: SocialProfileFactory(), PRETOKENS: PretokenFactory(), SAVED: SavedTokenFactory()}
    rows[UPLOADS] = UploadFactory()
    rows |= {REFRESHES: ProviderRefreshFactory()} | dict(zip(HUB, (HubCursorFactory(), HubCastFactory()), strict=True))
    rows |= {ENDPOINTS: WebhookEndpointFactory(), DELIVERIES: WebhookDeliveryFactory()}
    session = AdminSessionFactory()
    rows |= dict(zip(USERS, (PersonFactory(), session.administrator, session), strict=True))
    for address, row in rows.items():
        assert {client.get(address + page.format(row.pk)).status_code for page in pages} == {200}


def test_an_operator_issues_edits_rotates_and_revokes_keys(operator):
    page = operator.post(f"{KEYS}add/", {"name": "Acme", "scopes": ["read"]})
    [text] = re.findall(r"lb_live_[0-9A-Za-z]{46}", page.content.decode())
    key = credentials.verify_key(text)
    operator.post(f"{KEYS}{key.pk}/change/", {"name": "Acme Inc", "scopes": ["read"]})
    operator.post(f"{KEYS}{key.pk}/rotate/")
    operator.post(f"{KEYS}{key.pk}/revoke/")
    key = PartnerKey.objects.get()
    assert (key.name, key.secrets.count(), key.state) == ("Acme Inc", 2, KeyState.REVOKED)


@pytest.mark.parametrize("action", ["test", "replay", "rotate", "enable", "disable", "delete", "change"])
def test_support_changes_no_webhook_endpoint(support, action):
    endpoint = WebhookEndpointFactory()
    before = WebhookEndpoint.objects.values().get()
    form = {"post": "yes", "after": "0", "reason": "broken", "url": "https://other.example/"}
    assert support.post(f"{ENDPOINTS}{endpoint.pk}/{action}/", form).status_code == 403
    assert support.post(f"{ENDPOINTS}add/", form).status_code == 403
    assert WebhookEndpoint.objects.values().get() == before
    assert not WebhookDelivery.objects.exists()


def test_support_replays_no_delivery(support):
    delivery = WebhookDeliveryFactory()
    support.post(DELIVERIES, {"action": "replay", "_selected_action": [delivery.pk]})
    assert WebhookDelivery.objects.count() == 1


def test_an_operator_adds_disables_and_deletes_webhook_endpoints(operator):
    page = operator.post(f"{ENDPOINTS}add/", {"url": "https://receiver.example/hook"})
    assert "whsec_" in page.content.decode()
    endpoint = WebhookEndpoint.objects.get()
    operator.post(f"{ENDPOINTS}{endpoint.pk}/disable/", {"reason": "a test"})
    endpoint.refresh_from_db()
    assert endpoint.disabled_reason == "disabled by an operator: a test"
    operator.post(f"{ENDPOINTS}{endpoint.pk}/delete/", {"post": "yes"})
    assert not WebhookEndpoint.objects.exists()


def test_an_operator_tags_tokens_and_has_transactions_indexed_again(operator):
    token, request = TokenFactory(), IndexRequestFactory(status="failed")
    operator.post(TOKENS, {"action": "block", "_selected_action": [token.pk], "reason": "a scam"})
    operator.post(REQUESTS, {"action": "retry", "_selected_action": [request.pk]})
    token.refresh_from_db()
    request.refresh_from_db()
    assert (token.blocked, request.status) == (True, "pending")


def test_an_operator_marks_alarms_as_seen(operator):
    alarm = CoverageAlarmFactory()
    operator.post(FOLLOWING[2], {"action": "see", "_selected_action": [alarm.pk]})
    alarm.refresh_from_db()
    assert alarm.seen_at


def test_support_changes_no_administrator_and_revokes_no_session(support, issuer):
    session = AdminSessionFactory()
    administrators, sessions = USERS[1:]
    form = {"name": "Eve", "issuer": issuer.url, "subject": "6"}
    assert support.post(f"{administrators}add/", form).status_code == 403
    assert support.post(f"{administrators}{session.administrator_id}/change/", form).status_code == 403
    assert support.post(f"{administrators}{session.administrator_id}/delete/", {"post": "yes"}).status_code == 403
    assert support.post(f"{sessions}{session.pk}/revoke/").status_code == 403
    session.refresh_from_db()
    assert session.revoked_at is None
    assert list(Administrator.objects.all()) == [session.administrator]


def test_an_operator_deletes_nothing(operator):
    key, token = PartnerKeyFactory(), TokenFactory()
    for address, row in ((KEYS, key), (TOKENS, token)):
        assert operator.post(f"{address}{row.pk}/delete/", {"post": "yes"}).status_code == 403


def granted() -> dict[str, set[str]]:
    """Return group -> its permissions."""
    found: dict[str, set[str]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT g.name, c.app_label || '.' || p.codename FROM auth_group g"
            " JOIN auth_group_permissions gp ON gp.group_id = g.id JOIN auth_permission p ON p.id = gp.permission_id"
            " JOIN django_content_type c ON c.id = p.content_type_id"
        )
        for group, permission in cursor.fetchall():
            found.setdefault(group, set()).add(permission)
    return found


def named_otherwise() -> list[str]:
    """Return our models' permissions that are not named as Django names them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT p.name FROM auth_permission p JOIN django_content_type c ON c.id = p.content_type_id"
            " WHERE c.app_label IN ('accounts', 'events', 'tokens', 'pretokens', 'leaderboard')"
            " AND p.name !~ '^Can (add|change|delete|view) [a-z ]+$'"
        )
        return [name for (name,) in cursor.fetchall()]


def grant() -> None:
    roles.grant_permissions(apps=apps, using="default")


def test_a_new_database_has_the_roles_of_the_table():
    # Created by `migrate`, before Django's own permissions of the apps.
    expected = {
        role: {f"{app}.{action}_{model}" for app, model, action in names} for role, names in roles.PERMISSIONS.items()
    }
    assert granted() == expected
    assert named_otherwise() == []


def test_what_operators_changed_stays():
    group, others = Group.objects.get(name=roles.SUPPORT), Permission.objects.filter(codename="view_user")
    group.permissions.set(others)
    grant()
    assert list(group.permissions.all()) == list(others)


def test_a_permission_is_granted_when_it_is_new():
    Permission.objects.filter(codename="change_upload").delete()
    before = granted()
    grant()
    after = granted()
    assert after[roles.OPERATOR] - before[roles.OPERATOR] == {"tokens.change_upload"}
    assert after[roles.SUPPORT] == before[roles.SUPPORT]
    assert named_otherwise() == []


def test_a_deleted_role_comes_back_without_members():
    before = granted()
    Group.objects.get(name=roles.SUPPORT).delete()
    grant()
    assert granted() == before


def test_a_database_without_accounts_gets_no_roles(django_assert_num_queries):
    with django_assert_num_queries(0):
        roles.grant_permissions(apps=StateApps([], {}), using="default")
