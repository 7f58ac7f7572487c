"""The admin pages of administrators, their sessions and users."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.utils import timezone

from accounts.administrators import sessions
from accounts.models import Administrator, AdminSession, Identity, Person
from config.environment.issuers import read_issuers
from tests.rows.factories import AdministratorFactory, AdminSessionFactory, PersonFactory

pytestmark = pytest.mark.django_db

ADMINISTRATORS, SESSIONS = "/admin/accounts/administrator/", "/admin/accounts/adminsession/"
USERS = "/admin/accounts/person/"
FARCASTER, OTHER = "https://auth.farcaster.xyz", "https://auth.example"


@pytest.fixture(autouse=True)
def issuers(settings):
    settings.IDENTITY_ISSUERS = read_issuers(
        {
            "FARCASTER_AUTH_DOMAINS": "app.example",
            "OIDC_ISSUERS": "OTHER",
            "OIDC_OTHER_ISSUER": OTHER,
            "OIDC_OTHER_AUDIENCE": "x",
            "OIDC_OTHER_JWKS_URL": f"{OTHER}/jwks.json",
        }
    )


def refusals(answer):
    return answer.context["adminform"].form.errors


def add(client, **fields):
    return client.post(f"{ADMINISTRATORS}add/", {"name": "Ada", "issuer": FARCASTER, "subject": "5"} | fields)


@pytest.mark.parametrize("subject", ["did:x", "05", "0", "-5", " ", "5 5", "\u0665", str(2**63)])
def test_it_refuses_a_subject_that_no_token_of_the_issuer_has(operator, subject):
    assert "subject" in refusals(add(operator, subject=subject))
    assert not Administrator.objects.exists()


def test_it_refuses_an_issuer_that_is_not_set(operator):
    assert "issuer" in refusals(add(operator, issuer=FARCASTER + "/"))


def test_it_refuses_the_same_person_twice(operator):
    assert add(operator).status_code == 302
    assert "already" in str(refusals(add(operator, name="Eve")))
    assert add(operator, issuer=OTHER).status_code == 302


def test_it_adds_changes_and_deletes_administrators(operator):
    add(operator)
    row = Administrator.objects.get()
    assert (row.name, row.issuer, row.subject) == ("Ada", FARCASTER, "5")
    page = f"{ADMINISTRATORS}{row.pk}/"
    operator.post(f"{page}change/", {"name": "Ada L", "issuer": OTHER, "subject": "did:x"})
    row.refresh_from_db()
    assert (row.name, row.issuer, row.subject) == ("Ada L", OTHER, "did:x")
    assert operator.post(f"{page}delete/", {"post": "yes"}).status_code == 302
    assert not Administrator.objects.exists()


def test_an_administrator_of_an_issuer_that_is_set_no_more_keeps_it(operator):
    row = AdministratorFactory(issuer="https://gone.example")
    assert "https://gone.example" in operator.get(f"{ADMINISTRATORS}{row.pk}/change/").text
    changed = {"name": "Other", "issuer": row.issuer, "subject": row.subject}
    assert operator.post(f"{ADMINISTRATORS}{row.pk}/change/", changed).status_code == 302


def test_administrators_and_accounts_go_with_their_sessions(operator):
    session = AdminSessionFactory()
    account = User.objects.create_user("other", is_staff=True)
    other = AdminSessionFactory(administrator=None, user=account, password_hash="x")
    assert "session" in operator.get(f"{ADMINISTRATORS}{session.administrator_id}/delete/").text
    operator.post(f"{ADMINISTRATORS}{session.administrator_id}/delete/", {"post": "yes"})
    assert list(AdminSession.objects.all()) == [other]
    operator.post(f"/admin/auth/user/{account.pk}/delete/", {"post": "yes"})
    assert not AdminSession.objects.exists()


@pytest.mark.parametrize(
    ("change", "is_over"), [({"name": "Other"}, False), ({"subject": "77"}, True), ({"issuer": OTHER}, True)]
)
def test_sessions_are_over_when_their_administrator_becomes_another_identity(operator, change, is_over):
    session, other = AdminSessionFactory(administrator__subject="76"), AdminSessionFactory()
    row = session.administrator
    fields = {"name": row.name, "issuer": row.issuer, "subject": row.subject} | change
    assert operator.post(f"{ADMINISTRATORS}{row.pk}/change/", fields).status_code == 302
    session.refresh_from_db()
    other.refresh_from_db()
    assert (session.revoked_at is not None, other.revoked_at) == (is_over, None)


def test_a_session_is_shown_and_revoked_and_not_deleted(operator):
    session = AdminSessionFactory()
    AdminSessionFactory(expires_at=timezone.now() - timedelta(seconds=1))
    listed = operator.get(SESSIONS).text
    assert session.digest not in listed and "active" in listed and "expired" in listed
    assert "ends at once" in operator.get(f"{SESSIONS}{session.pk}/revoke/").text
    session.refresh_from_db()
    assert session.revoked_at is None
    operator.post(f"{SESSIONS}{session.pk}/revoke/")
    session.refresh_from_db()
    assert session.revoked_at
    assert LogEntry.objects.get().change_message == "Revoked."
    page = operator.get(f"{SESSIONS}{session.pk}/change/").text
    assert "revoked" in page and f"{SESSIONS}{session.pk}/revoke" not in page
    assert operator.post(f"{SESSIONS}{session.pk}/delete/", {"post": "yes"}).status_code == 403
    operator.post(SESSIONS, {"action": "delete_selected", "_selected_action": [session.pk], "post": "yes"})
    assert AdminSession.objects.count() == 2
    assert operator.get(f"{SESSIONS}add/").status_code == 403
    assert operator.post(f"{SESSIONS}{session.pk}/change/", {"revoked_at": ""}).status_code in (302, 403)
    session.refresh_from_db()
    assert session.revoked_at


def test_users_are_found_by_fid_or_subject_and_only_looked_at(operator):
    person = PersonFactory(fid=5)
    Identity.objects.create(person=person, issuer="privy.io", subject="did:privy:<a>", kind="id")
    PersonFactory(fid=50)
    page = operator.get(f"{USERS}{person.pk}/change/").text
    assert "did:privy:&lt;a&gt;" in page
    for words in ("5", "did:privy:<a>"):
        listed = operator.get(USERS, {"q": words}).context["cl"].result_list
        assert list(listed) == [person]
    assert operator.post(f"{USERS}{person.pk}/change/", {"fid": "6"}).status_code == 403
    assert operator.post(f"{USERS}{person.pk}/delete/", {"post": "yes"}).status_code == 403
    assert operator.get(f"{USERS}add/").status_code == 403
    assert Person.objects.filter(fid=5).exists()


def test_a_session_of_a_disabled_account_is_shown_as_rejected(operator):
    staff = User.objects.create_user("staff", password="x", is_staff=True)
    session = sessions.begin_session(staff)
    assert session.cookie
    assert ">active<" in operator.get(SESSIONS).content.decode()
    User.objects.filter(pk=staff.pk).update(is_active=False)
    assert ">rejected<" in operator.get(SESSIONS).content.decode()
