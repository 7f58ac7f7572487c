"""Tokens by their pools, with the facts that turn a swap into a trade."""

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
    # None where the quote token reports none: such a pool has no trades.
    quote_decimals: int | None
    locker: str
    # Whether the token is currency 0 of its pool; on Solana always.
    is_currency0: bool
    # The hook of a v4 pool, which takes the launchpad's fee; None of other pools.
    hook: str | None = None
    # EIP-55 addresses of the launchpad's contracts that swap in the pool: no trades, but they move the price.
    internal_senders: frozenset[str] = frozenset()
    # Of a declared launchpad its name.
    generation: str = ""


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
            read = find_pool_tokens(self.chain, missing)
            self._found.update((pool, token) for pool, token in read.items() if token.quote_decimals is not None)
            found |= read
        return found


def find_pool_tokens(chain: ChainInfo, pools: Iterable[str]) -> dict[str, PoolToken]:
    """Return pool -> the canonical token whose pool it is or was. One query.

    Former pools are rows, also those of a launchpad that the registry no longer has.
    """
    return {token.pool: token for token in _read(chain, ("pool_address", "pools__pool_address"), pools)}


def select_declared(swaps: Sequence[Swap], tokens: Mapping[str, PoolToken]) -> Sequence[Swap]:
    """Return the swaps without readings by other launchpads' declarations than the token's; `tokens` are by pool.

    One without a declaration counts where none of the token's launchpad is. Swaps of other pools have no reading.
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
    """Yield the tokens with one of these texts in a column. Of several columns, later ones come last."""
    wanted = set(texts)
    first, *others = [_rows(chain, column, wanted) for column in columns]
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
    # The index on pools leaves out tokens without one, which a long list of texts does not imply to the planner.
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


def _fact(part: str, name: str) -> KeyTextTransform:
    return KeyTextTransform(name, KeyTransform(part, "launch__facts"))
