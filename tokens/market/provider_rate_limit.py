"""Rate limit for the market-data provider across all processes: call slots at the interval that it allows.

Redis assigns the slots by its own clock. A request reserves one of the next slots and waits for it. A worker takes only
a slot that is due soon, so it never delays requests. Public requests get at most half the slots, so that they never
starve the workers. After a 429 or an outage a circuit breaker stops all processes.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from config.http.backoff import Backoff
from config.http.errors import HTTPStatusError, PermanentError, RetryableError
from config.redis.connection import PREFIX, redis_client
from config.redis.shared_circuit_breaker import SharedCircuitBreaker

NEXT_SLOT_KEY = f"{PREFIX}market:next-turn"
NEXT_HALF_RATE_SLOT_KEY = f"{PREFIX}market:next-of-half"

# Margin per minute for jitter: the provider counts calls when they arrive.
_RESERVE_SECONDS = 1.2
# Unused half-rate slots remain available for this time, so that bursts of requests get slots at once.
_SAVED_SLOT_SECONDS = 10.0
# Open for all processes after a 429, a rejected key or an outage.
CIRCUIT_BREAKER = SharedCircuitBreaker(
    service="the market-data provider",
    key=f"{PREFIX}market:pause",
    failures_key=f"{PREFIX}market:failures",
    outage=Backoff(first=5, longest=300),
    refusal_seconds=300,
    longest_retry_after=3600,
)

# KEYS: next slot, circuit breaker, next half-rate slot. ARGV, in milliseconds: interval between slots, timeout, and for
# half rate how long unused slots remain available, or -1 for the full rate. Returns the outcome ("taken", "open" or
# "later") and the milliseconds to wait.
_CLAIM_SLOT = """
local open = redis.call('PTTL', KEYS[2])
if open > 0 then return {'open', open} end
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
    """Raised if no call slot is available within the timeout, or, with `circuit_open`, after a failure."""

    def __init__(self, *, retry_after: float, circuit_open: bool) -> None:
        super().__init__(f"no call slot of the market-data provider for {retry_after:.1f} s")
        self.retry_after = retry_after
        self.circuit_open = circuit_open


@contextmanager
def call_slot(*, timeout: float, half_rate: bool = False) -> Iterator[None]:
    """Wait at most `timeout` seconds for a call slot; an error raised in the body may open the circuit.

    Callers with `half_rate` share half the slots, including unused ones from the last seconds. Raises NoCallSlotError,
    and RedisError if Redis is unavailable.
    """
    saved = round(_SAVED_SLOT_SECONDS * 1000) if half_rate else -1
    result, wait = redis_client().register_script(_CLAIM_SLOT)(
        keys=[NEXT_SLOT_KEY, CIRCUIT_BREAKER.key, NEXT_HALF_RATE_SLOT_KEY],
        args=[_slot_interval_milliseconds(), round(timeout * 1000), saved],
    )
    if result != b"taken":
        raise NoCallSlotError(retry_after=wait / 1000, circuit_open=result == b"open")
    time.sleep(wait / 1000)
    try:
        yield
    except (RetryableError, PermanentError) as error:
        # The provider rejected this request only; the next one may succeed.
        if not isinstance(error, HTTPStatusError) or is_key_rejected(error):
            CIRCUIT_BREAKER.record_failure(error)
        raise
    CIRCUIT_BREAKER.record_success()


def is_key_rejected(error: HTTPStatusError) -> bool:
    """Return whether the provider rejected the API key, and not the request."""
    return error.status in (401, 403)


def seconds_until_slot() -> float:
    """Return the seconds until the next slot, as of now. Raises RedisError."""
    with redis_client().pipeline(transaction=False) as pipeline:
        pipeline.pttl(CIRCUIT_BREAKER.key)
        pipeline.get(NEXT_SLOT_KEY)
        pipeline.time()
        open_for, slot_at, (seconds, microseconds) = pipeline.execute()
    until_slot = int(slot_at or 0) / 1000 - (seconds + microseconds / 1_000_000)
    return max(float(open_for) / 1000, float(until_slot), 0.0)


def _slot_interval_milliseconds() -> int:
    return round((60 + _RESERVE_SECONDS) / settings.MARKET_CALLS_PER_MINUTE * 1000)
