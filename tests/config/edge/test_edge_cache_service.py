"""The service behind its cache of public answers: which addresses are kept, and what Django still decides."""

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.keys import credentials
from accounts.models import Scope
from config.edge.cache import keep_public_answers
from config.edge.chunked_bodies import measure_bodies
from tests.processes.edge_clients import ask
from tests.rows.factories import TokenFactory

# The WSGI application closes connections that are in a transaction.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def service(redis_url, settings):
    """The service as config.wsgi builds it, with a cache of its own, and long enough for any test."""
    settings.EDGE_CACHE_SECONDS = 60.0
    settings.ALLOWED_HOSTS = ["testserver"]
    return keep_public_answers(measure_bodies(WSGIHandler()))


def test_a_kept_list_asks_the_database_once(service, django_assert_num_queries):
    TokenFactory()
    with CaptureQueriesContext(connection) as queries:
        first = ask(service, "/api/tokens")
    assert len(queries) > 0
    with django_assert_num_queries(0):
        assert ask(service, "/api/tokens").body == first.body
        assert ask(service, "/api/tokens", method="HEAD").headers["content-length"] == first.headers["content-length"]
        assert ask(service, "/api/tokens", HTTP_IF_NONE_MATCH=first.headers["etag"]).status == 304
    with CaptureQueriesContext(connection) as queries:
        ask(service, "/api/tokens", HTTP_COOKIE="a=b")
    assert len(queries) > 0


@pytest.mark.parametrize("address", ["/", "/api/tokens", "/api/tokens/fetch-by-pool-address?poolAddress=0x" + "1" * 40])
def test_public_answers_are_kept(service, address):
    assert "age" not in ask(service, address).headers
    assert ask(service, address).headers["age"] == "0"


def test_the_page_of_a_token_is_kept(service):
    token = TokenFactory()
    address = f"/tokens/{token.chain_id}/{token.contract_address}"
    assert ask(service, address).status == 200
    assert "age" in ask(service, address).headers


def test_partners_get_no_kept_answer(service):
    token = TokenFactory()
    key = credentials.issue("Reader", scopes=[Scope.READ])
    address = f"/api/get-token-by-address?address={token.contract_address}"
    assert ask(service, address, HTTP_X_API_KEY=key).status == 200
    assert ask(service, address).status == 401
    assert ask(service, address, HTTP_X_API_KEY=key).status == 200
    assert "age" not in ask(service, address, HTTP_X_API_KEY=key).headers


@pytest.mark.parametrize("address", ["/api/tokens?limit=21", "/api/nothing", "/healthz", "/readyz", "/admin/login/"])
def test_errors_probes_and_the_admin_site_are_not_kept(service, address):
    assert all("age" not in ask(service, address).headers for _ in range(2))


def test_a_host_that_is_not_ours_gets_no_kept_answer(service):
    assert ask(service, "/api/tokens").status == 200
    assert [ask(service, "/api/tokens", HTTP_HOST="evil.example").status for _ in range(2)] == [400, 400]
    assert ask(service, "/api/tokens").status == 200


def test_a_kept_answer_stands_in_the_way_of_no_redirect_to_https(settings, redis_url):
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.EDGE_CACHE_SECONDS = 60.0
    service = keep_public_answers(WSGIHandler())
    for _ in range(2):
        assert ask(service, "/api/tokens", HTTP_X_FORWARDED_PROTO="https").status == 200
        assert ask(service, "/api/tokens", HTTP_X_FORWARDED_PROTO="http").status == 301
        assert ask(service, "/api/tokens").status == 301


def test_pages_of_other_origins_may_read_what_is_kept(service):
    assert ask(service, "/api/tokens").headers["access-control-allow-origin"] == "*"
    for site in ("https://a.example", "https://b.example"):
        kept = ask(service, "/api/tokens", HTTP_ORIGIN=site).headers
        assert (kept["age"], kept["access-control-allow-origin"]) == ("0", "*")


def test_a_kept_answer_is_compressed_for_those_alone_who_ask_for_it(service):
    TokenFactory.create_batch(3)
    for _ in range(2):
        assert ask(service, "/api/tokens").body.startswith(b"{")
        packed = ask(service, "/api/tokens", HTTP_ACCEPT_ENCODING="gzip")
        assert (packed.headers["content-encoding"], packed.body[:2]) == ("gzip", b"\x1f\x8b")
        assert packed.headers["content-length"] == str(len(packed.body))
        assert "content-encoding" not in ask(service, "/api/tokens", HTTP_ACCEPT_ENCODING="gzip;q=0").headers
