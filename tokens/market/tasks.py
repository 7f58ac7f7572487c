"""Celery tasks for market data."""

import logging

from config.celery import app
from tokens.market import price_comparison, price_refresh

logger = logging.getLogger(__name__)


@app.task(name="tokens.tasks.refresh_markets")
def refresh_markets() -> None:
    """Refresh due market data on the provider's chains, within its rate limit."""
    refreshed = price_refresh.refresh_due_markets()
    if refreshed:
        # Runs every few seconds.
        logger.debug("refreshed the market data of %s tokens", refreshed)


@app.task(name="tokens.tasks.queue_provider_tokens")
def queue_provider_tokens() -> None:
    """Queue tokens on MARKET_PROVIDER_CHAINS for refreshes."""
    queued = price_refresh.queue_provider_tokens()
    if queued:
        logger.info("queued %s tokens for market data of the provider", queued)


@app.task(name="tokens.tasks.compare_prices")
def compare_prices() -> None:
    """Compare own prices with the provider's, if MARKET_COMPARE_PERCENT is set."""
    price_comparison.compare_prices()
