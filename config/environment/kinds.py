"""Environment variable kinds: text parsers that raise UnusableValueError with the expected form."""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from config.environment.secret import Secret
from config.environment.variables import Parser, UnusableValueError
from config.parsing import scalar_parsers

Number = TypeVar("Number", float, Decimal)
Value = TypeVar("Value")

_SWITCH = dict.fromkeys(("1", "true", "yes", "on"), True) | dict.fromkeys(("0", "false", "no", "off"), False)
# Python's own parsers also accept digits of other scripts, and underscores between digits.
_DECIMAL_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_ORIGIN = "http:// or https://, a host and perhaps a port, and nothing after them"
_NO_ADDRESS = re.compile(r"[\s\x00-\x1f\x7f]")
# Host names as Django accepts them, label by label.
_HOST_NAME = re.compile(r"(?=.{1,253}$)(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*", re.IGNORECASE)
# Picture paths are longer by 40 characters; Linux has at most 4,096.
_MAX_PATH = 1_000
# Order of secp256k1: a private key is at least 1 and below it.
_CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


def expecting(expected: str) -> Callable[[Callable[[str], Value]], Parser[Value]]:
    """Return a decorator that turns a parser's errors into UnusableValueError with this text."""
    return scalar_parsers.expecting(expected, UnusableValueError)


def whole_number(minimum: int, maximum: int) -> Parser[int]:
    """Return the parser for integers within two limits, both included."""
    return expecting(f"a whole number from {minimum} to {maximum}")(
        lambda text: scalar_parsers.parse_whole_number(re.sub("^[+](?=[0-9])", "", text), least=minimum, most=maximum)
    )


def number(minimum: float, maximum: float) -> Parser[float]:
    """Return the parser for floats within two limits, both included."""
    return _decimal_number(float, minimum, maximum)


def amount(minimum: Decimal, maximum: Decimal) -> Parser[Decimal]:
    """Return the parser for exact decimals within two limits, both included."""
    return _decimal_number(Decimal, minimum, maximum)


def _decimal_number(read: Callable[[str], Number], minimum: Number, maximum: Number) -> Parser[Number]:
    @expecting(f"a number from {minimum} to {maximum}")
    def parse(text: str) -> Number:
        if not _DECIMAL_NUMBER.fullmatch(text) or not minimum <= (value := read(text)) <= maximum:
            raise ValueError
        return value

    return parse


# Its limit is above any chain's height, and within PostgreSQL's integers.
block_number = expecting("the number of a block")(whole_number(0, 2**62))


@expecting("true or false")
def switch(text: str) -> bool:
    """Parse true/false, yes/no, on/off or 1/0, in any case."""
    return _SWITCH[text.lower()]


def choice(*choices: str) -> Parser[str]:
    """Return the parser for one of these texts, in any case; the value is spelled as here."""
    spelled = {choice.lower(): choice for choice in choices}
    return expecting(f"one of {', '.join(choices)}")(lambda text: spelled[text.lower()])


def matching(pattern: str, expected: str = "") -> Parser[str]:
    """Return the parser for texts that match a pattern; within `several`, its `expected` replaces this one."""
    return expecting(expected)(scalar_parsers.matching(pattern))


# A header can contain it.
api_key = matching(r"[\x21-\x7e]+", "letters, digits and signs of ASCII, without blanks")


def several(parse_one: Callable[[str], Value], expected: str) -> Parser[tuple[Value, ...]]:
    """Return the parser for one or more values between commas; `expected` describes the whole list."""

    @expecting(expected)
    def parse(text: str) -> tuple[Value, ...]:
        if not (texts := split_list(text)):
            raise ValueError
        return tuple(map(parse_one, texts))

    return parse


def split_list(text: str) -> tuple[str, ...]:
    """Split a text at commas, strip blanks, and drop empty entries. A comma within an entry is written `\\,`."""
    entries = (entry.strip().replace("\\,", ",") for entry in re.split(r"(?<!\\),", text))
    return tuple(entry for entry in entries if entry)


def join_list(entries: Iterable[str]) -> str:
    """Return the text that `split_list` splits into these entries."""
    return ",".join(entry.replace(",", "\\,") for entry in entries)


paths = several(Path, "paths")
texts = several(str, "texts")
domains = several(matching("[^/]+"), "domains only, such as app.example, without https://")
# They become part of variable names.
names = several(matching("[A-Z][A-Z0-9]{0,29}"), "names of capital letters and digits, with commas between them")
launchpads = several(matching("[a-z][a-z0-9_-]{0,31}"), "names of launchpads, such as clanker,zora, between commas")
networks = several(ip_network, "IP addresses or networks, such as 10.0.0.5 or fd00:1::/64, between commas")
feeds = several(choice("dexscreener", "dextools", "udf", "daily"), "names among dexscreener, dextools, udf and daily")
addresses = several(
    matching("0x[0-9a-fA-F]{40}"),
    "an address of 40 hex digits after 0x, or several with commas between them",
)


def _host(text: str) -> str:
    # A leading dot includes subdomains.
    if text != "*" and not _is_host(text.removeprefix(".")):
        raise ValueError
    return text


hosts = several(_host, "host names or addresses only, such as example.org, .example.org, 192.0.2.1, [::1] or *")


@expecting(_ORIGIN)
def origin(text: str) -> str:
    """Parse http:// or https://, a host and optionally a port, with nothing after them; return lower case."""
    text = text.lower().removesuffix("/")
    match = re.fullmatch(r"https?://(\[[^\]]*\]|[^:]*)(?::([0-9]{1,5}))?", text)
    if not (match and _is_host(match[1]) and 1 <= int(match[2] or 80) <= 65535):
        raise ValueError
    return text


def _browser_origin(text: str) -> str:
    # Browsers omit the scheme's default port.
    scheme, _, authority = origin(text).partition("://")
    return f"{scheme}://{authority.removesuffix(':443' if scheme == 'https' else ':80')}"


browser_origins = several(_browser_origin, f"{_ORIGIN}; several with commas between them")


@expecting("an IP address, such as 127.0.0.1, 0.0.0.0 or ::1")
def listening_address(text: str) -> str:
    """Parse an IPv4 or IPv6 address, the latter without brackets and zone."""
    ip_address(text)
    if "%" in text:
        raise ValueError
    return text


@expecting("the absolute path of a directory")
def directory(text: str) -> Path:
    """Parse the absolute path of a directory, which may be missing."""
    path = Path(text)
    if not path.is_absolute() or len(text) > _MAX_PATH:
        raise ValueError
    return path


def url(*schemes: str) -> Parser[str]:
    """Return the parser for URLs with one of these schemes."""

    @expecting("an address that starts with " + " or ".join(f"{scheme}://" for scheme in schemes))
    def parse(text: str) -> str:
        parts = urlsplit(text)
        # Accessing the port raises for one beyond 65535.
        if parts.scheme not in schemes or not parts.hostname or parts.port == 0 or _NO_ADDRESS.search(text):
            raise ValueError
        return text

    return parse


http_url = url("http", "https")


def base_url(text: str) -> str:
    """Parse an http:// or https:// URL without a query; a trailing slash is removed."""
    if set(http_url(text)) & set("?#"):
        raise UnusableValueError("an address without ? and #")
    return text.rstrip("/")


def gateways(text: str) -> tuple[str, ...]:
    """Parse URLs as `base_url` between commas; the word off means none, since an empty variable has the default."""
    urls = several(str.strip, "an address, or several with commas between them")(text)
    return () if text.lower() == "off" else tuple(map(base_url, urls))


def keys_url(text: str) -> str:
    """Parse the URL for an issuer's keys: https://, or this machine.

    With keys modified in transit, an attacker could pose as any user.
    """
    parts = urlsplit(http_url(text))
    if parts.scheme != "https" and not _is_this_machine(parts.hostname or ""):
        raise UnusableValueError(
            "an address that starts with https://, or with http:// and names this machine: 127.0.0.1"
        )
    return text.rstrip("/")


def node_urls(text: str) -> tuple[str, ...]:
    """Parse http:// or https:// URLs between commas, at least one."""
    urls = several(str.strip, "an address, or several with commas between them")(text)
    return tuple(map(http_url, urls))


@expecting("a private key of 64 hex digits, or several with commas between them")
def private_keys(text: str) -> tuple[Secret, ...]:
    """Parse private keys in hex, between commas or one a line in a file."""
    keys = [key.removeprefix("0x") for key in re.split(r"[\s,]+", text) if key]
    if not keys or not all(re.fullmatch("[0-9a-fA-F]{64}", key) and 0 < int(key, 16) < _CURVE_ORDER for key in keys):
        raise ValueError
    return tuple(map(Secret, keys))


def _is_host(text: str) -> bool:
    """Return whether the text is a host name, an IPv4 address, or an IPv6 address in brackets."""
    try:
        if text.startswith("[") and text.endswith("]"):
            return "%" not in text and bool(IPv6Address(text[1:-1]))
        # Text of digits and dots must be an IPv4 address.
        return bool(IPv4Address(text) if re.fullmatch(r"[0-9.]+", text) else _HOST_NAME.fullmatch(text))
    except ValueError:
        return False


def _is_this_machine(name: str) -> bool:
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False
