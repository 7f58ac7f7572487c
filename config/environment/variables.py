"""Settings from environment variables or `.env`; an invalid value is an error that names the variable and the rule."""

import io
import ipaddress
import os
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from ipaddress import ip_network
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from dotenv import load_dotenv
from dotenv.parser import parse_stream

from config.http.public_addresses import Network

BASE_DIR = Path(__file__).resolve().parents[2]

Number = TypeVar("Number", int, float, Decimal)

_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}
# Python's own parsers also accept digits of other scripts, and underscores between digits.
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")
_DECIMAL_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_ORIGIN = "http:// or https://, a host and perhaps a port, and nothing after them"
_NO_ADDRESS = re.compile(r"[\s\x00-\x1f\x7f]")
# Host names that Django accepts, label by label.
_HOST_NAME = re.compile(r"(?=.{1,253}$)(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*", re.IGNORECASE)


def load_env_file(path: Path = BASE_DIR / ".env") -> None:
    """Load the file's variables into the environment, unless they are set; a missing file counts as empty.

    Raises ImproperlyConfigured with the number of the first invalid line: python-dotenv itself would skip that
    line, and everything that an unclosed quote swallowed.
    """
    try:
        # Some Windows editors start a file with a byte order mark, which would become part of the first name.
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return
    except UnicodeDecodeError as error:
        raise ImproperlyConfigured(f"{path.name} can't be read: expected UTF-8 text") from error
    except OSError as error:
        raise ImproperlyConfigured(f"{path.name} can't be read: {error.strerror}") from error
    for binding in parse_stream(io.StringIO(text)):
        if binding.error or "\0" in binding.original.string:
            # A binding starts with the empty lines above it.
            string = binding.original.string
            line = binding.original.line + string[: len(string) - len(string.lstrip())].count("\n")
            raise ImproperlyConfigured(
                f"{path.name} can't be read at line {line}: expected NAME=value, with every quote closed"
            )
    load_dotenv(stream=io.StringIO(text), override=False)


def env_str(name: str, default: str = "") -> str:
    """Return the variable's text without surrounding blanks; the default if it is unset or empty."""
    return os.environ.get(name, "").strip() or default


def env_bool(name: str, default: bool) -> bool:
    """Parse true/false, yes/no, on/off or 1/0, in any case."""
    text = env_str(name).lower()
    if not text:
        return default
    if text not in _TRUE | _FALSE:
        raise invalid_value(name, "true or false")
    return text in _TRUE


def env_int(name: str, default: int, *, minimum: int, maximum: int) -> int:
    """Parse an integer within the two limits, both included."""
    return _number(name, default, int, _WHOLE_NUMBER, f"a whole number from {minimum} to {maximum}", minimum, maximum)


def env_float(name: str, default: float, *, minimum: float, maximum: float) -> float:
    """Parse a number within the two limits, both included."""
    return _number(name, default, float, _DECIMAL_NUMBER, f"a number from {minimum} to {maximum}", minimum, maximum)


def env_decimal(name: str, default: Decimal, *, minimum: Decimal, maximum: Decimal) -> Decimal:
    """Parse an exact decimal within the two limits, both included: for amounts of money."""
    return parse_decimal(name, env_str(name), minimum=minimum, maximum=maximum) if env_str(name) else default


def parse_decimal(name: str, text: str, *, minimum: Decimal, maximum: Decimal) -> Decimal:
    """Parse the text as a decimal within the two limits, both included. Raises ImproperlyConfigured."""
    expected = f"a number from {minimum} to {maximum}"
    return _read_number(name, text, Decimal, _DECIMAL_NUMBER, expected, minimum, maximum)


def env_list(name: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Split the value at commas, strip blanks, and drop empty parts. A comma within a part is written `\\,`."""
    return split_list(env_str(name)) or default


def split_list(text: str) -> tuple[str, ...]:
    """Split a text as `env_list` does."""
    parts = (part.strip().replace("\\,", ",") for part in re.split(r"(?<!\\),", text))
    return tuple(part for part in parts if part)


def join_list(parts: Iterable[str]) -> str:
    """Return the text that `env_list` splits into these parts."""
    return ",".join(part.replace(",", "\\,") for part in parts)


def env_hosts(name: str, default: tuple[str, ...]) -> tuple[str, ...]:
    """Parse host names, IP addresses, or * for any; a leading dot includes subdomains."""
    hosts = env_list(name, default)
    if not all(host == "*" or _is_host(host.removeprefix(".")) for host in hosts):
        raise invalid_value(
            name, "host names or addresses only, such as example.org, .example.org, 192.0.2.1, [::1] or *"
        )
    return hosts


def env_origin(name: str, default: str) -> str:
    """Parse http:// or https://, a lower-case host and optionally a port; nothing after them."""
    origin = _read_origin(env_str(name, default))
    if origin is None:
        raise invalid_value(name, _ORIGIN)
    return origin


def env_origins(name: str) -> tuple[str, ...]:
    """Parse several origins as `env_origin`, without the default port of the scheme, as browsers send them."""
    found = []
    for text in env_list(name):
        origin = _read_origin(text)
        if origin is None:
            raise invalid_value(name, f"{_ORIGIN}; several with commas between them")
        scheme, _, place = origin.partition("://")
        found.append(f"{scheme}://{place.removesuffix(':443' if scheme == 'https' else ':80')}")
    return tuple(found)


def env_ip_address(name: str, default: str) -> str:
    """Parse an IPv4 or IPv6 address, the latter without brackets and zone."""
    text = env_str(name, default)
    try:
        usable = "%" not in text and bool(ipaddress.ip_address(text))
    except ValueError:
        usable = False
    if not usable:
        raise invalid_value(name, "an IP address, such as 127.0.0.1, 0.0.0.0 or ::1")
    return text


def env_program(name: str) -> Path | None:
    """Parse the path of an executable; None if the variable is unset."""
    text = env_str(name)
    if text and not (os.path.isfile(text) and os.access(text, os.X_OK)):
        raise invalid_value(name, "the path of an executable file")
    return Path(text) if text else None


def env_choice(name: str, default: str, *, choices: tuple[str, ...]) -> str:
    """Parse one of the choices, in any case; return it as spelled in `choices`."""
    found = {choice.casefold(): choice for choice in choices}.get(env_str(name, default).casefold())
    if found is None:
        raise invalid_value(name, f"one of {', '.join(choices)}")
    return found


def env_secret(name: str, default: str = "", *, shortest: int = 0) -> str:
    """Return the variable, or the content of the file that `<name>_FILE` names (Docker and Kubernetes secrets)."""
    text = _read_secret(name)
    if text and len(text) < shortest:
        raise invalid_value(name, f"at least {shortest} random characters")
    return text or default


def _read_secret(name: str) -> str:
    path = env_str(f"{name}_FILE")
    if not path:
        return env_str(name)
    if env_str(name):
        raise invalid_value(name, f"either {name} or {name}_FILE, not both")
    return read_secret_file(f"{name}_FILE", path)


def read_secret_file(name: str, path: str) -> str:
    """Read the file that the variable names, without surrounding blanks. Raises ImproperlyConfigured."""
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise invalid_value(name, "the path of a readable text file") from error


def env_url(name: str, default: str = "") -> str:
    """Parse an http:// or https:// URL without a query; a trailing slash is removed."""
    text = env_str(name, default)
    if text:
        check_url(name, text, ("http", "https"))
        if set(text) & set("?#"):
            raise invalid_value(name, "an address without ? and #")
    return text.rstrip("/")


def env_api_key(name: str) -> str:
    """Return the API key of an outside service, as `env_secret`; empty if unset."""
    text = env_secret(name)
    if not re.fullmatch(r"[\x21-\x7e]*", text):
        raise invalid_value(name, "letters, digits and signs of ASCII, without blanks")
    return text


def env_slug(name: str) -> str:
    """Return an id that becomes part of an outside service's URLs; empty if unset."""
    text = env_str(name)
    if not re.fullmatch(r"[a-z0-9_-]{0,100}", text):
        raise invalid_value(name, "small letters, digits, - and _")
    return text


def _number(
    name: str,
    default: Number,
    read: Callable[[str], Number],
    form: re.Pattern[str],
    expected: str,
    minimum: Number,
    maximum: Number,
) -> Number:
    text = env_str(name)
    return _read_number(name, text, read, form, expected, minimum, maximum) if text else default


def _read_number(
    name: str,
    text: str,
    read: Callable[[str], Number],
    form: re.Pattern[str],
    expected: str,
    minimum: Number,
    maximum: Number,
) -> Number:
    if not form.fullmatch(text):
        raise invalid_value(name, expected)
    try:
        value = read(text)
    except (ValueError, ArithmeticError) as error:
        # Python parses at most 4300 digits.
        raise invalid_value(name, expected) from error
    if not minimum <= value <= maximum:
        raise invalid_value(name, expected)
    return value


def check_url(name: str, text: str, schemes: tuple[str, ...]) -> None:
    """Validate the scheme and host of a URL. Raises ImproperlyConfigured."""
    try:
        parts = urlsplit(text)
        # Accessing the port raises for one beyond 65535.
        usable = parts.scheme in schemes and bool(parts.hostname) and parts.port != 0 and not _NO_ADDRESS.search(text)
    except ValueError:
        usable = False
    if not usable:
        raise invalid_value(name, "an address that starts with " + " or ".join(f"{scheme}://" for scheme in schemes))


def _read_origin(text: str) -> str | None:
    origin = text.lower().removesuffix("/")
    found = re.fullmatch(r"https?://(\[[^\]]*\]|[^:]*)(?::([0-9]{1,5}))?", origin)
    return origin if found and _is_host(found[1]) and 1 <= int(found[2] or 80) <= 65535 else None


def _is_host(text: str) -> bool:
    """Return whether the text is a host name, an IPv4 address, or an IPv6 address in brackets."""
    try:
        if text.startswith("[") and text.endswith("]"):
            return "%" not in text and bool(ipaddress.IPv6Address(text[1:-1]))
        # Text of digits and dots must be an IPv4 address.
        return bool(ipaddress.IPv4Address(text) if re.fullmatch(r"[0-9.]+", text) else _HOST_NAME.fullmatch(text))
    except ValueError:
        return False


def invalid_value(name: str, expected: str) -> ImproperlyConfigured:
    """Return the error for a variable with an invalid value."""
    # The value is omitted on purpose: it may contain a password.
    return ImproperlyConfigured(f"{name} has a value that can't be used: expected {expected}")


def env_networks(name: str) -> tuple[Network, ...]:
    """Parse IP addresses or networks, separated by commas."""
    try:
        return tuple(ip_network(part) for part in env_list(name))
    except ValueError as error:
        raise invalid_value(
            name, "IP addresses or networks, such as 10.0.0.5 or fd00:1::/64, between commas"
        ) from error


def env_gateway(name: str, default: str) -> str:
    """Parse a URL as `env_url`; the word off means none, since an empty variable has the default."""
    return "" if env_str(name).lower() == "off" else env_url(name, default)
