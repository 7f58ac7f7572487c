"""Parser and validation for the market-data provider's responses. Pure functions.

Shape: https://docs.coingecko.com/reference/pools-addresses (JSON:API; the same on GeckoTerminal's free tier).
Numbers are strings there; JSON numbers are accepted, too. An invalid field is None and an entry without an address is
skipped; neither affects other fields or entries.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from config.http.errors import RetryableError
from config.parsing.timestamps import format_timestamp
from tokens.chains.addresses import is_solana_address
from tokens.market.pool_statistics import CHANGE_PERIODS, PERIODS, TRADE_COUNTS, PoolStatistics

MAX_NAME_LENGTH = 200

# More digits than a 64-bit float distinguishes, and few enough to be parsed quickly.
_NUMBER = re.compile(r"-?[0-9]{1,60}(\.[0-9]{1,150})?([eE][+-]?[0-9]{1,3})?")
_ADDRESS = re.compile(r"0x([0-9a-f]{40}|[0-9a-f]{64})")
_POOL_ID_LENGTH = 66


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Number range; `lowest` is included, `highest` is not."""

    lowest: float
    highest: float


# No asset costs a trillion dollars; below 10^-40 even 10^11 tokens are worth nothing.
PRICE = Bounds(lowest=1e-40, highest=1e12)
# Capitalisations, volumes and reserves in USD; the world's total wealth is less.
AMOUNT = Bounds(lowest=0.0, highest=1e15)
# Trade and trader counts.
COUNT = Bounds(lowest=0.0, highest=1e9)
# Percentage points; a loss cannot exceed 100 %.
PERCENT = Bounds(lowest=-100.0, highest=1e9)


class UnexpectedShapeError(RetryableError):
    """Raised for a response with another JSON schema than the documented one."""


def parse_pools(response: Any, *, network: str | None = None) -> tuple[PoolStatistics, ...]:
    """Return a response's distinct pools in its sequence, or one network's pools. Raises UnexpectedShapeError.

    Ids begin with the network: `base_0x4200...`; an entry without an id counts for every network.
    """
    entries = (
        entry
        for entry in _entries(response)
        if network is None or _text(entry.get("id")).rpartition("_")[0] in ("", network)
    )
    pools = {pool.address: pool for entry in entries if (pool := _parse_pool(entry))}
    return tuple(pools.values())


def parse_number(value: Any, bounds: Bounds) -> str | None:
    """Return a number or numeric text as digits; None if it is neither, or out of bounds."""
    text = value if isinstance(value, str) else repr(value) if type(value) in (int, float) else ""
    if not _NUMBER.fullmatch(text):
        return None
    # A three-digit exponent may yield infinity.
    number = float(text)
    return text if math.isfinite(number) and bounds.lowest <= number < bounds.highest else None


def to_float(digits: str | None) -> float | None:
    """Convert a result from `parse_number`."""
    return None if digits is None else float(digits)


def market_cap_or_fdv(market_cap_usd: float | None, fdv_usd: float | None) -> float | None:
    """Return the market cap, or the fully diluted value if the provider has no circulating supply (null or zero)."""
    return market_cap_usd or fdv_usd or None


def _entries(response: Any) -> Iterator[dict[str, Any]]:
    listed = response.get("data") if isinstance(response, dict) else None
    if not isinstance(listed, list):
        raise UnexpectedShapeError("a response without a list of data")
    return (entry for entry in listed if isinstance(entry, dict))


def _parse_pool(entry: dict[str, Any]) -> PoolStatistics | None:
    attributes = _object(entry.get("attributes"))
    address = _address(attributes.get("address"))
    if not address:
        return None
    changes, volumes = _object(attributes.get("price_change_percentage")), _object(attributes.get("volume_usd"))
    trades = _object(attributes.get("transactions"))
    return PoolStatistics(
        address=address,
        name=_text(attributes.get("name"))[:MAX_NAME_LENGTH],
        base_token=_related(entry, "base_token"),
        quote_token=_related(entry, "quote_token"),
        base_token_price_usd=parse_number(attributes.get("base_token_price_usd"), PRICE),
        quote_token_price_usd=parse_number(attributes.get("quote_token_price_usd"), PRICE),
        pool_created_at=_parse_time(attributes.get("pool_created_at")),
        fdv_usd=parse_number(attributes.get("fdv_usd"), AMOUNT),
        market_cap_usd=parse_number(attributes.get("market_cap_usd"), AMOUNT),
        reserve_in_usd=parse_number(attributes.get("reserve_in_usd"), AMOUNT),
        price_change_percentage={period: parse_number(changes.get(period), PERCENT) for period in CHANGE_PERIODS},
        volume_usd={period: parse_number(volumes.get(period), AMOUNT) for period in PERIODS},
        transactions={period: _parse_trade_counts(trades.get(period)) for period in PERIODS},
    )


def _parse_trade_counts(value: Any) -> dict[str, int | None]:
    fields = _object(value)
    counts = {name: to_float(parse_number(fields.get(name), COUNT)) for name in TRADE_COUNTS}
    return {name: None if count is None or not count.is_integer() else int(count) for name, count in counts.items()}


def _related(entry: dict[str, Any], name: str) -> str:
    """Return the address in a relation's id, such as `base_0x4200...` with its network."""
    relation = _object(_object(entry.get("relationships")).get(name))
    token = _address(_text(_object(relation.get("data")).get("id")).rpartition("_")[2])
    # Only pools have 32-byte ids.
    return "" if len(token) == _POOL_ID_LENGTH else token


def _address(value: Any) -> str:
    """Return an address as `address_key`, hex in lower case or base58 unchanged; empty if it is invalid."""
    text = value if isinstance(value, str) else ""
    if is_solana_address(text):
        return text
    return text.lower() if _ADDRESS.fullmatch(text.lower()) else ""


def _parse_time(value: Any) -> str | None:
    try:
        moment = datetime.fromisoformat(value if isinstance(value, str) else "")
        return format_timestamp(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def _text(value: Any) -> str:
    """Return a text without non-printable characters such as NUL, which PostgreSQL rejects."""
    return "".join(sign for sign in value if sign.isprintable()) if isinstance(value, str) else ""


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
