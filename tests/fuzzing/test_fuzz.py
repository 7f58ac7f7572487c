"""API fuzzing: the description has every response, and none is an internal error.

`make fuzz` makes 10,000 calls; it prints those that fail, and how to repeat them.
"""

import dataclasses

import pytest

from config.environment.issuers import read_issuers
from development.devchain.anvil import CHAIN_ID
from tests.fuzzing import described_calls
from tests.fuzzing.fuzzed_service import build_service
from tests.rows.launch_requests import ADMIN, WALLET
from tests.tokens.deploying.test_presales import start
from tokens.installation.installed_chains import installed_chain

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SEEDS, CALLS, ONLY = described_calls.wanted()


@pytest.fixture
def description(client):
    return client.get("/api/openapi.json").json()


@pytest.fixture
def fuzzed(launchpad, node, market, social, issuer, queue, settings, forget_chains, unmet_limits, tmp_path):
    """Build the service with rows, nodes and providers."""
    settings.RPC_URLS = settings.RPC_URLS | {8453: (node.url,)}
    settings.RPC_ATTEMPTS = 1
    settings.UPLOAD_STORAGE, settings.UPLOAD_DIR = "directory", tmp_path
    settings.IDENTITY_ISSUERS += read_issuers({"WALLET_SIGN_IN": "true"}, site_url=settings.SITE_URL)
    # Feeds come from own trades, and the provider has the other chain's trending pools.
    settings.FEEDS, settings.MARKET_PROVIDER_CHAINS = ("dexscreener", "dextools", "udf", "daily"), (8453,)
    forget_chains()
    sale, _ = start(installed_chain(CHAIN_ID), launchpad.deployment, allowlist=(ADMIN, WALLET))
    return build_service(issuer, node, [launchpad.launch(), launchpad.launch()], presale_id=sale.presale_id)


# Possible faults in a good response to IS_BLOCKED, and the failure that each causes. Each function takes the status,
# the headers and the body.
IS_BLOCKED = "GET /api/tokens/is-blocked"
FLAWS = {
    "it fails": (lambda status, headers, body: ("500 Oops", headers, b'{"error": "Oops"}'), "Server error"),
    "it answers otherwise": (lambda status, headers, body: ("202 Accepted", headers, body), "Undocumented status code"),
    "a key is missing": (lambda status, headers, body: (status, headers, b"{}"), "violates schema"),
    "there is a key more": (lambda status, headers, body: (status, headers, body[:-1] + b',"a":1}'), "violates schema"),
    "it is a page": (lambda status, headers, body: (status, [("Content-Type", "text/html")], body), "Content-Type"),
    "a header more": (lambda status, headers, body: (status, [*headers, ("Warning", "x")], body), "['Warning']"),
    "a bad header": (
        lambda status, headers, body: (status, [("RateLimit-Limit", "-1"), *headers], body),
        "header does not conform",
    ),
}


def flawed(application, change):
    """Return the application with changed good responses."""

    def changed(environ, start_response):
        started = []
        body = b"".join(application(environ, lambda *start: started.extend(start)))
        status, headers = started[:2]
        if status.startswith("200"):
            status, headers, body = change(status, headers, body)
        start_response(status, headers)
        return [body]

    return changed


def careless(application, key):
    """Return the application, which accepts every caller as a partner."""
    return lambda environ, start_response: application(environ | {"HTTP_X_API_KEY": key}, start_response)


@pytest.fixture
def failures(fuzzed, description, caplog):
    """Return a function that fuzzes an application instead of the service, and returns the failures."""
    caplog.set_level("ERROR", logger="django.request")

    def failures(application, *, calls=800):
        service = dataclasses.replace(fuzzed, application=application)
        return described_calls.run(service, description, number=1, calls=calls, only=IS_BLOCKED).failures

    return failures


def test_it_notices_each_fault_of_a_response_and_prints_what_repeats_it(fuzzed, failures):
    service = fuzzed.application
    assert failures(service) == []
    unnoticed = {}
    for flaw, (change, words) in FLAWS.items():
        found = failures(flawed(service, change))
        if not (found and words in found[0] and f"ONLY='{IS_BLOCKED}'" in found[0] and "curl" in found[0]):
            unnoticed[flaw] = found
    assert unnoticed == {}


def test_it_notices_callers_that_pass_and_may_not(fuzzed, failures):
    key = fuzzed.headers[described_calls.Level.PARTNER]["x-api-key"]
    assert "who may not pass was not refused with 40" in failures(careless(fuzzed.application, key), calls=4000)[0]


@pytest.mark.parametrize("number", SEEDS)
def test_no_answer_is_a_surprise(fuzzed, description, caplog, number):
    # Most calls are refused.
    caplog.set_level("ERROR")
    caplog.set_level("ERROR", logger="django.request")
    outcome = described_calls.run(fuzzed, description, number=number, calls=CALLS, only=ONLY)
    # Visible with pytest's `-s`.
    print(f"seed {number}: {outcome}", flush=True)
    assert not outcome.failures, "\n\n".join(outcome.failures)
