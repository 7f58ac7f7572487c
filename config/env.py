"""Reading settings from the environment or `.env`: refuse nonsense, and name the variable and what was expected."""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from dotenv import load_dotenv

BASE_DIR = Path(__file__).resolve().parent.parent

load_dotenv(BASE_DIR / ".env", override=False)

Number = TypeVar("Number", int, float)

_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


def env_str(name: str, default: str = "") -> str:
    """The variable's text without surrounding blanks; the default where it is unset or empty."""
    return os.environ.get(name, "").strip() or default


def env_bool(name: str, default: bool) -> bool:
    """true/false, yes/no, on/off or 1/0, in any case."""
    text = env_str(name).lower()
    if not text:
        return default
    if text not in _TRUE | _FALSE:
        raise _refused(name, "true or false")
    return text in _TRUE


def env_int(name: str, default: int, *, minimum: int, maximum: int) -> int:
    """A whole number within the two limits, both included."""
    return _number(name, default, int, f"a whole number from {minimum} to {maximum}", minimum, maximum)


def env_float(name: str, default: float, *, minimum: float, maximum: float) -> float:
    """A number within the two limits, both included."""
    return _number(name, default, float, f"a number from {minimum} to {maximum}", minimum, maximum)


def env_list(name: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Parts between commas, blanks stripped, empty parts dropped."""
    parts = tuple(part.strip() for part in env_str(name).split(",") if part.strip())
    return parts or default


def env_url(name: str, default: str, *, schemes: tuple[str, ...]) -> str:
    """An address with one of the schemes and a host."""
    text = env_str(name, default)
    _check_url(name, text, schemes)
    return text


def env_choice(name: str, default: str, *, choices: tuple[str, ...]) -> str:
    """One of the choices, in any case."""
    text = env_str(name, default).upper()
    if text not in choices:
        raise _refused(name, f"one of {', '.join(choices)}")
    return text


def env_secret(name: str, default: str = "") -> str:
    """The variable itself, or the content of the file that `<name>_FILE` names (Docker and Kubernetes secrets)."""
    path = env_str(f"{name}_FILE")
    if not path:
        return env_str(name, default)
    if env_str(name):
        raise _refused(name, f"either {name} or {name}_FILE, not both")
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise _refused(f"{name}_FILE", "the path of a readable text file") from error


def env_rpc_urls(environment: Mapping[str, str] | None = None) -> dict[int, tuple[str, ...]]:
    """Chain id -> its JSON-RPC URLs, in order of preference, from every `RPC_URLS_<chainId>`."""
    found: dict[int, tuple[str, ...]] = {}
    for name, text in (os.environ if environment is None else environment).items():
        if not name.startswith("RPC_URLS_") or not text.strip():
            continue
        suffix = name.removeprefix("RPC_URLS_")
        if not re.fullmatch(r"[1-9][0-9]{0,17}", suffix):
            raise _refused(name, "a name that ends in a chain id, such as RPC_URLS_8453")
        urls = tuple(part.strip() for part in text.split(",") if part.strip())
        if not urls:
            raise _refused(name, "an address, or several with commas between them")
        for url in urls:
            _check_url(name, url, ("http", "https"))
        found[int(suffix)] = urls
    return found


def _number(
    name: str, default: Number, read: Callable[[str], Number], expected: str, minimum: float, maximum: float
) -> Number:
    text = env_str(name)
    if not text:
        return default
    try:
        value = read(text)
    except ValueError as error:
        raise _refused(name, expected) from error
    if not minimum <= value <= maximum:
        raise _refused(name, expected)
    return value


def _check_url(name: str, text: str, schemes: tuple[str, ...]) -> None:
    try:
        parts = urlsplit(text)
        # Reading the port is what refuses one beyond 65535.
        usable = parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise _refused(name, "an address that starts with " + " or ".join(f"{scheme}://" for scheme in schemes))


def _refused(name: str, expected: str) -> ImproperlyConfigured:
    # The value is left out on purpose: it may hold a password.
    return ImproperlyConfigured(f"{name} has a value that can't be used: expected {expected}")
