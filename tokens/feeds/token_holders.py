"""A token's holders from its chain's Blockscout explorer: transfers and balances are not stored here.

The explorer's list has all accounts with a balance but the zero address, largest balance first.
Shapes: https://docs.blockscout.com/devs/apis/rpc/token (getTokenHolders), and token counters in
https://docs.blockscout.com/openapi-specs/blockscout-pro-api.yaml.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from config.http.errors import HTTPStatusError, InvalidResponseError, RateLimitedError
from config.http.json_client import get_json, json_member
from config.redis.rate_limits import CountersUnavailableError, hit
from config.redis.single_flight import CacheTimes, fetch_shared
from tokens.chains.addresses import parse_address
from tokens.chains.registry.chains import ChainInfo

# Seconds of a cached page.
FRESH_SECONDS = 300
# Incremented with every change of the cached value.
CACHE_VERSION = 1
# Pages fetched per minute for one address, and for all. A page takes two requests; Blockscout allows 5 a second without
# a plan.
_PAGES_OF_CALLER, _PAGES_OF_ALL = 60, 120
_TIMEOUT_SECONDS = 5.0
# A page of 50 holders has 8 kB.
_MAX_RESPONSE_BYTES = 1024 * 1024
# Two requests, each with a connection, a head and a body.
_CACHE_TIMES = CacheTimes(fresh=FRESH_SECONDS, ttl=FRESH_SECONDS, wait_timeout=10.0, lock_ttl=30.0)
_DIGITS = re.compile(r"[0-9]{1,78}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class HolderPage:
    """A page of holders with their balances in smallest units, largest first; `total` counts all holders."""

    total: int
    holders: list[tuple[str, int]]


def fetch_holders(chain: ChainInfo, token: str, *, page: int, page_size: int, caller: str) -> HolderPage:
    """Return a page of a token's holders, 0 for the first; the chain must have an explorer in EXPLORER_URLS.

    Each page is fetched once in FRESH_SECONDS for all callers; `caller` is the client address. Raises the explorer's
    RetryableError or PermanentError, RateLimitedError beyond this service's limits, and BusyError.
    """

    def fetch() -> dict[str, Any]:
        _count_page(caller)
        listed = read_holders(chain, token, page=page, page_size=page_size)
        # As texts: balances have more digits than a JSON number.
        return {"total": listed.total, "holders": [(address, str(amount)) for address, amount in listed.holders]}

    name = f"holders:{CACHE_VERSION}:{chain.chain_id}:{token}:{page}:{page_size}"
    value = fetch_shared(name, fetch, times=_CACHE_TIMES).value
    return HolderPage(total=value["total"], holders=[(address, int(amount)) for address, amount in value["holders"]])


def read_holders(chain: ChainInfo, token: str, *, page: int, page_size: int) -> HolderPage:
    """Fetch a page as in `fetch_holders`, without a cache. Raises the explorer's RetryableError or PermanentError."""
    explorer = settings.EXPLORER_URLS[chain.chain_id]
    counters = _get(f"{explorer}/api/v2/tokens/{token}/counters", {})
    query = {"module": "token", "action": "getTokenHolders", "contractaddress": token}
    listed = json_member(_get(f"{explorer}/api", query | {"page": str(page + 1), "offset": str(page_size)}), "result")
    if not isinstance(listed, list):
        raise InvalidResponseError("a list of holders that is none")
    holders = [(_address(json_member(each, "address")), _number(json_member(each, "value"))) for each in listed]
    # None for a token that the explorer does not have.
    total = 0 if counters is None else _number(json_member(counters, "token_holders_count"))
    # The explorer counts in the background: its list may already be longer.
    return HolderPage(total=max(total, page * page_size + len(holders) if holders else 0), holders=holders)


def _count_page(caller: str) -> None:
    # Without Redis there is no limit; the process's cache and slots bound the calls.
    with suppress(CountersUnavailableError):
        for name, limit in (f"holders:{caller}", _PAGES_OF_CALLER), ("holders", _PAGES_OF_ALL):
            result = hit(name, limit=limit, seconds=60)
            if not result.allowed:
                raise RateLimitedError(503, retry_after=result.reset_seconds)


def _get(url: str, params: dict[str, str]) -> Any:
    """Return the response's JSON; None if the explorer has nothing under this path."""
    key = settings.EXPLORER_API_KEY
    headers = {"accept": "application/json"} | ({"authorization": f"Bearer {key}"} if key else {})
    try:
        return get_json(url, params=params, headers=headers, timeout=_TIMEOUT_SECONDS, max_bytes=_MAX_RESPONSE_BYTES)
    except HTTPStatusError as error:
        if error.status == 404:
            return None
        raise


def _address(value: Any) -> str:
    try:
        return parse_address(value if isinstance(value, str) else "")
    except ValueError as error:
        raise InvalidResponseError("a holder without an address") from error


def _number(value: Any) -> int:
    """Return a whole number, which the explorer writes as text. Raises InvalidResponseError."""
    if isinstance(value, bool) or not _DIGITS.fullmatch(str(value)):
        raise InvalidResponseError("a number that is none")
    return int(value)
