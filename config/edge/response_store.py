"""In-memory LRU store of cached responses, bounded in bytes."""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from config.edge.cached_responses import CachedResponse

# Cache key: all that distinguishes requests with different responses.
ResponseKey = tuple[str, ...]

# Python's overhead per entry besides the texts, by sys.getsizeof of its parts, rounded up.
_ENTRY_BYTES = 4096


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """Cached response, or None for a URL without a cacheable response."""

    cached: CachedResponse | None
    # Seconds of the monotonic clock.
    expires: float
    size: int


class ResponseStore:
    """Thread-safe LRU store."""

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._entries: OrderedDict[ResponseKey, StoredEntry] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: ResponseKey) -> StoredEntry | None:
        """Return the entry unless it has expired."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            if entry.expires <= time.monotonic():
                self._drop(key)
                return None
            self._entries.move_to_end(key)
            return entry

    def put(self, key: ResponseKey, cached: CachedResponse | None, *, expires: float) -> None:
        """Store a response, unless it has expired or exceeds the size of the whole store."""
        size = _ENTRY_BYTES + sum(map(len, key))
        if cached is not None:
            size += len(cached.body) + sum(len(name) + len(value) for name, value in cached.headers)
        if size > self._max_bytes or expires <= time.monotonic():
            return
        with self._lock:
            if key in self._entries:
                self._drop(key)
            self._entries[key] = StoredEntry(cached, expires, size)
            self._bytes += size
            while self._bytes > self._max_bytes:
                self._drop(next(iter(self._entries)))

    def _drop(self, key: ResponseKey) -> None:
        self._bytes -= self._entries.pop(key).size
