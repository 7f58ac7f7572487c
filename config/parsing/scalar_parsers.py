"""Scalar parsers that the API, the settings, registry files, public pages and the stream share.

Each raises ValueError with its rule; `expecting` replaces the text for callers that have their own.
"""

import re
from collections.abc import Callable
from typing import TypeVar

Input = TypeVar("Input")
Value = TypeVar("Value")

# Python's own parser also accepts digits of other scripts, and underscores between digits.
_WHOLE_NUMBER = re.compile("-?[0-9]{1,30}")


def expecting(
    expected: str, error_type: type[ValueError] = ValueError
) -> Callable[[Callable[[Input], Value]], Callable[[Input], Value]]:
    """Return a decorator that replaces a parser's errors by one with this text."""

    def decorate(parse: Callable[[Input], Value]) -> Callable[[Input], Value]:
        def parse_or_explain(value: Input) -> Value:
            try:
                return parse(value)
            except (ValueError, ArithmeticError, LookupError) as error:
                raise error_type(expected) from error

        return parse_or_explain

    return decorate


def matching(pattern: str) -> Callable[[object], str]:
    """Return the parser for texts that match the whole pattern; a point in it also matches line breaks."""
    matches = re.compile(pattern, re.DOTALL).fullmatch

    def parse(value: object) -> str:
        if not isinstance(value, str) or not matches(value):
            raise ValueError(f"must be a text of the form {pattern}")
        return value

    return parse


def parse_integer(value: object, *, least: int, most: int) -> int:
    """Return an integer within two limits unchanged. Raises ValueError."""
    # A boolean is an int to Python, not to a caller.
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"must be a whole number from {least} to {most}")
    return value


def parse_whole_number(value: object, *, least: int, most: int) -> int:
    """Return an integer within two limits, given as a number or in ASCII digits. Raises ValueError."""
    is_text = isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value) and not (least >= 0 and value[0] == "-")
    return parse_integer(int(str(value)) if is_text else value, least=least, most=most)


def parse_boolean(value: object) -> bool:
    """Return a boolean unchanged. Raises ValueError."""
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value
