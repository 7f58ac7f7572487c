"""Partner keys: text format, issue, verification, rotation and revocation.

A key reads `lb_live_<8 id><32 secret><6 checksum>`, all base62. The prefix lets secret scanners find leaked keys, and
the id finds the row. The checksum rejects malformed keys before any database query. Only an HMAC of the whole text is
stored.
"""

import hmac
import re
import secrets
import string
import zlib
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import KeyState, PartnerKey, PartnerKeySecret, Scope

PREFIX = "lb_live_"

_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
_ID_LENGTH = 8
# 32 base62 characters carry 190 bits. They can't be guessed, so a fast digest is enough; a slow one would only cost
# time.
_SECRET_LENGTH = 32
# 62 ** 6 exceeds 2 ** 32, so six characters hold any CRC32.
_CHECKSUM_LENGTH = 6
_FORM = re.compile(
    rf"(?P<body>{PREFIX}(?P<id>[0-9A-Za-z]{{{_ID_LENGTH}}})[0-9A-Za-z]{{{_SECRET_LENGTH}}})"
    rf"(?P<checksum>[0-9A-Za-z]{{{_CHECKSUM_LENGTH}}})"
)

# A rotation keeps the new secret and the previous one valid, so that a partner can change over without an outage.
_VALID_SECRETS = 2
_LAST_USED_INTERVAL = timedelta(minutes=1)


class KeyNotActiveError(Exception):
    """Raised when a revoked or expired key would get a new secret, which would be rejected."""


def issue_key(name: str, *, scopes: Iterable[str], expires_at: datetime | None = None) -> str:
    """Create a partner key and return its text, which can't be read again.

    Raises ValidationError, by field, for a blank or overlong name, no or unknown scopes, and a past expiry.
    """
    if expires_at is not None and expires_at <= timezone.now():
        raise ValidationError({"expires_at": "The expiry must be in the future."})
    scope_set = set(scopes)
    ordered = [scope for scope in Scope.values if scope in scope_set] + sorted(scope_set.difference(Scope.values))
    key = PartnerKey(name=name.strip(), scopes=ordered, expires_at=expires_at)
    key.full_clean()
    with transaction.atomic():
        key.save(force_insert=True)
        return add_secret(key)


def add_secret(key: PartnerKey) -> str:
    """Add a secret to the saved key and return the key's text, which can't be read again."""
    key_id = _random_base62(_ID_LENGTH)
    body = PREFIX + key_id + _random_base62(_SECRET_LENGTH)
    text = body + key_checksum(body)
    PartnerKeySecret.objects.create(partner_key=key, key_id=key_id, digest=key_digest(text))
    return text


def verify_key(text: str) -> PartnerKey | None:
    """Return the active partner key with this text, or None. Malformed text causes no database query.

    Every request reads the row and nothing is cached: a revoked, expired or retired key is rejected immediately.
    """
    match = _FORM.fullmatch(text)
    if match is None or key_checksum(match["body"]) != match["checksum"]:
        return None
    secret = PartnerKeySecret.objects.select_related("partner_key").filter(key_id=match["id"]).first()
    if secret is None or not hmac.compare_digest(secret.digest, key_digest(text)):
        return None
    return secret.partner_key if secret.is_current and secret.partner_key.state == KeyState.ACTIVE else None


def rotate_key(key: PartnerKey) -> str:
    """Add a secret, retire all but the two newest, and return the new text, which can't be read again.

    To lock out a leaked secret without an outage: rotate, hand over, rotate again. Raises KeyNotActiveError.
    """
    with transaction.atomic():
        # The row lock serializes concurrent rotations; otherwise both could keep the same older secret valid.
        locked_key = PartnerKey.objects.select_for_update().get(pk=key.pk)
        if locked_key.state != KeyState.ACTIVE:
            raise KeyNotActiveError(f"This key is {locked_key.state}")
        text = add_secret(locked_key)
        newest = locked_key.secrets.order_by("-id").values_list("pk", flat=True)[:_VALID_SECRETS]
        locked_key.secrets.exclude(pk__in=list(newest)).filter(expires_at__isnull=True).update(
            expires_at=timezone.now()
        )
    return text


def revoke_key(key: PartnerKey) -> bool:
    """Reject the key with all its secrets from now on. Return False if it was revoked before."""
    return PartnerKey.objects.filter(pk=key.pk, revoked_at__isnull=True).update(revoked_at=timezone.now()) == 1


def record_key_use(key: PartnerKey) -> None:
    """Set `last_used_at` to now. Run no query within a minute of the last update."""
    now = timezone.now()
    if key.last_used_at is not None and key.last_used_at > now - _LAST_USED_INTERVAL:
        return
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - _LAST_USED_INTERVAL)
    # If concurrent requests read the same stale time, only one writes.
    PartnerKey.objects.filter(stale, pk=key.pk).update(last_used_at=now)


def key_checksum(body: str) -> str:
    """Return the CRC32 of prefix, id and secret as six base62 digits, most significant first."""
    number = zlib.crc32(body.encode("ascii"))
    digits = ""
    for _ in range(_CHECKSUM_LENGTH):
        number, index = divmod(number, len(_BASE62))
        digits = _BASE62[index] + digits
    return digits


def key_digest(text: str) -> str:
    """Return a key's stored form: HMAC-SHA256 of its whole text under the pepper, in lower-case hex."""
    return hmac.digest(settings.PARTNER_KEY_PEPPER.encode(), text.encode("ascii"), "sha256").hex()


def _random_base62(length: int) -> str:
    return "".join(secrets.choice(_BASE62) for _ in range(length))
