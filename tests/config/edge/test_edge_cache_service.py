"""The service behind its cache of public responses: cached addresses, and requests that Django still handles."""

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.keys import credentials
from accounts.models import Scope
from config.edge.cache import cache_public_responses
from tests.processes.edge_clients import fetch
from tests.rows.factories import TokenFactory

# The WSGI application closes connections that are in a transaction.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def service(settings):
    """Build the service as config.wsgi does, with its own cache of 60 s."""
    settings.EDGE_CACHE_SECONDS = 60.0
    settings.ALLOWED_HOSTS = ["testserver"]
    return cache_public_responses(WSGIHandler())


def test_a_cached_list_costs_its_queries_once(service, django_assert_num_queries):
    TokenFactory()
    with CaptureQueriesContext(connection) as queries:
        first = fetch(service, "/api/tokens")
    assert len(queries) > 0
    with django_assert_num_queries(0):
        assert fetch(service, "/api/tokens").body == first.body
        assert fetch(service, "/api/tokens", method="HEAD").headers["content-length"] == first.headers["content-length"]
        assert fetch(service, "/api/tokens", HTTP_IF_NONE_MATCH=first.headers["etag"]).status == 304
    with CaptureQueriesContext(connection) as queries:
        fetch(service, "/api/tokens", HTTP_COOKIE="a=b")
    assert len(queries) > 0


@pytest.mark.parametrize(
    "address", ["/", "/leaderboard", "/api/tokens", "/api/tokens/fetch-by-pool-address?poolAddress=0x" + "1" * 40]
)
def test_public_answers_are_kept(service, address):
    assert "age" not in fetch(service, address).headers
    assert fetch(service, address).headers["age"] == "0"


def test_the_page_of_a_token_is_kept(service):
    token = TokenFactory()
    address = f"/tokens/{token.chain_id}/{token.contract_address}"
    assert fetch(service, address).status == 200
    assert "age" in fetch(service, address).headers


def test_partners_get_no_kept_answer(service):
    token = TokenFactory()
    key = credentials.issue_key("Reader", scopes=[Scope.READ])
    address = f"/api/get-token-by-address?address={token.contract_address}"
    assert fetch(service, address, HTTP_X_API_KEY=key).status == 200
    assert fetch(service, address).status == 401
    assert fetch(service, address, HTTP_X_API_KEY=key).status == 200
    assert "age" not in fetch(service, address, HTTP_X_API_KEY=key).headers


@pytest.mark.parametrize("address", ["/api/tokens?limit=21", "/api/nothing", "/healthz", "/readyz", "/admin/login/"])
def test_errors_probes_and_the_admin_site_are_not_kept(service, address):
    assert all("age" not in fetch(service, address).headers for _ in range(2))


def test_a_host_that_is_not_ours_gets_no_kept_answer(service):
    assert fetch(service, "/api/tokens").status == 200
    assert [fetch(service, "/api/tokens", HTTP_HOST="evil.example").status for _ in range(2)] == [400, 400]
    assert fetch(service, "/api/tokens").status == 200


def test_a_cached_answer_prevents_no_redirect_to_https(settings):
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.EDGE_CACHE_SECONDS = 60.0
    service = cache_public_responses(WSGIHandler())
    for _ in range(2):
        assert fetch(service, "/api/tokens", HTTP_X_FORWARDED_PROTO="https").status == 200
        assert fetch(service, "/api/tokens", HTTP_X_FORWARDED_PROTO="http").status == 301
        assert fetch(service, "/api/tokens").status == 301


def test_pages_of_other_origins_may_read_what_is_kept(service):
    assert fetch(service, "/api/tokens").headers["access-control-allow-origin"] == "*"
    for site in ("https://a.example", "https://b.example"):
        kept = fetch(service, "/api/tokens", HTTP_ORIGIN=site).headers
        assert (kept["age"], kept["access-control-allow-origin"]) == ("0", "*")
