"""JSON out: orjson, timestamps with milliseconds and `Z`, decimals as strings, and no other format ever."""

import datetime
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import orjson
from django.http import HttpResponse
from rest_framework.metadata import BaseMetadata
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

# Our own formats instead of orjson's microseconds.
_OPTIONS = orjson.OPT_PASSTHROUGH_DATETIME


def render_json(data: Any) -> bytes:
    """Compact UTF-8 JSON. Raises TypeError for what has no JSON form here, naive datetimes included."""
    return orjson.dumps(data, default=_render_other, option=_OPTIONS)


def json_response(data: Any, *, headers: Mapping[str, str]) -> HttpResponse:
    """A 200 that is rendered at once, for views whose answers are many: the framework's responses take longer."""
    return HttpResponse(render_json(data), content_type="application/json", headers=headers)


def format_timestamp(moment: datetime.datetime) -> str:
    """`2026-02-07T03:50:49.000Z`: UTC, cut to milliseconds. Raises TypeError for a datetime without zone."""
    if moment.tzinfo is None:
        raise TypeError("a datetime without time zone can't be rendered")
    text = moment.astimezone(datetime.UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + "Z"


def _render_other(value: Any) -> str:
    if isinstance(value, datetime.datetime):
        return format_timestamp(value)
    if isinstance(value, Decimal) and value.is_finite():
        # Never with an exponent: amounts are read as plain digits.
        return format(value, "f")
    raise TypeError(f"a {type(value).__name__} can't be rendered as JSON")


class JSONRenderer(BaseRenderer):
    """The only renderer of the API."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Bytes for the body; none at all where a view answers without data (204)."""
        return b"" if data is None else render_json(data)


class JSONOnly(BaseContentNegotiation):
    """No negotiation: a browser's `Accept: text/html` still gets JSON, and never 406."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        """The parser for exactly the request's media type; None becomes 415."""
        media_type = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == media_type), None)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """The view's first renderer, whatever the caller accepts."""
        renderer = next(iter(renderers))
        return renderer, str(renderer.media_type)


class NoMetadata(BaseMetadata):
    """OPTIONS answers with the `Allow` header alone; /api/openapi.json is the description."""

    def determine_metadata(self, request: Request, view: Any) -> dict[str, Any]:
        """An empty object."""
        return {}
