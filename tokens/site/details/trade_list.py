"""A token's newest trades as rows on its page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from config.site.page_input import parse_page_cursor
from tokens.installation.installed_registry import explorer_address_page, explorer_transaction_page
from tokens.market.trading.responses import TradeJson
from tokens.market.trading.trade_pages import TradedToken, fetch_trade_page, parse_trade_cursor
from tokens.models import PoolBacklog, Token
from tokens.site.details.drawn_chart import quote_decimals

TRADES_SHOWN = 25


@dataclass(frozen=True, kw_only=True)
class ListedTrade:
    """A trade in whole units; `trader` is empty where only logs were read."""

    # Position on the chain.
    position: int
    traded_at: datetime
    is_buy: bool
    is_conversion: bool
    amount: Decimal
    amount_quote: Decimal
    price: float
    price_usd: float | None
    value_usd: float | None
    trader: str
    trader_page: str | None
    transaction_page: str | None


class MissingTrades(StrEnum):
    """Reasons why a list ends before the token's first trade."""

    # Without the quote token's decimals, no amount in it can be computed.
    DECIMALS = "decimals"
    # Their blocks are still being read.
    BACKLOG = "backlog"


@dataclass(frozen=True, kw_only=True)
class TradeList:
    """A page with trades, newest first; `cursor` leads to older ones, and `missing` is why older ones are absent."""

    rows: Sequence[ListedTrade]
    cursor: str | None
    is_newest: bool
    missing: MissingTrades | None


def read_trades(token: Token, parameters: Mapping[str, str]) -> TradeList:
    """Return the trades by a page's parameters; the newest ones without a cursor.

    One query, and another one at the end of the list.

    Raises PageInputError, and ReplicaBehindError for a cursor from the primary.
    """
    traded = TradedToken(token.pk, token.deployed_at, token.decimals, quote_decimals(token), token.locker_address)
    start = parse_page_cursor(parameters, parse_trade_cursor)
    page = fetch_trade_page(traded, limit=TRADES_SHOWN, cursor=start)
    rows = [_row(trade, token, decimals=traded.quote_decimals or 0) for trade in page.trades]
    missing = None if page.cursor else _missing_trades(token)
    return TradeList(rows=rows, cursor=page.cursor, is_newest=not parameters.get("cursor"), missing=missing)


def _missing_trades(token: Token) -> MissingTrades | None:
    if not PoolBacklog.objects.filter(token=token).exists():
        return None
    return MissingTrades.DECIMALS if quote_decimals(token) is None else MissingTrades.BACKLOG


def _row(trade: TradeJson, token: Token, *, decimals: int) -> ListedTrade:
    trader = trade["trader"] or ""
    return ListedTrade(
        position=trade["id"],
        traded_at=trade["at"],
        is_buy=trade["side"] == "buy",
        is_conversion=bool(trader) and trader == token.locker_address,
        amount=Decimal(trade["amountToken"]).scaleb(-token.decimals),
        amount_quote=Decimal(trade["amountQuote"]).scaleb(-decimals),
        price=trade["priceQuote"],
        price_usd=trade["priceUsd"],
        value_usd=trade["valueUsd"],
        trader=trader,
        trader_page=explorer_address_page(token.chain_id, trader) if trader else None,
        transaction_page=explorer_transaction_page(token.chain_id, trade["txHash"]),
    )
