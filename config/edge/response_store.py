"""The answers that this process keeps, bounded in bytes: the one that nobody asked for the longest goes first."""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from config.edge.cached_responses import Answer

# What tells requests with different answers apart.
Key = tuple[str, ...]

# What Python needs for an entry besides the texts, by sys.getsizeof of its parts, rounded up.
_ENTRY_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Entry:
    """An answer, or None where the address was found to have none that could be kept."""

    answer: Answer | None
    # Seconds of the monotonic clock.
    expires: float
    size: int


class AnswerStore:
    """Safe to use by several threads."""

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._entries: OrderedDict[Key, Entry] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key) -> Entry | None:
        """The entry, unless its time is over."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            if entry.expires <= time.monotonic():
                self._drop(key)
                return None
            self._entries.move_to_end(key)
            return entry

    def put(self, key: Key, answer: Answer | None, *, expires: float) -> None:
        """Keep it; nothing happens where its time is over already, or it is larger than the whole store."""
        size = _ENTRY_BYTES + sum(map(len, key))
        if answer is not None:
            size += len(answer.body) + sum(len(name) + len(value) for name, value in answer.headers)
        if size > self._max_bytes or expires <= time.monotonic():
            return
        with self._lock:
            if key in self._entries:
                self._drop(key)
            self._entries[key] = Entry(answer, expires, size)
            self._bytes += size
            while self._bytes > self._max_bytes:
                self._drop(next(iter(self._entries)))

    def _drop(self, key: Key) -> None:
        self._bytes -= self._entries.pop(key).size
