"""Settings that each chain has by itself: their variables end in the chain's id, as in `RPC_URLS_8453`."""

import os
import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from config.env import check_url, refused

Value = TypeVar("Value")

# No chain is so long; PostgreSQL's integers are.
_LAST_BLOCK = 2**62


def env_rpc_urls(environment: Mapping[str, str] | None = None) -> dict[int, tuple[str, ...]]:
    """Chain id -> its JSON-RPC URLs, in order of preference, from every `RPC_URLS_<chainId>`."""
    return _of_chains("RPC_URLS_", _read_urls, environment)


def env_websocket_urls(environment: Mapping[str, str] | None = None) -> dict[int, str]:
    """Chain id -> the WebSocket URL of one of its nodes, from every `RPC_WS_URL_<chainId>`."""
    return _of_chains("RPC_WS_URL_", _read_websocket_url, environment)


def env_first_blocks(environment: Mapping[str, str] | None = None) -> dict[int, int]:
    """Chain id -> the number of the first block to be read, from every `FOLLOW_FROM_<chainId>`."""
    return _of_chains("FOLLOW_FROM_", _read_block_number, environment)


def _of_chains(
    prefix: str, read: Callable[[str, str], Value], environment: Mapping[str, str] | None
) -> dict[int, Value]:
    found: dict[int, Value] = {}
    for name, text in (os.environ if environment is None else environment).items():
        if not name.startswith(prefix) or not text.strip():
            continue
        suffix = name.removeprefix(prefix)
        if not re.fullmatch(r"[1-9][0-9]{0,17}", suffix):
            raise refused(name, f"a name that ends in a chain id, such as {prefix}8453")
        found[int(suffix)] = read(name, text.strip())
    return found


def _read_urls(name: str, text: str) -> tuple[str, ...]:
    urls = tuple(part.strip() for part in text.split(",") if part.strip())
    if not urls:
        raise refused(name, "an address, or several with commas between them")
    for url in urls:
        check_url(name, url, ("http", "https"))
    return urls


def _read_websocket_url(name: str, text: str) -> str:
    check_url(name, text, ("ws", "wss"))
    return text


def _read_block_number(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,19}", text, re.ASCII) or int(text) > _LAST_BLOCK:
        raise refused(name, "the number of a block")
    return int(text)
