"""accounts/users/jwks.py: fetching, caching and validation of issuers' keys."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event, Semaphore

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from accounts.users.jwks import COOLDOWN_SECONDS, REFRESH_SECONDS, RETRY_SECONDS, KeySet, KeysUnavailableError
from config.environment.issuers import ALGORITHMS, Issuer
from config.processes.concurrency_limits import SLOTS
from development.standins.http_server import Mode

KNOWN = "quick-auth-1"
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture
def keys(issuer) -> KeySet:
    return key_set(issuer)


def key_set(issuer, *, url=None):
    url = url or f"{issuer.url}/.well-known/jwks.json"
    return KeySet(Issuer(issuer=issuer.url, audiences=("x",), jwks_url=url, algorithms=ALGORITHMS, subject="fid"))


def advance(keys, seconds):
    """Make the cached set, and its cool-down, older by so many seconds."""
    keys.breaker.backoff_until -= seconds
    if keys.jwk_set_cache.jwk_set_with_timestamp:
        keys.jwk_set_cache.jwk_set_with_timestamp.timestamp -= seconds


def publish(issuer, *jwks):
    """Replace the keys of the issuer."""
    issuer.change = lambda requests_received, body: {"keys": list(jwks)}


def rsa_jwk(**others):
    public = RSA.public_key()
    return {**jwt.algorithms.RSAAlgorithm.to_jwk(public, as_dict=True), "kid": "new", "alg": "RS256"} | others


def test_it_fetches_when_the_first_key_is_wanted_and_remembers_all(keys, issuer):
    assert not issuer.received
    for _ in range(3):
        assert keys.find_key(KNOWN, algorithm="RS256").key_id == KNOWN
    assert [requests_received.path for requests_received in issuer.received] == ["/.well-known/jwks.json"]


def test_unknown_ids_cost_one_fetch_a_minute_however_many_they_are(keys, issuer):
    keys.find_key(KNOWN, algorithm="RS256")
    for number in range(100):
        assert keys.find_key(f"made-up-{number}", algorithm="RS256") is None
    assert len(issuer.received) == 2
    advance(keys, COOLDOWN_SECONDS - 1)
    assert keys.find_key("made-up", algorithm="RS256") is None
    assert len(issuer.received) == 2
    advance(keys, 1)
    for number in range(100):
        assert keys.find_key(f"made-up-{number}", algorithm="RS256") is None
    assert len(issuer.received) == 3


def test_unknown_ids_cost_one_fetch_a_minute_while_the_issuer_gives_no_answer(keys, issuer):
    keys.find_key(KNOWN, algorithm="RS256")
    issuer.behave(Mode.FAIL)
    for number in range(20):
        assert keys.find_key(f"made-up-{number}", algorithm="RS256") is None
        assert keys.find_key(KNOWN, algorithm="RS256").key_id == KNOWN
    assert len(issuer.received) == 2


def test_many_callers_at_once_cost_one_fetch(keys, issuer):
    issuer.behave(Mode.STALL, seconds=0.3)
    with ThreadPoolExecutor(SLOTS) as callers:
        found = list(callers.map(lambda _: keys.find_key(KNOWN, algorithm="RS256"), range(SLOTS)))
    assert [key.key_id for key in found] == [KNOWN] * SLOTS
    assert len(issuer.received) == 1


@pytest.fixture
def hang(issuer, settings):
    """Return a function that blocks the issuer's responses until an event is set; a semaphore counts its requests."""
    settings.IDENTITY_TIMEOUT_SECONDS = 10
    requests_received, goes_on = Semaphore(0), Event()

    def block(_):
        requests_received.release()
        goes_on.wait(30)

    def begin():
        issuer.refuse = block
        return requests_received, goes_on

    yield begin
    goes_on.set()


@pytest.mark.parametrize("wanted", [KNOWN, "made-up"])
def test_an_issuer_that_hangs_holds_some_threads_and_not_all(issuer, hang, wanted):
    sets = [key_set(issuer) for _ in range(SLOTS)]
    if wanted != KNOWN:
        for keys in sets:
            keys.find_key(KNOWN, algorithm="RS256")
    requests_received, goes_on = hang()
    with ThreadPoolExecutor(SLOTS) as callers:
        held = [callers.submit(keys.find_key, wanted, algorithm="RS256") for keys in sets]
        try:
            for _ in held:
                assert requests_received.acquire(timeout=10)
            if wanted == KNOWN:
                with pytest.raises(KeysUnavailableError):
                    sets[0].find_key(wanted, algorithm="RS256")
            else:
                assert sets[0].find_key(wanted, algorithm="RS256") is None
        finally:
            goes_on.set()
        assert [future.result() is not None for future in held] == [wanted == KNOWN] * SLOTS
    assert (sets[0].find_key(wanted, algorithm="RS256") is not None) == (wanted == KNOWN)


def test_a_key_that_the_issuer_has_added_is_found_at_once(keys, issuer):
    keys.find_key(KNOWN, algorithm="RS256")
    publish(issuer, rsa_jwk())
    assert keys.find_key("new", algorithm="RS256").key_id == "new"
    assert keys.find_key(KNOWN, algorithm="RS256") is None


def test_a_key_that_the_issuer_has_withdrawn_is_trusted_until_its_set_is_old(keys, issuer):
    keys.find_key(KNOWN, algorithm="RS256")
    publish(issuer, rsa_jwk())
    advance(keys, REFRESH_SECONDS - 60)
    assert keys.find_key(KNOWN, algorithm="RS256")
    assert len(issuer.received) == 1
    advance(keys, 60)
    assert keys.find_key(KNOWN, algorithm="RS256") is None
    assert keys.find_key("new", algorithm="RS256").key_id == "new"


def test_only_the_request_that_refreshes_waits_while_the_keys_are_known(keys, issuer, hang):
    keys.find_key(KNOWN, algorithm="RS256")
    requests_received, goes_on = hang()
    advance(keys, REFRESH_SECONDS)
    with ThreadPoolExecutor(9) as callers:
        first = callers.submit(keys.find_key, KNOWN, algorithm="RS256")
        assert requests_received.acquire(timeout=10)
        others = [callers.submit(keys.find_key, KNOWN, algorithm="RS256") for _ in range(8)]
        assert [other.result(timeout=10).key_id for other in others] == [KNOWN] * 8
        goes_on.set()
        assert first.result(timeout=10).key_id == KNOWN
    assert len(issuer.received) == 2


def test_an_issuer_that_hangs_makes_one_caller_a_minute_wait_for_a_key_that_is_unknown(keys, issuer, hang):
    keys.find_key(KNOWN, algorithm="RS256")
    requests_received, goes_on = hang()
    with ThreadPoolExecutor(9) as callers:
        first = callers.submit(keys.find_key, "made-up", algorithm="RS256")
        assert requests_received.acquire(timeout=10)
        others = [callers.submit(keys.find_key, f"made-up-{number}", algorithm="RS256") for number in range(8)]
        assert {other.result(timeout=10) for other in others} == {None}
        assert keys.find_key(KNOWN, algorithm="RS256").key_id == KNOWN
        # A minute later the fetch may still be under way: no second one begins.
        advance(keys, COOLDOWN_SECONDS)
        assert keys.find_key("made-up", algorithm="RS256") is None
        assert len(issuer.received) == 2
        goes_on.set()
        assert first.result(timeout=10) is None


@pytest.mark.parametrize(
    "mode", [Mode.FAIL, Mode.RATE_LIMIT, Mode.WRONG_KEY, Mode.NOT_JSON, Mode.WRONG_SHAPE, Mode.HUGE, Mode.CUT_SHORT]
)
def test_what_is_known_stays_where_the_issuer_answers_badly(keys, issuer, mode):
    keys.find_key(KNOWN, algorithm="RS256")
    issuer.behave(mode)
    advance(keys, 100 * REFRESH_SECONDS)
    for _ in range(3):
        assert keys.find_key(KNOWN, algorithm="RS256").key_id == KNOWN
    assert len(issuer.received) == 2
    advance(keys, COOLDOWN_SECONDS)
    assert keys.find_key(KNOWN, algorithm="RS256").key_id == KNOWN
    assert len(issuer.received) == 3


def test_what_is_known_stays_where_the_issuer_answers_with_no_keys(keys, issuer):
    keys.find_key(KNOWN, algorithm="RS256")
    publish(issuer)
    advance(keys, REFRESH_SECONDS)
    assert keys.find_key(KNOWN, algorithm="RS256").key_id == KNOWN


def test_no_caller_waits_for_an_issuer_that_stalls_longer_than_the_timeout(keys, issuer, settings):
    settings.IDENTITY_TIMEOUT_SECONDS = 0.1
    issuer.behave(Mode.STALL, seconds=30)
    # A caller that waits longer gets the key.
    with pytest.raises(KeysUnavailableError):
        keys.find_key(KNOWN, algorithm="RS256")


def test_an_issuer_that_has_never_answered_is_queried_again_after_the_retry_delay(keys, issuer):
    issuer.behave(Mode.FAIL)
    for _ in range(3):
        with pytest.raises(KeysUnavailableError):
            keys.find_key(KNOWN, algorithm="RS256")
    assert len(issuer.received) == 1
    issuer.behave(Mode.OK)
    advance(keys, RETRY_SECONDS)
    assert keys.find_key(KNOWN, algorithm="RS256").key_id == KNOWN


def test_an_issuer_that_refuses_connections_has_no_keys(issuer, unused_port):
    keys = key_set(issuer, url=f"http://127.0.0.1:{unused_port}/jwks.json")
    with pytest.raises(KeysUnavailableError):
        keys.find_key(KNOWN, algorithm="RS256")


def test_a_redirection_is_not_followed(keys, issuer):
    issuer.refuse = lambda requests_received: 302
    with pytest.raises(KeysUnavailableError):
        keys.find_key(KNOWN, algorithm="RS256")
    assert len(issuer.received) == 1


def test_keys_of_every_kind_are_found_only_for_their_algorithm(keys, issuer):
    edwards = jwt.algorithms.OKPAlgorithm.to_jwk(ed25519.Ed25519PrivateKey.generate().public_key(), as_dict=True)
    elliptic = jwt.algorithms.ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP256R1()).public_key(), as_dict=True)
    # They may even have the same id.
    publish(issuer, rsa_jwk(kid="a"), edwards | {"kid": "a"}, elliptic | {"kid": "a"})
    for algorithm in ALGORITHMS:
        assert keys.find_key("a", algorithm=algorithm).algorithm_name == algorithm
        assert keys.find_key(None, algorithm=algorithm).algorithm_name == algorithm


def test_a_token_without_an_id_gets_no_key_where_there_are_several(keys, issuer):
    publish(issuer, rsa_jwk(kid="a"), rsa_jwk(kid="b"))
    assert keys.find_key(None, algorithm="RS256") is None
    assert keys.find_key("b", algorithm="RS256").key_id == "b"


def private_jwk():
    return jwt.algorithms.RSAAlgorithm.to_jwk(RSA, as_dict=True) | {"kid": "bad", "key_ops": ["sign", "verify"]}


def curve_jwk(curve):
    return jwt.algorithms.ECAlgorithm.to_jwk(ec.generate_private_key(curve()).public_key(), as_dict=True)


BAD_KEYS = {
    "for encryption": lambda: rsa_jwk(use="enc"),
    "for signing alone": lambda: rsa_jwk(key_ops=["sign"]),
    "for operations that are no list": lambda: rsa_jwk(key_ops="verify"),
    "for another algorithm": lambda: rsa_jwk(alg="RS512"),
    "for none": lambda: rsa_jwk(alg="none"),
    "for a secret's algorithm": lambda: rsa_jwk(alg="HS256"),
    "a secret": lambda: {"kty": "oct", "k": "c2VjcmV0", "alg": "HS256"},
    "a secret in the name of RS256": lambda: {"kty": "oct", "k": "c2VjcmV0", "alg": "RS256"},
    "with its private part": private_jwk,
    "another curve": lambda: curve_jwk(ec.SECP384R1),
    "Bitcoin's curve": lambda: curve_jwk(ec.SECP256K1),
    "without its numbers": lambda: {"kty": "RSA", "alg": "RS256"},
    "with numbers that are none": lambda: rsa_jwk(n="!", e=[1]),
    "of no kind": lambda: {"n": "x"},
    "of a kind that is a list": lambda: rsa_jwk(kty=["RSA"]),
    "of a curve that is a list": lambda: curve_jwk(ec.SECP256R1) | {"crv": ["P-256"]},
    "no object": lambda: "bad",
    "with an id that is a number": lambda: rsa_jwk(kid=5),
}


@pytest.mark.parametrize("kind", BAD_KEYS)
def test_it_leaves_a_key_out_that_is(keys, issuer, kind):
    bad = BAD_KEYS[kind]()
    bad = bad | {"kid": bad.get("kid") if isinstance(bad.get("kid"), int) else "bad"} if isinstance(bad, dict) else bad
    publish(issuer, bad, rsa_jwk(kid="good"))
    assert keys.find_key("good", algorithm="RS256").key_id == "good"
    for algorithm in ALGORITHMS:
        assert keys.find_key("bad", algorithm=algorithm) is None


def test_it_reads_no_set_that_is_larger_than_any(keys, issuer):
    publish(issuer, rsa_jwk(x5c=["x" * 300_000]))
    with pytest.raises(KeysUnavailableError):
        keys.find_key("new", algorithm="RS256")


def test_it_reads_a_set_of_thousands_no_further_than_it_has_to(keys, issuer):
    publish(issuer, *[{"kty": "RSA", "kid": str(number)} for number in range(2000)], rsa_jwk(kid="last"))
    with pytest.raises(KeysUnavailableError):
        keys.find_key("last", algorithm="RS256")
