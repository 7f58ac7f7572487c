"""Input to public pages: URL parameters, and the refusal of values that break their rules."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar

from django.http import QueryDict
from django.utils.translation import gettext

from config.cursors import CursorError
from config.parsing.json_rules import parse_flag
from config.parsing.scalar_parsers import parse_whole_number

Position = TypeVar("Position")

# Percent-encoded, the longest search and the longest cursor have 2,800 characters.
MAX_QUERY_STRING = 4_000


class PageInputError(ValueError):
    """Public page parameter that breaks a rule; `config.site.page_limits` responds with a page that names both."""

    def __init__(self, field: str, rule: str) -> None:
        super().__init__(f"{field} {rule}")
        self.field = field
        self.rule = rule


def refuse_repeated(query: QueryDict, names: Iterable[str]) -> None:
    """Raise PageInputError if one of these parameters occurs more than once."""
    for name in names:
        if len(query.getlist(name)) > 1:
            raise PageInputError(name, gettext("must be given once"))


def parse_choice(values: Mapping[str, str], field: str, choices: Collection[str]) -> str:
    """Return a parameter's value, which must be one of `choices`; empty without a value. Raises PageInputError."""
    text = values.get(field, "")
    if text and text not in choices:
        raise PageInputError(field, gettext("must be one of: %(choices)s") % {"choices": ", ".join(choices)})
    return text


def parse_page_flag(values: Mapping[str, str], field: str) -> bool:
    """Return a flag's value, spelled as in the API; False without a value. Raises PageInputError."""
    text = values.get(field)
    try:
        return parse_flag(text) if text else False
    except ValueError as error:
        rule = gettext("must be one of: %(choices)s") % {"choices": "true, false, 1, 0"}
        raise PageInputError(field, rule) from error


def parse_page_number(values: Mapping[str, str], field: str, most: int) -> int | None:
    """Return a parameter's whole number up to `most`; None without a value. Raises PageInputError."""
    text = values.get(field)
    try:
        return parse_whole_number(text, least=0, most=most) if text else None
    except ValueError as error:
        raise PageInputError(field, gettext("must be a whole number from 0 to %(most)s") % {"most": most}) from error


def parse_page_cursor(values: Mapping[str, str], parse: Callable[[str], Position]) -> Position:
    """Return the position in the parameter `cursor`, parsed by `parse`. Raises PageInputError for its CursorError."""
    try:
        return parse(values.get("cursor", ""))
    except CursorError as error:
        raise PageInputError("cursor", gettext("must be that of a link on an earlier page of this list")) from error


def refuse_longer(text: str, field: str, most: int) -> None:
    """Raise PageInputError for a text with more than `most` characters."""
    if len(text) > most:
        raise PageInputError(field, gettext("must have at most %(number)s characters") % {"number": most})
