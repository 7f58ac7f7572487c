"""Public page parameters that break a rule: the page that names both."""

import re

import pytest

from tests.html_pages import HOSTILE, Page
from tests.rows.factories import TokenFactory

pytestmark = pytest.mark.django_db

CURSOR_RULE = "must be that of a link on an earlier page of this list"
INTERVAL_RULE = "must be one of: 24h, 7d, 30d"


@pytest.fixture
def token():
    return TokenFactory()


def refusal_of(answer):
    """Return the parameter and the rule on a refusal's page, which is like other site pages."""
    page = Page(answer.text)
    assert answer.status_code == 400
    assert not page.scripts_inside and page.titles == 1 and {"header", "footer"} <= set(page.elements)
    assert '<meta name="robots" content="noindex">' in answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none';")
    assert len(answer.content) < 20_000
    return re.search(r"<code>(.*?)</code> (.*?)\. <a", answer.text).groups()


@pytest.mark.parametrize(
    ("path", "field", "value", "rule"),
    [
        ("/", "tab", "other", "must be one of: new, trending, graduating"),
        ("/", "sort", HOSTILE, "must be one of: newest, market-cap, volume, change"),
        ("/", "chain", "other", "must be a chain id, or all"),
        ("/", "chain", "9" * 400, "must be a chain id, or all"),
        ("/", "chain", "-1", "must be a chain id, or all"),
        ("/", "chain", "٣", "must be a chain id, or all"),
        ("/", "q", "x" * 101, "must have at most 100 characters"),
        ("/", "cursor", "\0", CURSOR_RULE),
        ("/", "cursor", "x" * 600, CURSOR_RULE),
        ("/leaderboard", "interval", "24H", INTERVAL_RULE),
        ("/leaderboard", "cursor", "x" * 600, CURSOR_RULE),
        ("/leaderboard", "cursor", "e30", CURSOR_RULE),
        ("/leaderboard", "cursor", "eyJpbnRlcnZhbCI6IjI0aCJ9", CURSOR_RULE),
        ("/creators/77", "cursor", "e30=", CURSOR_RULE),
        ("/tokens/{place}/trades", "cursor", "'", CURSOR_RULE),
        ("/tokens/{place}", "interval", "2h", "must be one of: 1m, 5m, 15m, 1h, 4h, 1d"),
        ("/tokens/{place}", "unit", "'", "must be one of: price, cap"),
        ("/embed/token/{place}", "currency", "x" * 600, "must be one of: usd, quote"),
        ("/", "other", "x" * 100_000, "must have at most 4000 characters"),
        ("/status", "cursor", "x" * 100_000, "must have at most 4000 characters"),
    ],
)
@pytest.mark.parametrize("language", ["", "/de"])
def test_it_names_the_parameter_and_the_rule(client, token, path, field, value, rule, language):
    path = language + path.format(place=f"8453/{token.contract_address}")
    answer = client.get(path, {field: value})
    refused, found = refusal_of(answer)
    assert refused == ("query" if len(value) > 4_000 else field)
    assert (found == rule) is (language == "")
    assert f'<a href="{path}">' in answer.text and HOSTILE not in answer.text


def test_a_refusal_is_one_line_of_the_log(client, caplog):
    client.get("/?sort=other")
    assert [(record.message, record.exc_info) for record in caplog.records] == [("Bad Request: /", None)]


def test_head_is_refused_without_a_body(client):
    answer = client.head("/?sort=other")
    assert (answer.status_code, answer.content) == (400, b"")


@pytest.mark.parametrize("path", ["/docs", "/nowhere"])
def test_no_page_repeats_a_long_query(client, path):
    assert "x" * 1_000 not in client.get(path, {"cursor": "x" * 100_000}).text


def test_the_api_ignores_what_it_ignored(client):
    assert client.get("/api/droid/leaderboard?cursor=nonsense").status_code == 200
