"""Walks of lists, page by page."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ParamSpec, TypeVar, cast

from launchboard.description import continuations

Parameters = ParamSpec("Parameters")
Page = TypeVar("Page")


def pages(operation: Callable[Parameters, Page], *args: Parameters.args, **query: Parameters.kwargs) -> Iterator[Page]:
    """Yield the pages of a list, such as `pages(api.list_tokens, limit=20)`, up to the last one of now.

    The next page begins at the `cursor` of the one before. Raises as the operation, and ValueError for one without
    pages.
    """
    fetch = cast(Callable[..., Any], operation)
    parameter = continuations().get(fetch.__name__)
    if parameter is None:
        raise ValueError(f"{fetch.__name__} has no pages: its responses have no cursor")
    following: dict[str, Any] = dict(query)
    while True:
        page = fetch(*args, **following)
        yield page
        cursor = next_cursor(page)
        if cursor is None:
            return
        following[parameter] = cursor


def next_cursor(page: Mapping[str, Any]) -> str | int | None:
    """Return where the page after this one begins; None after the last one of now, which may be empty."""
    entries = next((value for value in page.values() if isinstance(value, list)), None)
    cursor: str | int | None = page["cursor"] if entries else None
    return cursor
