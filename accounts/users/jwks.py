"""Cache of the issuers' public keys, from their JWKS (RFC 7517), per process.

A key set is fetched when the first token of its issuer arrives, and again every ten minutes. A token with an unknown
key causes a fetch at most once a minute. If the issuer fails to respond, the cached keys stay in use.

The request that finds a fetch due makes it. Others with a cached key never block on it.
"""

import functools
import logging
import threading
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from jwt import PyJWK, PyJWKClient, PyJWKSet
from jwt.exceptions import PyJWTError

from config.environment.issuers import ALGORITHMS, Issuer
from config.http.circuit_breaker import CircuitBreaker
from config.http.errors import PermanentError, RetryableError
from config.http.json_client import get_json, json_list, json_member
from config.processes.concurrency_limits import SLOTS

logger = logging.getLogger(__name__)

# A key set is fetched again after this time.
REFRESH_SECONDS = 600.0
# Cool-down after a fetch for an unknown key, and after a failed fetch.
COOLDOWN_SECONDS = 60.0
# Cool-down after a failed fetch while no keys are cached.
RETRY_SECONDS = 10.0

# Limit on concurrent requests per process that fetch keys or wait for them, over all issuers. An issuer that hangs
# blocks each for seconds, and made-up tokens must not block all threads.
_slots = threading.BoundedSemaphore(SLOTS)

_MAX_BYTES = 256 * 1024
_MAX_KEYS = 64
# All others are skipped, above all secrets (oct).
_KEY_TYPES = ("RSA", "EC", "OKP")


class KeysUnavailableError(RetryableError):
    """Raised while none of the issuer's keys are cached, so that its tokens can't be verified."""


class KeySet(PyJWKClient):
    """One issuer's cached keys: a PyJWKClient with our HTTP client, stale keys, and a cool-down after failures too.

    Without these, each request by the issuer's users would block for the timeout while the issuer hangs, and then fail.
    """

    def __init__(self, issuer: Issuer) -> None:
        super().__init__(issuer.jwks_url, lifespan=REFRESH_SECONDS)
        self._issuer = issuer
        # The set fetched last, however old.
        self._last: PyJWKSet | None = None
        # Its back-off is the cool-down.
        self.breaker = CircuitBreaker()

    def find_key(self, key_id: str | None, *, algorithm: str) -> PyJWK | None:
        """Return the key with this id and algorithm; for a token without key id, the only one for the algorithm.

        None if there is no such key. Raises KeysUnavailableError while no keys are cached.
        """
        last_set = self._last
        key = _match(self.get_jwk_set(), key_id, algorithm)
        # A set that was fetched just now is not fetched again.
        if key is None and self._last is last_set:
            key = _match(self.get_jwk_set(refresh=True), key_id, algorithm)
        return key

    def get_jwk_set(self, refresh: bool = False) -> PyJWKSet:
        """Return the key set, fetched now if it is old, or with `refresh` in any case.

        The last one is returned if the fetch fails, during a cool-down, and while another request fetches. Raises
        KeysUnavailableError if there is none.
        """
        last_set, fresh = self._last, self.jwk_set_cache.get() if self.jwk_set_cache else None
        if fresh is not None and not refresh:
            return fresh
        if not self.breaker.is_backing_off() and _slots.acquire(blocking=False):
            try:
                self._fetch_once(last_set, is_lookup=fresh is not None)
            finally:
                _slots.release()
        if self._last is None:
            raise KeysUnavailableError("no keys of this issuer are cached")
        return self._last

    def fetch_data(self) -> dict[str, Any]:
        """Return the JWKS's keys for verification, at most _MAX_KEYS. Raises RetryableError or PermanentError."""
        jwks = get_json(self.uri, timeout=settings.IDENTITY_TIMEOUT_SECONDS, max_bytes=_MAX_BYTES)
        keys = json_list(json_member(jwks, "keys"))[:_MAX_KEYS]
        return {"keys": [jwk for jwk in keys if isinstance(jwk, dict) and _is_for_verification(jwk)]}

    def _fetch_once(self, last_set: PyJWKSet | None, *, is_lookup: bool) -> None:
        """Fetch the set after `last_set`, unless another request does; wait for that request only without any keys."""
        if not self._client_lock.acquire(timeout=0 if last_set else settings.IDENTITY_TIMEOUT_SECONDS):
            return
        try:
            if self._last is not last_set or self.breaker.is_backing_off():
                return
            if is_lookup:
                self.breaker.back_off(COOLDOWN_SECONDS)
            self._last = super().get_jwk_set(refresh=True)
        except (RetryableError, PermanentError, PyJWTError) as error:
            logger.warning("fetching the JWKS of %s failed: %s", self._issuer.issuer, error)
            self.breaker.back_off(COOLDOWN_SECONDS if last_set else RETRY_SECONDS)
        finally:
            self._client_lock.release()


@functools.cache
def key_set(issuer: Issuer) -> KeySet:
    """Return this process's key set for the issuer."""
    return KeySet(issuer)


def _match(keys: PyJWKSet, key_id: str | None, algorithm: str) -> PyJWK | None:
    matches = [key for key in keys if key.algorithm_name == algorithm and key_id in (None, key.key_id)]
    return matches[0] if len(matches) == 1 else None


def _is_for_verification(jwk: Mapping[str, Any]) -> bool:
    """Return whether a JWK is a public key for signatures with an accepted algorithm."""
    operations = jwk.get("key_ops", ["verify"])
    return (
        jwk.get("kty") in _KEY_TYPES
        and jwk.get("alg") in (None, *ALGORITHMS)
        and jwk.get("use", "sig") == "sig"
        and isinstance(operations, list)
        and "verify" in operations
        # A key with its private part in a public JWKS is compromised.
        and "d" not in jwk
        and isinstance(jwk.get("kid"), str | None)
    )
