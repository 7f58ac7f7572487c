"""A token's first trades in the sequence of its chain, read in one bounded query."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import BigIntegerField, DateTimeField

from config.postgresql.compiled_queries import CompiledQuery, QueryParameter, parse_timestamps_in_c
from config.postgresql.replica import read_connection
from tokens.chains.addresses import format_address, format_transaction
from tokens.chains.pool_types import chain_position, split_position
from tokens.models import PoolTrade, Token

# The most trades of a token that are read: its first ones, conversions of fees included.
MOST_TRADES = 5_000
_COLUMNS = ("position", "at", "tx_hash", "trader", "is_buy", "amount_token", "is_conversion")


class LaunchTrade(NamedTuple):
    """A trade of a token and the account that it counts for; None where only its log was read."""

    position: int
    # Block time.
    at: datetime
    tx_hash: str
    account: str | None
    is_buy: bool
    # Smallest units of the token.
    amount: int

    @property
    def block(self) -> int:
        """Return the number of the block, on Solana of the slot."""
        return split_position(self.position)[0]

    @property
    def log_index(self) -> int:
        """Return the place in the block, as the API's `logIndex`."""
        return split_position(self.position)[1]


@dataclass(frozen=True, slots=True)
class FirstTrades:
    """Trades in the sequence of the chain, without conversions; not complete if the token has later ones."""

    trades: Sequence[LaunchTrade]
    is_complete: bool


def read_first_trades(token: Token) -> FirstTrades:
    """Return a token's first trades. The purchase of its launch counts for that purchase's recipient. One query."""
    rows = _fetch_rows(token)
    trades = [
        LaunchTrade(position, at, format_transaction(tx_hash), trader and format_address(trader), is_buy, int(amount))
        for position, at, tx_hash, trader, is_buy, amount, is_conversion in rows[:MOST_TRADES]
        if not is_conversion
    ]
    return FirstTrades(_with_launch_purchase(trades, token), is_complete=len(rows) <= MOST_TRADES)


def _fetch_rows(token: Token) -> Sequence[tuple[Any, ...]]:
    statement = _statement()
    with read_connection().cursor() as cursor:
        parse_timestamps_in_c(cursor)
        # One message is one transaction, in which the settings hold.
        sql = f"SET LOCAL enable_sort = off; {statement.sql}; SET LOCAL enable_sort = on"
        cursor.execute(sql, statement.bind(token_id=token.pk, launched_at=token.deployed_at))
        cursor.nextset()
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


@functools.cache
def _statement() -> CompiledQuery:
    """Return the query: it walks the primary keys of the partitions since the launch until it has its rows.

    Without sorts: the planner expects few trades of a token, and would read and sort all of them.
    """
    trades = PoolTrade.objects.filter(
        token_id=QueryParameter("token_id", BigIntegerField()),
        at__gte=QueryParameter("launched_at", DateTimeField()),
    )
    # One row more than is returned shows whether there are later trades.
    return CompiledQuery.of(trades.order_by("at", "position").values_list(*_COLUMNS)[: MOST_TRADES + 1])


def _with_launch_purchase(trades: list[LaunchTrade], token: Token) -> list[LaunchTrade]:
    """Return the trades with the launch's own purchase, which the launch's event names the recipient of.

    It is the first purchase of the launch's transaction. Where no trade of that transaction is stored, the launch's
    event has the amount.
    """
    purchase = token.extensions["devBuy"]
    if not purchase or not purchase["recipient"]:
        return trades
    for place, trade in enumerate(trades):
        if trade.is_buy and trade.tx_hash == token.tx_hash:
            return [*trades[:place], trade._replace(account=purchase["recipient"]), *trades[place + 1 :]]
    position = chain_position(token.block_number, token.log_index)
    bought = LaunchTrade(
        position, token.deployed_at, token.tx_hash, purchase["recipient"], True, int(purchase["amount"])
    )
    return [bought, *trades]
