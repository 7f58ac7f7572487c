"""Rate limit of the market-data provider across all processes: call slots at the interval that the provider allows.

Redis assigns the slots by its own clock. A request reserves one of the next slots and waits for it. A worker takes only
a slot that is due soon, so it never delays requests. Public requests get at most half of the slots, so that they never
starve the workers. After a 429 or an outage all processes back off.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings
from redis.exceptions import RedisError

from config.http.errors import HTTPStatusError, PermanentError, RateLimitedError, RetryableError
from config.redis.connection import PREFIX, redis_client

logger = logging.getLogger(__name__)

NEXT_SLOT_KEY = f"{PREFIX}market:next-turn"
NEXT_HALF_RATE_SLOT_KEY = f"{PREFIX}market:next-of-half"
BACKOFF_KEY = f"{PREFIX}market:pause"
FAILURES_KEY = f"{PREFIX}market:failures"

# Margin per minute for jitter: the provider counts calls when they arrive.
_RESERVE_SECONDS = 1.2
# Unused half-rate slots remain available for this time, so that bursts of requests get slots at once.
_SAVED_SLOT_SECONDS = 10.0
# Back-off after a 429 without Retry-After, maximum after one with it, and after a rejected key.
RATE_LIMITED_BACKOFF_SECONDS = 60.0
MAX_RATE_LIMITED_BACKOFF_SECONDS = 3600.0
REJECTED_KEY_BACKOFF_SECONDS = 300.0
# Back-off in an outage, doubled with each failure.
MIN_OUTAGE_BACKOFF_SECONDS = 5.0
MAX_OUTAGE_BACKOFF_SECONDS = 300.0
# TTL of the count of consecutive failures.
_FAILURES_TTL_SECONDS = 3600

# KEYS: next slot, back-off, next half-rate slot. ARGV, in milliseconds: interval between slots, timeout, and for half
# rate how long unused slots remain available, or -1 for the full rate. Returns the outcome ("taken", "paused" or
# "later") and the milliseconds to wait.
_CLAIM_SLOT = """
local paused = redis.call('PTTL', KEYS[2])
if paused > 0 then return {'paused', paused} end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local interval, timeout, saved = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local slot = math.max(now, tonumber(redis.call('GET', KEYS[1]) or 0))
local wait = slot - now
if saved >= 0 then
  local half = math.max(now - saved, tonumber(redis.call('GET', KEYS[3]) or 0))
  if half > now or wait > timeout then return {'later', math.max(half - now, wait)} end
  redis.call('SET', KEYS[3], half + 2 * interval, 'PX', half + 2 * interval + saved - now)
elseif wait > timeout then
  return {'later', wait}
end
redis.call('SET', KEYS[1], slot + interval, 'PX', wait + interval)
return {'taken', wait}
"""


class NoCallSlotError(RetryableError):
    """Raised if no call slot is available within the timeout, or, with `paused`, during a back-off after a failure."""

    def __init__(self, *, retry_after: float, paused: bool) -> None:
        super().__init__(f"no call slot of the market-data provider for {retry_after:.1f} s")
        self.retry_after = retry_after
        self.paused = paused


@dataclass(frozen=True, kw_only=True)
class ProviderBackoff:
    """Remaining seconds of the back-off, 0 if there is none, and the number of consecutive failures."""

    seconds: float
    failures: int


@contextmanager
def call_slot(*, timeout: float, half_rate: bool = False) -> Iterator[None]:
    """Wait at most `timeout` seconds for a call slot; an error raised in the body may start a back-off.

    Callers with `half_rate` share half of the slots, and those of the last seconds that they left unused. Raises
    NoCallSlotError, and RedisError if Redis is unavailable.
    """
    saved = round(_SAVED_SLOT_SECONDS * 1000) if half_rate else -1
    result, wait = redis_client().register_script(_CLAIM_SLOT)(
        keys=[NEXT_SLOT_KEY, BACKOFF_KEY, NEXT_HALF_RATE_SLOT_KEY],
        args=[_slot_interval_milliseconds(), round(timeout * 1000), saved],
    )
    if result != b"taken":
        raise NoCallSlotError(retry_after=wait / 1000, paused=result == b"paused")
    time.sleep(wait / 1000)
    try:
        yield
    except (RetryableError, PermanentError) as error:
        _record_failure(error)
        raise
    _reset_failures()


def is_key_rejected(error: HTTPStatusError) -> bool:
    """Return whether the provider rejected the API key, and not the request."""
    return error.status in (401, 403)


def seconds_until_slot() -> float:
    """Return the seconds until the next slot, as of now. Raises RedisError."""
    with redis_client().pipeline(transaction=False) as pipeline:
        pipeline.pttl(BACKOFF_KEY)
        pipeline.get(NEXT_SLOT_KEY)
        pipeline.time()
        paused, slot_at, (seconds, microseconds) = pipeline.execute()
    until_slot = int(slot_at or 0) / 1000 - (seconds + microseconds / 1_000_000)
    return max(float(paused) / 1000, float(until_slot), 0.0)


def read_backoff() -> ProviderBackoff:
    """Return the current back-off. Raises RedisError."""
    with redis_client().pipeline(transaction=False) as pipeline:
        pipeline.pttl(BACKOFF_KEY)
        pipeline.get(FAILURES_KEY)
        milliseconds, failures = pipeline.execute()
    return ProviderBackoff(seconds=max(milliseconds / 1000, 0.0), failures=int(failures or 0))


def _slot_interval_milliseconds() -> int:
    return round((60 + _RESERVE_SECONDS) / settings.MARKET_CALLS_PER_MINUTE * 1000)


def _record_failure(error: Exception) -> None:
    """Start the back-off of all processes for this kind of failure; the rejection of a single request starts none."""
    try:
        if isinstance(error, RateLimitedError):
            seconds = RATE_LIMITED_BACKOFF_SECONDS if error.retry_after is None else max(error.retry_after, 1.0)
            _back_off(min(seconds, MAX_RATE_LIMITED_BACKOFF_SECONDS))
        elif isinstance(error, HTTPStatusError):
            if is_key_rejected(error):
                logger.error("the market-data provider rejected the API key (status %s)", error.status)
                _back_off(REJECTED_KEY_BACKOFF_SECONDS)
        else:
            failures = int(redis_client().incr(FAILURES_KEY))
            redis_client().expire(FAILURES_KEY, _FAILURES_TTL_SECONDS)
            _back_off(min(MIN_OUTAGE_BACKOFF_SECONDS * 2 ** min(failures - 1, 10), MAX_OUTAGE_BACKOFF_SECONDS))
    except RedisError as failed:
        logger.warning("can't start the back-off of the market-data provider: %s", failed)


def _back_off(seconds: float) -> None:
    logger.warning("backing off from the market-data provider for %.0f s", seconds)
    with redis_client().pipeline() as pipeline:
        pipeline.set(BACKOFF_KEY, 1, nx=True, px=round(seconds * 1000))
        # The longer one of two back-offs wins.
        pipeline.pexpire(BACKOFF_KEY, round(seconds * 1000), gt=True)
        pipeline.execute()


def _reset_failures() -> None:
    try:
        redis_client().delete(FAILURES_KEY)
    except RedisError as failed:
        logger.warning("can't reset the count of failures: %s", failed)
