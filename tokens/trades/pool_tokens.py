"""Tokens by their pools, with the facts that turn a swap into a trade."""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from sys import intern
from typing import NamedTuple

from django.db.models.fields.json import KeyTextTransform, KeyTransform

from tokens.chains.addresses import address_key
from tokens.chains.registry.chains import ChainInfo
from tokens.models import Token
from tokens.models.expressions import equals_any

# Tokens in a cache: some 50 MB.
_MOST_CACHED = 100_000


class PoolToken(NamedTuple):
    """An indexed token and its pool."""

    token_id: int
    address: str
    decimals: int
    pool: str
    quote: str
    # None where the quote token reports none: such a pool has no trades.
    quote_decimals: int | None
    locker: str
    # Whether the token is currency 0 of its pool; on Solana always.
    is_currency0: bool
    # The hook of a v4 pool, which takes the launchpad's fee; None of other pools.
    hook: str | None = None


@dataclass(frozen=True, slots=True)
class PoolTokenCache:
    """Tokens by pool, for one reading of final blocks: a token that is launched in them stays as it is.

    A token that verification corrects meanwhile is an exception: verification of later blocks corrects its trades, too.
    Tokens are looked up until they are found with their quote token's decimals: both may be stored meanwhile.
    """

    chain: ChainInfo
    _found: dict[str, PoolToken] = field(default_factory=dict, init=False)

    def find(self, pools: AbstractSet[str]) -> dict[str, PoolToken]:
        """Implement `find_pool_tokens`; at most one query."""
        if len(self._found) > _MOST_CACHED:
            self._found.clear()
        found = {pool: token for pool in pools if (token := self._found.get(pool))}
        if missing := pools - found.keys():
            read = find_pool_tokens(self.chain.chain_id, missing, is_solana=self.chain.is_solana)
            self._found.update((pool, token) for pool, token in read.items() if token.quote_decimals is not None)
            found |= read
        return found


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
        "pool_address",
        "paired_token",
        "locker_address",
        _fact("pool", "pair_decimals"),
        _fact("fees", "hook"),
    )
    for pk, address, decimals, pool, quote, locker, quote_decimals, hook in launched.values_list(*columns):
        yield PoolToken(
            token_id=pk,
            address=address,
            decimals=decimals,
            pool=pool,
            # Few texts, which a cache would have as often as tokens.
            quote=intern(quote),
            quote_decimals=None if quote_decimals is None else int(quote_decimals),
            locker=intern(locker),
            is_currency0=is_solana or address_key(address) < address_key(quote),
            hook=hook and intern(hook),
        )


def _fact(part: str, name: str) -> KeyTextTransform:
    return KeyTextTransform(name, KeyTransform(part, "launch__facts"))
