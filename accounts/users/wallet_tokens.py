"""This service's own user tokens (JWT), and the nonces that a sign-in with a wallet uses up."""

import base64
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

import jwt
from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac
from jwt import PyJWK

from accounts.models import SignInNonce
from accounts.users.sign_in_messages import MAX_AGE
from config.environment.issuers import WALLET_ISSUER

# No token is revoked before its expiry.
LIFETIME = timedelta(hours=1)
# Only the algorithm of this key is accepted for our tokens, and only for them.
_ALGORITHM = "HS256"


@dataclass(frozen=True)
class IssuedToken:
    """User token, with the time from which it is invalid."""

    token: str
    expires_at: datetime


def issue_nonce() -> SignInNonce:
    """Store a nonce for one sign-in: 128 random bits in hex."""
    return SignInNonce.objects.create(nonce=secrets.token_hex(16), expires_at=timezone.now() + MAX_AGE)


def usable_nonces(nonce: str) -> QuerySet[SignInNonce]:
    """Return the nonce's row, if it is neither used nor expired. Its deletion succeeds for one of several requests."""
    return SignInNonce.objects.filter(nonce=nonce, expires_at__gt=timezone.now())


def prune_expired_nonces() -> int:
    """Delete expired nonces and return their number."""
    return SignInNonce.objects.filter(expires_at__lte=timezone.now()).delete()[0]


def issue_token(subject: str) -> IssuedToken:
    """Sign a token for a wallet."""
    now = timezone.now().replace(microsecond=0)
    expires_at = now + LIFETIME
    claims = {"iss": WALLET_ISSUER, "aud": settings.SITE_URL, "sub": subject, "iat": now, "exp": expires_at}
    return IssuedToken(jwt.encode(claims, signing_key(), algorithm=_ALGORITHM), expires_at)


def signing_key() -> PyJWK:
    """Return the key that signs our tokens, derived from SECRET_KEY: a new SECRET_KEY ends all of them."""
    secret = salted_hmac("accounts.users.wallet_tokens", "", algorithm="sha256").digest()
    return PyJWK({"kty": "oct", "alg": _ALGORITHM, "k": base64.urlsafe_b64encode(secret).decode().rstrip("=")})
