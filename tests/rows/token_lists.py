"""Walks through token lists as clients read them, and markets for tokens."""

import base64
import json
from collections.abc import Callable
from typing import Any

from django.utils import timezone

from tokens.models import Market, Token

SORTS = ("deployed-at", "market-cap", "tx-h24", "volume-h24", "price-percent-h24", "price-percent-h1")


def ids(answer: Any) -> list[int]:
    """Return a page's ids, in its order."""
    assert answer.status_code == 200, answer.content
    return [record["id"] for record in answer.json()["data"]]


def walk(fetch: Callable[..., Any], **parameters: Any) -> list[int]:
    """Return all pages' ids, by their cursors."""
    found: list[int] = []
    cursor = None
    for _ in range(200):
        answer = fetch(**parameters, **({"cursor": cursor} if cursor else {}))
        found += ids(answer)
        cursor = answer.json()["cursor"]
        if cursor is None:
            return found
    raise AssertionError("the walk must come to an end")


def cursor_of(content: Any) -> str:
    """Return a cursor with this content, JSON as text or as values."""
    text = content if isinstance(content, str) else json.dumps(content)
    return base64.b64encode(text.encode()).decode()


def content_of(cursor: str) -> Any:
    """Return a cursor's content."""
    return json.loads(base64.b64decode(cursor))


def price(token: Token, **values: Any) -> Token:
    """Give the token a market that was fetched just now."""
    assert Market.objects.filter(pk=token.pk).update(**{"updated_at": timezone.now()} | values) == 1
    return token
