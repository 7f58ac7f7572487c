"""JSON in: bounded in length and depth, exact in its numbers, and free of text that PostgreSQL can't keep."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import IO, Any

import orjson
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import BaseParser
from rest_framework.settings import api_settings

from config.api.errors import PayloadTooLarge

# The contract's limit; a view that takes more says so in `max_body_bytes`.
MAX_BODY_BYTES = 1024 * 1024

# No body of the contract nests deeper than a tenth of this, and the renderer stops at 254 levels.
MAX_DEPTH = 64

_MAX_SHOWN_DIGITS = 40

# A number that may be beyond 64 bits, or have more digits than a double; digits within a string stand after a quote.
_LONG_NUMBER = re.compile(rb"(?:^|[\[:,\s])-?(?:[0-9]{19}|[0-9.]{17}|[0-9.]+[eE])")


# An escape in a string: a pair of surrogates, one without the other, or any else, whose second byte begins none.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<unpaired>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_TEXT_RULE = "must not contain NUL characters or unpaired surrogates"

# Where a value stands: (where its parent stands, its key or index), None for the whole.
_Place = tuple[Any, str | int] | None


class LimitedJSONParser(BaseParser):
    """Reads at most the view's `max_body_bytes` and one byte more."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """The parsed body. Raises PayloadTooLarge (413), or ParseError (400) for what is not JSON."""
        context = parser_context or {}
        limit = getattr(context.get("view"), "max_body_bytes", MAX_BODY_BYTES)
        if declared_length(context.get("request")) > limit:
            raise PayloadTooLarge(f"Request body is over {limit} bytes")
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise PayloadTooLarge(f"Request body is over {limit} bytes")
        return parse_json(body)


def parse_json(body: bytes) -> Any:
    """Strict JSON: UTF-8, finite numbers, whole numbers kept exact and others refused where a double changes them.

    At most MAX_DEPTH levels.

    orjson goes first because its depth is bounded: the standard library recurses as far as `sys.setrecursionlimit`
    allows, which libraries raise (py_ecc, behind web3, to 100,000), and a body of brackets would then end the process.
    But orjson turns whole numbers beyond 64 bits into floats, and an amount in wei must not change on its way in; nor
    must a fraction, whose float has to read as it was written.
    Raises ParseError, and ValidationError on the field whose text PostgreSQL can't keep.
    """
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        if "surrogate" in str(error):
            _refuse_surrogates(body)
        raise ParseError("Malformed JSON") from error
    # Neither can hide without one of these bytes, so that almost every body is spared the walk.
    if b"\\u0000" in body or body.count(b"[") + body.count(b"{") > MAX_DEPTH:
        _check(value)
    return json.loads(body.decode("utf-8"), parse_float=_exact_float) if _LONG_NUMBER.search(body) else value


def _exact_float(text: str) -> float:
    number = float(text)
    try:
        exact = Decimal(repr(number)) == Decimal(text)
    except InvalidOperation:
        # An exponent beyond all use.
        exact = False
    if not exact:
        raise ParseError(f"A number with more digits than a double has is not accepted: {text[:_MAX_SHOWN_DIGITS]}")
    return number


def declared_length(request: Any) -> int:
    """What the caller says of the body's length in bytes, 0 where nothing is said."""
    text = "" if request is None else str(request.META.get("CONTENT_LENGTH") or "")
    return int(text) if text.isascii() and text.isdigit() else 0


def _refuse_surrogates(body: bytes) -> None:
    """Name the field that has a surrogate without its other half; nothing happens where more is wrong with the body."""
    marked = _ESCAPE.sub(lambda escape: rb"\u0000" if escape["unpaired"] else escape[0], body)
    try:
        value = orjson.loads(marked)
    except orjson.JSONDecodeError:
        return
    _check(value)


def _check(value: Any) -> None:
    """Refuse nesting that the renderer could not write, and text that PostgreSQL can't keep."""
    waiting: list[tuple[Any, int, _Place]] = [(value, 1, None)]
    while waiting:
        item, depth, place = waiting.pop()
        if isinstance(item, str) and "\0" in item:
            raise _bad_text(place)
        if isinstance(item, (dict, list)):
            if depth > MAX_DEPTH:
                raise ParseError(f"Malformed JSON: more than {MAX_DEPTH} levels")
            if isinstance(item, dict) and any("\0" in key for key in item):
                # Such a key can't be named either.
                raise _bad_text(place)
            children = item.items() if isinstance(item, dict) else enumerate(item)
            waiting += [(child, depth + 1, (place, key)) for key, child in children]


def _bad_text(place: _Place) -> ValidationError:
    path = ""
    while place is not None:
        place, key = place
        path = (f"[{key}]" if isinstance(key, int) else f".{key}") + path
    return ValidationError({path.removeprefix(".") or api_settings.NON_FIELD_ERRORS_KEY: [_TEXT_RULE]})
