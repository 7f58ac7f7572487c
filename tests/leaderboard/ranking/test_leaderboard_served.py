"""`GET /api/droid/leaderboard` of the production server: the headers for caches, for every caller and method."""

import http.client
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from accounts.administrators import sessions
from accounts.models import AdminSession
from tests.processes.service_processes import service
from tests.processes.waiting import wait_for
from tests.rows.agent_factories import SnapshotFactory, StandingFactory
from tests.rows.factories import AdministratorFactory
from tests.rows.user_tokens import DOMAIN, as_user

URL = "/api/droid/leaderboard"
PUBLIC, PRIVATE = "public, s-maxage=30, stale-while-revalidate=60", "private, no-store"
LISTED = "https://app.example"
# Parameters that change nothing.
WAYS = {
    "plain": {},
    "gzip": {"Accept-Encoding": "gzip, deflate, br"},
    "another origin": {"Origin": "https://elsewhere.example"},
    "a listed origin": {"Origin": LISTED, "Accept-Encoding": "gzip"},
}


class Served:
    """The service on a port, and the cookies and tokens of its callers."""

    def __init__(self, port, callers):
        self.port, self.callers = port, callers

    def fetch(self, caller, address=URL, *, method="GET", **headers):
        """Return status, all headers as they came, and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, address, headers=self.callers[caller] | headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, [(name.lower(), text) for name, text in answer.getheaders()], body


def cookie(session_cookie):
    return {"Cookie": f"{sessions.COOKIE}={session_cookie}"}


@pytest.fixture
def served(service_environment, issuer, unused_port) -> Iterator[Served]:
    """Run the web server with the cache of public responses, and a ranking of 30 agents."""
    snapshot = SnapshotFactory(ranked=30)
    for rank in range(1, 31):
        StandingFactory(snapshot=snapshot, rank=rank, composite=77.123)
    AdministratorFactory(issuer=issuer.url, subject="5")
    staff = User.objects.create_user("staff", is_staff=True)
    expired = sessions.begin_session(staff).cookie
    AdminSession.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    site = Client()
    site.force_login(staff)
    callers = {
        "nobody": {},
        "an expired cookie": cookie(expired),
        "a forged cookie": cookie("nonsense"),
        "staff of the site": {"Cookie": f"sessionid={site.cookies['sessionid'].value}"},
        "an administrator": cookie(sessions.begin_session(staff).cookie),
        "an administrator by token": as_user(issuer, 5),
        "a user": as_user(issuer, 6),
        "a bad token": {"Authorization": "Bearer x.y.z"},
    }
    changes = {
        "ALLOWED_HOSTS": "*",
        "CORS_ORIGINS": LISTED,
        "EDGE_CACHE_SECONDS": "60",
        "FARCASTER_AUTH_DOMAINS": DOMAIN,
        "FARCASTER_AUTH_ORIGIN": issuer.url,
        "RATE_LIMIT_PUBLIC": "0",
        "PORT": str(unused_port),
        "WEB_WORKERS": "1",
    }
    running = Served(unused_port, callers)
    with service("web", service_environment | changes):
        wait_for(lambda: answers(running))
        yield running


def answers(served):
    try:
        return served.fetch("nobody", "/healthz")[0] == 200
    except OSError:
        return False


def cache_headers(headers):
    """Return the headers that caches obey, each with all its values: none may be there twice."""
    names = ("cache-control", "vary", "content-encoding", "access-control-allow-origin")
    return {name: [text for found, text in headers if found == name] for name in names}


def exactly(cache_control):
    return {
        "cache-control": [cache_control],
        "vary": ["Cookie"],
        "content-encoding": [],
        "access-control-allow-origin": ["*"],
    }


def test_one_cached_response_serves_requests_without_a_cookie_and_all_have_the_same_headers(served):
    first = served.fetch("nobody")
    assert "age" not in dict(first[1])
    etag = dict(first[1])["etag"]
    for requested in WAYS.values():
        _, headers, body = served.fetch("nobody", **requested)
        assert body == first[2] and dict(headers)["etag"] == etag
        status, headers, body = served.fetch("nobody", **requested, **{"If-None-Match": etag})
        assert (status, cache_headers(headers), dict(headers)["etag"], body) == (304, exactly(PUBLIC), etag, b"")
    assert "age" in dict(served.fetch("nobody")[1])
    # A request with a cookie goes to Django itself, also where it opens nothing any more.
    status, headers, _ = served.fetch("an expired cookie", **{"If-None-Match": etag})
    assert (status, cache_headers(headers), "age" in dict(headers)) == (304, exactly(PUBLIC), False)
    status, _, body = served.fetch("an administrator", **{"If-None-Match": etag})
    assert (status, b'"score"' in body) == (200, True)

    seen = {
        "nobody": (200, PUBLIC, False),
        "an expired cookie": (200, PUBLIC, False),
        "a forged cookie": (200, PUBLIC, False),
        "staff of the site": (200, PUBLIC, False),
        "an administrator": (200, PRIVATE, True),
        "an administrator by token": (200, PRIVATE, True),
        "a user": (200, PRIVATE, False),
        "a bad token": (401, "no-store", False),
    }
    assert seen.keys() == served.callers.keys()
    for caller, (status, cache_control, has_score) in seen.items():
        for requested in WAYS.values():
            # The second anonymous response is from the cache.
            for _ in range(2):
                found, headers, body = served.fetch(caller, **requested)
                assert (found, cache_headers(headers)) == (status, exactly(cache_control))
                assert (b'"score"' in body, b"77.123" in body) == (has_score, has_score)
            _, headers, body = served.fetch(caller, method="HEAD", **requested)
            assert (cache_headers(headers), body) == (exactly(cache_control), b"")
            if status == 200:
                refused, headers, _ = served.fetch(caller, f"{URL}?limit=x", **requested)
                assert (refused, cache_headers(headers)) == (400, exactly("no-store"))
