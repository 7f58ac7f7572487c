"""Texts from chains and callers on the admin site: deceiving characters as marks, and lists with short cells."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.safestring import SafeString

from config.site.formats import DECEIVING, shown

# Characters in a list's cell; a row's page has all.
_MOST_SHOWN = 200
# Lines and tabs are the page's own.
_DECEIVING = re.compile(DECEIVING.pattern.replace("\x00-\x1f", "\x00-\x08\x0b\x0c\x0e-\x1f"))
# Inputs keep their values: what is saved is what was stored.
_NEUTRALIZED = re.compile(rf"<textarea\b.*?</textarea>|<input\b[^>]*>|{_DECEIVING.pattern}", re.DOTALL)


def neutral_pages(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return a middleware that shows deceiving characters on admin pages as `<U+202E>`.

    Titles, messages, confirmations and errors contain others' names and texts, too, so whole pages are changed.
    """

    def respond(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        if request.path_info.startswith("/admin/") and is_page and isinstance(response, HttpResponse):
            response.content = neutralize(response.text)
        return response

    return respond


def neutralize(page: str) -> str:
    """Return HTML with deceiving characters as marks, except in inputs."""
    # Most pages have none; this search takes a small part of the substitution's time.
    if not _DECEIVING.search(page):
        return page
    return _NEUTRALIZED.sub(lambda match: match[0] if len(match[0]) > 1 else f"&lt;U+{ord(match[0]):04X}&gt;", page)


def list_columns(model: type[models.Model], names: Any) -> list[Any]:
    """Return a list's columns: text fields are cut, and isolated in direction."""
    texts = {
        field.name: field
        for field in model._meta.get_fields()
        if isinstance(field, (models.CharField, models.TextField)) and not field.choices
    }
    return [_text_column(texts[name]) if name in texts else name for name in names]


@cache
def _text_column(field: "models.Field[Any, Any]") -> Callable[[models.Model], SafeString | None]:
    @admin.display(description=field.verbose_name, ordering=field.name)
    def column(row: models.Model) -> SafeString | None:
        text = getattr(row, field.name)
        return shown(text, _MOST_SHOWN) if text else None

    # Cells have the field's class.
    column.__name__ = field.name
    return column
