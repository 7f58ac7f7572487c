"""Administrators, who see what nobody else does: by a token whose identity is on their list, or by a session's cookie.

A session begins with such a token or with the password of an active staff account, and its code where the account has
a second factor. The cookie opens eyes and nothing else: no endpoint but the one that ends sessions acts on it.
"""

import hashlib
import hmac
import logging
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from axes.handlers.proxy import AxesProxyHandler
from axes.helpers import get_credentials
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.core.signing import BadSignature, Signer
from django.http import HttpRequest
from django.utils import timezone
from rest_framework.request import Request

from accounts.models import Administrator, AdminSession
from accounts.operators import second_factor
from accounts.operators.lockout import address_of
from accounts.operators.second_factor import TooManyCodes, WrongCode
from accounts.users import identity
from accounts.users.identity import VerifiedIdentity

logger = logging.getLogger(__name__)

COOKIE = "admin_session"
# Longer than any that is made; nobody signs or digests what a stranger has made long.
_MAX_COOKIE = 200
_SIGNER = "accounts.administrators.sessions"


@dataclass(frozen=True)
class NewSession:
    """A session that has begun, with the value of its cookie, which can't be read again."""

    cookie: str
    expires_at: datetime


def is_administrator(identity: VerifiedIdentity) -> bool:
    """Whether the identity is on the list. A FID counts for the issuer that it is listed with, and for no other."""
    return find(identity) is not None


def find(identity: VerifiedIdentity) -> Administrator | None:
    """Who of the list this is."""
    return Administrator.objects.filter(issuer=identity.issuer, subject=identity.subject).first()


def is_by_administrator(request: Request) -> bool:
    """Whether a call is an administrator's, by a token that the view's authentication has verified, or by a cookie."""
    if isinstance(request.auth, VerifiedIdentity) and is_administrator(request.auth):
        return True
    return of_request(request._request) is not None


def of_request(request: HttpRequest) -> AdminSession | None:
    """The session whose cookie came; None without one, and for one that is forged, over, revoked or nobody's any more.

    Asks nothing of the database for a cookie that we have not signed.
    """
    text = request.COOKIES.get(COOKIE, "")
    if not text or len(text) > _MAX_COOKIE:
        return None
    try:
        token = _signer().unsign(text)
    except BadSignature:
        return None
    rows = AdminSession.objects.select_related("user", "administrator").filter(revoked_at__isnull=True)
    session = rows.filter(digest=_digest(token), expires_at__gt=timezone.now()).first()
    return session if session is not None and is_somebodys(session) else None


def check_password(request: HttpRequest, *, username: str, password: str, code: str = "") -> User | None:
    """The active staff account that these words open; None for whatever is wrong.

    A wrong name or password is counted as a failed log-in. Whoever has a second factor has to give its code; wrong
    ones make its owner wait, as everywhere. Where the account is not there or locked out, as much work is
    done as where the password is wrong: one hash.
    """
    if not AxesProxyHandler.is_allowed(request, get_credentials(username=username)):
        make_password(password)
        return None
    user = authenticate(request, username=username, password=password)
    if not isinstance(user, User):
        return None
    if not user.is_staff:
        # Counted like a wrong password: who is locked out in the end must not learn from it which word was right.
        AxesProxyHandler.user_login_failed(check_password, get_credentials(username=username), request)
        return None
    if not _has_shown_second_factor(user, code):
        return None
    # As after a log-in to the admin site: what failed before is forgiven.
    AxesProxyHandler.reset_attempts(username=username, ip_address=address_of(request))
    return user


def begin(holder: User | Administrator) -> NewSession:
    """Begin a session of the account or administrator."""
    token = secrets.token_urlsafe(32)
    expires_at = timezone.now() + timedelta(seconds=settings.SESSION_COOKIE_AGE)
    if isinstance(holder, User):
        kept = {"user": holder, "password_hash": holder.get_session_auth_hash()}
    else:
        kept = {"administrator": holder}
    session = AdminSession.objects.create(digest=_digest(token), expires_at=expires_at, **kept)
    logger.info("administrator's session %s of %s %s begins", session.pk, holder._meta.model_name, holder.pk)
    return NewSession(_signer().sign(token), expires_at)


def revoke(session: AdminSession) -> bool:
    """End the session before its time. False where it was revoked before."""
    return AdminSession.objects.filter(pk=session.pk).revoke() == 1


def prune() -> int:
    """Delete the sessions that are over; how many."""
    return AdminSession.objects.filter(expires_at__lte=timezone.now()).delete()[0]


def is_somebodys(session: AdminSession) -> bool:
    """Whether whoever began the session may still have one."""
    user, administrator = session.user, session.administrator
    if user is None:
        # The row would have gone with the administrator's, whose issuer may be believed no more.
        return administrator is not None and identity.find(administrator.issuer) is not None
    if not (user.is_active and user.is_staff):
        return False
    if settings.ADMIN_TOTP_REQUIRED and not second_factor.has_device(user):
        return False
    return hmac.compare_digest(session.password_hash, user.get_session_auth_hash())


def _has_shown_second_factor(user: User, code: str) -> bool:
    if not second_factor.has_device(user):
        return not settings.ADMIN_TOTP_REQUIRED
    try:
        second_factor.verify(user, code)
    except (WrongCode, TooManyCodes):
        return False
    return True


def _signer() -> Signer:
    return Signer(salt=_SIGNER)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
