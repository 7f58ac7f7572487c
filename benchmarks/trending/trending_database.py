"""Invented tokens' trades in a database, written as the follower writes them, and the sorts that are read from it.

The chain is Base with USDC as quote token, which counts as 1 USD. Time passes in half-hour slots: the trades in a
slot go through `store_trades`, then `roll` moves the rolling sums to its end, which the loop `market` does each minute.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from math import floor
from random import Random

from django.db import connection, transaction

from benchmarks.trending.sample_trades import BEGINNING_HOURS, HOUR, SampleToken, SampleTrade
from tests.rows.factories import TokenFactory
from tokens.chains.addresses import address_key
from tokens.chains.pool_types import Conversion, Swap
from tokens.chains.registry.chains import ChainInfo
from tokens.indexing import chain_lock
from tokens.installation.installed_registry import registry
from tokens.market.own_trending import select_tokens
from tokens.models import LaunchFacts, RollingClock, Token
from tokens.trades.market_rows import refresh_markets
from tokens.trades.rolling_sums import roll
from tokens.trades.trade_writing import find_traded_tokens, store_trades, sum_up

CHAIN_ID = 8453
_USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
_USDC_DECIMALS = 6
_LOCKER = "0x" + "1c" * 20
_ROUTER = "0x" + "2d" * 20
SLOT_SECONDS = 1_800
_BLOCK_SECONDS = 2
# The pool's price does not move: no sort here depends on it.
_SQRT_PRICE = 2**96

TRENDING = "trending score"
# Sorts by plain figures over the last day, from stored trades.
_PLAIN = ("volume", "trades", "traders")
_READ_PLAIN = """
    SELECT token_id, sum(amount_quote), count(*), count(DISTINCT trader) FROM tokens_trade
    WHERE at >= %s AND at <= %s GROUP BY token_id ORDER BY token_id DESC
"""


@dataclass(frozen=True)
class SortedTokens:
    """Tokens by one value, the largest first, with those that have no value left out."""

    keys: Sequence[str]
    values: Mapping[str, float]


def make_tokens(samples: Sequence[SampleToken], *, seed: int) -> dict[str, Token]:
    """Create token rows in random sequence; return them by key."""
    keys = [sample.key for sample in samples]
    Random(f"{seed}/sequence").shuffle(keys)
    tokens = {}
    for key in keys:
        token = TokenFactory(chain_id=CHAIN_ID, paired_token=_USDC, pair="USDC", locker_address=_LOCKER)
        LaunchFacts.objects.create(token=token, facts={"pool": {"pair_decimals": _USDC_DECIMALS, "tick": -400_000}})
        tokens[key] = token
    return tokens


def write_trades(samples: Sequence[SampleToken], tokens: Mapping[str, Token], *, ranked_at: int) -> None:
    """Store the trades up to `ranked_at` (Unix seconds, a full minute), and let time pass until then."""
    chain = registry().chains[CHAIN_ID]
    first = ranked_at + int(BEGINNING_HOURS * HOUR)
    RollingClock.objects.create(chain_id=CHAIN_ID, rolled_to=datetime.fromtimestamp(first, UTC))
    slots = _swaps_by_slot(samples, tokens, first=first, ranked_at=ranked_at)
    for slot in range((ranked_at - first) // SLOT_SECONDS):
        end = datetime.fromtimestamp(first + (slot + 1) * SLOT_SECONDS, UTC)
        _pass_slot(chain, slots.get(slot, []), end)


def read_sorts(tokens: Mapping[str, Token], *, ranked_at: int) -> dict[str, SortedTokens]:
    """Return the API's trending pool sort, and plain sorts by the same rows."""
    keys = {token.pk: key for key, token in tokens.items()}
    now = datetime.fromtimestamp(ranked_at, UTC)
    trending = select_tokens(CHAIN_ID, sort="h24_trending", now=now)
    values = {keys[token.pk]: token.market.trending for token in trending}
    sorts = {TRENDING: SortedTokens(list(values), values)}
    with connection.cursor() as cursor:
        cursor.execute(_READ_PLAIN, [now - timedelta(days=1), now])
        rows = cursor.fetchall()
    for place, name in enumerate(_PLAIN, start=1):
        # Among equal ones the newer token comes first, as in the API.
        figures = {keys[row[0]]: float(row[place]) for row in rows if row[place]}
        sorts[name] = SortedTokens(sorted(figures, key=figures.__getitem__, reverse=True), figures)
    return sorts


def count_anew() -> None:
    """Compute sums and scores from the last day's trades, as after a historical sync."""
    with transaction.atomic():
        chain_lock.lock_exclusive(CHAIN_ID)
        sum_up(CHAIN_ID, find_traded_tokens(CHAIN_ID, 0, 2**40))


def block_time(trade: SampleTrade, *, ranked_at: int) -> int:
    """Return the trade block's Unix time, for a ranking at `ranked_at`."""
    unix_time = ranked_at + floor(trade.at * HOUR)
    return unix_time - unix_time % _BLOCK_SECONDS


def _pass_slot(chain: ChainInfo, swaps: Sequence[Swap], end: datetime) -> None:
    with transaction.atomic():
        chain_lock.lock_exclusive(CHAIN_ID)
        store_trades(swaps, (), chain=chain, live=True)
        rolled = roll(CHAIN_ID, end)
        changed = rolled.token_ids
        while rolled.rolled_to < end:
            rolled = roll(CHAIN_ID, end)
            changed |= rolled.token_ids
        refresh_markets(chain, changed)


def _swaps_by_slot(
    samples: Sequence[SampleToken], tokens: Mapping[str, Token], *, first: int, ranked_at: int
) -> dict[int, list[Swap]]:
    """Return slot -> its swaps in chain order."""
    dated = [
        (unix_time, tokens[sample.key], trade)
        for sample in samples
        for trade in sample.past
        if first <= (unix_time := block_time(trade, ranked_at=ranked_at)) < ranked_at
    ]
    dated.sort(key=lambda one: (one[0], one[1].pk))
    slots: dict[int, list[Swap]] = {}
    for unix_time, logs in itertools.groupby(dated, key=lambda one: one[0]):
        slot = (unix_time - first) // SLOT_SECONDS
        for index, (_, token, trade) in enumerate(logs):
            slots.setdefault(slot, []).append(_swap(token, trade, unix_time=unix_time, index=index))
    return slots


def _swap(token: Token, trade: SampleTrade, *, unix_time: int, index: int) -> Swap:
    quote = max(1, round(trade.usd * 10**_USDC_DECIMALS)) * (1 if trade.is_buy else -1)
    base = -quote * 10**12
    is_currency0 = address_key(token.contract_address) < address_key(_USDC)
    amount0, amount1 = (base, quote) if is_currency0 else (quote, base)
    return Swap(
        pool=token.pool_address,
        # The sample chain's blocks are numbered by time.
        block_number=unix_time // _BLOCK_SECONDS,
        block_time=unix_time,
        tx_hash=f"0x{unix_time:032x}{index:032x}",
        log_index=index,
        amount0=amount0,
        amount1=amount1,
        sqrt_price=_SQRT_PRICE,
        sender=_ROUTER,
        conversions=(Conversion(_LOCKER, token.contract_address),) if trade.is_conversion else (),
        trader=None if trade.trader is None else f"0x{sha256(trade.trader.encode()).hexdigest()[:40]}",
    )
