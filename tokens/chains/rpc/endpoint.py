"""One RPC URL with its circuit breaker, back-off and observed limits."""

import sys
import time
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from config.http.circuit_breaker import CircuitBreaker
from config.http.json_client import MAX_RESPONSE_BYTES

# Shorter URL parts, such as `v2` or `eth`, are no keys; redacting them would garble ordinary words.
_SHORTEST_KEY = 5

_LONGEST_TEXT = 200


@dataclass(kw_only=True)
class Endpoint(CircuitBreaker):
    """One RPC URL and its circuit breaker. A process's threads share it; a lost update costs one more attempt."""

    url: str
    # Its position in the setting, from 1.
    number: int
    # Whether it has returned the chain's identity.
    verified: bool = False
    # Maximum calls that it accepts in one request, as observed so far.
    max_batch_size: int = sys.maxsize
    # Maximum bytes read from one response.
    max_response_bytes: int = MAX_RESPONSE_BYTES
    # Until then it is skipped by calls to all nodes.
    slow_until: float = 0.0
    # Method -> when it may be requested again.
    _unsupported_until: dict[str, float] = field(default_factory=dict)

    @property
    def provider(self) -> str:
        """Host and port: URLs that differ in path or key are the same nodes."""
        parts = urlsplit(self.url)
        return f"{parts.hostname}:{parts.port}"

    def is_unavailable(self) -> bool:
        """Return whether to skip it now: the circuit is open, or it is backing off."""
        return self.is_open() or self.is_backing_off()

    def is_slow(self) -> bool:
        """Return whether it is excluded from calls to all nodes after a slow response."""
        return time.monotonic() < self.slow_until

    def mark_slow(self, *, seconds: float) -> None:
        """Exclude it from calls to all nodes for this many seconds."""
        self.slow_until = time.monotonic() + seconds

    def is_unsupported(self, method: str) -> bool:
        """Return whether the node lately reported that it does not offer the method."""
        return time.monotonic() < self._unsupported_until.get(method, 0.0)

    def mark_unsupported(self, method: str, *, seconds: float) -> None:
        """Skip the URL for this method for this many seconds."""
        self._unsupported_until[method] = time.monotonic() + seconds

    def record_failure(self) -> bool:
        """Count a failure; the chain's identity is verified again, because another node may serve the URL next."""
        self.verified = False
        return super().record_failure()

    def redact(self, text: str) -> str:
        """Return a node's message as one short line for logs and the database, without any part of the URL.

        Providers repeat the path or the key in their errors.
        """
        line = " ".join("".join(char if char.isprintable() else " " for char in text[:10_000]).split())
        for secret in self._secrets():
            line = line.replace(secret, "...")
        return line[:_LONGEST_TEXT]

    def _secrets(self) -> list[str]:
        parts = urlsplit(self.url)
        texts = {
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
        # Longest first: replacing a text inside a longer one first would leave the rest visible.
        return sorted((text for text in texts if len(text) >= _SHORTEST_KEY), key=len, reverse=True)
