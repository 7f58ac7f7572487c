"""A token's first trades in chain sequence, read in one bounded query, and its launch's transaction index."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import BigIntegerField, DateTimeField

from config.postgresql.compiled_queries import CompiledQuery, QueryParameter, parse_timestamps_in_c
from config.postgresql.replica import read_connection
from tokens.chains.addresses import format_address, format_transaction
from tokens.chains.pool_types import chain_position, split_position
from tokens.chains.solana.slot_places import transaction_place
from tokens.models import PoolLiquidityChange, PoolTrade, Token
from tokens.trades.trade_rows import transaction_bytes

# The most trades that are read per token: its first ones, fee conversions included.
MOST_TRADES = 5_000
_COLUMNS = ("position", "at", "tx_hash", "tx_index", "trader", "is_buy", "amount_token", "is_conversion")


class LaunchTrade(NamedTuple):
    """A token trade and the account that it counts for; the account is None if only the trade's log was read."""

    position: int
    block_time: datetime
    tx_hash: str
    # The transaction's index in its block, on Solana in its slot; None if it is not stored.
    tx_index: int | None
    account: str | None
    is_buy: bool
    # In the token's smallest units.
    amount: int

    @property
    def block(self) -> int:
        """Return the block number, on Solana the slot."""
        return split_position(self.position)[0]

    @property
    def log_index(self) -> int:
        """Return the log's index in the block, the API's `logIndex`."""
        return split_position(self.position)[1]


class LaunchPlace(NamedTuple):
    """A launch's transaction, its block, and its index in the block; None if the index is not stored."""

    tx_hash: str
    block: int
    tx_index: int | None


@dataclass(frozen=True, slots=True)
class FirstTrades:
    """Trades in chain sequence, without conversions; incomplete if the token has later ones."""

    trades: Sequence[LaunchTrade]
    is_complete: bool


def read_first_trades(token: Token) -> FirstTrades:
    """Return a token's first trades. Its launch's purchase counts for the purchase's recipient. One query."""
    rows = _fetch_rows(token)
    is_solana = token.chain_id == settings.SOLANA_CHAIN_ID
    trades = [
        LaunchTrade(
            position,
            traded_at,
            format_transaction(tx_hash),
            transaction_place(split_position(position)[1]) if is_solana else tx_index,
            trader and format_address(trader),
            is_buy,
            int(amount),
        )
        for position, traded_at, tx_hash, tx_index, trader, is_buy, amount, is_conversion in rows[:MOST_TRADES]
        if not is_conversion
    ]
    return FirstTrades(_with_launch_purchase(trades, token), is_complete=len(rows) <= MOST_TRADES)


def read_launch_place(token: Token, first: FirstTrades) -> LaunchPlace:
    """Return where a token was launched, by its trades or by its first liquidity. At most one query."""
    indexes = (trade.tx_index for trade in first.trades if trade.tx_hash == token.tx_hash)
    tx_index = next((index for index in indexes if index is not None), None)
    if tx_index is None and token.chain_id != settings.SOLANA_CHAIN_ID:
        added = PoolLiquidityChange.objects.filter(
            token=token,
            position__gte=chain_position(token.block_number, 0),
            position__lt=chain_position(token.block_number + 1, 0),
            tx_hash=transaction_bytes(token.tx_hash),
        )
        tx_index = added.values_list("tx_index", flat=True).first()
    return LaunchPlace(token.tx_hash, token.block_number, tx_index)


def _fetch_rows(token: Token) -> Sequence[tuple[Any, ...]]:
    statement = _statement()
    with read_connection().cursor() as cursor:
        parse_timestamps_in_c(cursor)
        # One message is one transaction, and the settings apply within it.
        sql = f"SET LOCAL enable_sort = off; {statement.sql}; SET LOCAL enable_sort = on"
        cursor.execute(sql, statement.bind(token_id=token.pk, launched_at=token.deployed_at))
        cursor.nextset()
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


@functools.cache
def _statement() -> CompiledQuery:
    """Return the query: it walks the partitions' primary keys since the launch until it has its rows.

    Its caller turns sorts off: the planner expects few trades per token, and would read and sort them all.
    """
    trades = PoolTrade.objects.filter(
        token_id=QueryParameter("token_id", BigIntegerField()),
        at__gte=QueryParameter("launched_at", DateTimeField()),
    )
    # One more row than returned shows whether later trades exist.
    return CompiledQuery.of(trades.order_by("at", "position").values_list(*_COLUMNS)[: MOST_TRADES + 1])


def _with_launch_purchase(trades: list[LaunchTrade], token: Token) -> list[LaunchTrade]:
    """Return the trades with the launch's own purchase; the launch's event names its recipient.

    It is the first purchase in the launch transaction. If no trade from that transaction is stored, the launch's event
    has the amount.
    """
    purchase = token.extensions["devBuy"]
    if not purchase or not purchase["recipient"]:
        return trades
    for index, trade in enumerate(trades):
        if trade.is_buy and trade.tx_hash == token.tx_hash:
            return [*trades[:index], trade._replace(account=purchase["recipient"]), *trades[index + 1 :]]
    position = chain_position(token.block_number, token.log_index)
    bought = LaunchTrade(
        position, token.deployed_at, token.tx_hash, None, purchase["recipient"], True, int(purchase["amount"])
    )
    return [bought, *trades]
