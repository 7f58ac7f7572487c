"""Feeds that are on."""

from typing import Any

import pytest

from config.redis.connection import redis_client

FEEDS = ("dexscreener", "dextools", "udf", "daily")


@pytest.fixture(autouse=True)
def feeds(settings: Any) -> None:
    """Enable all feeds, with nothing cached of other tests."""
    redis_client().flushdb()
    settings.FEEDS = FEEDS
    settings.RATE_LIMIT_PUBLIC = 0
