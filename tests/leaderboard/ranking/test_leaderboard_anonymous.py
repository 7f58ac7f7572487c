"""`GET /api/droid/leaderboard` without an administrator's credential: no response contains the score."""

import hashlib
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from accounts.administrators import sessions
from accounts.keys import credentials
from accounts.models import AdminSession, Scope
from tests.rows.factories import AdministratorFactory
from tests.rows.ranking_walks import ADMINISTRATOR, PUBLIC, URL, kept, make_snapshot, ranks, replace
from tests.rows.user_tokens import as_user

pytestmark = pytest.mark.django_db

# What no public response may contain: keys in `score`, and values in these tests' rankings.
SECRETS = (
    b'"score"',
    b"composite",
    b"component",
    b"wash",
    b"evidence",
    b"77.123",
    b"0.4321",
    b"0.8765",
    b"NARROW",
    b"reliability",
)


@pytest.fixture
def staff():
    return User.objects.create_user("operator", is_staff=True)


@pytest.fixture
def administrator_client():
    client = Client()
    client.cookies[sessions.COOKIE] = sessions.begin_session(User.objects.create_user("chief", is_staff=True)).cookie
    return client


def expired(staff):
    cookie = sessions.begin_session(staff).cookie
    AdminSession.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    return cookie


def revoked(staff):
    cookie = sessions.begin_session(staff).cookie
    AdminSession.objects.revoke()
    return cookie


def logged_out(staff):
    """Invalidate the session as a changed password does."""
    cookie = sessions.begin_session(staff).cookie
    staff.set_password("another")
    staff.save()
    return cookie


def disabled(staff):
    cookie = sessions.begin_session(staff).cookie
    User.objects.update(is_staff=False)
    return cookie


def of_the_site(client, staff):
    """Log in to the operators' site, which has its own permissions."""
    client.force_login(staff)
    return {}


def with_cookie(make):
    def enter(client, staff, issuer):
        client.cookies[sessions.COOKIE] = make(staff)
        return {}

    return enter


# Each gives the client its credential, and returns its headers.
STRANGERS = {
    "nobody": lambda client, staff, issuer: {},
    "staff of the site": lambda client, staff, issuer: of_the_site(client, staff),
    "a bad key": lambda client, staff, issuer: {"x-api-key": "lb_live_nonsense"},
    "a key": lambda client, staff, issuer: {"x-api-key": credentials.issue_key("Partner", scopes=list(Scope))},
    "a user": lambda client, staff, issuer: as_user(issuer, 12345),
    "another user": lambda client, staff, issuer: as_user(issuer, 5_000_001),
    "an expired cookie": with_cookie(expired),
    "a revoked cookie": with_cookie(revoked),
    "a cookie of somebody who is no staff any more": with_cookie(disabled),
    "a cookie from before the password was changed": with_cookie(logged_out),
    "a forged cookie": with_cookie(lambda staff: sessions.begin_session(staff).cookie[:-3] + "abc"),
    "an unsigned cookie": with_cookie(lambda staff: sessions.begin_session(staff).cookie.partition(":")[0]),
    "a long cookie": with_cookie(lambda staff: "x" * 4000),
    "a nonsensical cookie": with_cookie(lambda staff: "1"),
}


def secrets_in(answer):
    """Return the score parts in headers, cookies and body."""
    header_lines = b"\n".join(f"{name}: {value}".encode() for name, value in answer.items())
    text = header_lines + b"\n" + str(answer.cookies).encode() + b"\n" + answer.content
    return [secret for secret in SECRETS if secret in text]


def fetched_in_every_way(client, headers, query, administrators_etag):
    """Return a page, and every other response at its address."""
    page = client.get(URL, query, headers=headers)
    conditions = [{"If-None-Match": tag} for tag in (administrators_etag, "*", page.get("ETag", '"none"'))]
    return [
        page,
        client.head(URL, query, headers=headers),
        client.options(URL, query, headers=headers),
        client.post(f"{URL}?cursor={query.get('cursor', '')}", headers=headers),
        client.get(URL, {**query, "limit": "all"}, headers=headers),
        client.get(URL, query, headers=headers | {"Authorization": "Bearer x.y.z"}),
        *(client.get(URL, query, headers=headers | condition) for condition in conditions),
    ]


def etag_of_administrators(client):
    """Return the ETag that the administrators' page would have."""
    answer = client.get(URL, {"interval": "7d", "limit": 3})
    assert secrets_in(answer) and "ETag" not in answer
    return f'"{hashlib.sha256(answer.content).hexdigest()[:32]}"'


@pytest.mark.parametrize("stranger", STRANGERS)
def test_no_stranger_sees_a_byte_of_the_score_on_any_page(client, issuer, staff, administrator_client, stranger):
    AdministratorFactory(issuer=issuer.url, subject="5")
    # An administrator's number at another issuer is another user here.
    AdministratorFactory(issuer="https://elsewhere.example", subject="12345")
    ranking = make_snapshot(5, interval="7d")
    etag = etag_of_administrators(administrator_client)
    headers = STRANGERS[stranger](client, staff, issuer)
    may_keep = ADMINISTRATOR if "Authorization" in headers else PUBLIC
    pages, cursor = [], ""
    while cursor is not None:
        query = {"interval": "7d", "limit": 3, "cursor": cursor}
        page, head, *others = answers = fetched_in_every_way(client, headers, query, etag)
        assert [secrets_in(answer) for answer in answers] == [[]] * len(answers)
        assert (page.status_code, kept(page), kept(head)) == (200, (may_keep, "Cookie"), (may_keep, "Cookie"))
        assert [other.status_code for other in others[:4]] == [200, 405, 400, 401]
        # The administrators' page is another response.
        assert (others[4].status_code, others[4].content) == (200, page.content)
        assert not any(answer.cookies for answer in answers)
        pages.append(page)
        cursor = page.json()["cursor"]
        if len(pages) == 1:
            replace(ranking, size=9)
    assert ranks(pages) == [1, 2, 3, 4, 5]
    assert {row["computedAt"] for page in pages for row in page.json()["data"]} == {"2026-02-07T03:50:49.000Z"}


def test_the_site_shows_scores_only_to_operators_with_permission_to_view_rankings(client, staff):
    ranking = make_snapshot(1)
    client.force_login(staff)
    for address in ("standing/", f"standing/{ranking.standings.get().pk}/change/", "agent/"):
        answer = client.get(f"/admin/leaderboard/{address}")
        assert (answer.status_code, secrets_in(answer)) == (403, [])
