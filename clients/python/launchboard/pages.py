"""Walks of lists, page by page."""

from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar, cast

from launchboard.description import continuations

Parameters = ParamSpec("Parameters")
Page = TypeVar("Page")


def pages(operation: Callable[Parameters, Page], *args: Parameters.args, **query: Parameters.kwargs) -> Iterator[Page]:
    """Yield the pages of a list, such as `pages(api.list_tokens, limit=20)`, up to the last one of now.

    The next page begins at the `cursor` of the one before. Raises as the operation.
    """
    fetch = cast(Callable[..., Any], operation)
    parameter = continuations()[fetch.__name__]
    following: dict[str, Any] = dict(query)
    while True:
        page = fetch(*args, **following)
        yield page
        if not page["data"] or page.get("cursor") is None:
            return
        following[parameter] = page["cursor"]
