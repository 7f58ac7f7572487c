"""Pauses in which an outside service is left alone after an error, by all processes together.

Redis keeps them, and may lose one: that costs one more call.
"""

import logging
import math
from dataclasses import dataclass

from config.http.json_client import Permanent, RateLimited, Retryable
from config.redis.connection import PREFIX, redis

logger = logging.getLogger(__name__)

# How long a service is left alone where it does not say itself: after an error that passes, and after a refusal.
OUTAGE_SECONDS = 60
REFUSAL_SECONDS = 600


@dataclass(frozen=True)
class Pause:
    """That of one service: its name for the log, and the key that stands in Redis while the pause lasts."""

    service: str
    key: str

    @classmethod
    def of(cls, service: str, name: str) -> "Pause":
        """The pause of a service; the name is the part of the key that is its own."""
        return cls(service, f"{PREFIX}{name}:paused")

    def is_on(self) -> bool:
        """Whether the service is left alone. Raises RedisError."""
        return bool(redis().exists(self.key))

    def begin(self, error: Retryable | Permanent) -> int:
        """Leave the service alone, for as long as it says where it limits us; for how many seconds."""
        if isinstance(error, RateLimited) and error.retry_after is not None:
            pause = max(math.ceil(error.retry_after), 1)
        else:
            pause = OUTAGE_SECONDS if isinstance(error, Retryable) else REFUSAL_SECONDS
        redis().set(self.key, 1, ex=pause)
        level = logging.WARNING if isinstance(error, Retryable) else logging.ERROR
        logger.log(level, "%s gave no answer, and is left alone for %s s: %s", self.service, pause, error)
        return pause
