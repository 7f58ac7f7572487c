"""The endpoints that are called with a partner key: who may call them, before anything else is looked at."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import URLPattern, get_resolver, resolve

from accounts import keys
from accounts.models import PartnerKey, Scope
from accounts.permissions import HasScope
from tests.refusals import assert_refused

pytestmark = pytest.mark.django_db

ADDRESS = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
# Addresses with parameters that are refused where they are looked at.
READS = (
    "/api/tokens/authenticated?limit=nonsense",
    "/api/get-token-by-address?address=nonsense",
    "/api/get-tokens-by-fid?fid=nonsense",
    "/api/tokens/fetch-by-admin?admin=nonsense",
    "/api/tokens/is-blocked?address=nonsense",
    "/api/get-lp-info/nonsense",
    f"/api/get-claimed-fees/nonsense/{ADDRESS}",
    "/api/get-claim-info?address=nonsense",
    "/api/get-uncollected-fees/nonsense",
)
INDEX = "/api/tokens/index"
DEPLOYS = ("/api/tokens/deploy", "/api/tokens/deploy/v4", "/api/tokens/deploy/status/nonsense")
ALL = (*READS, INDEX, *DEPLOYS)
POSTS = (INDEX, *DEPLOYS[:2])


def call(client, address, **headers):
    return client.post(address, headers=headers) if address in POSTS else client.get(address, headers=headers)


def refused(answer, address, status, text):
    """As `assert_refused`; orders have keys of their own in errors."""
    if address in DEPLOYS:
        assert (answer.status_code, answer.json()) == (status, {"success": False, "error": text, "message": text})
        assert answer.headers["Cache-Control"] == "no-store"
    else:
        assert_refused(answer, status, text)


def routes(resolver: Any) -> Iterator[URLPattern]:
    for entry in resolver.url_patterns:
        if isinstance(entry, URLPattern):
            yield entry
        else:
            yield from routes(entry)


def test_all_such_endpoints_are_looked_at_here():
    views = [getattr(route.callback, "cls", None) for route in routes(get_resolver())]
    wanted = {view for view in views if view and HasScope in view.permission_classes}
    assert wanted == {resolve(address.partition("?")[0]).func.cls for address in ALL}


@pytest.mark.parametrize("address", ALL)
def test_it_asks_for_a_key_before_anything_else(client, address):
    answer = call(client, address)
    refused(answer, address, 401, "API key is required")
    assert "WWW-Authenticate" in answer.headers


@pytest.mark.parametrize("address", ALL)
def test_it_refuses_a_revoked_key(client, address):
    text = keys.issue("Both", scopes=list(Scope))
    keys.revoke(PartnerKey.objects.get())
    refused(call(client, address, **{"x-api-key": text}), address, 401, "Unauthorized")


@pytest.mark.parametrize("address", READS)
def test_a_read_names_the_scope_that_a_key_lacks(client, index_key, address):
    assert_refused(call(client, address, **index_key), 403, f"This key lacks the scope {Scope.READ}")


def test_indexing_names_the_scope_that_a_key_lacks(client, read_key):
    assert_refused(call(client, INDEX, **read_key), 403, f"This key lacks the scope {Scope.INDEX}")


@pytest.mark.parametrize("address", DEPLOYS)
def test_ordering_names_the_scope_that_a_key_lacks(client, index_key, address):
    refused(call(client, address, **index_key), address, 403, f"This key lacks the scope {Scope.DEPLOY}")


@pytest.mark.parametrize("address", READS)
def test_with_its_key_it_looks_at_what_is_asked(client, read_key, address):
    assert call(client, address, **read_key).status_code == 400
