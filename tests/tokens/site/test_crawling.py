"""Files for search engines, and pages' canonical URLs."""

import re
from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest

from tests.rows.factories import SolanaTokenFactory, TokenFactory
from tests.rows.many_tokens import multiply
from tokens.site import sitemap
from tokens.site.views.crawling import built_sitemap

pytestmark = pytest.mark.django_db

NAMESPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
SITE = "https://launch.example.org"


@pytest.fixture(autouse=True)
def _own_host(settings):
    settings.SITE_URL, settings.ALLOWED_HOSTS = SITE, ["*"]
    built_sitemap.clear()


def read_sitemap(client):
    """Return URL -> lastmod in the sitemap."""
    answer = client.get("/sitemap.xml", headers={"host": "attacker.example"})
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/xml")
    entries = ElementTree.fromstring(answer.content)  # noqa: S314 our own
    return {entry.findtext(f"{NAMESPACE}loc"): entry.findtext(f"{NAMESPACE}lastmod") for entry in entries}


@pytest.mark.parametrize("path", ["/robots.txt", "/sitemap.xml"])
def test_they_are_only_read_and_cached(client, settings, path):
    assert client.post(path).status_code == 405
    assert client.get(path).headers["Cache-Control"].startswith("public, s-maxage=")
    assert path.startswith(settings.EDGE_CACHE_PREFIXES)


def test_a_process_builds_the_sitemap_once_for_its_lifetime(client, django_assert_num_queries):
    TokenFactory()
    first = read_sitemap(client)
    TokenFactory()
    with django_assert_num_queries(0):
        assert read_sitemap(client) == first
    built_sitemap.clear()
    assert len(read_sitemap(client)) == len(first) + 1


def test_robots_may_read_pages_only(client):
    answer = client.get("/robots.txt", headers={"host": "attacker.example"})
    assert answer.headers["Content-Type"].startswith("text/plain")
    lines = answer.text.splitlines()
    assert lines[0] == "User-agent: *" and {"Disallow: /api/", "Disallow: /admin/", "Allow: /"} < set(lines)
    assert lines[-1] == f"Sitemap: {SITE}/sitemap.xml"


def test_the_sitemap_has_pages_in_all_languages_and_tokens(client):
    token = TokenFactory(last_indexed=datetime(2026, 3, 4, tzinfo=UTC))
    solana = SolanaTokenFactory()
    hidden = [TokenFactory(blocked=True), TokenFactory(unindexed=True)]
    found = read_sitemap(client)
    pages = {
        f"{SITE}{prefix}{page}" for prefix in ("", "/de", "/zh-hans") for page in ("/leaderboard", "/status", "/docs")
    }
    tokens = {f"{SITE}/tokens/{each.chain_id}/{each.contract_address}" for each in (token, solana)}
    assert set(found) == pages | tokens | {f"{SITE}/", f"{SITE}/de/", f"{SITE}/zh-hans/"}
    assert found[f"{SITE}/tokens/8453/{token.contract_address}"] == "2026-03-04T00:00:00+00:00"
    assert not [token for token in hidden if token.contract_address in str(found)]
    assert f'hreflang="de" href="{SITE}/de/status"' in client.get("/sitemap.xml").text


def test_the_sitemap_without_sections_and_tokens(client, settings):
    settings.SITE_SECTIONS, settings.SITE_LANGUAGES = frozenset(), ("en",)
    assert set(read_sitemap(client)) == {f"{SITE}/"}


def test_the_newest_tokens_in_one_query(client, django_assert_num_queries):
    values = {"id": "nextval('tokens_token_id_seq')", "contract_address": "'0x' || lpad(n::text, 40, '0')"}
    multiply(TokenFactory(deployed_at=datetime(2026, 1, 1, tzinfo=UTC)), values, rows=sitemap.MAX_TOKENS - 1)
    # The second one has no place left.
    tokens = [TokenFactory(deployed_at=datetime(year, 1, 1, tzinfo=UTC)) for year in (2026, 2025)]
    with django_assert_num_queries(1):
        found = str(read_sitemap(client))
    assert [each.contract_address in found for each in tokens] == [True, False]


@pytest.mark.parametrize("query", ["?p=1", "?p=2", "?x=y"])
def test_no_query_makes_caches_miss_the_sitemap(client, query):
    assert client.get(f"/sitemap.xml{query}").status_code == 404


@pytest.mark.parametrize(
    ("path", "canonical"),
    [
        ("/", "/"),
        ("/?cursor=abc&sort=volume", "/"),
        ("/de/", "/de/"),
        ("/leaderboard?interval=7d&cursor=x", "/leaderboard"),
        ("/leaderboard/", "/leaderboard"),
        ("/de/status/?x=1", "/de/status"),
        ("/creators/12?cursor=abc", "/creators/12"),
    ],
)
def test_canonical_urls_have_no_filters_and_no_second_spelling(client, path, canonical):
    page = client.get(path).text
    assert re.findall('<link rel="canonical" href="(.*?)">', page) == [SITE + canonical]
    alternates = re.findall('<link rel="alternate" hreflang=".*?" href="(.*?)">', page)
    assert SITE + canonical in alternates and not [url for url in alternates if "?" in url]
