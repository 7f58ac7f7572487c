"""Tokens by their pools, with the facts that turn a swap into a trade."""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

from django.db.models.fields.json import KeyTextTransform, KeyTransform

from tokens.chains.addresses import address_key
from tokens.models import Token
from tokens.models.expressions import equals_any


class PoolToken(NamedTuple):
    """An indexed token and its pool."""

    token_id: int
    address: str
    decimals: int
    # Smallest units.
    supply: Decimal | None
    pool: str
    quote: str
    # None where the quote token reports none: such a pool has no trades.
    quote_decimals: int | None
    locker: str
    # Whether the token is currency 0 of its pool; on Solana always.
    is_currency0: bool
    # The starting tick as if the token were currency 0.
    tick: int | None


def find_pool_tokens(chain_id: int, pools: Iterable[str], *, is_solana: bool) -> dict[str, PoolToken]:
    """Return pool -> the canonical token of a launch in it. One query."""
    return {token.pool: token for token in _read("pool_address", pools, chain_id=chain_id, is_solana=is_solana)}


def find_tokens(chain_id: int, addresses: Iterable[str], *, is_solana: bool) -> dict[str, PoolToken]:
    """Return address -> the canonical launched token. One query."""
    return {
        token.address: token for token in _read("contract_address", addresses, chain_id=chain_id, is_solana=is_solana)
    }


def _read(column: str, texts: Iterable[str], *, chain_id: int, is_solana: bool) -> Iterator[PoolToken]:
    # The index on pools leaves out tokens without one, which a long list of texts does not imply to the planner.
    in_pools = Token.objects.on_chain().exclude(pool_address="")
    launched = in_pools.filter(equals_any(column, set(texts)), chain_id=chain_id)
    columns = (
        "pk",
        "contract_address",
        "decimals",
        "supply",
        "pool_address",
        "paired_token",
        "locker_address",
        _pool_fact("pair_decimals"),
        _pool_fact("tick"),
    )
    for pk, address, decimals, supply, pool, quote, locker, quote_decimals, tick in launched.values_list(*columns):
        yield PoolToken(
            token_id=pk,
            address=address,
            decimals=decimals,
            supply=supply,
            pool=pool,
            quote=quote,
            quote_decimals=None if quote_decimals is None else int(quote_decimals),
            locker=locker,
            is_currency0=is_solana or address_key(address) < address_key(quote),
            tick=None if tick is None else int(tick),
        )


def _pool_fact(name: str) -> KeyTextTransform:
    return KeyTextTransform(name, KeyTransform("pool", "launch__facts"))
