"""GET /api/droid/leaderboard as the production server gives it: what caches are told, by whoever asks and however."""

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
# What callers ask for besides, which changes nothing.
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

    def ask(self, caller, address=URL, *, method="GET", **headers):
        """Status, all headers as they came, and body."""
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
    """The web server with the cache of public answers, and a ranking of 30 agents."""
    snapshot = SnapshotFactory(ranked=30)
    for rank in range(1, 31):
        StandingFactory(snapshot=snapshot, rank=rank, composite=77.123)
    AdministratorFactory(issuer=issuer.url, subject="5")
    staff = User.objects.create_user("staff", is_staff=True)
    expired = sessions.begin(staff).cookie
    AdminSession.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    site = Client()
    site.force_login(staff)
    callers = {
        "nobody": {},
        "an expired cookie": cookie(expired),
        "a forged cookie": cookie("nonsense"),
        "staff of the site": {"Cookie": f"sessionid={site.cookies['sessionid'].value}"},
        "an administrator": cookie(sessions.begin(staff).cookie),
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
        wait_for(lambda: answers(running), seconds=60)
        yield running


def answers(served):
    try:
        return served.ask("nobody", "/healthz")[0] == 200
    except OSError:
        return False


def told(headers):
    """What caches go by: each header that there may be only once, as often as it came."""
    names = ("cache-control", "vary", "content-encoding", "access-control-allow-origin")
    return {name: [text for found, text in headers if found == name] for name in names}


def exactly(cache_control):
    return {
        "cache-control": [cache_control],
        "vary": ["Cookie"],
        "content-encoding": [],
        "access-control-allow-origin": ["*"],
    }


def test_caches_are_told_the_same_whoever_asks_and_however(served):
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
        for asked in WAYS.values():
            # The second one of nobody's is from the cache.
            for _ in range(2):
                found, headers, body = served.ask(caller, **asked)
                assert (found, told(headers)) == (status, exactly(cache_control))
                assert (b'"score"' in body, b"77.123" in body) == (has_score, has_score)
            _, headers, body = served.ask(caller, method="HEAD", **asked)
            assert (told(headers), body) == (exactly(cache_control), b"")


def test_errors_are_never_kept_and_depend_on_nothing_else(served):
    for caller in ("nobody", "an expired cookie", "an administrator"):
        for asked in WAYS.values():
            status, headers, _ = served.ask(caller, f"{URL}?limit=x", **asked)
            assert (status, told(headers)) == (400, exactly("no-store"))


def test_one_kept_answer_serves_all_who_send_no_cookie(served):
    first = served.ask("nobody")
    assert "age" not in dict(first[1])
    etag = dict(first[1])["etag"]
    for asked in WAYS.values():
        _, headers, body = served.ask("nobody", **asked)
        assert body == first[2] and dict(headers)["etag"] == etag
        status, headers, body = served.ask("nobody", **asked, **{"If-None-Match": etag})
        assert (status, told(headers), dict(headers)["etag"], body) == (304, exactly(PUBLIC), etag, b"")
    assert "age" in dict(served.ask("nobody")[1])
    # Who sends a cookie asks Django itself, also where it opens nothing any more.
    status, headers, _ = served.ask("an expired cookie", **{"If-None-Match": etag})
    assert (status, told(headers), "age" in dict(headers)) == (304, exactly(PUBLIC), False)
    status, _, body = served.ask("an administrator", **{"If-None-Match": etag})
    assert (status, b'"score"' in body) == (200, True)
