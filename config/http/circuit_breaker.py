"""Circuit breaker for one outside service in one process: closed, open after failures, then half-open."""

import threading
import time
from dataclasses import dataclass, field


@dataclass(kw_only=True)
class CircuitBreaker:
    """One service's state: consecutive failures open the circuit, and a success closes it.

    `claim_call` obeys all three states. A caller with several services combines `is_open` and `claim_probe`.
    """

    # This many failures in a row open the circuit, and so does each further one.
    failure_limit: int = 3
    # Seconds until the open circuit is half-open.
    open_seconds: float = 30.0
    # One probe passes in this many seconds.
    probe_seconds: float = 3.0
    failures: int = field(default=0, init=False)
    # Seconds on the monotonic clock; `backoff_until` ends the back-off that the service requested.
    _open_until: float = field(default=0.0, init=False)
    _probe_after: float = field(default=0.0, init=False)
    backoff_until: float = field(default=0.0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    def is_open(self) -> bool:
        """Return whether the circuit is open."""
        return time.monotonic() < self._open_until

    def is_backing_off(self) -> bool:
        """Return whether the back-off that the service requested is still running."""
        return time.monotonic() < self.backoff_until

    def claim_call(self) -> bool:
        """Return whether to call the service: always while closed, never while open, as a probe while half-open."""
        return self.failures < self.failure_limit or (not self.is_open() and self.claim_probe())

    def claim_probe(self) -> bool:
        """Return whether the caller may probe the service now: one caller in `probe_seconds`."""
        with self._lock:
            now = time.monotonic()
            if now < self._probe_after:
                return False
            self._probe_after = now + self.probe_seconds
            return True

    def back_off(self, seconds: float) -> None:
        """Start the back-off that the service requested. It is healthy, so this is no failure."""
        self.backoff_until = time.monotonic() + seconds

    def record_failure(self) -> bool:
        """Count a failure, and return whether it opened the closed circuit."""
        with self._lock:
            self.failures += 1
            if self.failures >= self.failure_limit:
                self._open_until = time.monotonic() + self.open_seconds
            return self.failures == self.failure_limit

    def record_success(self) -> bool:
        """Close the circuit, and return whether it was open or half-open."""
        if not self.failures:
            return False
        with self._lock:
            was_closed = self.failures < self.failure_limit
            self.failures, self._open_until, self._probe_after = 0, 0.0, 0.0
            return not was_closed
