"""accounts/users/identity.py: claims of users' tokens and attempts to forge one, on views of this file."""

import base64
import json
import time
from collections.abc import Iterator
from datetime import timedelta

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.urls import path
from django.utils import timezone
from jwt.warnings import InsecureKeyLengthWarning
from rest_framework.permissions import AllowAny
from rest_framework.response import Response

from accounts.authentication import OptionalUserAuthentication
from accounts.keys import credentials
from accounts.models import Identity, Person, Scope
from accounts.permissions import UserAccess
from accounts.users import identity
from accounts.users.identity import InvalidTokenError
from config.api.views import LimitedView
from development.standins.http_server import Mode
from development.standins.issuer_server import LIFETIME_SECONDS, IssuerStandIn
from tests.rows.user_tokens import APP_ID, DOMAIN, as_user, bearer

pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__)]

SUBJECT = "did:privy:cm3np4u9j001rc8b73seqmqqk"


class CallerView(UserAccess, LimitedView):
    def get(self, request):
        """Return the caller."""
        return Response({"person": request.user.person_id, "fid": request.user.fid, "subject": request.auth.subject})


class OptionalCallerView(LimitedView):
    authentication_classes = [OptionalUserAuthentication]
    permission_classes = [AllowAny]

    def get(self, request):
        """Return the caller, if authenticated."""
        return Response({"person": None if request.user is None else request.user.person_id})


class MissingAuthenticationView(CallerView):
    authentication_classes = []


urlpatterns = [
    path("api/who", CallerView.as_view()),
    path("api/anybody", OptionalCallerView.as_view()),
    path("api/forgot", MissingAuthenticationView.as_view()),
]


@pytest.fixture(scope="module")
def untrusted_issuer() -> Iterator[IssuerStandIn]:
    """Run an issuer that is not trusted and never queried."""
    with IssuerStandIn() as running:
        yield running


def part(value) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def claims(issuer, **others):
    now = int(time.time())
    return {"iss": issuer.url, "aud": DOMAIN, "sub": 5, "iat": now, "exp": now + 600} | others


def without(issuer, name):
    return {key: value for key, value in claims(issuer).items() if key != name}


def signed(issuer, headers=None, **others):
    return issuer.sign(claims(issuer, **others), "RS256", headers=headers)


def public_pem(issuer) -> bytes:
    return issuer.rsa_key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def hmac_signed(issuer, secret: bytes, algorithm: str = "HS256") -> str:
    """Sign by hand, since the library refuses a key that looks like a public one."""
    message = f"{part({'alg': algorithm, 'kid': 'quick-auth-1', 'typ': 'JWT'})}.{part(claims(issuer))}"
    signature = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(message.encode(), secret)
    return f"{message}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def unsigned(issuer, algorithm) -> str:
    return f"{part({'alg': algorithm, 'kid': 'quick-auth-1', 'typ': 'JWT'})}.{part(claims(issuer))}."


def pointing_elsewhere(issuer, untrusted_issuer, header):
    """Sign with the untrusted issuer's key; the header contains that key or its URL."""
    elsewhere = {
        "jku": f"{untrusted_issuer.url}/.well-known/jwks.json",
        "x5u": f"{untrusted_issuer.url}/certificate.pem",
        "jwk": jwt.algorithms.RSAAlgorithm.to_jwk(untrusted_issuer.rsa_key.public_key(), as_dict=True),
        "x5c": ["MIIB"],
        "kid": f"{untrusted_issuer.url}/.well-known/jwks.json",
    }
    return untrusted_issuer.sign(claims(issuer), "RS256", headers={header: elsewhere[header]})


def tampered(issuer):
    head, _, signature = signed(issuer).split(".")
    return f"{head}.{part(claims(issuer, sub=6))}.{signature}"


def nested(issuer, depth):
    head, _, signature = signed(issuer).split(".")
    text = b'{"iss":' + b"[" * depth + b"]" * depth + b"}"
    return f"{head}.{base64.urlsafe_b64encode(text).rstrip(b'=').decode()}.{signature}"


def other_curve_of_claims(issuer):
    return issuer.sign(claims(issuer), "ES256", headers={"kid": "quick-auth-1"})


# Name -> the token, from the trusted issuer and an untrusted one.
ATTACKS = {
    "no algorithm": lambda ours, theirs: unsigned(ours, "none"),
    "no algorithm, otherwise written": lambda ours, theirs: unsigned(ours, "NoNe"),
    "no algorithm with a signature": lambda ours, theirs: unsigned(ours, "none") + "c2lnbmF0dXJl",
    "an empty algorithm": lambda ours, theirs: unsigned(ours, ""),
    "an algorithm that is a list": lambda ours, theirs: unsigned(ours, ["RS256"]),
    "a signature left out": lambda ours, theirs: signed(ours).rpartition(".")[0] + ".",
    "the public key as a secret": lambda ours, theirs: hmac_signed(ours, public_pem(ours)),
    "the public key as a secret under RS256": lambda ours, theirs: hmac_signed(ours, public_pem(ours), "RS256"),
    "an empty secret": lambda ours, theirs: hmac_signed(ours, b""),
    "an algorithm of another issuer": lambda ours, theirs: other_curve_of_claims(ours),
    "another algorithm of the same key": lambda ours, theirs: jwt.encode(
        claims(ours), ours.rsa_key, algorithm="PS256", headers={"kid": "quick-auth-1"}
    ),
    "another issuer": lambda ours, theirs: theirs.quick_auth(5, domain=DOMAIN),
    "another issuer in our issuer's key": lambda ours, theirs: signed(ours, iss="https://auth.example"),
    "an issuer with a slash": lambda ours, theirs: signed(ours, iss=ours.url + "/"),
    "no issuer": lambda ours, theirs: ours.sign(without(ours, "iss"), "RS256"),
    "another issuer's key with the same id": lambda ours, theirs: theirs.sign(claims(ours), "RS256"),
    "one of our issuers in the name of another": lambda ours, theirs: ours.sign(
        claims(ours, iss="privy.io", aud=APP_ID, sub=SUBJECT), "RS256"
    ),
    "another domain": lambda ours, theirs: ours.quick_auth(5, domain="other.example"),
    "a domain within ours": lambda ours, theirs: ours.quick_auth(5, domain=f"x.{DOMAIN}"),
    "no audience": lambda ours, theirs: ours.sign(without(ours, "aud"), "RS256"),
    "no audiences": lambda ours, theirs: signed(ours, aud=[]),
    "an audience that is a number": lambda ours, theirs: signed(ours, aud=5),
    "expired": lambda ours, theirs: signed(ours, iat=int(time.time()) - 3700, exp=int(time.time()) - 70),
    "no expiry": lambda ours, theirs: ours.sign(without(ours, "exp"), "RS256"),
    "an expiry of null": lambda ours, theirs: signed(ours, exp=None),
    "an endless expiry": lambda ours, theirs: signed(ours, exp=float("inf")),
    "an expiry that is a list": lambda ours, theirs: signed(ours, exp=[1]),
    "not valid yet": lambda ours, theirs: signed(ours, nbf=int(time.time()) + 120),
    "issued in the future": lambda ours, theirs: signed(ours, iat=int(time.time()) + 120, exp=int(time.time()) + 600),
    "no time of issue": lambda ours, theirs: ours.sign(without(ours, "iat"), "RS256"),
    "no subject": lambda ours, theirs: ours.sign(without(ours, "sub"), "RS256"),
    "a subject of null": lambda ours, theirs: signed(ours, sub=None),
    "a subject that is true": lambda ours, theirs: signed(ours, sub=True),
    "FID 0": lambda ours, theirs: signed(ours, sub=0),
    "a negative FID": lambda ours, theirs: signed(ours, sub=-5),
    "a FID that no row can hold": lambda ours, theirs: signed(ours, sub=2**63),
    "a broken FID": lambda ours, theirs: signed(ours, sub=5.5),
    "a FID with a zero before it": lambda ours, theirs: signed(ours, sub="05"),
    "a FID in other digits": lambda ours, theirs: signed(ours, sub="\u0665"),
    "a long FID": lambda ours, theirs: signed(ours, sub="9" * 5000),
    "a FID that is a list": lambda ours, theirs: signed(ours, sub=[5]),
    "an id where an FID is expected": lambda ours, theirs: signed(ours, sub=SUBJECT),
    "an id that is a number": lambda ours, theirs: ours.privy(5, app_id=APP_ID),
    "an empty id": lambda ours, theirs: ours.privy("", app_id=APP_ID),
    "an id with a NUL": lambda ours, theirs: ours.privy("did:privy:\0", app_id=APP_ID),
    "a long id": lambda ours, theirs: ours.privy("d" * 256, app_id=APP_ID),
    "another app": lambda ours, theirs: ours.privy(SUBJECT, app_id="other-app"),
    "an identity token of a time before all calendars": lambda ours, theirs: ours.privy(
        SUBJECT, app_id=APP_ID, fid=5, iat=-(10**18)
    ),
    "linked accounts that are no JSON": lambda ours, theirs: ours.privy(SUBJECT, app_id=APP_ID, linked_accounts="["),
    "linked accounts that are no list": lambda ours, theirs: ours.privy(SUBJECT, app_id=APP_ID, linked_accounts="{}"),
    "a linked FID that is a text": lambda ours, theirs: ours.privy(
        SUBJECT, app_id=APP_ID, linked_accounts='[{"type": "farcaster", "fid": "x"}]'
    ),
    "a key in the header's place": lambda ours, theirs: pointing_elsewhere(ours, theirs, "jku"),
    "a certificate in the header's place": lambda ours, theirs: pointing_elsewhere(ours, theirs, "x5u"),
    "a key in the header": lambda ours, theirs: pointing_elsewhere(ours, theirs, "jwk"),
    "a certificate in the header": lambda ours, theirs: pointing_elsewhere(ours, theirs, "x5c"),
    "a key id that is an address": lambda ours, theirs: pointing_elsewhere(ours, theirs, "kid"),
    "a key id that is a path": lambda ours, theirs: signed(ours, headers={"kid": "../../dev/null"}),
    "a critical extension": lambda ours, theirs: signed(ours, headers={"crit": ["exp"], "exp": 1}),
    "changed claims": lambda ours, theirs: tampered(ours),
    "claims of a hundred levels": lambda ours, theirs: nested(ours, 100),
    "claims of thousands of levels": lambda ours, theirs: nested(ours, 2800),
    "a megabyte": lambda ours, theirs: signed(ours, more="x" * 1_000_000),
    "a megabyte of dots": lambda ours, theirs: "." * 1_000_000,
    "a little too long": lambda ours, theirs: signed(ours, more="x" * 8192),
    "garbage": lambda ours, theirs: "garbage",
    "three parts of garbage": lambda ours, theirs: "a.b.c",
    "five parts": lambda ours, theirs: "a.b.c.d.e",
    "nothing": lambda ours, theirs: "",
    "letters beyond ASCII": lambda ours, theirs: "é.é.é",
    "two tokens": lambda ours, theirs: f"{signed(ours)} {signed(ours)}",
    "a partner key": lambda ours, theirs: credentials.issue_key("Acme", scopes=[Scope.READ]),
}


def get_with_token(client, token, address="/api/who"):
    return client.get(address, headers=bearer(token))


# Tokens of other issuers and algorithms, for which no key is fetched.
WITHOUT_FETCH = (
    "no algorithm",
    "an algorithm that is a list",
    "the public key as a secret",
    "another issuer",
    "a megabyte",
)


@pytest.mark.parametrize("attack", ATTACKS)
def test_it_refuses(client, issuer, untrusted_issuer, attack):
    token = ATTACKS[attack](issuer, untrusted_issuer)
    answer = get_with_token(client, token)
    assert (answer.status_code, answer.json()) == (401, {"error": "Unauthorized"})
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="users"'
    # A bad token is refused also where authentication is optional.
    assert get_with_token(client, token, "/api/anybody").status_code == 401
    assert {received.path for received in issuer.received} <= {"/.well-known/jwks.json", f"/v1/apps/{APP_ID}/jwks.json"}
    assert len(issuer.received) <= (0 if attack in WITHOUT_FETCH else 2)
    assert not untrusted_issuer.received
    assert not Person.objects.exists() and not Identity.objects.exists()


@pytest.mark.parametrize(
    "header", ["", "Bearer", "bearer ", "Basic YWRtaW46YWRtaW4=", "Token x", "Bearer, Bearer", "x" * 100_000]
)
def test_it_refuses_other_headers(client, issuer, header):
    answer = client.get("/api/who", headers={"Authorization": header})
    assert (answer.status_code, answer.json()) == (401, {"error": "Unauthorized"})
    assert not issuer.received


def test_it_refuses_a_good_token_without_its_scheme_or_in_another_header(client, issuer):
    token = issuer.quick_auth(5, domain=DOMAIN)
    for headers in ({"Authorization": token}, {"x-api-key": token}, {"Cookie": f"admin_session={token}"}):
        assert client.get("/api/who", headers=headers).status_code == 401


def test_a_view_that_requires_a_user_without_authentication_refuses_all_callers(client, issuer):
    answer = client.get("/api/forgot", headers=as_user(issuer, 5))
    assert (answer.status_code, answer.json()) == (401, {"error": "Unauthorized"})


def test_it_refuses_all_callers_if_no_issuer_is_set(client, issuer, settings):
    settings.IDENTITY_ISSUERS = ()
    assert client.get("/api/who", headers=as_user(issuer, 5)).status_code == 401
    assert not issuer.received


def test_it_logs_nothing_of_a_token(client, issuer, caplog):
    token = signed(issuer, aud="elsewhere")
    get_with_token(client, token)
    assert token not in caplog.text and token.split(".")[2] not in caplog.text


def test_it_returns_503_while_the_issuer_has_given_no_keys_yet(client, issuer):
    issuer.behave(Mode.FAIL)
    answer = client.get("/api/who", headers=as_user(issuer, 5))
    assert (answer.status_code, answer.json()) == (503, {"error": "Upstream is not available"})
    assert "Retry-After" in answer.headers


def test_calls_count_whose_token_can_not_be_checked(client, issuer, settings, no_calls):
    settings.RATE_LIMIT_PUBLIC = 2
    issuer.behave(Mode.FAIL)
    answers = [get_with_token(client, signed(issuer)) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [503, 503, 429]
    assert [answer.headers["RateLimit-Remaining"] for answer in answers] == ["1", "0", "0"]


def test_it_takes_a_token_that_is_expired_or_early_by_less_than_the_leeway(issuer):
    now = int(time.time())
    for times in ({"exp": now - 50}, {"iat": now + 50}, {"nbf": now + 50}):
        assert identity.verify_token(signed(issuer, **times)).fid == 5


def test_it_takes_a_fid_from_a_number_or_its_digits(issuer):
    highest = 2**63 - 1
    for sub in (5, "5", highest, str(highest)):
        verified = identity.verify_token(signed(issuer, sub=sub))
        assert (verified.issuer, verified.subject, verified.kind) == (issuer.url, str(sub), "fid")
        assert verified.fid == int(sub)


def test_it_takes_a_token_that_is_for_others_as_well(issuer):
    assert identity.verify_token(signed(issuer, aud=["other.example", DOMAIN])).fid == 5


def test_it_takes_the_id_of_privys_access_tokens_and_the_fid_of_its_identity_tokens(issuer):
    access = identity.verify_token(issuer.privy(SUBJECT, app_id=APP_ID))
    assert (access.issuer, access.subject, access.kind, access.fid) == ("privy.io", SUBJECT, "id", None)
    assert access.fid_claim is None
    shown = identity.verify_token(issuer.privy(SUBJECT, app_id=APP_ID, fid=5))
    assert (shown.subject, shown.kind, shown.fid) == (SUBJECT, "id", 5)
    assert timedelta(0) <= timezone.now() - shown.fid_claim.valid_from < timedelta(minutes=1)
    assert shown.fid_claim.valid_until - shown.fid_claim.valid_from == timedelta(
        seconds=LIFETIME_SECONDS + identity.LEEWAY_SECONDS
    )


@pytest.mark.parametrize("accounts", [{"linked_accounts": "[]"}, {"linked_accounts": None}, {"cr": "1"}])
def test_it_distinguishes_an_identity_token_without_accounts_from_an_access_token(issuer, accounts):
    verified = identity.verify_token(issuer.privy(SUBJECT, app_id=APP_ID, **accounts))
    assert verified.fid is None and verified.fid_claim is not None


def test_it_takes_no_fid_where_there_are_several_or_none(issuer):
    for accounts in ([], [{"type": "email", "address": "a@example.org"}], [{"type": "farcaster", "fid": 5}] * 2):
        verified = identity.verify_token(issuer.privy(SUBJECT, app_id=APP_ID, linked_accounts=json.dumps(accounts)))
        assert verified.fid is None and verified.fid_claim is not None


def test_it_reads_linked_accounts_of_no_other_issuer(issuer):
    verified = identity.verify_token(signed(issuer, linked_accounts='[{"type": "farcaster", "fid": 6}]'))
    assert (verified.fid, verified.fid_claim) == (5, None)


def test_it_lets_a_user_in(client, issuer):
    answer = client.get("/api/who", headers=as_user(issuer, 12345))
    person = Person.objects.get()
    assert (answer.status_code, answer.json()) == (200, {"person": person.pk, "fid": 12345, "subject": "12345"})
    assert client.get("/api/anybody", headers=as_user(issuer, 12345)).json() == {"person": person.pk}
    assert client.get("/api/anybody").json() == {"person": None}
    lower = {"Authorization": f"bearer  {issuer.quick_auth(12345, domain=DOMAIN)}"}
    assert client.get("/api/who", headers=lower).status_code == 200


def test_one_query_finds_a_known_user(client, issuer, django_assert_num_queries):
    headers = as_user(issuer, 5)
    client.get("/api/who", headers=headers)
    with django_assert_num_queries(1):
        assert client.get("/api/who", headers=headers).status_code == 200


def test_a_key_that_is_too_short_to_be_trusted_signs_nothing(issuer):
    short = rsa.generate_private_key(public_exponent=65537, key_size=1024)  # noqa: S505
    jwk = jwt.algorithms.RSAAlgorithm.to_jwk(short.public_key(), as_dict=True) | {"kid": "short", "alg": "RS256"}
    issuer.change = lambda received, body: {"keys": [*body["keys"], jwk]}
    with pytest.warns(InsecureKeyLengthWarning):
        token = jwt.encode(claims(issuer), short, algorithm="RS256", headers={"kid": "short"})
    with pytest.raises(InvalidTokenError):
        identity.verify_token(token)
    assert identity.verify_token(signed(issuer)).fid == 5
