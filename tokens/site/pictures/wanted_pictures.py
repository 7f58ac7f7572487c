"""Picture fetching for pages: a bounded list in Redis, emptied by rounds in a worker.

A request for an unknown picture claims its key and appends it to the list, at most once for each key and claim. Web
threads so never connect to a stranger's host. Only one round runs at a time, so that hosts that hang block at most one
worker process. A failed picture keeps its claim for a back-off: until then, a request for it costs one Redis
command. Nothing here is needed for good: without Redis, and after its loss, pages have placeholders for a while longer.
"""

import hashlib
import logging
import time
from contextlib import suppress
from typing import NamedTuple, cast

import orjson
from django.conf import settings
from redis.exceptions import RedisError

from config.http.backoff import Backoff
from config.http.errors import PermanentError, RetryableError
from config.http.public_client import MAX_URL
from config.http.request_ids import RequestThreadPool
from config.picture_decoding import encode_square
from config.postgresql.advisory_locks import advisory_lock_key, session_lock
from config.redis.connection import PREFIX, redis_client
from tokens.indexing.documents.fetching import fetch_first, installed_urls
from tokens.site.pictures.picture_files import prune_pictures, read_picture, store_picture

logger = logging.getLogger(__name__)

MAX_BYTES = 2 * 1024 * 1024
# Pixels, twice the size at which pages show pictures on dense screens.
PICTURE_SIDE = 160
# Pictures in the list: ten pages with only unknown pictures. Later views request further ones again.
MAX_WANTED = 200
# Concurrent requests in a round; each may hold MAX_BYTES. Decoding is done by one thread.
BATCH_SIZE = 8
# Seconds for which a round takes pictures; the last ones may take their timeout longer.
ROUND_SECONDS = 20.0
# Claim TTL for a picture in the list; longer than the list takes at its usual length.
CLAIM_SECONDS = 120
# Claim TTL for a picture that is requested although this worker stores it.
UNSHARED_SECONDS = 3_600
# Delays after failed fetches. Permanent errors, such as a page in place of a picture, begin with a longer one.
BACKOFF = Backoff(first=60, longest=7 * 86_400, factor=6)
_PERMANENT_FAILURES = 3
# Minimum interval between walks over the stored pictures.
_PRUNE_SECONDS = 60

_ACCEPT = "image/webp, image/png, image/jpeg, image/gif;q=0.9, */*;q=0.1"
_WANTED, _PRUNED = f"{PREFIX}pictures-wanted", f"{PREFIX}pictures-pruned"
_ROUND = advisory_lock_key("pictures")


class WantedPicture(NamedTuple):
    """Picture in the list: its key, and its URL in a token's metadata."""

    key: str
    img_url: str


def picture_key(img_url: str) -> str:
    """Return a picture's key: a digest of its URL."""
    return hashlib.sha256(img_url.encode(errors="surrogatepass")).hexdigest()[:32]


def picture_sources(img_url: str) -> list[str]:
    """Return the http:// or https:// URLs from which a picture is fetched; none if it is fetched from nowhere."""
    try:
        return [url for url in installed_urls(img_url.strip()) if len(url) <= MAX_URL]
    except PermanentError:
        return []


def request_picture(img_url: str) -> None:
    """Append a picture to the list unless it is there, failed lately, or the list is full."""
    key = picture_key(img_url)
    with suppress(RedisError):
        if redis_client().exists(_claim(key)) or redis_client().llen(_WANTED) >= MAX_WANTED:
            return
        if redis_client().set(_claim(key), b"", nx=True, ex=CLAIM_SECONDS):
            redis_client().rpush(_WANTED, orjson.dumps([key, img_url]))


def fetch_wanted_pictures() -> int:
    """Fetch pictures in the list for one round and return how many. Raises LockHeldError while a round runs."""
    if not settings.SITE_PICTURES:
        return 0
    try:
        if not redis_client().llen(_WANTED):
            return 0
        with session_lock(_ROUND), RequestThreadPool(BATCH_SIZE, thread_name_prefix="pictures") as threads:
            return _run_round(threads)
    except RedisError as error:
        logger.warning("pictures can't be fetched: %s", error)
        return 0


def _run_round(threads: RequestThreadPool) -> int:
    fetched, deadline = 0, time.monotonic() + ROUND_SECONDS
    while time.monotonic() < deadline and (batch := _take(BATCH_SIZE)):
        # In this thread, one after another: a decoder may need 160 MB.
        missing = [picture for picture in batch if not _is_unshared(picture)]
        for picture, content in zip(missing, threads.map(_fetch, missing), strict=True):
            _finish(picture, content)
        fetched += len(batch)
    if redis_client().set(_PRUNED, b"", nx=True, ex=_PRUNE_SECONDS):
        prune_pictures(settings.SITE_PICTURE_MB * 1024 * 1024)
    return fetched


def _take(count: int) -> list[WantedPicture]:
    entries = cast(list[bytes] | None, redis_client().lpop(_WANTED, count))
    return [WantedPicture(*orjson.loads(entry)) for entry in entries or ()]


def _is_unshared(picture: WantedPicture) -> bool:
    """Return whether this worker stores a picture that a web process does not find: its host gets no request."""
    if read_picture(picture.key) is None:
        return False
    logger.warning("a stored picture was not found by a web process: do all of them read this SITE_PICTURE_DIR?")
    redis_client().set(_claim(picture.key), b"", ex=UNSHARED_SECONDS)
    return True


def _fetch(picture: WantedPicture) -> bytes | RetryableError | PermanentError:
    sources = picture_sources(picture.img_url)
    if not sources:
        return PermanentError("a URL from which no picture is fetched")
    try:
        return fetch_first(sources, max_bytes=MAX_BYTES, accept=_ACCEPT)
    except (RetryableError, PermanentError) as error:
        return error


def _finish(picture: WantedPicture, content: bytes | RetryableError | PermanentError) -> None:
    """Store a picture, or claim its key for the back-off after its failures."""
    error: Exception
    try:
        if isinstance(content, bytes):
            store_picture(picture.key, encode_square(content, side=PICTURE_SIDE))
            redis_client().delete(_claim(picture.key), _failures(picture.key))
            return
        error = content
    except (PermanentError, OSError) as failure:
        error = failure
    if isinstance(error, OSError):
        logger.error("a picture can't be stored in SITE_PICTURE_DIR: %s", error)
    else:
        logger.info("no picture from the host of %s: %s", picture.key, error)
    # At least this many: a permanent error begins with a longer delay. Expires after the longest delay.
    failures = int(redis_client().incr(_failures(picture.key)))
    if isinstance(error, PermanentError):
        failures = max(failures, _PERMANENT_FAILURES)
    seconds = round(BACKOFF.delay(failures))
    with redis_client().pipeline(transaction=False) as pipeline:
        pipeline.expire(_failures(picture.key), 2 * round(BACKOFF.longest))
        pipeline.set(_claim(picture.key), b"", ex=seconds)
        pipeline.execute()


def _claim(key: str) -> str:
    return f"{PREFIX}picture:{key}"


def _failures(key: str) -> str:
    return f"{PREFIX}picture-failures:{key}"
