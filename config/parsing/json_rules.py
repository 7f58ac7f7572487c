"""Validation rules for JSON values, and combinators for objects and lists.

A rule parses a value, and has a JSON Schema for the API description. A limit is stated once, where the rule is built.

Nothing is clamped, rounded or coerced. Numbers are JSON numbers; each factory names its unit in its error text.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from typing import Any

from config.parsing.scalar_parsers import parse_boolean, parse_integer

Schema = dict[str, Any]
# The path below the validated value, as `recipients[1].share`, empty for the value itself; and the broken rule.
Problem = tuple[str, str]

# Field of a deployment's body -> its name in another body; a field that is missing has the same name there.
FieldNames = Mapping[str, str]

# Reported problems per list, object and body: a body can have a hundred thousand.
MAX_REPORTED = 20
# Reported characters of an unknown key.
_MAX_KEY = 60

MAX_URL = 2_048
# Largest whole number that every JSON parser reads exactly (RFC 8259, 6).
LARGEST_JSON_NUMBER = 2**53 - 1
# Above it, generated clients need 64 bits.
_LARGEST_INT32 = 2**31 - 1
# Controls, white space, direction marks, which disguise a URL, and characters that end an HTML attribute.
_NOT_IN_URL = r"""\s\x00-\x1f\x7f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069<>"'`\\"""

# Keywords of a body's schema that its values in a response lack: a stored row may be older than a limit.
_LIMITS = {"minLength", "maxLength", "pattern", "minItems", "maxItems", "minProperties", "minimum", "maximum"}
_LIMITS |= {"exclusiveMinimum", "additionalProperties", "default"}
REQUIRED = object()


class InvalidFieldsError(ValueError):
    """Invalid fields in an object or a list, each with its path and the broken rule."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(*problems)
        self.problems = problems


@dataclass(frozen=True, slots=True, eq=False)
class Component:
    """Named JSON Schema in the API description; other schemas may contain it."""

    name: str
    schema: Schema

    @property
    def reference(self) -> str:
        """Return its path in the API description."""
        return f"#/components/schemas/{self.name}"


@dataclass(frozen=True, slots=True)
class Rule:
    """JSON value parser, and the schema for accepted values.

    The parser returns the parsed value, or raises ValueError with the rule as text ("must be ..."). Rules for objects
    and lists raise InvalidFieldsError, which lists every problem within them with its path.
    """

    parse: Callable[[Any], Any]
    schema: Schema | Component

    def __call__(self, value: Any) -> Any:
        """Return the parsed value. Raises ValueError."""
        return self.parse(value)


def described(schema: Schema | Component) -> Callable[[Callable[[Any], Any]], Rule]:
    """Return the decorator that makes a parser a rule with this schema."""
    return lambda parse: Rule(parse, schema)


def refined(rule: Rule) -> Callable[[Callable[[Any], Any]], Rule]:
    """Return the decorator that extends `rule` by a check or a conversion, which gets the parsed value."""
    return lambda convert: Rule(lambda value: convert(rule.parse(value)), rule.schema)


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldRule:
    """Rule for one key of an object; the default applies where the key is absent or null."""

    rule: Rule
    default: Any = REQUIRED
    # Alternative name of the key.
    alias: str = ""
    # The parsed value's name; the key's own if empty.
    attribute: str = ""
    # The parsed value counts this many to the number in JSON; 0 if it is kept unchanged.
    unit: int = 0
    # For the API description; without it, the rule's own.
    description: str = ""
    # Null differs from an absent key.
    nullable: bool = False

    def to_json(self, value: Any) -> Any:
        """Return a parsed value as in JSON."""
        if self.unit and value is not None:
            return to_units(value, self.unit)
        return list(value) if isinstance(value, tuple) else value

    def to_schema(self) -> Schema | Component:
        """Return the rule's schema with the key's description and default."""
        schema, default = self.rule.schema, None if self.default is REQUIRED else self.to_json(self.default)
        notes: Schema = {"description": self.description} if self.description else {}
        if isinstance(default, (str, int, float)) and default != "":
            notes["default"] = default
        if isinstance(schema, Component):
            if self.nullable:
                return {"oneOf": [schema, {"type": "null"}], **notes}
            return {"allOf": [schema], **notes} if notes else schema
        if self.nullable:
            notes["type"] = [schema["type"], "null"]
        return schema | notes


def nested_problems(path: str, error: ValueError) -> list[Problem]:
    """Return the problems in the value at a path, from its rule's error."""
    if not isinstance(error, InvalidFieldsError):
        return [(path, str(error))]
    return [(join_path(path, inner), message) for inner, message in error.problems]


def join_path(path: str, inner: str) -> str:
    """Return the path of `inner` below `path`."""
    return f"{path}.{inner}" if path and inner and not inner.startswith("[") else path + inner


def parse_object(value: Any, keys: Mapping[str, FieldRule]) -> tuple[dict[str, Any], list[Problem]]:
    """Parse an object by its keys' rules; return the valid values by attribute, and all problems.

    A null key counts as absent. An unknown key is a problem: ignoring it would drop an option without notice.
    """
    if not isinstance(value, dict):
        return {}, [("", "must be a JSON object")]
    items = {name: item for name, item in value.items() if item is not None}
    parsed: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, key in keys.items():
        key_name = key.alias if key.alias and key.alias in items else name
        if key_name != name and name in items:
            problems.append((key_name, f"is another name for {name}, and only one of them may be given"))
        if key_name not in items:
            if key.default is REQUIRED:
                problems.append((name, "is required"))
            else:
                parsed[key.attribute or name] = key.default
            continue
        try:
            parsed[key.attribute or name] = key.rule.parse(items[key_name])
        except ValueError as error:
            problems += nested_problems(key_name, error)
    return parsed, problems + _unknown(value, keys)


def object_schema(keys: Mapping[str, FieldRule], *, description: str = "") -> Schema:
    """Return the schema for an object with these keys and no others."""
    schema: Schema = {"description": description} if description else {}
    schema |= {"type": "object", "properties": {name: key.to_schema() for name, key in keys.items()}}
    required = sorted(name for name, key in keys.items() if key.default is REQUIRED)
    return schema | ({"required": required} if required else {}) | {"additionalProperties": False}


def response_schema(schema: Any) -> Any:
    """Return a body's schema without limits and defaults, for a response; `VaultShape` becomes `ShownVault`."""
    if isinstance(schema, Component):
        return _response_component(schema)
    if isinstance(schema, dict):
        # A limit's value is no schema: a property may have a limit's name.
        return {n: response_schema(value) for n, value in schema.items() if n not in _LIMITS or isinstance(value, dict)}
    return [response_schema(value) for value in schema] if isinstance(schema, list) else schema


@cache
def _response_component(body: Component) -> Component:
    return Component(f"Shown{body.name.removesuffix('Shape')}", response_schema(body.schema))


@dataclass(frozen=True, slots=True)
class ObjectRule(Rule):
    """Rule for an object with these keys."""

    keys: Mapping[str, FieldRule]

    def to_json(self, parsed: Any) -> dict[str, Any] | None:
        """Return a parsed object in the rule's keys and units; None for none."""
        return None if parsed is None else format_object(parsed, self.keys)


def object_of(
    keys: Mapping[str, FieldRule], *, build: Callable[..., Any] = dict, name: str = "", description: str = ""
) -> ObjectRule:
    """Return the rule for an object with these keys. It calls `build` with the parsed values, by attribute.

    `name` is the component's name in the API description.
    """

    def parse(value: Any) -> Any:
        parsed, problems = parse_object(value, keys)
        if problems:
            raise InvalidFieldsError(problems)
        return build(**parsed)

    schema = object_schema(keys, description=description)
    return ObjectRule(parse, Component(name, schema) if name else schema, keys)


def format_object(parsed: Any, keys: Mapping[str, FieldRule]) -> dict[str, Any]:
    """Return a parsed value's attributes as the JSON object that these keys parse."""
    return {name: key.to_json(getattr(parsed, key.attribute or name)) for name, key in keys.items()}


def to_units(amount: int | Decimal, unit: int) -> int | float:
    """Convert an amount to JSON: the number of units, whole if exact.

    Exact for values from a body, which have at most the digits of a double.
    """
    exact = Fraction(amount) / unit
    return exact.numerator if exact.denominator == 1 else float(exact)


def list_of(item: Rule, *, least: int = 0, most: int) -> Rule:
    """Return the rule for a list with `least` to `most` entries, which are parsed into a tuple."""
    size = f"must be a list of {least} to {most} entries" if least else f"must be a list of at most {most} entries"

    @described(list_schema(item.schema, least=least, most=most))
    def rule(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list) or not least <= len(value) <= most:
            raise ValueError(size)
        parsed, problems = [], list[Problem]()
        for index, entry in enumerate(value):
            try:
                parsed.append(item.parse(entry))
            except ValueError as error:
                problems += nested_problems(f"[{index}]", error)
        if problems:
            raise InvalidFieldsError(truncate_problems(problems))
        return tuple(parsed)

    return rule


def list_schema(item: Schema | Component, *, least: int = 0, most: int) -> Schema:
    """Return the schema for a list with `least` to `most` entries."""
    return {"type": "array", "items": item, "maxItems": most} | ({"minItems": least} if least else {})


def truncate_problems(problems: list[Problem]) -> list[Problem]:
    """Return at most MAX_REPORTED problems; if there are more, the last entry counts the rest."""
    if len(problems) <= MAX_REPORTED:
        return problems
    more = len(problems) - MAX_REPORTED + 1
    return [*problems[: MAX_REPORTED - 1], ("", f"breaks rules in {more} more places")]


def _unknown(value: dict[str, Any], keys: Mapping[str, FieldRule]) -> list[Problem]:
    names = set(keys) | {key.alias for key in keys.values() if key.alias}
    rule = f"is not known; known are {', '.join(keys)}"
    return truncate_problems([(name[:_MAX_KEY] or '""', rule) for name in value if name not in names])


def parse_flag(text: str) -> bool:
    """Parse true, false, 1 or 0, the words in any case. Raises ValueError with the rule."""
    if text == "1" or (text.isascii() and text.lower() == "true"):
        return True
    if text == "0" or (text.isascii() and text.lower() == "false"):
        return False
    raise ValueError("must be true, false, 1 or 0")


def exact_number(value: Any, *, message: str) -> Decimal:
    """Return a JSON number exactly as written. Raises ValueError with `message` for text, booleans and infinity.

    The body parser rejects floats that do not read as the caller wrote them.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(message)
    if isinstance(value, int):
        return Decimal(value)
    exact = Decimal(repr(value))
    if not exact.is_finite():
        raise ValueError(message)
    return exact


def whole_number(*, least: int, most: int, unit: str) -> Rule:
    """Return the rule for a whole number within two limits."""
    message = f"must be a whole number from {least} to {most}, in {unit}"

    @described(integer_schema(least=least, most=most) | {"description": sentence(unit)})
    def rule(value: Any) -> int:
        exact = exact_number(value, message=message)
        if exact != exact.to_integral_value() or not least <= exact <= most:
            raise ValueError(message)
        return int(exact)

    return rule


def integer(*, least: int, most: int) -> Rule:
    """Return the rule for an integer within two limits."""
    return Rule(partial(parse_integer, least=least, most=most), integer_schema(least=least, most=most))


def integer_schema(*, least: int, most: int) -> Schema:
    """Return the schema for a whole number within two limits."""
    size = {"format": "int64"} if most > _LARGEST_INT32 else {}
    return {"type": "integer", **size, "minimum": least, "maximum": most}


def sentence(unit: str) -> str:
    """Return a number's description by its unit."""
    return f"{unit[:1].upper()}{unit[1:]}."


def choice(*names: str) -> Rule:
    """Return the rule for one text among these; upper and lower case differ."""

    @described({"type": "string", "enum": list(names)})
    def rule(value: Any) -> str:
        if not isinstance(value, str) or value not in names:
            raise ValueError(f"must be {' or '.join(names)}")
        return value

    return rule


def text(*, most: int, least: int = 0) -> Rule:
    """Return the rule for a text with at most `most` characters, kept unchanged; blank texts count as empty."""

    @described({"type": "string", "maxLength": most} | ({"minLength": least, "pattern": r"\S"} if least else {}))
    def rule(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError("must be text")
        if least and not value.strip():
            raise ValueError("must not be blank")
        if not least <= len(value) <= most:
            raise ValueError(f"must have at most {most} characters")
        if "\0" in value:
            raise ValueError("must not hold NUL characters")
        if not value.isprintable() and any("\ud800" <= character <= "\udfff" for character in value):
            raise ValueError("must be text that UTF-8 can hold")
        return value

    return rule


def web_address(*schemes: str) -> Rule:
    """Return the rule for a URL with one of these schemes, kept unchanged."""
    # A schema's pattern has no flag for upper and lower case.
    names = "|".join("".join(f"[{letter}{letter.upper()}]" for letter in scheme) for scheme in schemes)
    pattern = rf"^(?:{names})://[^{_NOT_IN_URL}]+$"
    matches = re.compile(rf"(?:{names})://[^/?#{_NOT_IN_URL}][^{_NOT_IN_URL}]*").fullmatch
    message = f"must be a URL that begins with {' or '.join(f'{scheme}://' for scheme in schemes)}"
    short = text(most=MAX_URL)

    @described({"type": "string", "format": "uri", "maxLength": MAX_URL, "pattern": pattern})
    def rule(value: Any) -> str:
        parsed: str = short.parse(value)
        if not matches(parsed):
            raise ValueError(message)
        return parsed

    return rule


@described({"type": "boolean"})
def flag(value: Any) -> bool:
    """Parse a boolean in any notation of the API."""
    return parse_flag(str(value) if isinstance(value, str) or value in (0, 1) else "")


boolean = Rule(parse_boolean, {"type": "boolean"})
