"""The public pages' rate limit."""

import secrets

import pytest

from tests.html_pages import Page
from tests.rows.factories import TokenFactory

pytestmark = pytest.mark.django_db

ADDRESS = "192.0.2.41"


@pytest.fixture
def pages(client, settings):
    """Return page paths; an address may open two a minute."""
    token = TokenFactory()
    place = f"{token.chain_id}/{token.contract_address}"
    settings.RATE_LIMIT_PAGES = 2
    paths = (f"/tokens/{place}", f"/tokens/{place}/trades", f"/embed/token/{place}")
    return ["/", "/?q=cat", *paths, "/leaderboard", f"/creators/{token.msg_sender}", "/status"]


def test_all_pages_count_together(client, pages):
    for number, path in enumerate(pages):
        answer = client.get(path, REMOTE_ADDR=ADDRESS)
        assert (answer.status_code == 429) == (number > 1), path
    assert 0 < int(answer.headers["Retry-After"]) <= 60 and answer.headers["Cache-Control"] == "no-store"
    assert "Too many requests" in Page(answer.text).texts
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none';")
    assert client.get("/", REMOTE_ADDR="192.0.2.42").status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        *(("GET", path, 200) for path in ("/docs", "/docs.md", "/docs/api.md", "/docs/skill.md", "/llms.txt")),
        *(("GET", path, 200) for path in ("/llms-full.txt", "/de/docs", "/admin/login/")),
        *(("GET", "/nope", 404), ("POST", "/nope", 404), ("POST", "/", 405), ("GET", "/admin/nope", 302)),
    ],
)
def test_documents_log_in_and_error_pages_count_with_them(client, settings, method, path, status):
    settings.RATE_LIMIT_PAGES, settings.SITE_LANGUAGES = 2, ("en", "de")
    address, other = (f"2001:db8:{secrets.token_hex(2)}:{number}::1" for number in (1, 2))
    assert client.get("/", REMOTE_ADDR=address).status_code == 200
    assert client.generic(method, path, REMOTE_ADDR=address).status_code == status
    if status != 302:
        refused = client.generic(method, path, REMOTE_ADDR=address)
        assert (refused.status_code, refused.headers["Cache-Control"]) == (429, "no-store")
        assert 0 < int(refused.headers["Retry-After"]) <= 60
        assert client.generic(method, path, REMOTE_ADDR=other).status_code == status


def test_zero_is_no_limit(client, pages, settings):
    settings.RATE_LIMIT_PAGES = 0
    assert {client.get("/", REMOTE_ADDR=ADDRESS).status_code for _ in range(5)} == {200}


def test_pages_are_served_without_redis(client, pages, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert {client.get("/", REMOTE_ADDR="192.0.2.43").status_code for _ in range(4)} == {200}
