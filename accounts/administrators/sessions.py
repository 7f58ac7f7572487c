"""API administrators, with read access to `score`: authenticated by a listed identity's token or a session cookie.

Such a token starts a session. So does the password of an active staff account, with its code if it has a second factor.
The cookie grants read access only: no endpoint acts on it except the one that ends the session.
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
from django.contrib.auth.models import User
from django.core.signing import BadSignature, Signer
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import Administrator, AdminSession
from accounts.operators import second_factor
from accounts.operators.lockout import login_address
from accounts.operators.login_limits import count_attempt
from accounts.operators.passwords import refuse_password
from accounts.operators.second_factor import TooManyCodesError, WrongCodeError
from accounts.users.identity import VerifiedIdentity, find_issuer

logger = logging.getLogger(__name__)

COOKIE = "admin_session"
# Longer than any issued cookie. Longer input is neither verified nor hashed.
_MAX_COOKIE_LENGTH = 200
# Part of every issued cookie: a change would end all sessions.
_SIGNER_SALT = "accounts.administrators"


@dataclass(frozen=True)
class NewSession:
    """New session with its cookie's value, which can't be read again."""

    cookie: str
    expires_at: datetime


def find_administrator(identity: VerifiedIdentity) -> Administrator | None:
    """Return the administrator with this identity, or None. A FID counts only with the issuer it is listed with."""
    return Administrator.objects.filter(issuer=identity.issuer, subject=identity.subject).first()


def find_session(request: HttpRequest) -> AdminSession | None:
    """Return the session for the request's cookie; None if missing, forged, expired, revoked or without a valid holder.

    A cookie with an invalid signature causes no database query.
    """
    text = request.COOKIES.get(COOKIE, "")
    if not text or len(text) > _MAX_COOKIE_LENGTH:
        return None
    try:
        token = _signer().unsign(text)
    except BadSignature:
        return None
    rows = AdminSession.objects.select_related("user", "administrator").filter(revoked_at__isnull=True)
    session = rows.filter(digest=_digest(token), expires_at__gt=timezone.now()).first()
    return session if session is not None and is_holder_valid(session) else None


def authenticate_staff(request: HttpRequest, *, username: str, password: str, code: str = "") -> User | None:
    """Return the active staff account with these credentials; None if any of them is wrong.

    A wrong name or password counts as a failed log-in. An account with a second factor needs its code; wrong codes
    are throttled as everywhere. An unknown or locked account costs as much as a wrong password. Raises
    TooManyAttemptsError and BusyError.
    """
    count_attempt(request)
    if not AxesProxyHandler.is_allowed(request, get_credentials(username=username)):
        refuse_password(password)
        return None
    user = authenticate(request, username=username, password=password)
    if not isinstance(user, User):
        return None
    if not user.is_staff:
        # Counted like a wrong password: a later lockout must not reveal that the password was right.
        AxesProxyHandler.user_login_failed(authenticate_staff, get_credentials(username=username), request)
        return None
    if not _passes_second_factor(user, code):
        return None
    # As after a log-in to the admin site, earlier failures are reset.
    AxesProxyHandler.reset_attempts(username=username, ip_address=login_address(request))
    return user


def begin_session(holder: User | Administrator) -> NewSession:
    """Create a session for the account or administrator."""
    token = secrets.token_urlsafe(32)
    expires_at = timezone.now() + timedelta(seconds=settings.SESSION_COOKIE_AGE)
    if isinstance(holder, User):
        fields = {"user": holder, "password_hash": holder.get_session_auth_hash()}
    else:
        fields = {"administrator": holder}
    session = AdminSession.objects.create(digest=_digest(token), expires_at=expires_at, **fields)
    logger.info("administrator session %s for %s %s started", session.pk, holder._meta.model_name, holder.pk)
    return NewSession(_signer().sign(token), expires_at)


def revoke_session(session: AdminSession) -> bool:
    """Revoke the session. Return False if it was revoked before."""
    return AdminSession.objects.filter(pk=session.pk).revoke() == 1


def prune_expired_sessions() -> int:
    """Delete expired sessions and return their number."""
    return AdminSession.objects.filter(expires_at__lte=timezone.now()).delete()[0]


def is_holder_valid(session: AdminSession) -> bool:
    """Return whether the session's account or administrator may still have one."""
    user, administrator = session.user, session.administrator
    if user is None:
        # The row is deleted with its administrator, but the issuer may have been removed from the settings.
        return administrator is not None and find_issuer(administrator.issuer) is not None
    if not (user.is_active and user.is_staff):
        return False
    if settings.ADMIN_TOTP_REQUIRED and not second_factor.has_device(user):
        return False
    return hmac.compare_digest(session.password_hash, user.get_session_auth_hash())


def _passes_second_factor(user: User, code: str) -> bool:
    if not second_factor.has_device(user):
        return not settings.ADMIN_TOTP_REQUIRED
    try:
        second_factor.verify_code(user, code)
    except (WrongCodeError, TooManyCodesError):
        return False
    return True


def _signer() -> Signer:
    return Signer(salt=_SIGNER_SALT)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
