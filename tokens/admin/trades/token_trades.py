"""Charts and newest trades on a token's admin page."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.template.loader import render_to_string

from tokens.admin.trades.price_chart import PriceChart, format_price, read_price_charts
from tokens.installation.installed_registry import (
    chain_name,
    explorer_address_page,
    explorer_transaction_page,
    quote_symbol,
)
from tokens.installation.market_sources import has_own_trades
from tokens.market.trading.responses import TradeJson
from tokens.market.trading.trade_pages import TradedToken, fetch_trade_page, parse_trade_cursor
from tokens.models import LaunchFacts, Market, Token

_TRADES_SHOWN = 20

# A Token with its `facts`.
ShownToken = Any


@dataclass(frozen=True, kw_only=True)
class TokenTrading:
    """A token's charts and newest trades."""

    charts: tuple[PriceChart, ...] = ()
    # Table rows, newest first.
    trades: tuple[dict[str, Any], ...] = ()
    quote: str = ""
    # Why the token can't have trades.
    absence: str = ""


def read_trading(token: Token, *, launch: LaunchFacts | None, market: Market, now: datetime) -> TokenTrading:
    """Read a token's charts and trades: at most five queries, none if it can't have trades."""
    if not has_own_trades(token.chain_id):
        return TokenTrading(absence=f"Market data of {chain_name(token.chain_id)} comes from the outside provider.")
    traded = _traded_token(token, launch)
    if traded.quote_decimals is None:
        return TokenTrading(absence="The decimals of the paired token are unknown, so that trades are not stored.")
    quote = quote_symbol(token.paired_token, chain_id=token.chain_id) or "the paired token"
    # A candle has USD prices only if each of its trades has one.
    in_usd = market.price_usd is not None
    page = fetch_trade_page(traded, limit=_TRADES_SHOWN, cursor=parse_trade_cursor(None))
    return TokenTrading(
        charts=read_price_charts(token.pk, quote=quote, in_usd=in_usd, now=now),
        trades=tuple(_describe(trade, traded, chain_id=token.chain_id) for trade in page.trades),
        quote=quote,
    )


@admin.display(description="price")
def price_charts(token: ShownToken) -> str:
    """Return the price charts, each with its candles as a table."""
    return render_to_string("operators/price_charts.html", {"trading": token.facts.trading})


@admin.display(description="newest trades")
def newest_trades(token: ShownToken) -> str:
    """Return the newest trades with links to the explorer."""
    return render_to_string("operators/newest_trades.html", {"trading": token.facts.trading})


def _traded_token(token: Token, launch: LaunchFacts | None) -> TradedToken:
    decimals = ((launch and launch.facts.get("pool")) or {}).get("pair_decimals")
    return TradedToken(
        token_id=token.pk,
        launched_at=token.deployed_at,
        decimals=token.decimals,
        quote_decimals=None if decimals is None else int(decimals),
        locker=token.locker_address,
    )


def _describe(trade: TradeJson, traded: TradedToken, *, chain_id: int) -> dict[str, Any]:
    """Return the cells for a trade as the API returns it."""
    trader, value = trade["trader"], trade["valueUsd"]
    return {
        "at": trade["at"],
        "side": trade["side"],
        "is_conversion": bool(trader) and trader == traded.locker,
        "amount_token": _format_amount(trade["amountToken"], traded.decimals),
        "amount_quote": _format_amount(trade["amountQuote"], traded.quote_decimals or 0),
        "price": format_price(trade["priceQuote"]),
        "value_usd": "" if value is None else f"{value:,.2f}",
        "trader": trader,
        "trader_page": trader and explorer_address_page(chain_id, trader),
        "tx_hash": trade["txHash"],
        "tx_page": explorer_transaction_page(chain_id, trade["txHash"]),
    }


def _format_amount(units: str, decimals: int) -> str:
    """Return smallest units in whole units: with 6 digits below one, else with 4 decimals."""
    amount = Decimal(units).scaleb(-decimals)
    return f"{amount:,.4f}" if amount >= 1 else f"{float(amount):.6g}"
