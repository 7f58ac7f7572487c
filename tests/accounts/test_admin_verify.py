"""POST and DELETE /api/admin/verify: session creation, cookie attributes and expiry."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth import hashers
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from django.test import Client, RequestFactory
from django.urls import path
from django.utils import timezone
from django_otp.plugins.otp_totp.models import TOTPDevice
from drf_spectacular.generators import SchemaGenerator
from rest_framework.permissions import AllowAny
from rest_framework.response import Response

from accounts import tasks
from accounts.administrators import sessions
from accounts.authentication import OptionalUserAuthentication
from accounts.keys import credentials
from accounts.models import Administrator, AdminSession, Scope
from accounts.operators import second_factor
from accounts.permissions import is_administrator_request
from config import urls as config_urls
from config.api.views import LimitedView
from tests.accounts.test_second_factor import code_of, wrong_code_of
from tests.rows.user_tokens import APP_ID, DOMAIN, as_user, bearer

pytestmark = pytest.mark.django_db

VERIFY, LOGIN, LIST = "/api/admin/verify", "/admin/login/", "/admin/accounts/partnerkey/"
PASSWORD = "correct horse battery staple"
UNAUTHORIZED = (401, {"error": "Unauthorized"})


class CountedHasher(PBKDF2PasswordHasher):
    """Fast password hasher that counts its calls."""

    algorithm = "counted"
    iterations = 1
    calls = 0

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        CountedHasher.calls += 1
        return str(super().encode(password, salt, iterations))


@pytest.fixture(autouse=True)
def counted_hashes(settings: Any) -> None:
    settings.PASSWORD_HASHERS = [f"{__name__}.CountedHasher"]
    settings.AXES_FAILURE_LIMIT = 3


@pytest.fixture
def staff() -> User:
    return User.objects.create_user("operator", password=PASSWORD, is_staff=True)


@pytest.fixture
def administrator(issuer) -> Administrator:
    return Administrator.objects.create(name="Ada", issuer=issuer.url, subject="5")


def begin(client, *, headers=None, **body):
    return client.post(VERIFY, body, content_type="application/json", headers=headers)


def by_password(client, word=PASSWORD, name="operator", **more):
    return begin(client, username=name, password=word, **more)


def seen(answer):
    return answer.status_code, answer.json()


def session_of(client) -> AdminSession | None:
    """Return the admin session that this client's cookie belongs to, if there is one."""
    request = RequestFactory().get("/api/droid/leaderboard")
    request.COOKIES = {name: morsel.value for name, morsel in client.cookies.items()}
    return sessions.find_session(request)


WRONG: dict[str, Callable[[Client, User], Any]] = {
    "an unknown name": lambda client, staff: by_password(client, name="nobody"),
    "a wrong password": lambda client, staff: by_password(client, "wrong"),
    "an account that is no staff": lambda client, staff: (
        User.objects.update(is_staff=False),
        by_password(client),
    )[1],
    "an account that is not active": lambda client, staff: (
        User.objects.update(is_active=False),
        by_password(client),
    )[1],
    "an account without a password": lambda client, staff: (
        User.objects.create_user("other", is_staff=True),
        by_password(client, name="other"),
    )[1],
    "a name in other letters": lambda client, staff: by_password(client, name="Operator"),
    "a password with a blank": lambda client, staff: by_password(client, PASSWORD + " "),
}


@pytest.mark.parametrize("password", [PASSWORD, "wrong"])
def test_a_right_password_that_opens_nothing_locks_out_like_a_wrong_one(client, staff, settings, password):
    User.objects.update(is_staff=False)
    for _ in range(settings.AXES_FAILURE_LIMIT):
        by_password(client, password)
    page = client.post("/admin/login/", {"username": "operator", "password": password})
    assert page.status_code == 429


@pytest.mark.parametrize("case", WRONG)
def test_it_refuses_in_the_same_words_and_with_as_much_work(client, staff, case):
    prepared = CountedHasher.calls
    answer = WRONG[case](client, staff)
    assert seen(answer) == UNAUTHORIZED
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="users"'
    assert not answer.cookies
    assert CountedHasher.calls - prepared == 1
    assert not AdminSession.objects.exists()


def test_a_lock_out_is_refused_in_the_same_words_and_with_as_much_work(client, staff):
    calls = []
    for word in ["wrong"] * 4 + [PASSWORD]:
        before = CountedHasher.calls
        assert seen(by_password(client, word)) == UNAUTHORIZED
        calls.append(CountedHasher.calls - before)
    assert calls == [1] * 5


def test_the_lock_out_is_that_of_the_admin_site(client, staff):
    for _ in range(3):
        by_password(client, "wrong")
    assert client.post(LOGIN, {"username": "operator", "password": PASSWORD}).status_code == 429
    AccessAttempt.objects.all().delete()
    for _ in range(3):
        client.post(LOGIN, {"username": "operator", "password": "wrong"})
    assert seen(by_password(client)) == UNAUTHORIZED
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))
    assert by_password(client).status_code == 200


def test_unknown_names_are_locked_out_like_known_ones(client):
    for _ in range(4):
        assert seen(by_password(client, name="nobody")) == UNAUTHORIZED
    assert AccessAttempt.objects.get().failures_since_start == 3


def test_the_right_password_makes_what_failed_before_forgotten(client, staff):
    for _ in range(2):
        by_password(client, "wrong")
    assert by_password(client).status_code == 200
    assert not AccessAttempt.objects.exists()


def test_it_begins_a_session_by_password(client, staff):
    before = timezone.now()
    answer = by_password(client)
    assert answer.status_code == 200
    session = AdminSession.objects.get()
    expires = session.expires_at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{session.expires_at.microsecond // 1000:03}Z"
    assert answer.json() == {"success": True, "expiresAt": expires}
    assert answer.headers["Cache-Control"] == "no-store"
    assert timedelta(hours=12) <= session.expires_at - before < timedelta(hours=12, minutes=1)
    assert (session.user, session.administrator) == (staff, None)
    assert session_of(client) == session


def test_its_cookie_is_only_for_the_api_and_out_of_reach_of_scripts_and_other_sites(client, staff, settings):
    cookie = by_password(client).cookies["admin_session"]
    assert (cookie["path"], cookie["samesite"]) == ("/api/", "Lax")
    assert cookie["httponly"] is cookie["secure"] is True
    assert 12 * 3600 - 60 < int(cookie["max-age"]) <= 12 * 3600
    settings.DEBUG = True
    assert not by_password(client).cookies["admin_session"]["secure"]


def test_what_is_stored_opens_nothing(client, staff):
    by_password(client)
    value = client.cookies["admin_session"].value
    stored = AdminSession.objects.values().get()
    assert re.fullmatch("[0-9a-f]{64}", stored["digest"])
    assert value not in str(stored) and value.partition(":")[0] not in str(stored)


def test_an_administrators_token_begins_a_session(client, issuer, administrator):
    answer = client.post(VERIFY, headers=as_user(issuer, 5))
    assert answer.status_code == 200
    session = session_of(client)
    assert (session.administrator, session.user) == (administrator, None)


def test_a_token_decides_and_not_the_password_beside_it(client, staff, issuer, administrator):
    assert seen(begin(client, headers=as_user(issuer, 6), username="operator", password=PASSWORD)) == UNAUTHORIZED
    assert seen(begin(client, headers=bearer("x"), username="operator", password=PASSWORD)) == UNAUTHORIZED
    assert begin(client, headers=as_user(issuer, 5), username="operator", password="wrong").status_code == 200
    assert not AccessAttempt.objects.exists()


def test_it_refuses_tokens_of_others_than_those_on_the_list(client, issuer, administrator):
    others = [
        issuer.quick_auth(6, domain=DOMAIN),
        issuer.quick_auth(5, domain="other.example"),
        # An administrator's FID, in a token by another issuer than the listed one.
        issuer.privy("did:privy:a", app_id=APP_ID, fid=5),
        issuer.privy("5", app_id=APP_ID),
        credentials.issue_key("Acme", scopes=[Scope.READ]),
    ]
    for token in others:
        assert seen(client.post(VERIFY, headers=bearer(token))) == UNAUTHORIZED
    assert not AdminSession.objects.exists()


def test_the_password_is_not_enough_with_a_second_factor(client, staff):
    device = TOTPDevice.objects.create(user=staff, name="app")
    refused = [by_password(client), by_password(client, code=""), by_password(client, code=wrong_code_of(device))]
    assert [seen(answer) for answer in refused] == [UNAUTHORIZED] * 3
    assert not AdminSession.objects.exists()
    assert seen(by_password(client, "wrong", code=code_of(device))) == UNAUTHORIZED
    code = code_of(device)
    assert by_password(client, code=code).status_code == 200
    # A code is good once.
    assert seen(by_password(Client(), code=code)) == UNAUTHORIZED


def test_a_device_that_is_not_confirmed_is_no_second_factor(client, staff):
    TOTPDevice.objects.create(user=staff, name="app", confirmed=False)
    assert by_password(client).status_code == 200


def test_an_account_without_a_second_factor_is_refused_where_all_must_have_one(client, staff, settings):
    settings.ADMIN_TOTP_REQUIRED = True
    assert seen(by_password(client)) == UNAUTHORIZED


ENDS: dict[str, Callable[[], Any]] = {
    "its time": lambda: AdminSession.objects.update(expires_at=timezone.now()),
    "the account's activity": lambda: User.objects.update(is_active=False),
    "the account's rights": lambda: User.objects.update(is_staff=False),
    "the account's password": lambda: User.objects.update(password=hashers.make_password("another one")),
    "the account": lambda: User.objects.all().delete(),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_session_is_over_with(client, staff, end):
    by_password(client)
    ENDS[end]()
    assert session_of(client) is None


def test_a_session_is_over_with_its_issuer_or_the_administrator(client, issuer, administrator, settings):
    client.post(VERIFY, headers=as_user(issuer, 5))
    trusted, settings.IDENTITY_ISSUERS = settings.IDENTITY_ISSUERS, ()
    assert session_of(client) is None
    settings.IDENTITY_ISSUERS = trusted
    assert session_of(client)
    administrator.delete()
    assert session_of(client) is None


def test_a_session_is_over_when_it_is_revoked(client, staff):
    by_password(client)
    assert sessions.revoke_session(AdminSession.objects.get())
    assert session_of(client) is None
    assert not sessions.revoke_session(AdminSession.objects.get())


def test_a_session_is_over_when_the_account_sets_a_second_factor_up(client, staff):
    by_password(client)
    other = AdminSession.objects.create(
        digest="0" * 64, user=User.objects.create_user("other"), password_hash="x", expires_at=timezone.now()
    )
    device = TOTPDevice.objects.create(user=staff, name="app", confirmed=False)
    assert session_of(client)
    second_factor.confirm_device(staff, code_of(device))
    assert session_of(client) is None
    assert AdminSession.objects.get(revoked_at__isnull=True) == other
    assert by_password(client, code=code_of(device)).status_code == 200
    assert session_of(client)


def test_a_session_without_a_second_factor_is_over_where_all_must_have_one(client, staff, settings):
    by_password(client)
    settings.ADMIN_TOTP_REQUIRED = True
    assert session_of(client) is None
    device = TOTPDevice.objects.create(user=staff, name="app")
    assert by_password(client, code=code_of(device)).status_code == 200
    assert session_of(client)


def test_delete_with_a_bad_token_ends_nothing_and_leaves_the_cookie(client, staff):
    by_password(client)
    answer = client.delete(VERIFY, headers=bearer("x"))
    assert seen(answer) == UNAUTHORIZED
    assert not answer.cookies
    assert session_of(client)


def test_a_cookie_that_was_made_up_is_refused_without_a_query(client, staff, django_assert_num_queries):
    by_password(client)
    good = client.cookies["admin_session"].value
    token, _, signature = good.partition(":")
    for bad in ("", "x", token, f"{token}:x", f"x:{signature}", good[:-1], good + "x", "é", "x" * 100_000, f"{token}:"):
        client.cookies["admin_session"] = bad
        with django_assert_num_queries(0):
            assert session_of(client) is None
    client.cookies["admin_session"] = good
    with django_assert_num_queries(1):
        assert session_of(client)


def test_delete_ends_the_session_and_clears_the_cookie(client, staff):
    by_password(client)
    stolen = Client()
    stolen.cookies["admin_session"] = client.cookies["admin_session"].value
    answer = client.delete(VERIFY)
    assert seen(answer) == (200, {"success": True})
    assert answer.headers["Cache-Control"] == "no-store"
    cookie = answer.cookies["admin_session"]
    assert (cookie.value, cookie["max-age"], cookie["path"], cookie["secure"]) == ("", 0, "/api/", True)
    assert session_of(stolen) is None
    assert AdminSession.objects.get().revoked_at
    assert seen(stolen.delete(VERIFY)) == UNAUTHORIZED


def test_delete_without_a_live_session_is_refused_and_clears_the_cookie(client, staff):
    assert seen(client.delete(VERIFY)) == UNAUTHORIZED
    by_password(client)
    AdminSession.objects.update(expires_at=timezone.now())
    answer = client.delete(VERIFY)
    assert seen(answer) == UNAUTHORIZED
    assert answer.cookies["admin_session"]["max-age"] == 0


def test_delete_ends_no_other_session(client, staff):
    by_password(client)
    other = Client()
    by_password(other)
    client.delete(VERIFY)
    assert session_of(other)


def test_the_cookie_does_not_open_the_operators_site(client, staff):
    by_password(client)
    assert client.get(LIST).status_code == 302


class SeesView(LimitedView):
    """Stand-in for an endpoint that returns more to administrators."""

    authentication_classes = [OptionalUserAuthentication]
    permission_classes = [AllowAny]

    def get(self, request):
        """Return whether the caller is an administrator."""
        return Response({"sees": is_administrator_request(request)})


urlpatterns = [path("api/sees", SeesView.as_view()), *config_urls.urlpatterns]


@pytest.mark.urls(__name__)
def test_endpoints_distinguish_administrators_from_others(client, staff, issuer, administrator):
    def sees(client, **headers):
        answer = client.get("/api/sees", headers=headers)
        return answer.json()["sees"] if answer.status_code == 200 else answer.status_code

    assert sees(client) is False
    assert sees(client, **as_user(issuer, 5)) is True
    assert sees(client, **as_user(issuer, 6)) is False
    assert sees(client, **bearer(issuer.privy("did:privy:a", app_id=APP_ID, fid=5))) is False
    by_password(client)
    assert sees(client) is sees(client, **as_user(issuer, 6)) is True
    # A bad token is refused also beside a good cookie; a bad cookie counts as absent.
    assert sees(client, **bearer("x")) == 401
    AdminSession.objects.update(expires_at=timezone.now())
    assert sees(client) is False
    assert sees(client, **as_user(issuer, 5)) is True


def test_guesses_are_limited_by_address_and_bad_tokens_among_them(client, staff, issuer, settings, no_calls):
    settings.RATE_LIMIT_ADMIN_VERIFY = 4
    answers = [by_password(client, "wrong"), client.post(VERIFY, headers=bearer("x")), by_password(client, name="a")]
    answers += [begin(client), by_password(client), client.post(VERIFY, headers=bearer("x"))]
    assert [answer.status_code for answer in answers] == [401, 401, 401, 400, 429, 429]
    assert answers[4].json() == {"error": "Too many requests. Please try again later."}
    assert answers[4].headers["RateLimit-Limit"] == "4"
    assert "Retry-After" in answers[4].headers
    # Ending a session is not limited.
    assert client.delete(VERIFY).status_code == 401


def test_sessions_that_are_over_are_deleted_some_day(client, staff):
    by_password(client)
    by_password(client)
    AdminSession.objects.filter(pk=AdminSession.objects.earliest("pk").pk).update(expires_at=timezone.now())
    tasks.prune_sessions()
    assert session_of(client) == AdminSession.objects.get()


def test_the_log_has_neither_passwords_nor_cookies(client, staff, caplog):
    caplog.set_level("DEBUG")
    by_password(client)
    by_password(client, "wrong-horse")
    assert "session" in caplog.text
    for secret in (PASSWORD, "wrong-horse", client.cookies["admin_session"].value):
        assert secret not in caplog.text


def test_the_description_documents_its_bodies():
    document = SchemaGenerator().get_schema(request=None, public=True)
    described = document["paths"][VERIFY]
    assert set(described["post"]["responses"]) >= {"200", "400", "401", "413", "415", "429", "503"}
    assert "requestBody" not in described["delete"]
