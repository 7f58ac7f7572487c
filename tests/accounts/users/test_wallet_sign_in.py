"""POST /api/sign-in and /api/sign-in/nonce: sign-ins by keys, and attempts to sign in as another wallet."""

import json
import time
from datetime import timedelta
from functools import partial

import jwt
import pytest
from django.test import Client
from django.utils import timezone

from accounts import restored_callers, tasks
from accounts.models import Identity, Person, SignInNonce
from accounts.users import wallet_tokens
from accounts.users.sign_in_messages import InvalidMessageError, parse_message
from config.environment.issuers import read_issuers
from development.standins.issuer_server import IssuerStandIn
from tests.accounts.users.wallets import (
    KEY,
    OTHER_KEY,
    SITE,
    instant,
    message,
    new_nonce,
    post_nonce,
    post_sign_in,
    sign,
    upper_s,
)
from tests.processes.at_once import call_at_once
from tests.rows.launch_requests import pretoken
from tests.rows.user_tokens import DOMAIN, as_user, bearer

SIGN_IN, NONCE, PENDING = "/api/sign-in", "/api/sign-in/nonce", "/api/pretoken/pending"
APP = "https://app.example:8443"
UNAUTHORIZED = (401, {"error": "Unauthorized"})
GRAMMAR = "must be a message as EIP-4361 specifies it"
FOREIGN = "must have the domain of this service, or of a page that may call it"
OTHER_URI = "must have a URI of its own domain"
OLD = "must be issued within the last 10 minutes"
NO_CHAIN = "must have the id of an EVM chain that this service reads"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def sign_in_on(issuer: IssuerStandIn, settings, forget_chains, no_calls):
    """Turn sign-in on for SITE and a page at APP, with a chain whose node refuses connections, beside other issuers."""
    settings.SITE_URL, settings.CORS_ALLOWED_ORIGINS = SITE, (APP,)
    settings.IDENTITY_ISSUERS += read_issuers({"WALLET_SIGN_IN": "true"}, site_url=SITE)
    settings.RPC_URLS, settings.RPC_ATTEMPTS = {8453: ("http://127.0.0.1:9",), 101: ("http://127.0.0.1:9",)}, 1
    settings.RATE_LIMIT_SIGN_IN = 1_000
    forget_chains()


def base_message(**changes):
    return message(**{"chain_id": 8453} | changes)


def create(client, headers, body):
    """Create a pretoken."""
    return client.post("/api/pretoken/v4", json.dumps(body), content_type="application/json", headers=headers)


def signed_in(client, *, key=KEY, **changes):
    """Sign in and return the token."""
    text = base_message(nonce=new_nonce(client), address=key.address, **changes)
    answer = post_sign_in(client, text, sign(text, key))
    assert answer.status_code == 200, answer.content
    return answer.json()["token"]


def test_a_key_signs_in_and_its_token_is_a_users(client):
    nonce = post_nonce(client)
    assert (nonce.status_code, set(nonce.json())) == (200, {"nonce", "expiresAt"})
    text = base_message(nonce=nonce.json()["nonce"])
    answer = post_sign_in(client, text, sign(text))
    assert (answer.status_code, set(answer.json())) == (200, {"success", "token", "expiresAt"})
    assert {nonce.headers["Cache-Control"], answer.headers["Cache-Control"]} == {"no-store"}
    # The first request with the token stores the user.
    assert not Person.objects.exists()
    headers = bearer(answer.json()["token"])
    assert [client.get(PENDING, headers=headers).status_code for _ in range(2)] == [200, 200]
    identity = Identity.objects.get()
    assert (identity.issuer, identity.subject, identity.kind) == ("wallet", KEY.address, "id")
    assert identity.person.fid is None


@pytest.mark.parametrize(
    "changes",
    [
        {"statement": "I accept the terms: https://launch.example/terms (v2), it's fine!"},
        {"domain": f"{SITE}"},
        {"uri": f"{SITE}/sign-in?next=/tokens#top"},
        {"domain": "app.example:8443", "uri": f"{APP}/"},
        {"issued_at": partial(instant, -590)},
        {"issued_at": partial(instant, 50)},
        {"issued_at": lambda: instant()[:19] + "+00:00"},
        {
            "expires_at": partial(instant, 60),
            "valid_from": partial(instant, -60),
            "request_id": "a:b",
            "resources": ["ipfs://x", "a:"],
        },
        {"valid_from": partial(instant, 50)},
        {"resources": []},
        {"request_id": ""},
    ],
)
def test_it_takes_messages_with_all_that_the_grammar_has(client, changes):
    assert client.get(PENDING, headers=bearer(signed_in(client, **changes))).status_code == 200


MARKUP = "<script>alert(1)</script>"
REFUSED_MESSAGES = {
    **{
        f"markup as {field}": (GRAMMAR, {field: MARKUP})
        for field in ("domain", "address", "statement", "uri", "chain_id", "nonce", "issued_at", "request_id")
    },
    "markup as a resource": (GRAMMAR, {"resources": [MARKUP]}),
    "another domain": (FOREIGN, {"domain": "evil.example", "uri": "https://evil.example"}),
    "a domain below ours": (FOREIGN, {"domain": "x.launch.example"}),
    "a domain above ours": (FOREIGN, {"domain": "example"}),
    "our domain at another port": (FOREIGN, {"domain": "launch.example:8443"}),
    "our domain in capitals": (FOREIGN, {"domain": "LAUNCH.example"}),
    "our domain in letters that look alike": (GRAMMAR, {"domain": "launch.example ".replace("a", "\u0430")}),
    "a user before our domain": (FOREIGN, {"domain": "evil@launch.example"}),
    "another scheme": (FOREIGN, {"domain": "http://launch.example"}),
    "the page's scheme without its port": (FOREIGN, {"domain": "app.example"}),
    "another site's URI": (OTHER_URI, {"uri": "https://evil.example"}),
    "the other page's URI": (OTHER_URI, {"uri": APP}),
    "a URI that begins like ours": (OTHER_URI, {"uri": f"{SITE}.evil.example"}),
    "a URI with our domain as a user": (OTHER_URI, {"uri": f"{SITE}@evil.example"}),
    "a URI without a host": (OTHER_URI, {"uri": "launch.example:/"}),
    "an address in small letters": (
        "must have its address with the capitals of EIP-55",
        {"address": KEY.address.lower()},
    ),
    "an address of another length": (GRAMMAR, {"address": KEY.address + "00"}),
    "a chain without a node": (NO_CHAIN, {"chain_id": 1}),
    "a chain that nobody knows": (NO_CHAIN, {"chain_id": 10**17}),
    "Solana": (NO_CHAIN, {"chain_id": 101}),
    "chain 0": (NO_CHAIN, {"chain_id": 0}),
    "a chain below 0": (GRAMMAR, {"chain_id": -1}),
    "another version": (GRAMMAR, {"version": 2}),
    "a short nonce": (GRAMMAR, {"nonce": "0" * 7}),
    "issued long ago": (OLD, {"issued_at": "2020-01-01T00:00:00Z"}),
    "issued eleven minutes ago": (OLD, {"issued_at": partial(instant, -660)}),
    "issued in the future": (OLD, {"issued_at": "2999-01-01T00:00:00Z"}),
    "issued before all calendars": (OLD, {"issued_at": "0001-01-01T00:00:00+14:00"}),
    "issued on no day": ("must have times that exist", {"issued_at": "2026-02-30T00:00:00Z"}),
    "issued in a zone that is none": ("must have times that exist", {"issued_at": "2026-02-28T00:00:00+99:00"}),
    "issued at a time without a zone": (GRAMMAR, {"issued_at": "2026-02-28T00:00:00"}),
    "expired": ("must not be expired", {"expires_at": partial(instant, -1)}),
    "expired by a zone": ("must not be expired", {"expires_at": lambda: instant(3600)[:-1] + "+02:00"}),
    "not valid yet": ("must be valid now", {"valid_from": "2999-01-01T00:00:00Z"}),
    "a second line in the statement": (GRAMMAR, {"statement": "a\nURI: https://evil.example"}),
    "two statements": (GRAMMAR, {"statement": "a\n\nb"}),
    "an empty statement": (GRAMMAR, {"statement": ""}),
    "a line after the end": (GRAMMAR, {"request_id": "a\nNonce: 00000000"}),
    "a line feed at the end": (GRAMMAR, {"request_id": "a\n"}),
    "lines that end as on Windows": (GRAMMAR, {"nonce": "0" * 32 + "\r"}),
    "digits of another script": (GRAMMAR, {"chain_id": "\u0668\u0664\u0665\u0663"}),
}


@pytest.mark.parametrize("attack", REFUSED_MESSAGES)
def test_it_refuses_a_signed_message(client, attack):
    rule, changes = REFUSED_MESSAGES[attack]
    nonce = new_nonce(client)
    text = base_message(**{"nonce": nonce} | changes)
    answer = post_sign_in(client, text, sign(text))
    details = [{"field": "message", "message": rule}]
    assert (answer.status_code, answer.json()) == (400, {"error": f"message {rule}", "details": details})
    # It signs nobody in, and uses nothing up.
    assert SignInNonce.objects.filter(nonce=nonce).exists() and not Person.objects.exists()


@pytest.mark.parametrize(
    "text", [" " * 4_000, "a" * 4_000, "a.b-c+" * 600 + "://", base_message(statement="a " * 1_900)]
)
def test_no_message_takes_long_to_refuse(text):
    begun = time.process_time()
    with pytest.raises(InvalidMessageError):
        parse_message(text + "<")
    assert time.process_time() - begun < 0.1


# Name -> the nonce's message, and a signature that proves nothing.
FORGERIES = {
    "another key": lambda text: sign(text, OTHER_KEY),
    "a signature of another message": lambda text: sign(text + " "),
    "the upper s": lambda text: upper_s(sign(text)),
    "the other v": lambda text: sign(text)[:64] + bytes([55 - sign(text)[64]]),
    "v from 0": lambda text: sign(text)[:64] + bytes([sign(text)[64] - 27]),
    "v with a chain": lambda text: sign(text)[:64] + bytes([sign(text)[64] + 8]),
    "a compact signature": lambda text: sign(text)[:64],
    "a byte more": lambda text: sign(text) + b"\0",
    "zeros": lambda text: bytes(65),
    "r of 0": lambda text: bytes(32) + sign(text)[32:],
    "s of 0": lambda text: sign(text)[:32] + bytes(32) + sign(text)[64:],
    "numbers above the order": lambda text: b"\xff" * 64 + b"\x1b",
    "nothing": lambda text: b"",
    "five thousand bytes": lambda text: b"\1" * 5_000,
}


@pytest.mark.parametrize("attack", FORGERIES)
def test_no_forged_signature_signs_in(client, launchpad, settings, attack):
    text = message(nonce=new_nonce(client))
    answer = post_sign_in(client, text, FORGERIES[attack](text))
    assert (answer.status_code, answer.json()) == UNAUTHORIZED
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="users"'
    # The nonce is used up: the true signature comes too late.
    assert post_sign_in(client, text, sign(text)).status_code == 401


def test_an_altered_message_signs_in_nobody(client, launchpad):
    first = message(nonce=new_nonce(client))
    for changes in ({"address": OTHER_KEY.address}, {"statement": "more"}, {"uri": f"{SITE}/"}, {"request_id": "1"}):
        nonce = new_nonce(client)
        text = message(nonce=nonce)
        assert post_sign_in(client, message(**{"nonce": nonce} | changes), sign(text)).status_code == 401
    assert post_sign_in(client, first, sign(first)).status_code == 200


def test_the_zero_address_signs_in_nobody(client, launchpad):
    # `ecrecover` returns it for a signature that is none.
    text = message(nonce=new_nonce(client), address="0x" + "00" * 20)
    assert post_sign_in(client, text, bytes(64) + b"\x1b").status_code == 401


def test_a_nonce_signs_in_once(client):
    text = base_message(nonce=new_nonce(client))
    assert [post_sign_in(client, text, sign(text)).status_code for _ in range(3)] == [200, 401, 401]
    # Neither another wallet nor another message can use it again.
    text = base_message(nonce=text.partition("Nonce: ")[2][:32], address=OTHER_KEY.address)
    assert post_sign_in(client, text, sign(text, OTHER_KEY)).status_code == 401


@pytest.mark.parametrize("nonce", ["0" * 32, "a" * 8, "A" * 64])
def test_a_nonce_of_the_caller_signs_in_nobody(client, nonce):
    text = base_message(nonce=nonce)
    assert post_sign_in(client, text, sign(text)).status_code == 401


def test_a_nonce_expires_and_is_pruned(client):
    text, kept = base_message(nonce=new_nonce(client)), new_nonce(client)
    SignInNonce.objects.exclude(nonce=kept).update(expires_at=timezone.now())
    assert post_sign_in(client, text, sign(text)).status_code == 401
    tasks.prune_sessions()
    assert SignInNonce.objects.get().nonce == kept


def test_a_nonce_is_not_usable_again_after_a_restore(client):
    text = base_message(nonce=new_nonce(client))
    assert list(restored_callers.end_sessions())
    assert post_sign_in(client, text, sign(text)).status_code == 401


@pytest.mark.django_db(transaction=True)
def test_one_of_twenty_concurrent_requests_wins(client):
    text = base_message(nonce=new_nonce(client))
    answers = call_at_once([lambda: post_sign_in(Client(), text, sign(text))] * 20)
    assert sorted(answer.status_code for answer in answers) == [200] + [401] * 19


def test_an_address_may_create_and_try_few(client, settings, no_calls):
    settings.RATE_LIMIT_SIGN_IN = 3
    answers = [post_nonce(client), client.post(SIGN_IN), post_nonce(client), post_nonce(client)]
    assert [answer.status_code for answer in answers] == [200, 415, 200, 429]
    assert SignInNonce.objects.count() == 2
    assert client.post(SIGN_IN).status_code == 429


def test_without_redis_nobody_signs_in(client, own_server):
    own_server.stop()
    assert post_nonce(client).status_code == 503
    assert not SignInNonce.objects.exists()


def test_off_is_404_before_the_body_is_parsed(client, settings):
    token = signed_in(client)
    settings.IDENTITY_ISSUERS = settings.IDENTITY_ISSUERS[:-1]
    for path in (SIGN_IN, NONCE):
        answer = client.post(path, "{", content_type="application/json")
        error = "Sign-in with a wallet is off on this installation"
        assert (answer.status_code, answer.json()) == (404, {"error": error})
    # Earlier tokens now have an unknown issuer.
    assert client.get(PENDING, headers=bearer(token)).status_code == 401


def test_a_bad_token_does_not_prevent_a_sign_in(client):
    text = base_message(nonce=new_nonce(client))
    assert post_sign_in(client, text, sign(text), Authorization="Bearer expired").status_code == 200


def claims(**changes):
    now = int(time.time())
    return {"iss": "wallet", "aud": SITE, "sub": KEY.address, "iat": now, "exp": now + 60} | changes


def own(**changes):
    return jwt.encode(claims(**changes), wallet_tokens.signing_key(), algorithm="HS256")


# Name -> a token, made with the other issuer's keys or ours.
FORGED_TOKENS = {
    "another secret": lambda other: jwt.encode(claims(), "x" * 32, algorithm="HS256"),
    "no algorithm": lambda other: jwt.encode(claims(), None, algorithm="none"),
    "another algorithm of our key": lambda other: jwt.encode(
        claims(), wallet_tokens.signing_key().key * 2, algorithm="HS512"
    ),
    "another issuer's key": lambda other: other.sign(claims(), "RS256"),
    "our key for another issuer": lambda other: own(iss=other.url, aud=DOMAIN, sub=5),
    "another installation's audience": lambda other: own(aud="https://elsewhere.example"),
    "expired": lambda other: own(iat=int(time.time()) - 3_700, exp=int(time.time()) - 100),
    "issued in the future": lambda other: own(iat=int(time.time()) + 120),
    "a subject that is a number": lambda other: own(sub=5),
}


@pytest.mark.parametrize("attack", FORGED_TOKENS)
def test_no_forged_token_is_a_wallets(client, issuer, attack):
    assert client.get(PENDING, headers=bearer(own())).status_code == 200
    token = FORGED_TOKENS[attack](issuer)
    assert client.get(PENDING, headers=bearer(token)).status_code == 401


def test_a_new_secret_ends_all_tokens(client, settings):
    token = signed_in(client)
    settings.SECRET_KEY = "y" * 50
    assert client.get(PENDING, headers=bearer(token)).status_code == 401


def test_a_token_lasts_an_hour(client):
    token = jwt.decode(signed_in(client), options={"verify_signature": False})
    assert token["exp"] - token["iat"] == timedelta(hours=1).total_seconds()


def test_users_of_other_issuers_are_others(client, issuer):
    for headers in (bearer(signed_in(client)), bearer(signed_in(client, key=OTHER_KEY)), as_user(issuer, 5)):
        assert client.get(PENDING, headers=headers).status_code == 200
    assert Person.objects.count() == 3


def test_a_wallet_creates_and_deletes_pretokens(client, launchpad):
    text = message(nonce=new_nonce(client))
    headers = bearer(post_sign_in(client, text, sign(text)).json()["token"])
    created = create(client, headers, pretoken())
    assert created.status_code == 200, created.content
    assert [row["id"] for row in client.get(PENDING, headers=headers).json()["pendingPretokens"]] == [
        created.json()["id"]
    ]
    text = message(nonce=new_nonce(client), address=OTHER_KEY.address)
    other = bearer(post_sign_in(client, text, sign(text, OTHER_KEY)).json()["token"])
    path = f"/api/pretoken/{created.json()['id']}"
    assert [client.delete(path, headers=each).status_code for each in (other, headers)] == [404, 200]


def test_a_wallet_may_name_no_fid(client, launchpad):
    text = message(nonce=new_nonce(client))
    headers = bearer(post_sign_in(client, text, sign(text)).json()["token"])
    body = pretoken(settings={"social_context": {"platform": "farcaster", "id": "8"}})
    answer = create(client, headers, body)
    assert answer.status_code == 400 and answer.json()["details"][0]["field"] == "token_settings.social_context.id"
