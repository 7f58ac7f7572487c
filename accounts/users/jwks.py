"""The public keys with which issuers sign, from their JWKS (RFC 7517), remembered by each process.

A set is fetched when the first token of its issuer comes, and again when it has become old, and for a token whose key
it lacks: at most once a minute, whatever callers come with. Where the issuer gives no answer, what is known stays.

A thread of its own fetches, one at a time for an issuer. Whose key is known goes on meanwhile.
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

from config.api.concurrency_limits import SEATS
from config.http.json_client import Permanent, Retryable, get_json
from config.settings.identities import Issuer

logger = logging.getLogger(__name__)

# A set that is older is fetched anew by the next call, which goes on with what is known.
FRESH_SECONDS = 600.0
# One that is older still was in use by nobody, or its issuer gave no answer: the call that has it fetched waits, so
# that a key which was withdrawn in that time is not believed once more.
STALE_SECONDS = 3600.0
# Between two fetches for keys that are not in the set, and after one that failed.
LOOK_SECONDS = 60.0
# After one that failed, as long as no keys are known at all.
FAILED_SECONDS = 10.0

# What the names of the threads begin with that fetch.
THREADS = "keys of "

# How many calls of a process may wait for keys, of all issuers together. One that hangs holds each for seconds, and
# whoever sends a made-up token would hold them all; some stay free, so that everything else goes on.
_places = threading.BoundedSemaphore(SEATS)

_MAX_BYTES = 256 * 1024
_MAX_KEYS = 64
# What a key of a set is for: (kty, crv) -> algorithm. Everything else is left out, secrets (oct) above all.
_FORMS = {("RSA", None): "RS256", ("EC", "P-256"): "ES256", ("OKP", "Ed25519"): "EdDSA"}


class KeysUnavailable(Retryable):
    """The issuer has given us no keys yet, or is being asked for more, so that nobody knows whether a token is good."""


@dataclass(frozen=True)
class Key:
    """A public key, for one algorithm."""

    id: str | None
    algorithm: str
    public: PyJWK


class KeySet:
    """The keys of one issuer. `clock` gives seconds that never go back."""

    def __init__(self, issuer: Issuer, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._clock = clock
        self._keys: tuple[Key, ...] = ()
        self._fetched_at = self._tried_at = self._looked_at = -float("inf")
        # Held for moments, while it is looked whether somebody fetches, who sets the event when he is done.
        self._lock = threading.Lock()
        self._fetching: threading.Event | None = None

    def find(self, key_id: str | None, *, algorithm: str) -> Key | None:
        """The key of this id and algorithm; of a token that names none, the only one for the algorithm.

        None where no such key is known. Raises KeysUnavailable where no key of the issuer is. It waits for the issuer
        for IDENTITY_TIMEOUT_SECONDS at the most: where nothing of it is known, and of the others one call alone.
        """
        if self._known(key_id, algorithm) is not None:
            age = self._clock() - self._fetched_at
            fetching, is_ours = self._fetch_if(self._is_old)
            if fetching is not None and is_ours and age >= STALE_SECONDS:
                _wait(fetching)
            return self._known(key_id, algorithm)
        fetching, is_ours = self._fetch_if(lambda: self._known(key_id, algorithm) is None and self._may_look())
        if fetching is not None and (is_ours or not self._keys):
            _wait(fetching)
        # As long as nothing of it is known a good token can't be told from a bad one.
        if not self._keys:
            raise KeysUnavailable("no keys of this issuer are known")
        return self._known(key_id, algorithm)

    def _fetch_if(self, is_due: Callable[[], bool]) -> tuple[threading.Event | None, bool]:
        """Have the set fetched where that is due, and nobody is at it.

        Returns the event that is set at the end of the fetch that is under way, and whether it began here.
        """
        with self._lock:
            if self._fetching is not None:
                return self._fetching, False
            if not is_due():
                return None, False
            done, name = threading.Event(), f"{THREADS}{self._issuer.issuer}"
            # It must hold up neither a call nor the end of the process.
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

    def _known(self, key_id: str | None, algorithm: str) -> Key | None:
        found = [key for key in self._keys if key.algorithm == algorithm and key_id in (None, key.id)]
        return found[0] if len(found) == 1 else None

    def _may_look(self) -> bool:
        """Whether a key that is not known is looked for. A set's first fetch doesn't count as a look."""
        now = self._clock()
        if not self._keys:
            return now - self._tried_at >= FAILED_SECONDS
        if now - self._looked_at < LOOK_SECONDS:
            return False
        self._looked_at = now
        return True

    def _is_old(self) -> bool:
        now = self._clock()
        return now - self._fetched_at >= FRESH_SECONDS and now - self._tried_at >= LOOK_SECONDS

    def _fetch(self) -> None:
        self._tried_at = self._clock()
        try:
            answer = get_json(self._issuer.jwks_url, timeout=settings.IDENTITY_TIMEOUT_SECONDS, max_bytes=_MAX_BYTES)
        except (Retryable, Permanent) as error:
            logger.warning("the keys of %s can't be fetched: %s", self._issuer.issuer, error)
            return
        keys = tuple(_read_keys(answer, self._issuer.algorithms))
        if not keys:
            logger.warning("the JWKS of %s has no key that can be used", self._issuer.issuer)
            return
        self._keys, self._fetched_at = keys, self._clock()


def _wait(fetching: threading.Event) -> None:
    """Wait for the end of the fetch; not at all where no more calls may wait."""
    if not _places.acquire(blocking=False):
        return
    try:
        fetching.wait(settings.IDENTITY_TIMEOUT_SECONDS)
    finally:
        _places.release()


@functools.cache
def key_set(issuer: Issuer) -> KeySet:
    """This process's keys of the issuer."""
    return KeySet(issuer)


def _read_keys(answer: Any, algorithms: tuple[str, ...]) -> Iterator[Key]:
    """Those keys of a JWKS that sign, with one of the algorithms."""
    listed = answer.get("keys") if isinstance(answer, dict) else None
    for jwk in listed[:_MAX_KEYS] if isinstance(listed, list) else ():
        key = _read_key(jwk) if isinstance(jwk, dict) else None
        if key is not None and key.algorithm in algorithms:
            yield key


def _read_key(jwk: Mapping[str, Any]) -> Key | None:
    kind = str(jwk.get("kty"))
    algorithm = _FORMS.get((kind, None if kind == "RSA" else str(jwk.get("crv"))))
    key_id, operations = jwk.get("kid"), jwk.get("key_ops", ["verify"])
    is_meant = jwk.get("alg", algorithm) == algorithm and jwk.get("use", "sig") == "sig"
    if algorithm is None or not is_meant or not isinstance(operations, list) or "verify" not in operations:
        return None
    # What has a private part is public to everybody.
    if "d" in jwk or not (key_id is None or isinstance(key_id, str)):
        return None
    try:
        public = PyJWK(dict(jwk), algorithm)
        weakness = public.Algorithm.check_key_length(public.key)
    except (PyJWTError, ValueError, TypeError):
        return None
    return None if weakness else Key(key_id, algorithm, public)
