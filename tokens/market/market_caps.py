"""Market caps by token address, with the price's time."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, TypedDict

from tokens.chains.addresses import AddressOrMint
from tokens.installation.installed_registry import registry
from tokens.models import Token
from tokens.models.token import TokenQuerySet

_COLUMNS = ("chain_id", "contract_address", "market__market_cap", "market__price_usd", "market__updated_at")


class MarketCap(TypedDict):
    """Market cap of a token, in USD."""

    chainId: int
    address: AddressOrMint
    marketCap: Annotated[float | None, "Null while no source has a price, or the pool holds too little for it."]
    priceUsd: float | None
    marketDataUpdatedAt: Annotated[datetime | None, "Time of the price; null while there is none."]


class MarketCaps(TypedDict):
    data: list[MarketCap]


def find_market_cap(address: str, *, chain_id: int | None, pool: str | None) -> MarketCap | None:
    """Return the market cap for a token address, on one chain or on the registry's first chain that has it.

    None without such a token, and if its pool is another one. Address and pool are in stored form. One query.
    """
    tokens = Token.objects.at_address(address, chain_id=chain_id)
    market_caps = _read(tokens if pool is None else tokens.filter(pool_address=pool))
    return market_caps[0] if market_caps else None


def find_market_caps(addresses: Sequence[str], *, chain_id: int | None) -> list[MarketCap]:
    """Return market caps for addresses in stored form, in their sequence, without unknown tokens.

    Without a chain, a token on several chains has an entry for each. One query.
    """
    index_by_address = {address: index for index, address in enumerate(addresses)}
    market_caps = _read(Token.objects.at_addresses(addresses, chain_id=chain_id))
    return sorted(market_caps, key=lambda each: index_by_address[each["address"]])


def _read(tokens: TokenQuerySet) -> list[MarketCap]:
    """Return the market caps, sorted by the registry's chains."""
    rows = tokens.in_chain_order(list(registry().chains)).values_list(*_COLUMNS)
    return [
        {"chainId": chain, "address": address, "marketCap": cap, "priceUsd": price, "marketDataUpdatedAt": updated_at}
        for chain, address, cap, price, updated_at in rows
    ]
