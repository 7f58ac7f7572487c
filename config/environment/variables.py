"""Typed models of environment variables and `.env`; an invalid value is an error that names the variable and the rule.

A model is an attrs class without a repr, because values may be secrets. `variable` and `per_chain` make its fields,
with parsers of `config.environment.kinds`.
"""

import io
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import attrs
from django.core.exceptions import ImproperlyConfigured
from dotenv import load_dotenv
from dotenv.parser import parse_stream

BASE_DIR = Path(__file__).resolve().parents[2]

Model = TypeVar("Model", bound=attrs.AttrsInstance)
Value = TypeVar("Value")
# Raises UnusableValueError.
Parser = Callable[[str], Value]

_CHAIN_ID = re.compile(r"[1-9][0-9]{0,17}")
FILE = "_FILE"
# Keys of a field's metadata.
CHAIN_PREFIX, ACCEPTS_FILE = "chain_prefix", "accepts_file"


class UnusableValueError(ValueError):
    """Raised for a value that can't be used, with what is expected."""


def load_env_file(path: Path = BASE_DIR / ".env") -> tuple[str, ...]:
    """Load the file's variables into the environment, unless they are set, and return their names.

    A missing file counts as empty. Raises ImproperlyConfigured with the number of the first invalid line: python-dotenv
    itself would skip that line, and everything that an unclosed quote swallowed.
    """
    try:
        # Some Windows editors start a file with a byte order mark, which would become part of the first name.
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ()
    except UnicodeDecodeError as error:
        raise ImproperlyConfigured(f"{path.name} can't be read: expected UTF-8 text") from error
    except OSError as error:
        raise ImproperlyConfigured(f"{path.name} can't be read: {error.strerror}") from error
    bindings = list(parse_stream(io.StringIO(text)))
    for binding in bindings:
        if binding.error or "\0" in binding.original.string:
            # A binding starts with the empty lines above it.
            string = binding.original.string
            line = binding.original.line + string[: len(string) - len(string.lstrip())].count("\n")
            raise ImproperlyConfigured(
                f"{path.name} can't be read at line {line}: expected NAME=value, with every quote closed"
            )
    load_dotenv(stream=io.StringIO(text), override=False)
    return tuple(binding.key for binding in bindings if binding.key)


def variable(parse: Parser[Value], default: str = "", *, empty: object = "", accepts_file: bool = False) -> Any:
    """Return a field with the variable of its name.

    `default` is written as in `.env`; it counts for a variable that is unset or blank. Without one, the value is
    `empty`. With `accepts_file`, the variable `<name>_FILE` may name a file with the value (Docker and Kubernetes
    secrets).
    """

    def convert(text: str, field: "attrs.Attribute[Any]") -> object:
        return parse_variable(field.name, text, parse) if text else empty

    return attrs.field(
        default=default,
        converter=attrs.Converter(convert, takes_field=True),
        metadata={ACCEPTS_FILE: accepts_file},
    )


def per_chain(prefix: str, parse: Parser[Value], *, accepts_file: bool = False) -> Any:
    """Return a field with a dict by chain id, of all variables whose name is this prefix and a chain id."""

    def convert(texts: Mapping[str, str]) -> dict[int, Value]:
        return {_chain_id(prefix, name): parse_variable(name, text, parse) for name, text in texts.items()}

    metadata = {CHAIN_PREFIX: prefix, ACCEPTS_FILE: accepts_file}
    return attrs.field(factory=dict, converter=convert, metadata=metadata)


def read_variables(model: type[Model], environment: Mapping[str, str] | None = None) -> Model:
    """Return the model with its variables, from this process's environment by default.

    Raises ImproperlyConfigured with the name of the first unusable one.
    """
    environment = os.environ if environment is None else environment
    texts = {name: stripped for name, text in environment.items() if (stripped := text.strip())}
    values: dict[str, Any] = {}
    for field in attrs.fields(model):
        accepts_file = field.metadata[ACCEPTS_FILE]
        if chain_prefix := field.metadata.get(CHAIN_PREFIX):
            names = [name for name in texts if name.startswith(chain_prefix)]
            if accepts_file:
                names = list(dict.fromkeys(name.removesuffix(FILE) for name in names))
            values[field.name] = {name: text for name in names if (text := _text(texts, name, accepts_file))}
        elif text := _text(texts, field.name, accepts_file):
            values[field.name] = text
    return model(**values)


def parse_variable(name: str, text: str, parse: Parser[Value]) -> Value:
    """Parse the text of one variable. Raises ImproperlyConfigured."""
    try:
        return parse(text)
    except UnusableValueError as error:
        # Without the cause, whose text may contain the value.
        raise invalid_value(name, str(error)) from None


def _text(texts: Mapping[str, str], name: str, accepts_file: bool) -> str:
    path = texts.get(name + FILE) if accepts_file else None
    if not path:
        return texts.get(name, "")
    if name in texts:
        raise invalid_value(name, f"either {name} or {name}{FILE}, not both")
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise invalid_value(name + FILE, "the path of a readable text file") from error


def _chain_id(prefix: str, name: str) -> int:
    suffix = name.removeprefix(prefix)
    if not _CHAIN_ID.fullmatch(suffix):
        raise invalid_value(name, f"a name that ends in a chain id, such as {prefix}8453")
    return int(suffix)


def invalid_value(name: str, expected: str) -> ImproperlyConfigured:
    """Return the error for a variable with an invalid value."""
    # The value is omitted on purpose: it may contain a password.
    return ImproperlyConfigured(f"{name} has a value that can't be used: expected {expected}")
