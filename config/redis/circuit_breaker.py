"""Circuit breaker per outside service, shared by all processes through Redis.

Redis may lose its state: that costs one more call.
"""

import logging
import math
from dataclasses import dataclass

from config.http.errors import PermanentError, RateLimitedError, RetryableError
from config.redis.connection import PREFIX, redis_client

logger = logging.getLogger(__name__)

# Seconds for which a circuit stays open without a Retry-After: after a temporary error, and after a permanent one.
OUTAGE_SECONDS = 60
REFUSAL_SECONDS = 600


@dataclass(frozen=True)
class CircuitBreaker:
    """Circuit breaker of one service: its name for the log, and the Redis key that exists while the circuit is open."""

    service: str
    key: str

    @classmethod
    def of(cls, service: str, name: str) -> "CircuitBreaker":
        """Return the circuit breaker of a service; `name` is the specific part of its Redis key."""
        return cls(service, f"{PREFIX}{name}:paused")

    def is_open(self) -> bool:
        """Return whether the circuit is open. Raises RedisError."""
        return bool(redis_client().exists(self.key))

    def open(self, error: RetryableError | PermanentError) -> int:
        """Open the circuit for the service's Retry-After, or else the default, and return the seconds."""
        if isinstance(error, RateLimitedError) and error.retry_after is not None:
            seconds = max(math.ceil(error.retry_after), 1)
        else:
            seconds = OUTAGE_SECONDS if isinstance(error, RetryableError) else REFUSAL_SECONDS
        redis_client().set(self.key, 1, ex=seconds)
        level = logging.WARNING if isinstance(error, RetryableError) else logging.ERROR
        logger.log(level, "Circuit breaker of %s opened for %s s: %s", self.service, seconds, error)
        return seconds
