"""CORS: access for pages from other origins."""

import pytest
from django.test import Client

from tests.config.api.test_described_headers import API_HEADERS

pytestmark = pytest.mark.django_db

LISTED, ELSEWHERE = "https://app.example", "https://elsewhere.example"
PUBLIC, KEYED = "/api/tokens", "/api/tokens/authenticated"
POST = "/api/tokens/fetch-by-pool-addresses"


@pytest.fixture(autouse=True)
def origins(settings):
    settings.CORS_ALLOWED_ORIGINS = (LISTED,)


def preflight(address, method, *, origin=ELSEWHERE, headers=""):
    """Send this call's preflight and return its CORS headers, by their names' ends."""
    request_headers = {"origin": origin, "access-control-request-method": method}
    if headers:
        request_headers["access-control-request-headers"] = headers
    answer = Client().options(address, headers=request_headers)
    assert (answer.status_code, answer.content) == (200, b"")
    return allowed(answer)


def allowed(answer):
    begin = "access-control-allow-"
    return {name.lower()[len(begin) :]: text for name, text in answer.items() if name.lower().startswith(begin)}


@pytest.mark.parametrize(
    ("address", "method", "headers"),
    [
        (POST, "DELETE", "content-type"),
        (PUBLIC, "POST", ""),
        ("/api/tokens/save-deployed-token/from-ui", "POST", "content-type"),
        ("/api/admin/verify", "POST", "content-type"),
        ("/mcp", "POST", "content-type"),
        (PUBLIC, "DELETE", ""),
        ("/api/tokens/index", "POST", "content-type,x-api-key"),
        (KEYED, "GET", "x-api-key"),
        (KEYED, "GET", ""),
        ("/api/no%0Athing", "GET", ""),
    ],
)
@pytest.mark.parametrize("origin", [ELSEWHERE, "null", "http://app.example", f"{LISTED}.evil.example", "http://[", ""])
def test_a_page_of_another_origin_may_do_nothing_but_read_what_is_public(address, method, headers, origin):
    assert preflight(address, method, origin=origin, headers=headers) == {}


@pytest.mark.parametrize("address", [POST, KEYED, PUBLIC])
def test_a_page_of_a_listed_origin_may(address):
    answer = preflight(address, "POST", origin=LISTED, headers="content-type,x-api-key")
    assert answer == {
        "origin": LISTED,
        "methods": "DELETE, GET, HEAD, PATCH, POST",
        "headers": "authorization, content-type, x-api-key, mcp-protocol-version, mcp-method, mcp-name",
    }


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_page_of_any_origin_may_preflight_what_is_public(method):
    answer = preflight(PUBLIC, method, headers="x-api-key")
    assert answer == {"origin": "*", "methods": "GET, HEAD", "headers": "content-type"}


@pytest.mark.parametrize("origin", [ELSEWHERE, "null"])
def test_a_page_of_any_origin_may_send_a_post_that_only_reads(origin):
    answer = preflight(POST, "POST", origin=origin, headers="content-type")
    assert answer == {"origin": "*", "methods": "GET, HEAD, POST", "headers": "content-type"}
    for body, status in (({"poolAddresses": []}, 200), ({}, 400)):
        posted = Client().post(POST, body, content_type="application/json", headers={"origin": origin})
        assert (posted.status_code, allowed(posted)) == (status, {"origin": "*"})


@pytest.mark.parametrize("origin", [LISTED, ELSEWHERE, "null", ""])
@pytest.mark.parametrize(
    ("address", "status"),
    [(PUBLIC, 200), ("/api/openapi.json", 200), (f"{PUBLIC}?limit=x", 400), ("/api/nothing", 404)],
)
def test_a_page_of_any_origin_may_read_what_is_public(address, status, origin):
    answer = Client().get(address, headers={"origin": origin} if origin else {})
    assert answer.status_code == status
    # The same for all origins, so that one cache entry serves all.
    assert allowed(answer) == {"origin": "*"}
    assert "origin" not in answer.headers.get("Vary", "").lower()
    # What is public requires no credential.
    assert set(answer.headers["Access-Control-Expose-Headers"].split(", ")) == API_HEADERS - {"WWW-Authenticate"}


@pytest.mark.parametrize(("origin", "shown"), [(LISTED, {"origin": LISTED}), (ELSEWHERE, {})])
def test_everything_else_is_for_pages_of_listed_origins(origin, shown, read_key):
    headers = {"origin": origin}
    posted = Client().post("/api/tokens/index", {}, content_type="application/json", headers=headers)
    assert (posted.status_code, allowed(posted)) == (401, shown)
    keyed = Client().get(KEYED, headers=headers | read_key)
    assert (keyed.status_code, allowed(keyed)) == (200, shown)
    refused = Client().get(KEYED, headers=headers)
    assert (refused.status_code, allowed(refused)) == (401, shown)
    assert all("origin" in answer.headers["Vary"] for answer in (posted, keyed, refused))


def test_no_origin_is_listed_by_default(settings):
    settings.CORS_ALLOWED_ORIGINS = ()
    assert preflight(KEYED, "GET", origin=LISTED) == {}


@pytest.mark.parametrize("origin", [LISTED, ELSEWHERE])
def test_the_admin_site_is_for_its_own_pages(origin):
    assert allowed(Client().get("/admin/login/", headers={"origin": origin})) == {}
