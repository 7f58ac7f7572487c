"""Walks of lists, page by page."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ParamSpec, TypeVar, cast

from launchboard.description import continuations

Parameters = ParamSpec("Parameters")
Page = TypeVar("Page")

# The lists of a response with two cursors, by the parameter that continues each.
_SECOND = "recipientCursor"
_LISTS_OF_TWO = {"cursor": "launches", _SECOND: "recipientOf"}


def pages(operation: Callable[Parameters, Page], *args: Parameters.args, **query: Parameters.kwargs) -> Iterator[Page]:
    """Yield the pages of a list, such as `pages(api.list_tokens, limit=20)`, up to the last existing one.

    The next page begins at the cursor of the one before. Raises as the operation, and ValueError for one without
    pages.
    """
    fetch = cast(Callable[..., Any], operation)
    parameter = continuations().get(fetch.__name__)
    if parameter is None:
        raise ValueError(f"{fetch.__name__} has no pages: its responses have no cursor")
    return walk_pages(lambda cursors: fetch(*args, **{**query, **cursors}), parameter)


def walk_pages(fetch: Callable[[dict[str, Any]], Any], parameter: str) -> Iterator[Any]:
    """Yield the pages that `fetch` returns for the parameters that continue them, at first for none."""
    cursors: dict[str, Any] = {}
    while True:
        page = fetch(cursors)
        _empty_ended_lists(page, cursors)
        yield page
        cursors = _next_cursors(page, parameter)
        if not cursors:
            return


def _empty_ended_lists(page: Any, cursors: Mapping[str, Any]) -> None:
    """Remove entries and cursor of a list of two that ended before: without its cursor, it begins again."""
    holder = _holder(page)
    for parameter, name in _LISTS_OF_TWO.items():
        if cursors and parameter not in cursors and _SECOND in holder:
            holder[name], holder[parameter] = [], None


def _next_cursors(page: Any, parameter: str) -> dict[str, Any]:
    """Return the parameters of the page after this one; none after the last existing one."""
    holder = _holder(page)
    if _SECOND in holder:
        return {name: holder[name] for name in _LISTS_OF_TWO if holder[name] is not None}
    cursor = holder["cursor"]
    # That of events, a number, is never null: their first empty page is the last.
    is_last = cursor is None or (isinstance(cursor, int) and [] in page.values())
    return {} if is_last else {parameter: cursor}


def _holder(page: Any) -> Any:
    """Return the part of a response that has its cursor."""
    return next(part for part in (page, page.get("pagination"), page.get("data")) if part and "cursor" in part)
