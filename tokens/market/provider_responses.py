"""What the market-data provider's answers may say, and what is kept of them: pure, without network and database.

Shapes: https://docs.coingecko.com/reference/pools-addresses and https://docs.coingecko.com/reference/tokens-data-contract-addresses
(JSON:API; GeckoTerminal's free tier has the same). Numbers come as strings there, and as numbers where that changes.
A field that makes no sense is None, an entry without an address is left out, and neither spoils what stands beside it.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from config.api.rendering import format_timestamp
from config.http.json_client import Retryable
from tokens.chains.base58 import is_account

# The spans of time that the provider tells of, and those of its price changes that answers of ours show.
PERIODS = ("m5", "m15", "m30", "h1", "h6", "h24")
CHANGE_PERIODS = ("m5", "h1", "h6", "h24")
TRADES = ("buys", "sells", "buyers", "sellers")

LONGEST_NAME = 200

# More digits than a 64-bit float can tell apart, and few enough to be read at once.
_NUMBER = re.compile(r"-?[0-9]{1,60}(\.[0-9]{1,150})?([eE][+-]?[0-9]{1,3})?")
_ADDRESS = re.compile(r"0x([0-9a-f]{40}|[0-9a-f]{64})")
_POOL_ID_LENGTH = 66


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What a number may be, the lowest value included and the highest not."""

    lowest: float
    highest: float


# No asset costs a trillion dollars, and none of use is worth less than 10^-40: 10^11 tokens would be nothing still.
PRICE = Bounds(lowest=1e-40, highest=1e12)
# Capitalisations, volumes and reserves in USD: the whole world's wealth is less.
AMOUNT = Bounds(lowest=0.0, highest=1e15)
# Trades and traders.
COUNT = Bounds(lowest=0.0, highest=1e9)
# Percent points: nothing loses more than all it is worth.
PERCENT = Bounds(lowest=-100.0, highest=1e9)


class UnknownShape(Retryable):
    """The provider's answer is JSON of another shape than the documented one."""


@dataclass(frozen=True, kw_only=True)
class Pool:
    """A pool as the provider describes it. Addresses are `address_key`s, numbers are its own digits, within bounds."""

    address: str
    name: str
    # Empty where the answer doesn't say.
    base_token: str
    quote_token: str
    base_token_price_usd: str | None
    quote_token_price_usd: str | None
    # ISO 8601 in UTC, with milliseconds and Z.
    pool_created_at: str | None
    fdv_usd: str | None
    market_cap_usd: str | None
    reserve_in_usd: str | None
    # Percent points by one of CHANGE_PERIODS, USD by one of PERIODS, numbers of TRADES by one of PERIODS.
    price_change_percentage: Mapping[str, str | None]
    volume_usd: Mapping[str, str | None]
    transactions: Mapping[str, Mapping[str, int | None]]


@dataclass(frozen=True, kw_only=True)
class TokenAnswer:
    """A token as the provider describes it, with its most liquid pools; `price_usd` is None where it makes no sense."""

    address: str
    price_usd: float | None
    market_cap: float | None
    volume_24h: float | None
    liquidity_usd: float | None
    top_pools: tuple[Pool, ...]


def read_pools(answer: Any, *, network: str | None = None) -> tuple[Pool, ...]:
    """The pools of an answer in its order, each once, or those of one network. Raises UnknownShape.

    Ids begin with the network: `base_0x4200...`; an entry without an id is taken for one of the network.
    """
    entries = (
        entry
        for entry in _entries(answer, "data")
        if network is None or _text(entry.get("id")).rpartition("_")[0] in ("", network)
    )
    pools = {pool.address: pool for entry in entries if (pool := _read_pool(entry))}
    return tuple(pools.values())


def read_tokens(answer: Any) -> tuple[TokenAnswer, ...]:
    """The tokens of an answer, with those of its included pools that are theirs. Raises UnknownShape."""
    included = {_text(entry.get("id")): entry for entry in _entries(answer, "included", needed=False)}
    tokens = (_read_token(entry, included) for entry in _entries(answer, "data"))
    return tuple(token for token in tokens if token)


def read_number(value: Any, bounds: Bounds) -> str | None:
    """The digits of a number or of a text that holds one; None where it is neither, or out of bounds."""
    text = value if isinstance(value, str) else repr(value) if type(value) in (int, float) else ""
    if not _NUMBER.fullmatch(text):
        return None
    # An exponent of three digits may be infinite.
    number = float(text)
    return text if math.isfinite(number) and bounds.lowest <= number < bounds.highest else None


def number(digits: str | None) -> float | None:
    """The number that `read_number` let through."""
    return None if digits is None else float(digits)


def market_cap(market_cap_usd: float | None, fdv_usd: float | None) -> float | None:
    """The provider knows few tokens' circulating supply, and says null or zero for the others: then all counts."""
    return market_cap_usd or fdv_usd or None


def _entries(answer: Any, name: str, *, needed: bool = True) -> Iterator[dict[str, Any]]:
    listed = answer.get(name) if isinstance(answer, dict) else None
    if isinstance(listed, list):
        return (entry for entry in listed if isinstance(entry, dict))
    if needed:
        raise UnknownShape(f"an answer without a list of {name}")
    return iter(())


def _read_pool(entry: dict[str, Any]) -> Pool | None:
    about = _object(entry.get("attributes"))
    address = _address(about.get("address"))
    if not address:
        return None
    changes, volumes = _object(about.get("price_change_percentage")), _object(about.get("volume_usd"))
    trades = _object(about.get("transactions"))
    return Pool(
        address=address,
        name=_text(about.get("name"))[:LONGEST_NAME],
        base_token=_related(entry, "base_token"),
        quote_token=_related(entry, "quote_token"),
        base_token_price_usd=read_number(about.get("base_token_price_usd"), PRICE),
        quote_token_price_usd=read_number(about.get("quote_token_price_usd"), PRICE),
        pool_created_at=_read_time(about.get("pool_created_at")),
        fdv_usd=read_number(about.get("fdv_usd"), AMOUNT),
        market_cap_usd=read_number(about.get("market_cap_usd"), AMOUNT),
        reserve_in_usd=read_number(about.get("reserve_in_usd"), AMOUNT),
        price_change_percentage={period: read_number(changes.get(period), PERCENT) for period in CHANGE_PERIODS},
        volume_usd={period: read_number(volumes.get(period), AMOUNT) for period in PERIODS},
        transactions={period: _read_trades(trades.get(period)) for period in PERIODS},
    )


def _read_token(entry: dict[str, Any], included: Mapping[str, dict[str, Any]]) -> TokenAnswer | None:
    about = _object(entry.get("attributes"))
    address = _address(about.get("address"))
    if not address:
        return None
    listed = _object(_object(entry.get("relationships")).get("top_pools")).get("data")
    ids = [_text(_object(pool).get("id")) for pool in listed] if isinstance(listed, list) else []
    pools = (_read_pool(included[pool_id]) for pool_id in ids if pool_id in included)
    return TokenAnswer(
        address=address,
        price_usd=number(read_number(about.get("price_usd"), PRICE)),
        market_cap=market_cap(
            number(read_number(about.get("market_cap_usd"), AMOUNT)),
            number(read_number(about.get("fdv_usd"), AMOUNT)),
        ),
        volume_24h=number(read_number(_object(about.get("volume_usd")).get("h24"), AMOUNT)),
        liquidity_usd=number(read_number(about.get("total_reserve_in_usd"), AMOUNT)),
        top_pools=tuple(pool for pool in pools if pool),
    )


def _read_trades(value: Any) -> dict[str, int | None]:
    given = _object(value)
    counts = {name: number(read_number(given.get(name), COUNT)) for name in TRADES}
    return {name: None if count is None or not count.is_integer() else int(count) for name, count in counts.items()}


def _related(entry: dict[str, Any], name: str) -> str:
    """The address at the end of an id such as `base_0x4200...`, where the network stands before it."""
    relation = _object(_object(entry.get("relationships")).get(name))
    token = _address(_text(_object(relation.get("data")).get("id")).rpartition("_")[2])
    # Pools alone have ids of 32 bytes.
    return "" if len(token) == _POOL_ID_LENGTH else token


def _address(value: Any) -> str:
    """By which it is found among ours: hex in lower case, base58 as it is."""
    text = value if isinstance(value, str) else ""
    if is_account(text):
        return text
    return text.lower() if _ADDRESS.fullmatch(text.lower()) else ""


def _read_time(value: Any) -> str | None:
    try:
        moment = datetime.fromisoformat(value if isinstance(value, str) else "")
        return format_timestamp(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def _text(value: Any) -> str:
    """Without what can't be seen, NUL among it, which PostgreSQL takes in no text."""
    return "".join(sign for sign in value if sign.isprintable()) if isinstance(value, str) else ""


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
