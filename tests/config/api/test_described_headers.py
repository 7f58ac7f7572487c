"""Response headers validated against the OpenAPI description for each status."""

import json

import pytest
from jsonschema import Draft202012Validator

from config.redis.connection import redis_client
from development.devchain.anvil import CHAIN_ID
from development.standins.http_server import Mode
from tests.rows.factories import DeployWalletFactory, TokenFactory
from tests.rows.launch_requests import WALLET as ORDERING_WALLET
from tests.rows.launch_requests import order
from tests.tokens.market.test_trending import grow_stale, launch
from tokens.market import provider_rate_limit
from tokens.models import DeploySwitch

pytestmark = pytest.mark.django_db

LIMITS = {"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"}
# Headers that clients act upon; others belong to HTTP itself.
API_HEADERS = LIMITS | {
    "Deprecation",
    "ETag",
    "Idempotency-Replayed",
    "Link",
    "Retry-After",
    "Warning",
    "WWW-Authenticate",
    "X-Ignored-Params",
    "X-Last-Event-Id",
    "X-Request-ID",
    "X-Total-Approximate",
}
LIST, TRENDING, SEARCH = "/api/tokens", "/api/tokens/trending", "/api/tokens/search"
DEPLOY = "/api/tokens/deploy"
PARTNERS, DETAIL, POOLS = (
    "/api/tokens/authenticated",
    "/api/get-token-by-address",
    "/api/tokens/fetch-by-pool-addresses",
)
WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
# Queries for which the service has its own response when the database is gone.
LOOKUPS = {
    "/api/tokens/fetch-deployed-by-fid": {"fid": 1},
    "/api/tokens/fetch-deployed-by-address": {"address": WALLET},
    "/api/tokens/fetch-by-pool-address": {"poolAddress": WALLET},
    "/api/search-creator": {"q": "a"},
    "/api/airdrops/claim": {"tokenAddress": WALLET, "claimerAddress": WALLET},
    LIST: {},
    SEARCH: {},
}


@pytest.fixture(autouse=True)
def limits(settings):
    """Set limits that are high enough for all these tests."""
    settings.RATE_LIMIT_PUBLIC = settings.RATE_LIMIT_KEYED = settings.RATE_LIMIT_DEPLOY = 1_000_000


@pytest.fixture
def document(client):
    return client.get("/api/openapi.json").json()


@pytest.fixture
def api_headers(document):
    """Return a function that checks a response's API headers and returns their names."""

    def names(path, answer, *, method="get"):
        described = document["paths"][path][method]["responses"][str(answer.status_code)].get("headers", {})
        found = API_HEADERS & set(answer.headers)
        assert found <= set(described), (path, answer.status_code, found - set(described))
        for name in found:
            header = described[name]
            if "$ref" in header:
                header = document["components"]["headers"][header["$ref"].rpartition("/")[2]]
            value = answer.headers[name]
            Draft202012Validator(header["schema"]).validate(int(value) if value.isdecimal() else value)
        return found

    return names


@pytest.mark.parametrize("path", [LIST, SEARCH, PARTNERS])
def test_an_answer_and_what_it_ignored(client, api_headers, read_key, path):
    answer = client.get(path, {"page": 1}, headers=read_key)
    expected = LIMITS | {"X-Ignored-Params"}
    expected |= {"ETag"} if path != PARTNERS else set()
    expected |= {"Deprecation", "Link"} if path == SEARCH else set()
    expected |= {"X-Last-Event-Id"} if path == LIST else set()
    assert (answer.status_code, api_headers(path, answer)) == (200, expected)


@pytest.mark.parametrize("path", [LIST, SEARCH, DETAIL])
def test_what_the_caller_has_already(client, api_headers, document, read_key, path):
    TokenFactory(contract_address=WALLET)
    parameters = {"address": WALLET} if path == DETAIL else {"page": 1}
    etag = client.get(path, parameters, headers=read_key).headers["ETag"]
    answer = client.get(path, parameters, headers=read_key | {"if-none-match": etag})
    assert answer.status_code == 304
    assert api_headers(path, answer) >= LIMITS | {"ETag"}
    assert "content" not in document["paths"][path]["get"]["responses"]["304"]
    [condition] = [part for part in document["paths"][path]["get"]["parameters"] if part["in"] == "header"]
    assert (condition["name"], condition.get("required", False)) == ("If-None-Match", False)


@pytest.mark.parametrize(("path", "method"), [(PARTNERS, "get"), (POOLS, "post"), ("/api/get-claim-info", "get")])
def test_what_may_not_be_stored_has_no_condition(document, path, method):
    operation = document["paths"][path][method]
    assert "304" not in operation["responses"]
    assert "ETag" not in operation["responses"]["200"]["headers"]
    assert not [part for part in operation.get("parameters", []) if part["in"] == "header"]


@pytest.mark.parametrize("path", [LIST, SEARCH])
def test_a_refused_parameter(client, api_headers, path):
    answer = client.get(path, {"page": 1, "fids": "x"})
    deprecated = {"Deprecation", "Link"} if path == SEARCH else set()
    assert (answer.status_code, api_headers(path, answer)) == (400, LIMITS | {"X-Ignored-Params"} | deprecated)


def test_a_refused_body(client, api_headers):
    answer = client.post(f"{POOLS}?page=1", json.dumps({"poolAddresses": 1}), content_type="application/json")
    assert (answer.status_code, api_headers(POOLS, answer, method="post")) == (400, LIMITS | {"X-Ignored-Params"})
    answer = client.post(f"{POOLS}?page=1", "x", content_type="text/plain")
    assert (answer.status_code, api_headers(POOLS, answer, method="post")) == (415, LIMITS | {"X-Ignored-Params"})


def test_a_refused_caller(client, api_headers, index_key):
    answer = client.get(PARTNERS, {"page": 1})
    assert (answer.status_code, api_headers(PARTNERS, answer)) == (401, LIMITS | {"WWW-Authenticate"})
    answer = client.get(PARTNERS, {"page": 1}, headers=index_key)
    assert (answer.status_code, api_headers(PARTNERS, answer)) == (403, LIMITS)


@pytest.mark.parametrize("path", [LIST, SEARCH])
def test_a_call_over_the_limit(client, api_headers, settings, path):
    settings.RATE_LIMIT_PUBLIC = 1
    deprecated = {"Deprecation", "Link"} if path == SEARCH else set()
    for _ in range(3):
        answer = client.get(path, {"page": 1}, REMOTE_ADDR="198.51.100.77")
    assert (answer.status_code, api_headers(path, answer)) == (429, LIMITS | {"Retry-After"} | deprecated)


def test_a_missing_record(client, api_headers, read_key):
    answer = client.get(DETAIL, {"address": WALLET, "page": 1}, headers=read_key)
    assert (answer.status_code, api_headers(DETAIL, answer)) == (404, LIMITS | {"X-Ignored-Params"})


def test_a_page_that_stands_in(client, api_headers, market):
    launch(market)
    assert "Warning" not in api_headers(TRENDING, client.get(TRENDING))
    grow_stale()
    market.behave(Mode.FAIL)
    answer = client.get(TRENDING)
    assert (answer.status_code, api_headers(TRENDING, answer)) == (200, LIMITS | {"ETag", "Warning"})
    answer = client.get(TRENDING, headers={"if-none-match": answer.headers["ETag"]})
    assert (answer.status_code, api_headers(TRENDING, answer)) == (304, LIMITS | {"ETag", "Warning"})


def test_an_upstream_that_fails_or_allows_no_call(client, api_headers, market, settings):
    market.behave(Mode.FAIL)
    answer = client.get(TRENDING)
    assert (answer.status_code, api_headers(TRENDING, answer)) == (502, LIMITS | {"Retry-After"})
    redis_client().delete(provider_rate_limit.CIRCUIT_BREAKER.key)
    settings.MARKET_CALLS_PER_MINUTE = 1
    answers = [client.get(TRENDING, {"page": page}) for page in range(2, 5)]
    assert (answers[-1].status_code, api_headers(TRENDING, answers[-1])) == (503, LIMITS | {"Retry-After"})


def test_a_deployment_and_its_repetition(client, api_headers, launchpad, deploy_key):
    DeployWalletFactory(chain_id=CHAIN_ID, address=ORDERING_WALLET)
    body = json.dumps(order())
    for further in (set(), {"Idempotency-Replayed"}):
        answer = client.post(f"{DEPLOY}?page=1", body, content_type="application/json", headers=deploy_key)
        assert answer.status_code == 200
        assert api_headers(DEPLOY, answer, method="post") == LIMITS | {"X-Ignored-Params"} | further


def test_a_deployment_while_the_chain_is_paused(client, api_headers, launchpad, deploy_key):
    DeployWalletFactory(chain_id=CHAIN_ID, address=ORDERING_WALLET)
    DeploySwitch.objects.create(chain_id=CHAIN_ID, paused=True)
    answer = client.post(DEPLOY, json.dumps(order()), content_type="application/json", headers=deploy_key)
    assert (answer.status_code, api_headers(DEPLOY, answer, method="post")) == (503, LIMITS | {"Retry-After"})


@pytest.fixture
def no_database(database_at, unused_port):
    """Replace the test's connection by one to a closed port."""
    database_at(unused_port)


@pytest.mark.parametrize("path", LOOKUPS)
def test_a_part_of_the_service_that_does_not_answer(client, api_headers, no_database, path):
    answer = client.get(path, LOOKUPS[path])
    assert (answer.status_code, answer.json()) == (503, {"error": "Service is temporarily unavailable"})
    assert api_headers(path, answer) >= LIMITS | {"Retry-After"}


def test_pools_while_a_part_of_the_service_does_not_answer(client, api_headers, no_database):
    body = json.dumps({"poolAddresses": [WALLET]})
    answer = client.post(POOLS, body, content_type="application/json")
    assert (answer.status_code, api_headers(POOLS, answer, method="post")) == (503, LIMITS | {"Retry-After"})
