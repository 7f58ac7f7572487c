"""Celery tasks for deployers' profiles, key usage and expired rows."""

import functools
import logging
import time

from django.contrib.sessions.backends.db import SessionStore
from django.utils import timezone

from accounts.administrators import sessions
from accounts.keys import usage
from accounts.profiles import social_provider, social_refresh
from accounts.subscriptions import deliveries
from accounts.users import wallet_tokens
from config.celery import app
from config.redis.call_counts import CountsUnavailableError

logger = logging.getLogger(__name__)

# No further batch is started after this time; the next beat continues.
REFRESH_BUDGET_SECONDS = 20.0


@app.task
def refresh_social_profiles() -> None:
    """Fetch due profiles in batches until none is left or the time budget is used up."""
    if not social_provider.is_configured():
        log_provider_missing()
        return
    deadline, total, is_full = time.monotonic() + REFRESH_BUDGET_SECONDS, 0, True
    while is_full and time.monotonic() < deadline:
        count = social_refresh.refresh_due_profiles()
        total, is_full = total + count, count == social_refresh.BATCH
    if total:
        logger.info("social provider responded for %s profiles", total)


@functools.cache
def log_provider_missing() -> None:
    """Log once per process that no provider is set: on purpose, or because a setting is missing."""
    logger.info("no profiles are fetched: neither SOCIAL_API_KEY nor FARCASTER_HUB_URL is set")


@app.task
def store_key_usage() -> None:
    """Move usage counts from Redis into rows; after an error they stay in Redis until the next run."""
    try:
        usage.store_counted()
    except CountsUnavailableError as error:
        logger.warning("storing the calls of partner keys failed, retried by the next run: %s", error)


@app.task
def prune_key_usage() -> None:
    """Delete usage rows past their retention time."""
    pruned = usage.prune_usage()
    if pruned:
        logger.info("pruned %s key usage rows", pruned)


@app.task
def prune_webhook_deliveries() -> None:
    """Delete webhook deliveries past their retention time, and cancel deliveries for invalid keys."""
    pruned, cancelled = deliveries.prune_deliveries(timezone.now()), deliveries.cancel_withdrawn()
    if pruned or cancelled:
        logger.info("webhook deliveries: %s pruned, %s cancelled", pruned, cancelled)


@app.task
def prune_sessions() -> None:
    """Delete expired log-in sessions, administrator sessions and sign-in nonces."""
    SessionStore.clear_expired()
    sessions.prune_expired_sessions()
    wallet_tokens.prune_expired_nonces()
