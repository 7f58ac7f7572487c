"""Paths with a text that no column can have: every URL that takes a text from its path refuses a null character.

The fuzz test only calls what the OpenAPI description has; pictures, uploads and pages are not in it.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import LocalePrefixPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern

from accounts.keys import credentials
from accounts.models import Scope
from tests.rows.factories import TokenFactory

pytestmark = pytest.mark.django_db

_PARAMETER = re.compile("<(?:([a-z]+):)?[A-Za-z_]+>")
_CHAIN_ID, _ADDRESS = 8453, "0x" + "ab" * 20


def routes(resolver: Any, begin: str = "/") -> Iterator[str]:
    """Yield the routes of `path` and `endpoint`; Django's own admin site is without them."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern.pattern, LocalePrefixPattern):
            yield from routes(pattern, begin)
        elif isinstance(pattern.pattern, RoutePattern) and pattern.pattern._route != "admin/":
            route = begin + str(pattern.pattern._route)
            yield from routes(pattern, route) if isinstance(pattern, URLResolver) else [route]


def paths(route: str) -> Iterator[str]:
    """Yield the paths of a route with a null character in one of its texts, in turn; its other texts are good ones."""
    kinds = [found[1] or "str" for found in _PARAMETER.finditer(route)]
    for place, kind in enumerate(kinds):
        for text in ("%00", f"{_ADDRESS}%00") if kind != "int" else ():
            good = [str(_CHAIN_ID) if each == "int" else _ADDRESS for each in kinds]
            yield _PARAMETER.sub("{}", route).format(*good[:place], text, *good[place + 1 :])


WITH_TEXTS = sorted(path for route in routes(get_resolver()) for path in paths(route))


def test_the_routes_with_texts_are_found():
    assert {"/assets/%00", "/creators/%00", f"/tokens/{_CHAIN_ID}/%00/trades"} <= set(WITH_TEXTS)
    assert {"/api/creators/%00", f"/pictures/{_CHAIN_ID}/{_ADDRESS}/%00.webp"} <= set(WITH_TEXTS)


@pytest.mark.parametrize("path", WITH_TEXTS)
def test_a_null_character_in_a_path_is_refused(client, settings, path):
    settings.FEEDS = ("dexscreener", "dextools", "udf", "daily")
    TokenFactory(chain_id=_CHAIN_ID, contract_address=_ADDRESS)
    key = {"x-api-key": credentials.issue_key("Any", scopes=list(Scope))}
    for headers in ({}, key):
        for method in ("GET", "PATCH", "POST", "DELETE"):
            answer = client.generic(method, path, b"{}", "application/json", headers=headers)
            # A former path redirects, whatever its text.
            assert 300 <= answer.status_code < 500, (method, answer.status_code)
