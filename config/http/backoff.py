"""Back-off: retry delays that grow with consecutive failures, and delays that services request."""

import random
from dataclasses import dataclass

from config.http.errors import RateLimitedError

# Far beyond every delay limit; a higher power would overflow a float.
_MAX_EXPONENT = 64


@dataclass(frozen=True, kw_only=True)
class Backoff:
    """Retry delays in seconds: `first` after one failure, then each `factor` times the one before, up to `longest`."""

    first: float
    longest: float
    factor: float = 2.0

    def delay(self, failures: int) -> float:
        """Return the delay after `failures` consecutive failures, at least 1."""
        return min(self.first * self.factor ** min(failures - 1, _MAX_EXPONENT), self.longest)


def jitter(least: float, most: float) -> float:
    """Return a random delay between both, so that clients of one failed server do not all return at once."""
    # No secret: a guessed delay is of no use.
    return random.uniform(least, most)  # noqa: S311


def requested_delay(error: Exception, *, default: float, longest: float) -> float:
    """Return the error's Retry-After, at least a second and at most `longest`; `default` if it has none."""
    seconds = error.retry_after if isinstance(error, RateLimitedError) else None
    return default if seconds is None else min(max(seconds, 1.0), longest)
