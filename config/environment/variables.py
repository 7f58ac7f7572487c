"""Reading settings from the environment or `.env`: refuse nonsense, and name the variable and what was expected."""

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
# Python's own readers also take digits of other scripts, and underscores between digits.
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")
_DECIMAL_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_ORIGIN = "http:// or https://, a host and perhaps a port, and nothing after them"
_NO_ADDRESS = re.compile(r"[\s\x00-\x1f\x7f]")
# What Django takes for the host of a request, label by label.
_HOST_NAME = re.compile(r"(?=.{1,253}$)(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*", re.IGNORECASE)


def load_env_file(path: Path = BASE_DIR / ".env") -> None:
    """Take the file's variables into the environment, where they are not set; a missing file is an empty one.

    Raises ImproperlyConfigured with the number of the first line that can't be read: python-dotenv itself would leave
    that line out, and what an unclosed quote has swallowed as well.
    """
    try:
        # Some editors of Windows begin a file with a mark that would become a part of the first name.
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return
    except UnicodeDecodeError as error:
        raise ImproperlyConfigured(f"{path.name} can't be read: expected UTF-8 text") from error
    except OSError as error:
        raise ImproperlyConfigured(f"{path.name} can't be read: {error.strerror}") from error
    for binding in parse_stream(io.StringIO(text)):
        if binding.error or "\0" in binding.original.string:
            # A binding begins with the empty lines above it.
            string = binding.original.string
            line = binding.original.line + string[: len(string) - len(string.lstrip())].count("\n")
            raise ImproperlyConfigured(
                f"{path.name} can't be read at line {line}: expected NAME=value, with every quote closed"
            )
    load_dotenv(stream=io.StringIO(text), override=False)


def env_str(name: str, default: str = "") -> str:
    """The variable's text without surrounding blanks; the default where it is unset or empty."""
    return os.environ.get(name, "").strip() or default


def env_bool(name: str, default: bool) -> bool:
    """true/false, yes/no, on/off or 1/0, in any case."""
    text = env_str(name).lower()
    if not text:
        return default
    if text not in _TRUE | _FALSE:
        raise refused(name, "true or false")
    return text in _TRUE


def env_int(name: str, default: int, *, minimum: int, maximum: int) -> int:
    """A whole number within the two limits, both included."""
    return _number(name, default, int, _WHOLE_NUMBER, f"a whole number from {minimum} to {maximum}", minimum, maximum)


def env_float(name: str, default: float, *, minimum: float, maximum: float) -> float:
    """A number within the two limits, both included."""
    return _number(name, default, float, _DECIMAL_NUMBER, f"a number from {minimum} to {maximum}", minimum, maximum)


def env_decimal(name: str, default: Decimal, *, minimum: Decimal, maximum: Decimal) -> Decimal:
    """A number within the two limits, both included, as exact as it is written: for amounts of money."""
    return read_decimal(name, env_str(name), minimum=minimum, maximum=maximum) if env_str(name) else default


def read_decimal(name: str, text: str, *, minimum: Decimal, maximum: Decimal) -> Decimal:
    """The text of the variable as a number within the two limits, both included. Raises ImproperlyConfigured."""
    expected = f"a number from {minimum} to {maximum}"
    return _read_number(name, text, Decimal, _DECIMAL_NUMBER, expected, minimum, maximum)


def env_list(name: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Parts between commas, blanks stripped, empty parts dropped. A comma within a part is written `\\,`."""
    return split_list(env_str(name)) or default


def split_list(text: str) -> tuple[str, ...]:
    """The parts of such a text."""
    parts = (part.strip().replace("\\,", ",") for part in re.split(r"(?<!\\),", text))
    return tuple(part for part in parts if part)


def join_list(parts: Iterable[str]) -> str:
    """The text that `env_list` reads as these parts."""
    return ",".join(part.replace(",", "\\,") for part in parts)


def env_hosts(name: str, default: tuple[str, ...]) -> tuple[str, ...]:
    """Host names, with a dot before those whose subdomains count too, IP addresses, or * for any."""
    hosts = env_list(name, default)
    if not all(host == "*" or _is_host(host.removeprefix(".")) for host in hosts):
        raise refused(name, "host names or addresses alone, such as example.org, .example.org, 192.0.2.1, [::1] or *")
    return hosts


def env_origin(name: str, default: str) -> str:
    """http:// or https://, a host and perhaps a port, in small letters; nothing after them."""
    origin = _read_origin(env_str(name, default))
    if origin is None:
        raise refused(name, _ORIGIN)
    return origin


def env_origins(name: str) -> tuple[str, ...]:
    """As `env_origin`, several between commas; without a port that its scheme has anyway, as browsers write them."""
    found = []
    for text in env_list(name):
        origin = _read_origin(text)
        if origin is None:
            raise refused(name, f"{_ORIGIN}; several with commas between them")
        scheme, _, place = origin.partition("://")
        found.append(f"{scheme}://{place.removesuffix(':443' if scheme == 'https' else ':80')}")
    return tuple(found)


def env_ip_address(name: str, default: str) -> str:
    """An IPv4 or IPv6 address, the latter without brackets and zone."""
    text = env_str(name, default)
    try:
        usable = "%" not in text and bool(ipaddress.ip_address(text))
    except ValueError:
        usable = False
    if not usable:
        raise refused(name, "an IP address, such as 127.0.0.1, 0.0.0.0 or ::1")
    return text


def env_program(name: str) -> Path | None:
    """The path of a program; None where the variable is unset."""
    text = env_str(name)
    if text and not (os.path.isfile(text) and os.access(text, os.X_OK)):
        raise refused(name, "the path of an executable file")
    return Path(text) if text else None


def env_choice(name: str, default: str, *, choices: tuple[str, ...]) -> str:
    """One of the choices, as it stands there; the variable may hold it in any case."""
    found = {choice.casefold(): choice for choice in choices}.get(env_str(name, default).casefold())
    if found is None:
        raise refused(name, f"one of {', '.join(choices)}")
    return found


def env_secret(name: str, default: str = "", *, shortest: int = 0) -> str:
    """The variable itself, or the content of the file that `<name>_FILE` names (Docker and Kubernetes secrets)."""
    text = _read_secret(name)
    if text and len(text) < shortest:
        raise refused(name, f"at least {shortest} random characters")
    return text or default


def _read_secret(name: str) -> str:
    path = env_str(f"{name}_FILE")
    if not path:
        return env_str(name)
    if env_str(name):
        raise refused(name, f"either {name} or {name}_FILE, not both")
    return read_secret_file(f"{name}_FILE", path)


def read_secret_file(name: str, path: str) -> str:
    """The content of the file that the variable names, without surrounding blanks. Raises ImproperlyConfigured."""
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise refused(name, "the path of a readable text file") from error


def env_url(name: str, default: str = "") -> str:
    """http:// or https://, a host, perhaps a port and a path; without query, and without a slash at the end."""
    text = env_str(name, default)
    if text:
        check_url(name, text, ("http", "https"))
        if set(text) & set("?#"):
            raise refused(name, "an address without ? and #")
    return text.rstrip("/")


def env_api_key(name: str) -> str:
    """A key that an outside service takes in a header, as `env_secret` finds it; empty where none is given."""
    text = env_secret(name)
    if not re.fullmatch(r"[\x21-\x7e]*", text):
        raise refused(name, "letters, digits and signs of ASCII, without blanks")
    return text


def env_slug(name: str) -> str:
    """An id that becomes a part of an outside service's addresses; empty where none is given."""
    text = env_str(name)
    if not re.fullmatch(r"[a-z0-9_-]{0,100}", text):
        raise refused(name, "small letters, digits, - and _")
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
        raise refused(name, expected)
    try:
        value = read(text)
    except (ValueError, ArithmeticError) as error:
        # Python reads at most 4300 digits.
        raise refused(name, expected) from error
    if not minimum <= value <= maximum:
        raise refused(name, expected)
    return value


def check_url(name: str, text: str, schemes: tuple[str, ...]) -> None:
    """Refuse an address of another scheme, or of none. Raises ImproperlyConfigured."""
    try:
        parts = urlsplit(text)
        # Reading the port is what refuses one beyond 65535.
        usable = parts.scheme in schemes and bool(parts.hostname) and parts.port != 0 and not _NO_ADDRESS.search(text)
    except ValueError:
        usable = False
    if not usable:
        raise refused(name, "an address that starts with " + " or ".join(f"{scheme}://" for scheme in schemes))


def _read_origin(text: str) -> str | None:
    origin = text.lower().removesuffix("/")
    found = re.fullmatch(r"https?://(\[[^\]]*\]|[^:]*)(?::([0-9]{1,5}))?", origin)
    return origin if found and _is_host(found[1]) and 1 <= int(found[2] or 80) <= 65535 else None


def _is_host(text: str) -> bool:
    """Whether it is a name, an IPv4 address, or an IPv6 address in brackets."""
    try:
        if text.startswith("[") and text.endswith("]"):
            return "%" not in text and bool(ipaddress.IPv6Address(text[1:-1]))
        # What looks like an IPv4 address is one.
        return bool(ipaddress.IPv4Address(text) if re.fullmatch(r"[0-9.]+", text) else _HOST_NAME.fullmatch(text))
    except ValueError:
        return False


def refused(name: str, expected: str) -> ImproperlyConfigured:
    """The error for a variable whose value can't be used."""
    # The value is left out on purpose: it may hold a password.
    return ImproperlyConfigured(f"{name} has a value that can't be used: expected {expected}")


# Settings about which addresses are asked on behalf of others.
def env_networks(name: str) -> tuple[Network, ...]:
    """IP addresses or networks between commas."""
    try:
        return tuple(ip_network(part) for part in env_list(name))
    except ValueError as error:
        raise refused(name, "IP addresses or networks, such as 10.0.0.5 or fd00:1::/64, between commas") from error


def env_gateway(name: str, default: str) -> str:
    """An address as of `env_url`; empty for the word off, since an empty variable has the default."""
    return "" if env_str(name).lower() == "off" else env_url(name, default)
