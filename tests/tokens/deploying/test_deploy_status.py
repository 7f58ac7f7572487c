"""Tests of `GET /api/tokens/deploy/status/{requestKey}`."""

from datetime import UTC, datetime
from urllib.parse import quote

import pytest

from accounts.models import PartnerKey
from tests.rows.factories import DeploymentFactory, TokenFactory
from tokens.deploying import response_bodies
from tokens.models import Deployment

pytestmark = pytest.mark.django_db

PATH = "/api/tokens/deploy/status/"
KEY = "0123456789abcdef0123456789abcdef"
HASH = "0x" + "ab" * 32
ADDRESS = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
OTHER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
NOT_FOUND = {"success": False, "error": "Deployment not found", "message": "Deployment not found"}


@pytest.fixture
def fetch(client, deploy_key):
    """Request the status of a key, and return the response."""
    return lambda request_key, **parameters: client.get(
        PATH + quote(request_key, safe=""), parameters, headers=deploy_key
    )


@pytest.fixture
def order(deploy_key):
    """Store a deployment of the partner that sends the requests."""
    partner = PartnerKey.objects.get()
    return lambda **columns: DeploymentFactory(partner_key=partner, request_key=KEY, **columns)


@pytest.mark.parametrize("request_key", [KEY[1:], KEY + "0", "x", "é" * 32, KEY[1:] + " ", "a/b", "%00"])
def test_it_finds_nothing_by_what_is_no_key(fetch, order, request_key):
    order()
    answer = fetch(request_key)
    assert (answer.status_code, answer.json()) == (404, NOT_FOUND)


def test_a_queued_deployment_has_no_details(fetch, order):
    order(expected_address=ADDRESS)
    Deployment.objects.update(updated_at=datetime(2026, 2, 7, 12, 0, 0, 123_456, tzinfo=UTC))
    answer = fetch(KEY)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "private, no-store")
    assert answer.json() == {
        "requestKey": KEY,
        "status": "enqueued",
        "txHash": None,
        "address": None,
        "error": None,
        "attempts": 0,
        "updatedAt": "2026-02-07T12:00:00.123Z",
    }


@pytest.mark.parametrize(
    ("status", "address"),
    [("enqueued", None), ("submitted", None), ("mined", ADDRESS), ("indexed", ADDRESS), ("failed", None)],
)
def test_it_returns_the_address_while_the_token_is_in_a_block(fetch, order, status, address):
    order(status=status, expected_address=ADDRESS, tx_hash=HASH, attempts=2, error="Words")
    answer = fetch(KEY).json()
    expected = {"status": status, "address": address, "txHash": HASH, "attempts": 2, "error": "Words"}
    assert answer | expected == answer


def test_a_presale_has_no_address_before_its_launch(fetch, order):
    order(status="mined", expected_address="", presale_id=3)
    assert fetch(KEY).json()["address"] is None
    Deployment.objects.update(status="indexed", token=TokenFactory(contract_address=OTHER))
    assert fetch(KEY).json()["address"] == OTHER


# The last looks like an address that is meant without its slash.
STRANGE_KEYS = ["a/b?c#d%2F&=;\"'<>\\^`{|}~!0123456", "../../../../../../../../../../ab", KEY[1:] + "/"]


@pytest.mark.parametrize("request_key", STRANGE_KEYS)
@pytest.mark.parametrize("ending", ["", "/"])
def test_the_status_url_of_deployments_leads_here(client, deploy_key, settings, order, request_key, ending):
    settings.SITE_URL = "http://testserver"
    stored = order()
    Deployment.objects.update(request_key=request_key)
    stored.refresh_from_db()
    answer = client.get(response_bodies.status_url(stored) + ending, headers=deploy_key)
    assert (answer.status_code, answer.json().get("requestKey")) == (200, request_key)


def test_it_counts_as_reading_does_and_not_as_an_order(fetch, order, settings):
    settings.RATE_LIMIT_DEPLOY, settings.RATE_LIMIT_KEYED = 1, 7
    order()
    assert [fetch(KEY).headers["RateLimit-Limit"] for _ in range(2)] == ["7", "7"]
