"""Holds the market-data provider's limit over all processes: calls take turns, at least so far apart as it allows.

The turns are handed out by Redis, whose clock they go by. A caller whom somebody waits for takes one of the next turns
ahead of time, so that a worker, which takes only a turn that is there, never keeps it from him. What anybody may cause
gets half of the turns at most, so that it never keeps the workers from theirs. After a 429 or an outage nobody calls
for a while.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings
from redis.exceptions import RedisError

from config.http.json_client import Permanent, RateLimited, Retryable, StatusRefused
from config.redis.connection import PREFIX, redis

logger = logging.getLogger(__name__)

NEXT_TURN_KEY = f"{PREFIX}market:next-turn"
NEXT_OF_HALF_KEY = f"{PREFIX}market:next-of-half"
PAUSE_KEY = f"{PREFIX}market:pause"
FAILURES_KEY = f"{PREFIX}market:failures"

# A provider counts calls as they arrive, and these are some time on their way: so many seconds a minute of reserve.
_RESERVE_SECONDS = 1.2
# What those who get half of the turns left unused is theirs for so long: they may come together.
_SAVED_SECONDS = 10.0
# How long nobody calls: after a 429 that doesn't say, at most after one that does, for a key that was refused.
LIMITED_PAUSE_SECONDS = 60.0
LONGEST_LIMITED_PAUSE_SECONDS = 3600.0
KEY_PAUSE_SECONDS = 300.0
# In an outage it doubles from the first to the last.
FIRST_PAUSE_SECONDS = 5.0
LONGEST_PAUSE_SECONDS = 300.0
# Failures in a row are counted for so long after the last one.
_FAILURES_KEPT_SECONDS = 3600

# KEYS: next turn, pause, next of the half. ARGV: milliseconds between turns, longest wait, how long the half saves
# turns, or -1 for a caller who may have all. Answers {"taken", "paused" or "later", milliseconds to wait}.
_TAKE_TURN = """
local paused = redis.call('PTTL', KEYS[2])
if paused > 0 then return {'paused', paused} end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local gap, patience, saved = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local turn = math.max(now, tonumber(redis.call('GET', KEYS[1]) or 0))
local wait = turn - now
if saved >= 0 then
  local half = math.max(now - saved, tonumber(redis.call('GET', KEYS[3]) or 0))
  if half > now or wait > patience then return {'later', math.max(half - now, wait)} end
  redis.call('SET', KEYS[3], half + 2 * gap, 'PX', half + 2 * gap + saved - now)
elseif wait > patience then
  return {'later', wait}
end
redis.call('SET', KEYS[1], turn + gap, 'PX', wait + gap)
return {'taken', wait}
"""


class NotNow(Retryable):
    """Nobody may call within the caller's patience: for the provider's limit or, where `paused`, after its failure."""

    def __init__(self, *, retry_after: float, paused: bool) -> None:
        super().__init__(f"no call to the market-data provider for {retry_after:.1f} s")
        self.retry_after = retry_after
        self.paused = paused


@dataclass(frozen=True, kw_only=True)
class Pause:
    """For how many more seconds nobody calls, 0 for none; and how many calls failed in a row."""

    seconds: float
    failures: int


@contextmanager
def turn(*, patience: float, of_half: bool = False) -> Iterator[None]:
    """Wait for a turn, at most `patience` seconds; what the call in the body raises decides over the next pause.

    All who come with `of_half` get half of the turns together, and what they left of it in the last seconds. Raises
    NotNow, and RedisError where nobody can hand out turns.
    """
    saved = round(_SAVED_SECONDS * 1000) if of_half else -1
    result, wait = redis().register_script(_TAKE_TURN)(
        keys=[NEXT_TURN_KEY, PAUSE_KEY, NEXT_OF_HALF_KEY],
        args=[_milliseconds_between_turns(), round(patience * 1000), saved],
    )
    if result != b"taken":
        raise NotNow(retry_after=wait / 1000, paused=result == b"paused")
    time.sleep(wait / 1000)
    try:
        yield
    except (Retryable, Permanent) as error:
        _note_failure(error)
        raise
    _note_success()


def is_about_key(refused: StatusRefused) -> bool:
    """Whether the provider refuses the caller, and not what he asks for."""
    return refused.status in (401, 403)


def waiting_time() -> float:
    """Seconds until there is a turn, as far as is known now. Raises RedisError."""
    with redis().pipeline(transaction=False) as pipeline:
        pipeline.pttl(PAUSE_KEY)
        pipeline.get(NEXT_TURN_KEY)
        pipeline.time()
        paused, turn_at, (seconds, microseconds) = pipeline.execute()
    until_turn = int(turn_at or 0) / 1000 - (seconds + microseconds / 1_000_000)
    return max(float(paused) / 1000, float(until_turn), 0.0)


def read_pause() -> Pause:
    """How the provider does, as far as is known now. Raises RedisError."""
    with redis().pipeline(transaction=False) as pipeline:
        pipeline.pttl(PAUSE_KEY)
        pipeline.get(FAILURES_KEY)
        milliseconds, failures = pipeline.execute()
    return Pause(seconds=max(milliseconds / 1000, 0.0), failures=int(failures or 0))


def _milliseconds_between_turns() -> int:
    return round((60 + _RESERVE_SECONDS) / settings.MARKET_CALLS_PER_MINUTE * 1000)


def _note_failure(error: Exception) -> None:
    """Have all processes pause for as long as the failure deserves; for a refusal of one call alone, not at all."""
    try:
        if isinstance(error, RateLimited):
            asked = LIMITED_PAUSE_SECONDS if error.retry_after is None else max(error.retry_after, 1.0)
            _pause(min(asked, LONGEST_LIMITED_PAUSE_SECONDS))
        elif isinstance(error, StatusRefused):
            if is_about_key(error):
                logger.error("the market-data provider refuses the key (status %s)", error.status)
                _pause(KEY_PAUSE_SECONDS)
        else:
            failures = int(redis().incr(FAILURES_KEY))
            redis().expire(FAILURES_KEY, _FAILURES_KEPT_SECONDS)
            _pause(min(FIRST_PAUSE_SECONDS * 2 ** min(failures - 1, 10), LONGEST_PAUSE_SECONDS))
    except RedisError as failed:
        logger.warning("can't have others leave the market-data provider alone: %s", failed)


def _pause(seconds: float) -> None:
    logger.warning("nobody calls the market-data provider for %.0f s", seconds)
    with redis().pipeline() as pipeline:
        pipeline.set(PAUSE_KEY, 1, nx=True, px=round(seconds * 1000))
        # Of two pauses the longer one holds.
        pipeline.pexpire(PAUSE_KEY, round(seconds * 1000), gt=True)
        pipeline.execute()


def _note_success() -> None:
    try:
        redis().delete(FAILURES_KEY)
    except RedisError as failed:
        logger.warning("can't end the count of failures: %s", failed)
