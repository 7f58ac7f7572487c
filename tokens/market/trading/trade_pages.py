"""Keyset pagination over a token's trades, newest first: a page walks along each partition's primary key."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db.models import BigIntegerField, DateTimeField, F
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.fields.tuple_lookups import TupleLessThan

from config.cursors import Cursor, LegacyCursor, decode_cursor, encode_cursor
from config.postgresql.compiled_queries import CompiledQuery, QueryParameter
from tokens.chains.addresses import format_address, format_transaction
from tokens.chains.pool_types import split_position
from tokens.market.trading.responses import TradeJson
from tokens.models import PoolTrade, Token
from tokens.trades.protocol_fees import paid_quote, paid_token
from tokens.trades.trade_rows import trade_value

_SORT = "at"
# Before the newest trade.
_START = Cursor(datetime.max.replace(tzinfo=UTC), 2**63 - 1)
_COLUMNS = (
    "at",
    "position",
    "tx_hash",
    "trader",
    "is_buy",
    "is_conversion",
    "amount_token",
    "amount_quote",
    "quote_usd",
    "protocol_fee",
    "token_fee",
)
_QUOTE_DECIMALS = KeyTextTransform("pair_decimals", KeyTransform("pool", "launch__facts"))


class TradedToken(NamedTuple):
    """Token facts for reading and describing its trades."""

    token_id: int
    launched_at: datetime
    decimals: int
    # None if the quote token reports none: such a pool has no trades.
    quote_decimals: int | None
    locker: str


@dataclass(frozen=True)
class TradePage:
    """Described trades, and the next page's cursor; None on the last page."""

    trades: list[TradeJson]
    cursor: str | None


def find_traded_token(chain_id: int, address: str) -> TradedToken | None:
    """Return the token at an address in stored form; also a blocked one."""
    columns = ("pk", "deployed_at", "decimals", _QUOTE_DECIMALS, "locker_address")
    row = Token.objects.at_address(address, chain_id=chain_id).values_list(*columns).first()
    if row is None:
        return None
    token_id, launched_at, decimals, quote_decimals, locker = row
    pair_decimals = None if quote_decimals is None else int(quote_decimals)
    return TradedToken(token_id, launched_at, decimals, pair_decimals, locker)


def parse_trade_cursor(text: str | None) -> Cursor:
    """Return the position before a page. Raises CursorError."""
    cursor = decode_cursor(text, sort_by=_SORT) if text else None
    if isinstance(cursor, LegacyCursor):
        # No trade has a negative position.
        return Cursor(cursor.end, -1)
    return cursor or _START


def fetch_trade_page(token: TradedToken, *, limit: int, cursor: Cursor) -> TradePage:
    """Fetch at most `limit` trades after the cursor, in one query."""
    if token.quote_decimals is None:
        return TradePage([], None)
    rows = _page_statement(limit).fetch_prepared(
        token_id=token.token_id, launched_at=token.launched_at, at=cursor.value, position=cursor.row_id
    )
    shown = rows[:limit]
    trades = [_describe(row, token, quote_decimals=token.quote_decimals) for row in shown]
    # One row more than the limit is fetched to detect another page.
    if len(rows) <= limit:
        return TradePage(trades, None)
    traded_at, position = shown[-1][:2]
    return TradePage(trades, encode_cursor(Cursor(traded_at, position), sort_by=_SORT))


@functools.cache
def _page_statement(limit: int) -> CompiledQuery:
    """Return the query for a page; it reads only partitions between the launch and the cursor."""
    before, position = QueryParameter("at", DateTimeField()), QueryParameter("position", BigIntegerField())
    trades = PoolTrade.objects.filter(
        TupleLessThan((F("at"), F("position")), (before, position)),
        token_id=QueryParameter("token_id", BigIntegerField()),
        # PostgreSQL does not prune partitions by a row comparison.
        at__lte=before,
        at__gte=QueryParameter("launched_at", DateTimeField()),
    )
    return CompiledQuery.of(trades.order_by("-at", "-position").values_list(*_COLUMNS)[: limit + 1])


def _describe(row: Sequence[Any], token: TradedToken, *, quote_decimals: int) -> TradeJson:
    traded_at, position, tx_hash, trader, is_buy, is_conversion, *amounts, quote_usd, protocol_fee, token_fee = row
    block, log_index = split_position(position)
    tokens_of_pool, of_pool = map(int, amounts)
    amount_quote = paid_quote(of_pool, None if protocol_fee is None else int(protocol_fee), is_buy=is_buy)
    amount_token = paid_token(tokens_of_pool, None if token_fee is None else int(token_fee), is_buy=is_buy)
    # An integer quotient is rounded once, to the nearest float.
    price = amount_quote * 10**token.decimals / (amount_token * 10**quote_decimals)
    return {
        "id": position,
        "at": traded_at,
        "block": block,
        "txHash": format_transaction(tx_hash),
        "logIndex": log_index,
        "side": "buy" if is_buy else "sell",
        "amountToken": str(amount_token),
        "amountQuote": str(amount_quote),
        "poolAmountQuote": str(of_pool),
        "protocolFee": None if protocol_fee is None else str(protocol_fee),
        "tokenFee": None if token_fee is None else str(token_fee),
        "priceQuote": price,
        "priceUsd": None if quote_usd is None else price * float(quote_usd),
        "valueUsd": None if quote_usd is None else float(trade_value(amount_quote, quote_decimals, quote_usd)),
        "trader": token.locker if is_conversion else trader and format_address(trader),
    }
