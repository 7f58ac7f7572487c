"""What browsers let pages of other origins do."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db

ORIGIN = {"origin": "https://elsewhere.example"}


def preflight(address, method, **headers):
    asked = ORIGIN | {"access-control-request-method": method} | headers
    return Client().options(address, headers=asked).headers


def test_a_page_of_another_origin_may_not_send_a_body():
    allowed = preflight("/api/tokens/index", "POST")["Access-Control-Allow-Methods"]
    assert "POST" not in allowed


def test_a_page_of_another_origin_may_not_send_a_key():
    headers = preflight("/api/get-token-by-address", "GET", **{"access-control-request-headers": "x-api-key"})
    assert "x-api-key" not in headers.get("Access-Control-Allow-Headers", "")


def test_the_admin_site_is_for_its_own_pages():
    assert "Access-Control-Allow-Origin" not in Client().get("/admin/login/", headers=ORIGIN).headers


def test_a_page_of_any_origin_may_read_what_is_public():
    headers = Client().get("/api/tokens", headers=ORIGIN).headers
    assert headers["Access-Control-Allow-Origin"] == "*"
    assert set(headers["Access-Control-Expose-Headers"].split(", ")) == {
        "Deprecation",
        "ETag",
        "Link",
        "RateLimit-Limit",
        "RateLimit-Remaining",
        "RateLimit-Reset",
        "Retry-After",
        "Warning",
        "X-Ignored-Params",
        "X-Total-Approximate",
    }
    assert "Access-Control-Allow-Credentials" not in headers
