"""Circuit breaker for one outside service, shared by all processes through Redis.

Redis may lose its state, or be unavailable: then each process makes one call that the breaker would have spared.
"""

import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from redis.exceptions import RedisError

from config.http.backoff import Backoff, requested_delay
from config.http.errors import PermanentError, RateLimitedError, RetryableError
from config.http.json_client import MAX_RETRY_AFTER_SECONDS
from config.redis.connection import redis_client

logger = logging.getLogger(__name__)

# Default seconds that a circuit stays open: after a temporary error without Retry-After, and after a permanent one.
OUTAGE_SECONDS = 60.0
REFUSAL_SECONDS = 600.0
# TTL for the count of consecutive failures.
_FAILURES_TTL_SECONDS = 3600


@dataclass(frozen=True, kw_only=True)
class SharedCircuitBreaker:
    """Circuit breaker for one service; `is_open`, `seconds_left` and `count_failures` raise RedisError."""

    # The name in the log.
    service: str
    # Redis key that exists while the circuit is open.
    key: str
    # Redis key that counts consecutive failures; empty if each failure opens the circuit for the same time.
    failures_key: str = ""
    outage: Backoff = Backoff(first=OUTAGE_SECONDS, longest=OUTAGE_SECONDS)
    refusal_seconds: float = REFUSAL_SECONDS
    longest_retry_after: float = MAX_RETRY_AFTER_SECONDS

    def is_open(self) -> bool:
        """Return whether the circuit is open."""
        return self.seconds_left() > 0

    def seconds_left(self) -> float:
        """Return the seconds until the circuit closes; 0 if it is closed."""
        return max(float(redis_client().pttl(self.key)) / 1000, 0.0)

    def count_failures(self) -> int:
        """Return the number of consecutive failures."""
        return int(redis_client().get(self.failures_key) or 0)

    def record_failure(self, error: RetryableError | PermanentError) -> timedelta:
        """Open the circuit for the service's Retry-After or the error kind's default, and return the duration."""
        permanent = isinstance(error, PermanentError)
        seconds = self.refusal_seconds if permanent else self.outage.first
        try:
            if isinstance(error, RateLimitedError):
                seconds = requested_delay(error, default=OUTAGE_SECONDS, longest=self.longest_retry_after)
            elif self.failures_key and not permanent:
                seconds = self.outage.delay(int(redis_client().incr(self.failures_key)))
                redis_client().expire(self.failures_key, _FAILURES_TTL_SECONDS)
            with redis_client().pipeline() as pipeline:
                pipeline.set(self.key, 1, nx=True, px=round(seconds * 1000))
                # If two failures overlap, the longer time wins.
                pipeline.pexpire(self.key, round(seconds * 1000), gt=True)
                pipeline.execute()
        except RedisError as failed:
            logger.warning("can't share the circuit breaker of %s: %s", self.service, failed)
        level = logging.ERROR if permanent else logging.WARNING
        logger.log(level, "Circuit breaker of %s opened for %.0f s: %s", self.service, seconds, error)
        return timedelta(seconds=seconds)

    def record_success(self) -> None:
        """Reset the number of consecutive failures."""
        with suppress(RedisError):
            redis_client().delete(self.failures_key)
