"""Cache of the issuers' public keys, from their JWKS (RFC 7517), per process.

A key set is fetched when the first token of its issuer arrives, again once it is stale, and for a token with an unknown
key: at most once a minute. If the issuer fails to respond, the cached keys stay in use.

A background thread fetches, one at a time per issuer. Requests with a cached key don't block on it.
"""

import functools
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from config.concurrency_limits import SLOTS
from config.http.errors import PermanentError, RetryableError
from config.http.json_client import get_json
from config.settings.identities import Issuer

logger = logging.getLogger(__name__)

# The next request refreshes an older set in the background and uses the cached one.
REFRESH_SECONDS = 600.0
# An even older set was unused, or its issuer did not respond. The request that refreshes it waits for the response, so
# that a key withdrawn meanwhile is not accepted once more.
STALE_SECONDS = 3600.0
# Between two fetches for unknown keys, and after a failed fetch.
LOOKUP_INTERVAL_SECONDS = 60.0
# After a failed fetch while no keys are cached.
RETRY_SECONDS = 10.0

# Prefix of the names of the fetching threads.
THREAD_NAME_PREFIX = "keys of "

# Limit of concurrent requests per process that wait for keys, over all issuers. An issuer that hangs blocks each of
# them for seconds, and made-up tokens must not block all threads.
_waiting_slots = threading.BoundedSemaphore(SLOTS)

_MAX_BYTES = 256 * 1024
_MAX_KEYS = 64
# Accepted key types: (kty, crv) -> algorithm. All others are skipped, above all secrets (oct).
_ALGORITHMS = {("RSA", None): "RS256", ("EC", "P-256"): "ES256", ("OKP", "Ed25519"): "EdDSA"}


class KeysUnavailableError(RetryableError):
    """Raised while no keys of the issuer are cached, so that its tokens can't be verified."""


@dataclass(frozen=True)
class VerificationKey:
    """Public key for one algorithm."""

    id: str | None
    algorithm: str
    public: PyJWK


class KeySet:
    """Cached keys of one issuer. `clock` returns monotonic seconds."""

    def __init__(self, issuer: Issuer, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._clock = clock
        self._keys: tuple[VerificationKey, ...] = ()
        self._fetched_at = self._tried_at = self._looked_at = -float("inf")
        # Held only to read and set `_fetching`, the event that the fetching thread sets at its end.
        self._lock = threading.Lock()
        self._fetching: threading.Event | None = None

    def find_key(self, key_id: str | None, *, algorithm: str) -> VerificationKey | None:
        """Return the key with this id and algorithm; for a token without key id, the only one for the algorithm.

        None if there is no such key. Raises KeysUnavailableError while no keys are cached. Blocks for at most
        IDENTITY_TIMEOUT_SECONDS: all requests while no keys are cached, else only the one that started the
        fetch.
        """
        if self._known(key_id, algorithm) is not None:
            age = self._clock() - self._fetched_at
            fetching, is_ours = self._fetch_if(self._is_old)
            if fetching is not None and is_ours and age >= STALE_SECONDS:
                _wait_for_fetch(fetching)
            return self._known(key_id, algorithm)
        fetching, is_ours = self._fetch_if(lambda: self._known(key_id, algorithm) is None and self._may_look())
        if fetching is not None and (is_ours or not self._keys):
            _wait_for_fetch(fetching)
        # Without any cached key, no token of the issuer can be validated.
        if not self._keys:
            raise KeysUnavailableError("no keys of this issuer are cached")
        return self._known(key_id, algorithm)

    def _fetch_if(self, is_due: Callable[[], bool]) -> tuple[threading.Event | None, bool]:
        """Start a fetch if it is due and none is running.

        Return the event of the fetch that is running, if any, and whether this call started it.
        """
        with self._lock:
            if self._fetching is not None:
                return self._fetching, False
            if not is_due():
                return None, False
            done, name = threading.Event(), f"{THREAD_NAME_PREFIX}{self._issuer.issuer}"
            # A daemon thread: it delays neither a request nor the exit of the process.
            threading.Thread(target=self._run, args=(done,), name=name, daemon=True).start()
            self._fetching = done
            return done, True

    def _run(self, done: threading.Event) -> None:
        try:
            self._fetch()
        finally:
            with self._lock:
                self._fetching = None
            done.set()

    def _known(self, key_id: str | None, algorithm: str) -> VerificationKey | None:
        found = [key for key in self._keys if key.algorithm == algorithm and key_id in (None, key.id)]
        return found[0] if len(found) == 1 else None

    def _may_look(self) -> bool:
        """Return whether to fetch the set for an unknown key. The first fetch of a set does not count."""
        now = self._clock()
        if not self._keys:
            return now - self._tried_at >= RETRY_SECONDS
        if now - self._looked_at < LOOKUP_INTERVAL_SECONDS:
            return False
        self._looked_at = now
        return True

    def _is_old(self) -> bool:
        now = self._clock()
        return now - self._fetched_at >= REFRESH_SECONDS and now - self._tried_at >= LOOKUP_INTERVAL_SECONDS

    def _fetch(self) -> None:
        self._tried_at = self._clock()
        try:
            answer = get_json(self._issuer.jwks_url, timeout=settings.IDENTITY_TIMEOUT_SECONDS, max_bytes=_MAX_BYTES)
        except (RetryableError, PermanentError) as error:
            logger.warning("fetching the JWKS of %s failed: %s", self._issuer.issuer, error)
            return
        keys = tuple(_read_keys(answer, self._issuer.algorithms))
        if not keys:
            logger.warning("the JWKS of %s has no usable key", self._issuer.issuer)
            return
        self._keys, self._fetched_at = keys, self._clock()


def _wait_for_fetch(fetching: threading.Event) -> None:
    """Block until the fetch ends or times out; return at once if no waiting slot is free."""
    if not _waiting_slots.acquire(blocking=False):
        return
    try:
        fetching.wait(settings.IDENTITY_TIMEOUT_SECONDS)
    finally:
        _waiting_slots.release()


@functools.cache
def key_set(issuer: Issuer) -> KeySet:
    """Return this process's key set of the issuer."""
    return KeySet(issuer)


def _read_keys(answer: Any, algorithms: tuple[str, ...]) -> Iterator[VerificationKey]:
    """Yield the signing keys of a JWKS that are for one of the algorithms."""
    listed = answer.get("keys") if isinstance(answer, dict) else None
    for jwk in listed[:_MAX_KEYS] if isinstance(listed, list) else ():
        key = _read_key(jwk) if isinstance(jwk, dict) else None
        if key is not None and key.algorithm in algorithms:
            yield key


def _read_key(jwk: Mapping[str, Any]) -> VerificationKey | None:
    kind = str(jwk.get("kty"))
    algorithm = _ALGORITHMS.get((kind, None if kind == "RSA" else str(jwk.get("crv"))))
    key_id, operations = jwk.get("kid"), jwk.get("key_ops", ["verify"])
    is_meant = jwk.get("alg", algorithm) == algorithm and jwk.get("use", "sig") == "sig"
    if algorithm is None or not is_meant or not isinstance(operations, list) or "verify" not in operations:
        return None
    # A key with its private part in a public JWKS is compromised.
    if "d" in jwk or not (key_id is None or isinstance(key_id, str)):
        return None
    try:
        public = PyJWK(dict(jwk), algorithm)
        weakness = public.Algorithm.check_key_length(public.key)
    except (PyJWTError, ValueError, TypeError):
        return None
    return None if weakness else VerificationKey(key_id, algorithm, public)
