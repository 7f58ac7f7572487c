"""Quote rates in USD by chain position, and the reference prices behind them."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal
from typing import Any

from django.db.models import F, Func, Min, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from tokens.chains.addresses import address_key, parse_pool_address
from tokens.chains.pool_types import Swap, chain_position, split_position
from tokens.chains.registry.chains import ChainInfo, ReferencePool
from tokens.installation.installed_registry import registry
from tokens.models import Coverage, PoolTrade, ReferencePrice, Token
from tokens.models.trade import ExactNumericField
from tokens.trades.pool_prices import PRICE, USD, is_exchange, pool_price
from tokens.trades.pool_tokens import PoolToken, find_tokens

# A quote token may be a launched token with its own quote token: at most this many prices are multiplied. Two tokens
# that quote each other have no price.
_MAX_STEPS = 4
_DOLLAR = Decimal(1)
_RETENTION = timedelta(days=90)
_PRUNE_BATCH = 10_000
_RATE_AT = """CASE WHEN lower({row}.paired_token) = ANY(%(stable_quotes)s::text[]) THEN 1 ELSE (
    SELECT usd FROM tokens_referenceprice AS reference WHERE reference.chain_id = {row}.chain_id AND pool = (
        SELECT priced.pool FROM unnest(%(reference_quotes)s::text[], %(reference_pools)s::text[])
            AS priced (quote, pool) WHERE quote = {row}.paired_token
    ) AND reference.at < {moment} ORDER BY reference.at DESC, reference.block_number DESC LIMIT 1
) END"""


@dataclass(frozen=True, slots=True)
class QuoteRates:
    """Quote token -> ascending positions, and the price per whole token from each position on.

    Prices are in USD; for launched tokens in `quoted_in`, they are in whole units of the other quote token.
    """

    _rates: Mapping[str, tuple[Sequence[int], Sequence[Decimal]]]
    quoted_in: Mapping[str, str] = field(default_factory=dict)

    def usd_at(self, quote: str, position: int) -> Decimal | None:
        """Return USD per whole quote token at a position; None if no source has it."""
        usd = None
        for _ in range(_MAX_STEPS):
            positions, rates = self._rates.get(quote, ((), ()))
            count = bisect_right(positions, position)
            if not count:
                return None
            rate = rates[count - 1]
            usd = rate if usd is None else PRICE.multiply(usd, rate)
            if quote not in self.quoted_in:
                return USD.plus(usd)
            quote = self.quoted_in[quote]
        return None


@dataclass(kw_only=True, slots=True)
class _PricedPool:
    """A pool that sets a rate, with its prices by ascending position."""

    currency: str
    decimals: int
    quote_decimals: int
    is_currency0: bool
    precision: Context
    positions: list[int] = field(default_factory=list)
    prices: list[Decimal] = field(default_factory=list)

    def add_price(self, swap: Swap) -> None:
        price = self.price_after(swap)
        if price is not None:
            self.positions.append(chain_position(swap.block_number, swap.log_index))
            self.prices.append(price)

    def price_after(self, swap: Swap) -> Decimal | None:
        return pool_price(
            swap.sqrt_price,
            decimals=self.decimals,
            quote_decimals=self.quote_decimals,
            is_currency0=self.is_currency0,
            precision=self.precision,
        )


def load_rates(chain: ChainInfo, quotes: Collection[str], swaps: Sequence[Swap]) -> QuoteRates:
    """Return quote rates for swaps in chain order, from stored prices and from reference pools among the swaps.

    Each pool's last stored price before the first swap counts; without swaps, its newest price, from position 0 on. The
    query count does not depend on the number of swaps.
    """
    references = _price_references(chain)
    launched = _find_launched_quotes(chain, quotes, references.keys())
    used = {*quotes, *(token.quote for token in launched.values())}
    pools = {reference.pool: _reference_pool(reference) for key, reference in references.items() if key in used}
    pools |= {address_key(token.pool): _launched_pool(token) for token in launched.values()}
    if pools:
        _add_stored_prices(chain, references, launched, pools, first=swaps[0] if swaps else None)
        for swap, key in _of_pools(swaps, pools):
            # A launched token's stored prices come from trades, and not every swap makes a trade.
            if pools[key].currency in references or is_exchange(swap):
                pools[key].add_price(swap)
    stable = {quote: ([0], [_DOLLAR]) for quote in used if address_key(quote) in chain.stable_tokens}
    priced = {quote: pools[references[quote].pool] for quote in used if quote in references}
    priced |= {address: pools[address_key(token.pool)] for address, token in launched.items()}
    return QuoteRates(
        {quote: (pool.positions, pool.prices) for quote, pool in priced.items()} | stable,
        {address: token.quote for address, token in launched.items()},
    )


def store_reference_prices(chain: ChainInfo, swaps: Sequence[Swap]) -> None:
    """Store each reference pool's last price in each block. Idempotent.

    One call must have all swaps in a block, in any sequence.
    """
    pools = {reference.pool: _reference_pool(reference) for reference in chain.reference_pools}
    last: dict[tuple[str, int], Swap] = {}
    for swap, pool in _of_pools(swaps, pools):
        key = (pool, swap.block_number)
        if key not in last or last[key].log_index < swap.log_index:
            last[key] = swap
    rows = [
        ReferencePrice(
            chain_id=chain.chain_id,
            pool=pool,
            block_number=block_number,
            position=chain_position(block_number, swap.log_index),
            at=datetime.fromtimestamp(swap.block_time, UTC),
            currency=pools[pool].currency,
            usd=price,
        )
        for (pool, block_number), swap in last.items()
        if (price := pools[pool].price_after(swap)) is not None
    ]
    ReferencePrice.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["chain_id", "pool", "block_number"],
        update_fields=["position", "at", "currency", "usd"],
    )


def delete_reference_prices(chain_id: int, *, above: int) -> None:
    """Delete reference prices in blocks above this number."""
    # By pool, because the primary key has the pool before the block.
    chain = registry().chains.get(chain_id)
    pools = [reference.pool for reference in chain.reference_pools] if chain else []
    ReferencePrice.objects.filter(chain_id=chain_id, pool__in=pools, block_number__gt=above).delete()


def delete_other_reference_prices(chain: ChainInfo, swaps: Sequence[Swap], *, first: int, last: int) -> list[int]:
    """Delete reference prices in these blocks that no swap confirms; return their block numbers."""
    read = {(address_key(swap.pool), swap.block_number) for swap in swaps}
    stored = ReferencePrice.objects.filter(
        chain_id=chain.chain_id,
        pool__in=[reference.pool for reference in chain.reference_pools],
        block_number__range=(first, last),
    )
    others = [row for row in stored.values_list("pool", "block_number") if row not in read]
    for pool, block_number in others:
        ReferencePrice.objects.filter(chain_id=chain.chain_id, pool=pool, block_number=block_number).delete()
    return [block_number for _, block_number in others]


def prune_reference_prices() -> int:
    """Delete reference prices older than 90 days in batches; return their number.

    Each pool's newest price before the next block to read stays, because that block's rates begin with it. It may be
    old for a pool without recent swaps. During a historical sync, all later prices stay as well.
    """
    pools = [(chain.chain_id, pool.pool) for chain in registry().chains.values() for pool in chain.reference_pools]
    return sum(_prune_pool(chain_id, pool) for chain_id, pool in pools)


def newest_reference_prices(
    pools: Iterable[tuple[int, str]], *, before: int | None = None
) -> dict[tuple[int, str], tuple[Decimal, datetime]]:
    """Return (chain id, pool) -> USD and time of the pool's last price, at all or before a position. One query."""
    rows = ReferencePrice.objects.order_by("-block_number").values_list("chain_id", "pool", "usd", "at")
    if before is not None:
        rows = rows.filter(block_number__lte=split_position(before)[0], position__lt=before)
    first, *others = [rows.filter(chain_id=chain_id, pool=pool)[:1] for chain_id, pool in pools] or [rows.none()]
    newest = first.union(*others, all=True)
    return {(chain_id, pool): (usd, priced_at) for chain_id, pool, usd, priced_at in newest if usd is not None}


def rate_at(moment: str, *, row: str = "token") -> str:
    """Return SQL for USD per whole quote token of a token's row before a time; needs `rate_parameters`.

    A swap in the same second does not count: later blocks may share this second, and would change the rate behind sums
    that are already written. NULL if no reference pool had a swap before, and for a launched quote token.
    """
    return _RATE_AT.format(moment=moment, row=row)


def rate_parameters(chain: ChainInfo | None) -> dict[str, list[str]]:
    """Return the parameters for `rate_at`; they are empty for a chain that the registry lacks."""
    references = {} if chain is None else _price_references(chain)
    return {
        "stable_quotes": sorted(chain.stable_tokens) if chain else [],
        "reference_quotes": list(references),
        "reference_pools": [reference.pool for reference in references.values()],
    }


class RateSince(Func):
    """Expression for USD per whole quote token of a `Token` row, before a time or a later launch, by `rate_at`."""

    def __init__(self, start: datetime, chain_id: int) -> None:
        super().__init__("deployed_at", output_field=ExactNumericField())
        self._parameters = {**rate_parameters(registry().chains[chain_id]), "start": start}

    def as_sql(self, compiler: Any, connection: Any, *_: Any, **__: Any) -> tuple[str, tuple[Any, ...]]:
        """Return the SQL for the query's alias of the row, with parameters by position, as Django passes them."""
        column: Any = self.source_expressions[0]
        row = compiler.quote_name_unless_alias(column.alias)
        statement = rate_at(f"greatest({row}.deployed_at, %(start)s)", row=row)
        names = re.findall(r"%\((\w+)\)s", statement)
        return statement % dict.fromkeys(names, "%s"), tuple(self._parameters[name] for name in names)


def _of_pools(swaps: Iterable[Swap], pools: Iterable[str]) -> Iterator[tuple[Swap, str]]:
    """Yield each swap in these pools with its pool's key."""
    # Most swaps are in other pools: comparing the addresses as they are costs less than computing each key.
    keys = {parse_pool_address(key): key for key in pools}
    return ((swap, keys[swap.pool]) for swap in swaps if swap.pool in keys)


def _price_references(chain: ChainInfo) -> dict[str, ReferencePool]:
    """Return quote token -> the pool that sets its price: the first in the registry."""
    references = {reference.currency: reference for reference in reversed(chain.reference_pools)}
    native = references.get(chain.wrapped_native or "")
    return references if native is None else references | dict.fromkeys(chain.native_quotes, native)


def _find_launched_quotes(chain: ChainInfo, quotes: Collection[str], priced: Collection[str]) -> dict[str, PoolToken]:
    """Return address -> launched token among the quotes, among these tokens' own quotes, and so on."""

    def needed(addresses: Iterable[str]) -> Iterator[str]:
        return (
            address
            for address in addresses
            if address not in priced and address not in launched and address_key(address) not in chain.stable_tokens
        )

    launched: dict[str, PoolToken] = {}
    addresses = set(needed(quotes))
    for _ in range(_MAX_STEPS):
        if not addresses:
            break
        tokens = find_tokens(chain, addresses).values()
        launched |= {token.address: token for token in tokens if token.quote_decimals is not None}
        addresses = set(needed(token.quote for token in tokens))
    return launched


def _reference_pool(reference: ReferencePool) -> _PricedPool:
    return _PricedPool(
        currency=reference.currency,
        decimals=reference.currency_decimals,
        quote_decimals=reference.stable_decimals,
        is_currency0=reference.is_currency0,
        precision=USD,
    )


def _launched_pool(token: PoolToken) -> _PricedPool:
    return _PricedPool(
        currency=token.address,
        decimals=token.decimals,
        quote_decimals=token.quote_decimals or 0,
        is_currency0=token.is_currency0,
        precision=PRICE,
    )


def _add_stored_prices(
    chain: ChainInfo,
    references: Mapping[str, ReferencePool],
    launched: Mapping[str, PoolToken],
    pools: Mapping[str, _PricedPool],
    *,
    first: Swap | None,
) -> None:
    """Begin each pool's prices with the last stored price before the first swap."""
    before = chain_position(first.block_number, first.log_index) if first else None
    stored = {
        pool: usd
        for (_, pool), (usd, _) in newest_reference_prices(
            [(chain.chain_id, reference.pool) for reference in references.values() if reference.pool in pools],
            before=before,
        ).items()
    }
    if launched:
        trades = PoolTrade.objects.filter(token_id=OuterRef("pk")).order_by("-at", "-position")
        if first:
            trades = trades.filter(at__lte=datetime.fromtimestamp(first.block_time, UTC), position__lt=before)
        tokens = Token.objects.filter(pk__in=[token.token_id for token in launched.values()])
        prices = tokens.annotate(price=Subquery(trades.values("price")[:1])).values_list("pool_address", "price")
        stored |= {address_key(pool): price for pool, price in prices if price is not None}
    for pool, price in stored.items():
        pools[pool].positions.append(0)
        pools[pool].prices.append(price)


def _prune_pool(chain_id: int, pool: str) -> int:
    of_pool = ReferencePrice.objects.filter(chain_id=chain_id, pool=pool)
    unfinished = Coverage.objects.filter(Q(last_block=None) | Q(followed_to__lt=F("last_block")), chain_id=chain_id)
    read_to = unfinished.aggregate(lowest=Min("followed_to"))["lowest"]
    before_next = of_pool if read_to is None else of_pool.filter(block_number__lte=read_to)
    newest_block = before_next.order_by("-block_number").values_list("block_number", flat=True).first()
    if newest_block is None:
        return 0
    prunable = of_pool.filter(block_number__lt=newest_block)
    # A block range, not a list: without statistics, the plan would compare each row with each list entry.
    end = Subquery(prunable.order_by("block_number").values("block_number")[_PRUNE_BATCH : _PRUNE_BATCH + 1])
    batch = prunable.filter(block_number__lt=Coalesce(end, newest_block), at__lt=timezone.now() - _RETENTION)
    pruned = 0
    while True:
        deleted, _ = batch.delete()
        pruned += deleted
        if deleted < _PRUNE_BATCH:
            return pruned
