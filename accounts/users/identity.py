"""What a user's token says of its bearer: a JWT (RFC 7519) of an issuer that the settings name.

What it is checked with comes from our settings alone: an algorithm, a key or the address of one that stands in the
token (`alg`, `jwk`, `jku`, `x5u`) chooses nothing. Nothing is asked of the network but the issuer's JWKS.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import jwt
from django.conf import settings
from jwt.exceptions import PyJWTError

from accounts.models import MAX_SUBJECT, SubjectKind
from accounts.users import jwks
from config.settings.identities import Issuer


# Whose tokens are believed, by what they have as `iss`.
def find(name: str) -> Issuer | None:
    """The issuer of this `iss`, which is compared letter by letter; None for a stranger."""
    return next((issuer for issuer in settings.IDENTITY_ISSUERS if issuer.issuer == name), None)


# Beyond this nothing is parsed.
MAX_LENGTH = 8 * 1024
# How far the issuer's clock and ours may differ.
LEEWAY_SECONDS = 60
HIGHEST_FID = 2**63 - 1
# What a token tells of its subject's FID is believed no longer than this, however late its issuer has it expire.
_TOLD_SECONDS = 24 * 3600

_REQUIRED = ("exp", "iat", "iss", "aud", "sub")
# What a library raises for claims of other types than they should have, and for times that no calendar has.
_MALFORMED = (PyJWTError, RecursionError, ValueError, TypeError, OverflowError, OSError)


class BadToken(Exception):
    """The token proves nothing. The text says why, for our own eyes: callers are told nothing."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """That a token tells of its subject's FID, or that there is none: what it says counts from one time to another."""

    at: datetime
    until: datetime


@dataclass(frozen=True, kw_only=True)
class VerifiedIdentity:
    """Who a token proves its bearer to be."""

    issuer: str
    # Of a FID its decimal digits.
    subject: str
    kind: SubjectKind
    # The user's number in the social protocol, where the token shows it.
    fid: int | None
    # None where the token is of no kind that tells of a FID beside its subject, as Privy's access tokens.
    told: Told | None = None


def verify(token: str) -> VerifiedIdentity:
    """Who the token's bearer is. Raises BadToken, and KeysUnavailable where an issuer has given us no keys yet."""
    if len(token) > MAX_LENGTH or not token.isascii():
        raise BadToken("too long, or of other characters")
    try:
        unchecked = jwt.decode_complete(token, options={"verify_signature": False})
    except _MALFORMED as error:
        raise BadToken(str(error)) from error
    issuer = _issuer(unchecked["payload"])
    key = _key(issuer, unchecked["header"])
    try:
        claims = jwt.decode(
            token,
            key.public,
            algorithms=[key.algorithm],
            audience=issuer.audiences,
            issuer=issuer.issuer,
            leeway=LEEWAY_SECONDS,
            # Quick Auth's `sub` is a number, which the library refuses; `_subject` checks it.
            options={"require": list(_REQUIRED), "verify_sub": False},
        )
    except _MALFORMED as error:
        raise BadToken(str(error)) from error
    return _identity(issuer, claims)


def _issuer(claims: Any) -> Issuer:
    name = claims.get("iss")
    issuer = find(name) if isinstance(name, str) else None
    if issuer is None:
        raise BadToken("of an issuer that is not known")
    return issuer


def _key(issuer: Issuer, header: dict[str, Any]) -> jwks.Key:
    """The issuer's key by which the token claims to be signed; its header has been read, and nothing checked."""
    algorithm, key_id = header.get("alg"), header.get("kid")
    if algorithm not in issuer.algorithms:
        raise BadToken("an algorithm that is not the issuer's")
    key = jwks.key_set(issuer).find(key_id, algorithm=algorithm)
    if key is None:
        raise BadToken("no such key")
    return key


def _identity(issuer: Issuer, claims: dict[str, Any]) -> VerifiedIdentity:
    if issuer.subject == "fid":
        fid = _fid(claims["sub"])
        return VerifiedIdentity(issuer=issuer.issuer, subject=str(fid), kind=SubjectKind.FID, fid=fid)
    told = _told(claims) if issuer.links_accounts else None
    return VerifiedIdentity(
        issuer=issuer.issuer,
        subject=_subject(claims["sub"]),
        kind=SubjectKind.ID,
        fid=_linked_fid(claims) if told else None,
        told=told,
    )


def _subject(value: Any) -> str:
    # PostgreSQL keeps no NUL, and nobody sees what can't be printed.
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_SUBJECT or not value.isprintable():
        raise BadToken("a subject that is no id")
    return value


def _fid(value: Any) -> int:
    """A number as Quick Auth has it, or the same in digits, as RFC 7519 has it."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20 and value[0] != "0":
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= HIGHEST_FID:
        raise BadToken("a subject that is no FID")
    return value


def _told(claims: dict[str, Any]) -> Told | None:
    """The times of an identity token of Privy, which says of all its subject's accounts; None of an access token.

    What tells the two apart is what an identity token alone has: the accounts, and when the user was made (`cr`).
    """
    if "linked_accounts" not in claims and "cr" not in claims:
        return None
    try:
        at = int(claims["iat"])
        until = min(int(claims["exp"]) + LEEWAY_SECONDS, at + _TOLD_SECONDS)
        return Told(at=datetime.fromtimestamp(at, UTC), until=datetime.fromtimestamp(until, UTC))
    except _MALFORMED as error:
        raise BadToken("times that are none") from error


def _linked_fid(claims: dict[str, Any]) -> int | None:
    """The FID among a Privy user's accounts, which an identity token has as JSON in a text.

    None where there is none, and where there are several: nothing says which of them is meant.
    """
    text = claims.get("linked_accounts")
    if text is None:
        return None
    try:
        accounts = json.loads(text)
    except _MALFORMED as error:
        raise BadToken("linked accounts that can't be read") from error
    if not isinstance(accounts, list):
        raise BadToken("linked accounts that are no list")
    fids = [_fid(each.get("fid")) for each in accounts if isinstance(each, dict) and each.get("type") == "farcaster"]
    return fids[0] if len(fids) == 1 else None
