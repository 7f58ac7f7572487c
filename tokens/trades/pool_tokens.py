"""Tokens by pool, with the facts that turn a swap into a trade."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from sys import intern
from typing import Any, NamedTuple

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KeyTextTransform, KeyTransform

from tokens.chains.addresses import address_key
from tokens.chains.pool_types import Swap, position_of
from tokens.chains.registry.chains import ChainInfo
from tokens.models import Token, TokenPool
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
    # None if the quote token reports none: such a pool has no trades.
    quote_decimals: int | None
    locker: str
    # Whether the token is currency 0 of its pool; on Solana always.
    is_currency0: bool
    # A v4 pool's hook, which takes the launchpad's fee; None for other pools.
    hook: str | None = None
    # EIP-55 addresses of launchpad contracts whose swaps in the pool are no trades, but move the price.
    internal_senders: frozenset[str] = frozenset()
    # For a declared launchpad, its name.
    generation: str = ""


@dataclass(frozen=True, slots=True)
class PoolTokenCache:
    """Tokens by pool, for one reading of final blocks: a token launched in them does not change.

    Verification may still correct a token meanwhile; verification of later blocks then corrects its trades, too. A
    token is looked up again until it has its quote token's decimals, because both may be stored meanwhile.
    """

    chain: ChainInfo
    _tokens: dict[str, PoolToken] = field(default_factory=dict, init=False)

    def find(self, pools: AbstractSet[str]) -> dict[str, PoolToken]:
        """Implement `find_pool_tokens`; at most one query."""
        if len(self._tokens) > _MOST_CACHED:
            self._tokens.clear()
        tokens = {pool: token for pool in pools if (token := self._tokens.get(pool))}
        if missing := pools - tokens.keys():
            read = find_pool_tokens(self.chain, missing)
            self._tokens.update((pool, token) for pool, token in read.items() if token.quote_decimals is not None)
            tokens |= read
        return tokens


def find_pool_tokens(chain: ChainInfo, pools: Iterable[str]) -> dict[str, PoolToken]:
    """Return pool -> the canonical token whose pool it is or was. One query.

    `TokenPool` rows have former pools, even if the registry no longer has their launchpad.
    """
    return {token.pool: token for token in _read(chain, ("pool_address", "pools__pool_address"), pools)}


def select_declared(swaps: Sequence[Swap], tokens: Mapping[str, PoolToken]) -> Sequence[Swap]:
    """Return the swaps without readings by another declaration than the token's; `tokens` are by pool.

    A swap read without a declaration counts if the token's launchpad has no reading at its position. In pools without a
    token, readings by a declaration are left out.
    """
    if not any(swap.launchpad for swap in swaps):
        return swaps
    of_tokens = {pool: token.generation for pool, token in tokens.items()}
    own = {position_of(swap) for swap in swaps if swap.launchpad and of_tokens.get(swap.pool) == swap.launchpad}
    return [
        swap
        for swap in swaps
        if (position_of(swap) not in own if swap.launchpad is None else of_tokens.get(swap.pool) == swap.launchpad)
    ]


def find_tokens(chain: ChainInfo, addresses: Iterable[str]) -> dict[str, PoolToken]:
    """Return address -> the canonical launched token, in its present pool. One query."""
    return {token.address: token for token in _read(chain, ("contract_address",), addresses)}


def _read(chain: ChainInfo, columns: Sequence[str], texts: Iterable[str]) -> Iterator[PoolToken]:
    """Yield the tokens with one of these texts in a column, column after column."""
    searched = set(texts)
    first, *others = [_rows(chain, column, searched) for column in columns]
    for row in first.union(*others, all=True):
        pk, address, decimals, pool, quote, locker, name, quote_decimals, *facts = row
        launch_hook, fee_hook, first, curve, is_first, hook = facts
        if is_first is None:
            is_curve = curve is not None and pool == first
            is_first = is_curve or chain.is_solana or address_key(address) < address_key(quote)
        yield PoolToken(
            token_id=pk,
            address=address,
            decimals=decimals,
            pool=pool,
            # Few texts, which a cache would have as often as tokens.
            quote=intern(quote),
            quote_decimals=None if quote_decimals is None else int(quote_decimals),
            locker=intern(locker),
            is_currency0=is_first,
            hook=fee_hook and intern(fee_hook),
            internal_senders=chain.internal_senders(name, hook or launch_hook),
            generation=intern(name),
        )


def _rows(chain: ChainInfo, column: str, texts: AbstractSet[str]) -> QuerySet[Token, tuple[Any, ...]]:
    # The pool index leaves out tokens without a pool; the planner does not infer this from a long list of texts.
    in_pools = Token.objects.on_chain().exclude(pool_address="")
    launched = in_pools.filter(equals_any(column, texts), chain_id=chain.chain_id)
    pool_column = "pools__pool_address" if column == "pools__pool_address" else "pool_address"
    of_pool = TokenPool.objects.filter(token=OuterRef("pk"), pool_address=OuterRef(pool_column))
    return launched.values_list(
        "pk",
        "contract_address",
        "decimals",
        pool_column,
        "paired_token",
        "locker_address",
        "generation",
        _fact("pool", "pair_decimals"),
        _fact("pool", "hook"),
        _fact("fees", "hook"),
        _fact("pool", "address"),
        KeyTextTransform("curve_config", "launch__facts"),
        Subquery(of_pool.values("is_currency0")),
        Subquery(of_pool.values("hook")),
    )


def _fact(section: str, name: str) -> KeyTextTransform:
    return KeyTextTransform(name, KeyTransform(section, "launch__facts"))
