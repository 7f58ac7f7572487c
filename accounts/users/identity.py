"""Verification of users' tokens: JWTs (RFC 7519) by issuers in the settings.

Only the settings choose how a token is verified. Algorithm, key and key URL inside the token (`alg`, `jwk`, `jku`,
`x5u`) select nothing. The only network request is the one for the issuer's JWKS; this service's own tokens need none.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import jwt
from django.conf import settings
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from accounts.models import MAX_SUBJECT, SubjectKind
from accounts.users import jwks, wallet_tokens
from config.environment.issuers import WALLET_ISSUER, Issuer

# Longer tokens are not parsed.
MAX_TOKEN_LENGTH = 8 * 1024
# Tolerated clock difference to the issuer.
LEEWAY_SECONDS = 60
HIGHEST_FID = 2**63 - 1
# A FID claim is valid for at most this long, however late the token expires.
_MAX_CLAIM_SECONDS = 24 * 3600

_REQUIRED = ("exp", "iat", "iss", "aud", "sub")
# The libraries raise these for claims with wrong types, and for dates outside their range.
_MALFORMED = (PyJWTError, RecursionError, ValueError, TypeError, OverflowError, OSError)


class InvalidTokenError(Exception):
    """Raised for a token that proves nothing. The text is for logs only, never for callers."""


@dataclass(frozen=True, kw_only=True)
class FidClaim:
    """Validity of a token's claim that its subject has a certain FID, or none."""

    valid_from: datetime
    valid_until: datetime


@dataclass(frozen=True, kw_only=True)
class VerifiedIdentity:
    """Identity that a verified token proves."""

    issuer: str
    # For a FID, its decimal digits.
    subject: str
    kind: SubjectKind
    # The user's number in the social protocol, if the token contains it.
    fid: int | None
    # None for tokens that contain no FID claim beside their subject, such as Privy's access tokens.
    fid_claim: FidClaim | None = None


def verify_token(token: str) -> VerifiedIdentity:
    """Return the identity that the token proves.

    Raises InvalidTokenError, and KeysUnavailableError while none of the issuer's keys have been fetched.
    """
    if len(token) > MAX_TOKEN_LENGTH or not token.isascii():
        raise InvalidTokenError("too long, or not ASCII")
    try:
        unchecked = jwt.decode_complete(token, options={"verify_signature": False})
    except _MALFORMED as error:
        raise InvalidTokenError(str(error)) from error
    issuer = _issuer(unchecked["payload"])
    key = _key(issuer, unchecked["header"])
    try:
        claims = jwt.decode(
            token,
            key,
            algorithms=[key.algorithm_name],
            audience=issuer.audiences,
            issuer=issuer.issuer,
            leeway=LEEWAY_SECONDS,
            # Quick Auth's `sub` is a number, which the library rejects; `_subject` and `_fid` validate it.
            options={"require": list(_REQUIRED), "verify_sub": False, "enforce_minimum_key_length": True},
        )
    except _MALFORMED as error:
        raise InvalidTokenError(str(error)) from error
    return _identity(issuer, claims)


def find_issuer(name: str) -> Issuer | None:
    """Return the trusted issuer with this `iss`, compared exactly; None if there is none."""
    return next((issuer for issuer in settings.IDENTITY_ISSUERS if issuer.issuer == name), None)


def _issuer(claims: Any) -> Issuer:
    name = claims.get("iss")
    issuer = find_issuer(name) if isinstance(name, str) else None
    if issuer is None:
        raise InvalidTokenError("unknown issuer")
    return issuer


def _key(issuer: Issuer, header: dict[str, Any]) -> PyJWK:
    """Return the issuer's key that the token's unverified header names."""
    algorithm, key_id = header.get("alg"), header.get("kid")
    if algorithm not in issuer.algorithms:
        raise InvalidTokenError("not an algorithm of the issuer")
    if issuer.issuer == WALLET_ISSUER:
        return wallet_tokens.signing_key()
    key = jwks.key_set(issuer).find_key(key_id, algorithm=algorithm)
    if key is None:
        raise InvalidTokenError("unknown key")
    return key


def _identity(issuer: Issuer, claims: dict[str, Any]) -> VerifiedIdentity:
    if issuer.subject == "fid":
        fid = _fid(claims["sub"])
        return VerifiedIdentity(issuer=issuer.issuer, subject=str(fid), kind=SubjectKind.FID, fid=fid)
    fid_claim = _read_fid_claim(claims) if issuer.links_accounts else None
    return VerifiedIdentity(
        issuer=issuer.issuer,
        subject=_subject(claims["sub"]),
        kind=SubjectKind.ID,
        fid=_linked_fid(claims) if fid_claim else None,
        fid_claim=fid_claim,
    )


def _subject(value: Any) -> str:
    # PostgreSQL stores no NUL, and unprintable characters can't be shown.
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_SUBJECT or not value.isprintable():
        raise InvalidTokenError("the subject is not an id")
    return value


def _fid(value: Any) -> int:
    """Return the FID from a number, as in Quick Auth, or from decimal digits, as in RFC 7519."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20 and value[0] != "0":
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= HIGHEST_FID:
        raise InvalidTokenError("the subject is not a FID")
    return value


def _read_fid_claim(claims: dict[str, Any]) -> FidClaim | None:
    """Return how long a Privy identity token's FID claim is valid; None for an access token.

    Only an identity token has the linked accounts and the user's creation time (`cr`).
    """
    if "linked_accounts" not in claims and "cr" not in claims:
        return None
    try:
        valid_from = int(claims["iat"])
        valid_until = min(int(claims["exp"]) + LEEWAY_SECONDS, valid_from + _MAX_CLAIM_SECONDS)
        return FidClaim(
            valid_from=datetime.fromtimestamp(valid_from, UTC), valid_until=datetime.fromtimestamp(valid_until, UTC)
        )
    except _MALFORMED as error:
        raise InvalidTokenError("invalid times") from error


def _linked_fid(claims: dict[str, Any]) -> int | None:
    """Return the FID among a Privy user's accounts, which an identity token has as a JSON string.

    None if there is no FID, or several: nothing in the token selects one of them.
    """
    text = claims.get("linked_accounts")
    if text is None:
        return None
    try:
        accounts = json.loads(text)
    except _MALFORMED as error:
        raise InvalidTokenError("linked accounts are not JSON") from error
    if not isinstance(accounts, list):
        raise InvalidTokenError("linked accounts are not a list")
    fids = [
        _fid(account.get("fid"))
        for account in accounts
        if isinstance(account, dict) and account.get("type") == "farcaster"
    ]
    return fids[0] if len(fids) == 1 else None
