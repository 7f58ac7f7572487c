"""Request body parsers with a limited length.

The JSON parser also limits depth, keeps numbers exact, and rejects text that PostgreSQL can't store.
"""

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from itertools import chain, islice
from typing import IO, Any

import orjson
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import BaseParser
from rest_framework.settings import api_settings

from config.api.errors import PayloadTooLargeError
from config.processes.concurrency_limits import LARGE_BODY_BYTES, large_body_slot
from config.web.body_limits import MAX_BODY_BYTES

# Every API body needs at most a tenth; the renderer stops at 254 levels.
MAX_DEPTH = 64
# An airdrop has 100,000 entries. Three body bytes may become a list that takes 56 bytes.
MAX_CONTAINERS = 150_000

_MAX_SHOWN_DIGITS = 40
# The exact comparison takes quadratic time; the longest double has 309 digits before its point.
_MAX_NUMBER_LENGTH = 400
_DOUBLE_DIGITS = 15
# Values that are searched for the field with a NUL; if it comes later, the error names no field.
_MAX_VISITED = 20_000

# Matches a number that may exceed 64 bits or a double's digits; digits within a string follow a quote.
_LONG_NUMBER = re.compile(rb"(?:^|[\[:,\s])-?(?:[0-9]{19}|[0-9.]{17}|[0-9.]+[eE])")
# A search holds the interpreter lock, so it goes by pieces. Each overlaps the next one by the longest match.
_PIECE, _LONGEST_MATCH = 65_536, 32


# Escape in a string: a surrogate pair, an unpaired surrogate, or any other two-byte escape.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<unpaired>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_TEXT_RULE = "must not contain NUL characters or unpaired surrogates"


class UnstorableTextError(ValidationError):
    """Error for text that PostgreSQL can't store, with the field's `path` and the parsed `body`."""

    def __init__(self, path: str, body: Any) -> None:
        super().__init__({path or api_settings.NON_FIELD_ERRORS_KEY: [_TEXT_RULE]})
        self.path, self.body = path, body


# A value's position: (parent's position, key or index); None for the root.
_Position = tuple[Any, str | int] | None


class LimitedJSONParser(BaseParser):
    """JSON parser that reads at most the view's `max_body_bytes`, and one byte more."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Parse the body; the view holds the slot of large bodies from then on.

        Raises PayloadTooLargeError (413), ParseError (400) for invalid JSON, BusyError.
        """
        context = parser_context or {}
        body = _read_limited(stream, context)
        held_slots = getattr(context.get("view"), "held_slots", None)
        # Not before the body has arrived: a slow client would hold the slot.
        if len(body) > LARGE_BODY_BYTES and held_slots is not None:
            held_slots.enter_context(large_body_slot())
        return parse_json_body(body)


class PictureParser(BaseParser):
    """Parser of a body that is one picture: it returns the bytes, limited as JSON is, whatever their format."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the body. Raises PayloadTooLargeError (413)."""
        return _read_limited(stream, parser_context or {})


# One for each media type of pictures that the API accepts; SVG is a program.
PICTURE_PARSERS = tuple(
    type("PictureParser", (PictureParser,), {"media_type": f"image/{form}"}) for form in ("png", "jpeg", "gif", "webp")
)


def _read_limited(stream: IO[Any], context: Mapping[str, Any]) -> bytes:
    limit = getattr(context.get("view"), "max_body_bytes", MAX_BODY_BYTES)
    if declared_length(context.get("request")) > limit:
        raise PayloadTooLargeError(f"Request body is over {limit} bytes")
    body: bytes = stream.read(limit + 1)
    if len(body) > limit:
        raise PayloadTooLargeError(f"Request body is over {limit} bytes")
    return body


def parse_json_body(body: bytes) -> Any:
    """Parse strict JSON: UTF-8, finite numbers, at most MAX_DEPTH levels and MAX_CONTAINERS objects and lists.

    No number changes its value.

    orjson parses first because its depth is bounded: the standard library recurses up to `sys.setrecursionlimit`,
    which libraries raise (py_ecc, behind web3, to 100,000), so a body of brackets would crash the process. But
    orjson turns integers beyond 64 bits into floats, and an amount in wei must not change. A fraction is rejected
    unless its float has the same decimal value.

    Raises ParseError, and UnstorableTextError.
    """
    containers = body.count(b"[") + body.count(b"{")
    if containers > MAX_CONTAINERS:
        raise ParseError(f"Body with more than {MAX_CONTAINERS} objects and lists")
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        if "surrogate" in str(error):
            _refuse_surrogates(body)
        raise ParseError("Malformed JSON") from error
    # Few bodies have so many levels, or an escape that is a NUL unless its backslash is escaped.
    if containers > MAX_DEPTH and _is_deep(value):
        raise ParseError(f"Malformed JSON: more than {MAX_DEPTH} levels")
    if b"\\u0000" in body and b"\\u0000" in body.replace(b"\\\\", b""):
        raise UnstorableTextError(_path_of_nul(value), value)
    return json.loads(body.decode("utf-8"), parse_float=_exact_float) if _has_long_number(body) else value


def _has_long_number(body: bytes) -> bool:
    starts = range(0, len(body), _PIECE)
    return any(_LONG_NUMBER.search(body, start, start + _PIECE + _LONGEST_MATCH) for start in starts)


def _exact_float(text: str) -> float:
    # A double holds any number with 15 digits; a body can have 300,000.
    if len(text) <= _DOUBLE_DIGITS and "e" not in text and "E" not in text:
        return float(text)
    if len(text) > _MAX_NUMBER_LENGTH:
        raise ParseError(f"A number with more than {_MAX_NUMBER_LENGTH} characters is not accepted")
    number = float(text)
    try:
        exact = Decimal(repr(number)) == Decimal(text)
    except InvalidOperation:
        # An absurd exponent.
        exact = False
    if not exact:
        raise ParseError(f"A number with more digits than a double has is not accepted: {text[:_MAX_SHOWN_DIGITS]}")
    return number


def declared_length(request: Any) -> int:
    """Return Content-Length in bytes, 0 if it is absent or invalid."""
    text = "" if request is None else str(request.META.get("CONTENT_LENGTH") or "")
    return int(text) if text.isascii() and text.isdigit() else 0


def _refuse_surrogates(body: bytes) -> None:
    """Raise for the field with an unpaired surrogate; do nothing if the body has other errors, or is large."""
    if len(body) > LARGE_BODY_BYTES:
        return
    marked = _ESCAPE.sub(lambda escape: rb"\u0000" if escape["unpaired"] else escape[0], body)
    try:
        value = orjson.loads(marked)
    except orjson.JSONDecodeError:
        return
    if not _is_deep(value):
        raise UnstorableTextError(_path_of_nul(value), value)


def _is_deep(value: Any) -> bool:
    """Return whether the nesting is deeper than the renderer can write: more than MAX_DEPTH levels."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        # Comprehensions, because a body can have half a million values.
        level = [each for each in level if isinstance(each, (dict, list))]
        if not level:
            return False
        level = list(chain.from_iterable(each.values() if isinstance(each, dict) else each for each in level))
    return True


def _path_of_nul(value: Any) -> str:
    """Return the path to the first text with a NUL. For a NUL in a key, return the path to its object."""
    for item, position in islice(_walk(value, None), _MAX_VISITED):
        texts = item if isinstance(item, dict) else (item,) if isinstance(item, str) else ()
        if any("\0" in text for text in texts):
            return _path(position)
    return ""


def _walk(value: Any, position: _Position) -> Iterator[tuple[Any, _Position]]:
    yield value, position
    if isinstance(value, (dict, list)):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _walk(child, (position, key))


def _path(position: _Position) -> str:
    path = ""
    while position is not None:
        position, key = position
        path = (f"[{key}]" if isinstance(key, int) else f".{key}") + path
    return path.removeprefix(".")
