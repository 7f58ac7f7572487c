"""Settings per chain, from environment variables that end in the chain id, such as `RPC_URLS_8453`."""

import os
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

from config.environment.secret import Secret
from config.environment.variables import check_url, invalid_value, parse_decimal, read_secret_file, split_list

Value = TypeVar("Value")

# Above any chain's height, and within PostgreSQL's integers.
_LAST_BLOCK = 2**62
# Order of secp256k1: a private key is a number from 1 up to below it.
_CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
_FILE = "_FILE"
# A lower cap would never be mined; a higher one is a typing error.
LOWEST_FEE_GWEI, HIGHEST_FEE_GWEI = Decimal("0.001"), Decimal(1_000_000)


def env_rpc_urls(environment: Mapping[str, str] | None = None) -> dict[int, tuple[str, ...]]:
    """Return chain id -> JSON-RPC URLs in order of preference, from every `RPC_URLS_<chainId>`."""
    return _of_chains("RPC_URLS_", _read_urls, environment)


def env_websocket_urls(environment: Mapping[str, str] | None = None) -> dict[int, str]:
    """Return chain id -> WebSocket URL of a node, from every `RPC_WS_URL_<chainId>`."""
    return _of_chains("RPC_WS_URL_", _read_websocket_url, environment)


def env_first_blocks(environment: Mapping[str, str] | None = None) -> dict[int, int]:
    """Return chain id -> number of the first block to follow, from every `FOLLOW_FROM_<chainId>`."""
    return _of_chains("FOLLOW_FROM_", _read_block_number, environment)


def env_deployer_keys(environment: Mapping[str, str] | None = None) -> dict[int, tuple[Secret, ...]]:
    """Return chain id -> private keys in hex, from every `DEPLOYER_KEYS_<chainId>`.

    Or from the file that `DEPLOYER_KEYS_<chainId>_FILE` names, with one key a line.
    """
    prefix, found = "DEPLOYER_KEYS_", dict(os.environ if environment is None else environment)
    for name in [name for name in found if name.startswith(prefix) and name.endswith(_FILE)]:
        path, plain = found.pop(name).strip(), name.removesuffix(_FILE)
        if path and found.get(plain, "").strip():
            raise invalid_value(plain, f"either {plain} or {name}, not both")
        if path:
            found[plain] = read_secret_file(name, path)
    return _of_chains(prefix, _read_private_keys, found)


def env_deployer_keystores(environment: Mapping[str, str] | None = None) -> dict[int, tuple[Path, ...]]:
    """Return chain id -> paths of encrypted key files, from every `DEPLOYER_KEYSTORES_<chainId>`."""
    return _of_chains("DEPLOYER_KEYSTORES_", lambda _, text: tuple(map(Path, split_list(text))), environment)


def env_deployer_addresses(environment: Mapping[str, str] | None = None) -> dict[int, tuple[str, ...]]:
    """Return chain id -> addresses as written, from every `DEPLOYER_REMOTE_<chainId>`."""
    return _of_chains("DEPLOYER_REMOTE_", _read_addresses, environment)


def env_highest_fees(environment: Mapping[str, str] | None = None) -> dict[int, Decimal]:
    """Return chain id -> maximum gas price in gwei, from every `DEPLOY_MAX_FEE_GWEI_<chainId>`."""
    return _of_chains("DEPLOY_MAX_FEE_GWEI_", _read_fee, environment)


def _of_chains(
    prefix: str, read: Callable[[str, str], Value], environment: Mapping[str, str] | None
) -> dict[int, Value]:
    found: dict[int, Value] = {}
    for name, text in (os.environ if environment is None else environment).items():
        if not name.startswith(prefix) or not text.strip():
            continue
        suffix = name.removeprefix(prefix)
        if not re.fullmatch(r"[1-9][0-9]{0,17}", suffix):
            raise invalid_value(name, f"a name that ends in a chain id, such as {prefix}8453")
        found[int(suffix)] = read(name, text.strip())
    return found


def _read_urls(name: str, text: str) -> tuple[str, ...]:
    urls = tuple(part.strip() for part in text.split(",") if part.strip())
    if not urls:
        raise invalid_value(name, "an address, or several with commas between them")
    for url in urls:
        check_url(name, url, ("http", "https"))
    return urls


def _read_websocket_url(name: str, text: str) -> str:
    check_url(name, text, ("ws", "wss"))
    return text


def _read_block_number(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,19}", text, re.ASCII) or int(text) > _LAST_BLOCK:
        raise invalid_value(name, "the number of a block")
    return int(text)


def _read_private_keys(name: str, text: str) -> tuple[Secret, ...]:
    # Separated by commas, or one a line in a file.
    parts = [part.removeprefix("0x") for part in re.split(r"[\s,]+", text) if part]
    if not parts or not all(
        re.fullmatch("[0-9a-fA-F]{64}", part) and 0 < int(part, 16) < _CURVE_ORDER for part in parts
    ):
        raise invalid_value(name, "a private key of 64 hex digits, or several with commas between them")
    return tuple(map(Secret, parts))


def _read_fee(name: str, text: str) -> Decimal:
    return parse_decimal(name, text, minimum=LOWEST_FEE_GWEI, maximum=HIGHEST_FEE_GWEI)


def _read_addresses(name: str, text: str) -> tuple[str, ...]:
    parts = tuple(part.strip() for part in text.split(",") if part.strip())
    if not parts or not all(re.fullmatch("0x[0-9a-fA-F]{40}", part) for part in parts):
        raise invalid_value(name, "an address of 40 hex digits after 0x, or several with commas between them")
    return parts
