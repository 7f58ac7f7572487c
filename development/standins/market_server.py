"""Stand-in for GeckoTerminal's and CoinGecko's on-chain APIs, with slowly moving prices, fixed per pool and time.

Shapes: https://docs.coingecko.com/reference/pools-addresses, tokens-data-contract-addresses, pools-megafilter,
pools-category, trending-pools-network. It has data for every requested token, for pools added by `learn`, and for
a running service's token pools. Trending pools are the requested pools.
"""

import hashlib
import math
import re
import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import requests
from solders.pubkey import Pubkey

from development.standins.http_server import StandIn, StandInResponse
from development.standins.loopback import ReceivedRequest

PAGE_SIZE = 20
MAX_PAGES = 10
MAX_ADDRESSES = 30
# Pools per network in its memory.
_MAX_POOLS = 1000

# Lower-case hex, or base58, whose upper-case and lower-case letters are different digits.
_ADDRESS = re.compile(r"0x([0-9a-f]{40}|[0-9a-f]{64})|[1-9A-HJ-NP-Za-km-z]{32,44}")
# The pools' default quote token, and its price.
WRAPPED_NATIVE = "0x4200000000000000000000000000000000000006"
WRAPPED_SOL = "So11111111111111111111111111111111111111112"
NATIVE_USD = 3000.0
SOL_USD = 150.0
_SECONDS = {"m5": 300, "m15": 900, "m30": 1800, "h1": 3600, "h6": 21_600, "h24": 86_400}
# The price oscillates by a third within its own period.
_SWING = 1 / 3

Pool = dict[str, Any]


class MarketStandIn(StandIn):
    """Both API tiers on one port: lists that need a key are served only with a key."""

    ERRORS = {
        401: {"status": {"error_code": 10002, "error_message": "API Key Missing"}},
        404: {"errors": [{"status": "404", "title": "Not Found"}]},
        429: {"status": {"error_code": 429, "error_message": "You've exceeded the Rate Limit."}},
        500: {"errors": [{"status": "500", "title": "Internal Server Error"}]},
    }

    def __init__(self, port: int = 0, *, clock: Callable[[], float] = time.time, service: str = "") -> None:
        super().__init__(port)
        # Address of the service that knows its tokens' pools.
        self._service = service
        # Seconds since 1970; all prices are computed from it.
        self.clock = clock
        # Pool -> its base token and quote token, in lower case if hex.
        self._tokens: dict[str, tuple[str, str]] = {}
        # Network -> the requested pools, the latest at the end.
        self._pools: defaultdict[str, OrderedDict[str, None]] = defaultdict(OrderedDict)
        self._memory = threading.RLock()

    def learn(self, address: str, *, base: str, quote: str = "") -> None:
        """Add a pool, as a provider that reads the chain does; the quote token defaults to the native coin."""
        native = WRAPPED_NATIVE if _key(base).startswith("0x") else WRAPPED_SOL
        with self._memory:
            self._tokens[_key(address)] = (_key(base), _key(quote or native))

    def answer(self, received: ReceivedRequest) -> StandInResponse | None:
        """Return the provider's response to one of the service's requests."""
        with self._memory:
            return self._answer(received)

    def _answer(self, received: ReceivedRequest) -> StandInResponse | None:
        parts = received.path.strip("/").split("/")
        match parts:
            case ["networks", network, "pools", "multi", addresses]:
                return self._answer_multi(network, addresses, self._pools_of)
            case ["networks", network, "tokens", "multi", addresses]:
                return self._answer_multi(network, addresses, self._tokens_of)
            case ["networks", network, "trending_pools" | "new_pools" | "pools"]:
                return self._answer_list(received, network, sort=_free_tier_sort(parts[-1], received.query))
            case ["pools", "megafilter"] | ["categories", _, "pools"]:
                if "x-cg-pro-api-key" not in received.headers:
                    return StandInResponse(self.ERRORS[401], status=401)
                network = received.query.get("networks", "")
                return self._answer_list(received, network, sort=received.query.get("sort", "h6_trending"))
        return None

    def _answer_multi(self, network: str, text: str, find: Callable[[str, list[str]], Any]) -> StandInResponse:
        addresses = list(map(_key, text.split(",")))
        if len(addresses) > MAX_ADDRESSES:
            words = f"the limit of {MAX_ADDRESSES} addresses is exceeded"
            return StandInResponse({"errors": [{"status": "422", "title": words}]}, status=422)
        return StandInResponse(find(network, [address for address in addresses if _ADDRESS.fullmatch(address)]))

    def _pools_of(self, network: str, addresses: list[str]) -> Any:
        if self._service and (unknown := [address for address in addresses if address not in self._tokens]):
            self._learn_from_service(unknown)
        known_pools = [address for address in addresses if address in self._tokens]
        for address in known_pools:
            self._remember(network, address)
        return self._listed(network, known_pools)

    def _learn_from_service(self, addresses: list[str]) -> None:
        url = f"{self._service}/api/tokens/fetch-by-pool-addresses"
        with suppress(requests.RequestException):
            records = requests.post(url, json={"poolAddresses": addresses}, timeout=5).json().get("data", {})
            for address, record in records.items():
                self.learn(address, base=record["contract_address"])

    def _tokens_of(self, network: str, addresses: list[str]) -> Any:
        pools = {base: address for address, (base, _) in self._tokens.items()}
        for address in addresses:
            if address not in pools:
                pools[address] = pool_of(address)
                self.learn(pools[address], base=address)
            self._remember(network, pools[address])
        now = self.clock()
        tokens = [token(network, address, now, pool_address=pools[address]) for address in addresses]
        return {"data": tokens, "included": self._listed(network, [pools[address] for address in addresses])["data"]}

    def _remember(self, network: str, address: str) -> None:
        remembered = self._pools[network]
        remembered[address] = None
        remembered.move_to_end(address)
        if len(remembered) > _MAX_POOLS:
            remembered.popitem(last=False)

    def _answer_list(self, received: ReceivedRequest, network: str, *, sort: str) -> StandInResponse:
        number = received.query.get("page", "1")
        if not (number.isdecimal() and 1 <= int(number) <= MAX_PAGES):
            return StandInResponse({"errors": [{"status": "400", "title": "Invalid page"}]}, status=400)
        # A category has all networks' pools.
        networks = [network] if network else list(self._pools)
        pools = [entry for name in networks for entry in self._listed(name, list(self._pools[name]))["data"]]
        start = (int(number) - 1) * PAGE_SIZE
        page = _sort_pools(pools, sort)[start : start + PAGE_SIZE]
        return StandInResponse({"data": page, "included": []})

    def _listed(self, network: str, addresses: list[str]) -> dict[str, Any]:
        now = self.clock()
        pools = [pool(network, address, now, tokens=self._tokens[address]) for address in addresses]
        return {"data": pools, "included": []}


def pool_of(address: str) -> str:
    """Return a token's default pool."""
    digest = _digest(address, "pool")
    return "0x" + digest if address.startswith("0x") else str(Pubkey.from_bytes(bytes.fromhex(digest)))


def price(address: str, at: float) -> float:
    """Return a token's price in USD at a time."""
    if address in (WRAPPED_NATIVE, WRAPPED_SOL):
        return NATIVE_USD if address == WRAPPED_NATIVE else SOL_USD
    lot = _lot(address)
    # From 10^-9 to 10^-5 dollars, as launched tokens have.
    middle = 10 ** (-9 + lot % 4000 / 1000)
    period = 3600 * (2 + lot % 22)
    return float(middle * (1 + _SWING * math.sin(2 * math.pi * (at / period + lot % 97 / 97))))


def pool(network: str, address: str, at: float, *, tokens: tuple[str, str]) -> Pool:
    """Return a pool in the provider's format: all numbers except trade counts are texts."""
    base, quote = tokens
    lot, worth, quote_worth = _lot(address), price(base, at), price(quote, at)
    trades = {period: _trades(lot, seconds) for period, seconds in _SECONDS.items()}
    return {
        "id": f"{network}_{address}",
        "type": "pool",
        "attributes": {
            "address": address,
            "name": f"SAMPLE{lot % 1000} / {'SOL' if quote == WRAPPED_SOL else 'WETH'} 1%",
            "pool_created_at": datetime.fromtimestamp(1_700_000_000 + lot % 50_000_000, UTC).isoformat(),
            "base_token_price_usd": _digits(worth),
            "quote_token_price_usd": _digits(quote_worth),
            "base_token_price_native_currency": _digits(worth / quote_worth),
            "fdv_usd": _digits(worth * 10**11),
            "market_cap_usd": None,
            "price_change_percentage": {
                period: f"{(worth / price(base, at - seconds) - 1) * 100:.2f}" for period, seconds in _SECONDS.items()
            },
            "transactions": trades,
            "volume_usd": {period: _digits(counts["buys"] * 37.5) for period, counts in trades.items()},
            "reserve_in_usd": f"{5000 + lot % 1_000_000:.4f}",
        },
        "relationships": {
            "base_token": {"data": {"id": f"{network}_{base}", "type": "token"}},
            "quote_token": {"data": {"id": f"{network}_{quote}", "type": "token"}},
            "dex": {"data": {"id": f"sample-{network}", "type": "dex"}},
        },
    }


def token(network: str, address: str, at: float, *, pool_address: str) -> dict[str, Any]:
    """Return a token in the provider's format."""
    worth = price(address, at)
    return {
        "id": f"{network}_{address}",
        "type": "token",
        "attributes": {
            "address": address,
            "name": "Sample",
            "symbol": "SAMPLE",
            "decimals": 18,
            "total_supply": f"{10**29}.0",
            "price_usd": _digits(worth),
            "fdv_usd": _digits(worth * 10**11),
            "total_reserve_in_usd": _digits(5000 + _lot(address) % 1_000_000),
            "volume_usd": {"h24": _digits(_lot(address) % 100_000)},
            "market_cap_usd": None,
        },
        "relationships": {"top_pools": {"data": [{"id": f"{network}_{pool_address}", "type": "pool"}]}},
    }


def _free_tier_sort(list_name: str, query: Mapping[str, str]) -> str:
    if list_name == "trending_pools":
        return {"5m": "m5", "1h": "h1", "6h": "h6", "24h": "h24"}.get(query.get("duration", ""), "h24") + "_trending"
    return "pool_created_at_desc" if list_name == "new_pools" else query.get("sort", "h24_tx_count_desc")


def _sort_pools(pools: list[Pool], sort: str) -> list[Pool]:
    """Sort by a provider sort; a trending sort is by trades in its period."""
    name, _, direction = sort.rpartition("_")
    period = name.partition("_")[0]

    def key(entry: Pool) -> float | str:
        about = entry["attributes"]
        if direction == "trending" or name.endswith("tx_count"):
            return float(about["transactions"][period]["buys"])
        if name.endswith("volume_usd"):
            return float(about["volume_usd"][period])
        if name.endswith("price_change_percentage"):
            return float(about["price_change_percentage"][period])
        return str(about[name]) if name == "pool_created_at" else float(about[name])

    return sorted(pools, key=key, reverse=direction != "asc")


def _trades(lot: int, seconds: int) -> dict[str, int]:
    # Up to two trades a minute, slightly more than half of them buys.
    count = lot % 120 * seconds // 3600
    return {"buys": count // 2 + 1, "sells": count // 2, "buyers": count // 3 + 1, "sellers": count // 3}


def _digits(number: float) -> str:
    """Format a number as the provider does: without an exponent."""
    text = f"{number:.20f}".rstrip("0")
    return text + "0" if text.endswith(".") else text


def _key(address: str) -> str:
    return address.lower() if address[:2] in ("0x", "0X") else address


def _lot(address: str) -> int:
    return int(_digest(address, "lot")[:12], 16)


def _digest(address: str, use: str) -> str:
    return hashlib.sha256(f"{address} {use}".encode()).hexdigest()
