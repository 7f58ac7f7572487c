"""One URL of a chain's nodes, and how it did lately."""

import sys
import time
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from config.http.json_client import MAX_ANSWER_BYTES

# Shorter parts of a URL, such as `v2` or `eth`, are no keys, and would censor ordinary words.
_SHORTEST_KEY = 5

_LONGEST_TEXT = 200


@dataclass
class Endpoint:
    """A URL and its circuit breaker. Shared by the threads of a process; a lost update costs one more try."""

    url: str
    # Its place in the setting, from 1.
    number: int
    failures: int = 0
    closed_after: float = 0.0
    # Whether it named our chain.
    verified: bool = False
    # The most calls that it was found to take in one request.
    most_calls: int = sys.maxsize
    # The most bytes of an answer that are read.
    most_bytes: int = MAX_ANSWER_BYTES
    # When the open circuit lets the next probe through.
    probe_after: float = 0.0
    # Until when it asked to be left alone.
    rests_until: float = 0.0
    # Until when it is left out where all nodes are asked one after the other.
    heard_after: float = 0.0
    # Method -> when it may be asked for again.
    _lacks: dict[str, float] = field(default_factory=dict)

    def is_open(self) -> bool:
        """Whether the circuit is open, so that the URL is left out."""
        return time.monotonic() < self.closed_after

    def rests(self) -> bool:
        """Whether it asked to be left alone, and the time is not over."""
        return time.monotonic() < self.rests_until

    def is_left_out(self) -> bool:
        """Whether it is not to be asked now: its circuit is open, or it rests."""
        return self.is_open() or self.rests()

    def claim_probe(self, *, every: float) -> bool:
        """Whether the caller may ask although the circuit is open: one may, each so many seconds."""
        now = time.monotonic()
        if now < self.probe_after:
            return False
        self.probe_after = now + every
        return True

    def note_rest(self, seconds: float) -> None:
        """It asked to be left alone for so many seconds."""
        self.rests_until = time.monotonic() + seconds

    def lets_wait(self) -> bool:
        """Whether it lately kept everybody waiting for the answers of all nodes."""
        return time.monotonic() < self.heard_after

    def note_wait(self, *, seconds: float) -> None:
        """It kept everybody waiting: not to be asked for so many seconds where all are."""
        self.heard_after = time.monotonic() + seconds

    def lacks(self, method: str) -> bool:
        """Whether it said lately that it does not offer a method."""
        return time.monotonic() < self._lacks.get(method, 0.0)

    def note_lack(self, method: str, *, seconds: float) -> None:
        """Remember for so many seconds that it does not offer a method."""
        self._lacks[method] = time.monotonic() + seconds

    def note_failure(self, *, limit: int, seconds: float) -> None:
        """Count a failure; the limit's and each after it open the circuit for so many seconds.

        Whoever answers after it may be somebody else, and is asked for the chain's id again.
        """
        self.failures += 1
        self.verified = False
        if self.failures >= limit:
            self.closed_after = time.monotonic() + seconds

    def note_success(self) -> None:
        """Close the circuit and forget the failures."""
        self.failures, self.closed_after, self.probe_after = 0, 0.0, 0.0

    def censor(self, text: str) -> str:
        """A node's own words as one short line for logs and the database, without any part of the URL.

        Providers repeat the path or the key in their errors.
        """
        line = " ".join("".join(char if char.isprintable() else " " for char in text[:10_000]).split())
        for part in self._secret_parts():
            line = line.replace(part, "...")
        return line[:_LONGEST_TEXT]

    def _secret_parts(self) -> list[str]:
        parts = urlsplit(self.url)
        found = {
            self.url,
            parts.netloc,
            parts.hostname or "",
            parts.username or "",
            parts.password or "",
            parts.path,
            parts.query,
            *parts.path.split("/"),
            *(value for _, value in parse_qsl(parts.query)),
        }
        # The longest first, so that a part of a part leaves no rest.
        return sorted((part for part in found if len(part) >= _SHORTEST_KEY), key=len, reverse=True)
