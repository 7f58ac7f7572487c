"""Serializer fields of scalars that belong to no chain: flags, integers, amounts and texts with a parser.

A field turns its parser's ValueError into a 400 that names the parameter. Its `shape` is the JSON Schema for accepted
values, and describes the field in OpenAPI.
"""

import re
from functools import partial
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string
from rest_framework import serializers

from config.parsing.json_rules import Schema, flag
from config.parsing.scalar_parsers import parse_whole_number

MAX_FIDS = 100
UNKNOWN_CHAIN = "must be a chain of this service"
_MAX_BIGINT = 2**63 - 1
_NUMBER = re.compile(r"[0-9]{1,19}")


class ShapedField(serializers.CharField):
    """Base for string fields with a parser; JSON numbers and booleans are not accepted as strings."""

    rule = ""
    shape: Schema

    def parse(self, text: str) -> Any:
        """Return the stored form. Raises ValueError with the rule in words."""
        raise NotImplementedError

    def to_internal_value(self, data: Any) -> Any:
        """Parse the string. Raises ValidationError."""
        if not isinstance(data, str):
            raise serializers.ValidationError(self.rule, code="invalid")
        try:
            return self.parse(data)
        except ValueError as error:
            raise serializers.ValidationError(str(error), code="invalid") from error


class TextField(ShapedField):
    """Text with at most `longest` characters; surrounding blanks are ignored.

    A blank text is rejected, or ignored with `may_be_blank`.
    """

    def __init__(self, *, longest: int, may_be_blank: bool = False, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)
        self.longest = longest
        self.may_be_blank = may_be_blank
        pattern = r"^[^\x00]*$" if may_be_blank else r"^[^\x00]*[^\s\x00][^\x00]*$"
        self.shape = {"type": "string", "maxLength": longest, "pattern": pattern}

    def parse(self, text: str) -> str:
        """Return the text without surrounding blanks. Raises ValueError."""
        if len(text) > self.longest:
            raise ValueError(f"must have at most {self.longest} characters")
        if text.isspace() and not self.may_be_blank:
            raise ValueError("must not be blank")
        return text.strip()


class FlagField(serializers.BooleanField):
    """Boolean as true, false, 1 or 0; the framework's own field also accepts `yes`, `t` and `on`."""

    def to_internal_value(self, data: Any) -> bool:
        """Parse a flag. Raises ValidationError."""
        try:
            return bool(flag.parse(data))
        except ValueError as error:
            raise serializers.ValidationError(str(error), code="invalid") from error


class WholeNumberField(serializers.IntegerField):
    """Integer within two limits, as ASCII digits or a JSON number; others are rejected, never clamped."""

    def __init__(self, *, min_value: int, max_value: int, **options: Any) -> None:
        super().__init__(min_value=min_value, max_value=max_value, **options)
        self._parse = partial(parse_whole_number, least=min_value, most=max_value)

    def to_internal_value(self, data: Any) -> int:
        """Parse an integer. Raises ValidationError."""
        try:
            return self._parse(data)
        except ValueError as error:
            raise serializers.ValidationError(str(error), code="invalid") from error


class IdField(WholeNumberField):
    """Positive whole number that a column can hold."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=1, max_value=_MAX_BIGINT, **options)


class ChainIdField(WholeNumberField):
    """Chain id from the registry, followed or not, in a query or a body. A path parses an id itself, for its 404."""

    def __init__(self, *, max_value: int = _MAX_BIGINT, **options: Any) -> None:
        super().__init__(min_value=1, max_value=max_value, **options)

    def to_internal_value(self, data: Any) -> int:
        """Parse the id. Raises ValidationError for an invalid one, and for a chain that the registry lacks."""
        chain_id = super().to_internal_value(data)
        if chain_id not in import_string(settings.KNOWN_CHAINS)():
            raise serializers.ValidationError(UNKNOWN_CHAIN, code="invalid")
        return chain_id


class FidsField(ShapedField):
    """Comma-separated list of FIDs."""

    shape = {
        "type": "array",
        "items": {"type": "integer", "format": "int64", "minimum": 1, "maximum": _MAX_BIGINT},
        "minItems": 1,
        "maxItems": MAX_FIDS,
    }

    def parse(self, text: str) -> tuple[int, ...]:
        """Return the numbers. Raises ValueError."""
        fids = text.split(",")
        numbers = tuple(int(fid) if _NUMBER.fullmatch(fid) else 0 for fid in fids[: MAX_FIDS + 1])
        if len(numbers) > MAX_FIDS or not all(0 < number <= _MAX_BIGINT for number in numbers):
            raise ValueError(f"must be 1 to {MAX_FIDS} whole numbers, separated by commas")
        return numbers


class BoundedListField(serializers.ListField):
    """List with at most `max_length` entries; its length is checked before any entry is parsed."""

    def __init__(self, *, max_length: int, **options: Any) -> None:
        super().__init__(max_length=max_length, **options)
        self._most = max_length

    def run_child_validation(self, data: Any) -> list[Any]:
        """Parse the entries. Raises ValidationError, for the length only if the list is too long."""
        if len(data) > self._most:
            self.fail("max_length", max_length=self._most)
        parsed: list[Any] = super().run_child_validation(data)
        return parsed
