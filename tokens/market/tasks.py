"""Celery tasks for market data."""

import logging

from config.celery import app
from tokens.market import price_history, price_refresh

logger = logging.getLogger(__name__)


@app.task(name="tokens.tasks.refresh_markets")
def refresh_markets() -> None:
    """Refresh the market data that is due, within the provider's rate limit."""
    refreshed = price_refresh.refresh_due_markets()
    if refreshed:
        # Runs every few seconds.
        logger.debug("refreshed the market data of %s tokens", refreshed)


@app.task(name="tokens.tasks.prune_market_history")
def prune_market_history() -> None:
    """Delete market history older than MARKET_HISTORY_DAYS."""
    pruned = price_history.prune_price_history()
    if pruned:
        logger.info("pruned %s points of market history", pruned)
