"""Partner keys: their form, and issuing, verifying, rotating and revoking them.

A key reads `lb_live_<8 id><32 secret><6 checksum>`, all base62. The prefix lets secret scanners find leaked keys, the
id finds the row, and the checksum refuses junk before the database is asked. Only an HMAC of the whole text is stored.
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
# 32 characters of base62 carry 190 bits: nothing to guess, so a fast digest is enough and a slow one only costs.
_SECRET_LENGTH = 32
# 62 ** 6 is more than 2 ** 32, so that six characters hold any CRC32.
_CHECKSUM_LENGTH = 6
_FORM = re.compile(
    rf"(?P<body>{PREFIX}(?P<id>[0-9A-Za-z]{{{_ID_LENGTH}}})[0-9A-Za-z]{{{_SECRET_LENGTH}}})"
    rf"(?P<checksum>[0-9A-Za-z]{{{_CHECKSUM_LENGTH}}})"
)

# A rotation leaves the new secret and the one before it valid, so that a partner can change over without an outage.
_VALID_SECRETS = 2
_LAST_USED_STEP = timedelta(minutes=1)


class KeyNotActive(Exception):
    """The partner key is revoked or expired: a new secret for it would be refused."""


def issue(name: str, *, scopes: Iterable[str], expires_at: datetime | None = None) -> str:
    """Make a partner key and return its text, which can't be read again.

    Raises ValidationError, by field, for a blank or overlong name, no or unknown scopes, and an expiry that has passed.
    """
    if expires_at is not None and expires_at <= timezone.now():
        raise ValidationError({"expires_at": "The expiry must lie in the future."})
    wanted = set(scopes)
    ordered = [scope for scope in Scope.values if scope in wanted] + sorted(wanted.difference(Scope.values))
    key = PartnerKey(name=name.strip(), scopes=ordered, expires_at=expires_at)
    key.full_clean()
    with transaction.atomic():
        key.save(force_insert=True)
        return add_secret(key)


def add_secret(key: PartnerKey) -> str:
    """Give the saved key a secret beside those it has, and return the key's text, which can't be read again."""
    key_id = _random(_ID_LENGTH)
    body = PREFIX + key_id + _random(_SECRET_LENGTH)
    text = body + checksum(body)
    PartnerKeySecret.objects.create(partner_key=key, key_id=key_id, digest=digest(text))
    return text


def verify(text: str) -> PartnerKey | None:
    """The active partner key that this text belongs to, or None. Asks nothing of the database for text of another form.

    Every call reads the row, nothing is cached: a revoked, expired or retired key is refused from that moment on.
    """
    match = _FORM.fullmatch(text)
    if match is None or checksum(match["body"]) != match["checksum"]:
        return None
    secret = PartnerKeySecret.objects.select_related("partner_key").filter(key_id=match["id"]).first()
    if secret is None or not hmac.compare_digest(secret.digest, digest(text)):
        return None
    return secret.partner_key if secret.is_current and secret.partner_key.state == KeyState.ACTIVE else None


def rotate(key: PartnerKey) -> str:
    """Add a secret, retire all but the two newest, and return the new text, which can't be read again.

    To shut out a leaked secret without an outage, rotate, hand over, and rotate again. Raises KeyNotActive.
    """
    with transaction.atomic():
        # The lock makes two rotations at once follow one another; else both could spare the same older secret.
        locked = PartnerKey.objects.select_for_update().get(pk=key.pk)
        if locked.state != KeyState.ACTIVE:
            raise KeyNotActive(f"This key is {locked.state}")
        text = add_secret(locked)
        newest = locked.secrets.order_by("-id").values_list("pk", flat=True)[:_VALID_SECRETS]
        locked.secrets.exclude(pk__in=list(newest)).filter(expires_at__isnull=True).update(expires_at=timezone.now())
    return text


def revoke(key: PartnerKey) -> bool:
    """Refuse the key with all its secrets from now on, for good. False where it was revoked before."""
    return PartnerKey.objects.filter(pk=key.pk, revoked_at__isnull=True).update(revoked_at=timezone.now()) == 1


def note_use(key: PartnerKey) -> None:
    """Record that the key was used just now; within a minute of the last record this asks nothing of the database."""
    now = timezone.now()
    if key.last_used_at is not None and key.last_used_at > now - _LAST_USED_STEP:
        return
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - _LAST_USED_STEP)
    # Of many calls at once that all read the stale time, one writes.
    PartnerKey.objects.filter(stale, pk=key.pk).update(last_used_at=now)


def checksum(body: str) -> str:
    """CRC32 of the prefix, id and secret as six base62 digits, most significant first."""
    number = zlib.crc32(body.encode("ascii"))
    digits = ""
    for _ in range(_CHECKSUM_LENGTH):
        number, index = divmod(number, len(_BASE62))
        digits = _BASE62[index] + digits
    return digits


def digest(text: str) -> str:
    """HMAC-SHA256 of a key's whole text under the pepper, in lower-case hex: what is stored of it."""
    return hmac.digest(settings.PARTNER_KEY_PEPPER.encode(), text.encode("ascii"), "sha256").hex()


def _random(length: int) -> str:
    return "".join(secrets.choice(_BASE62) for _ in range(length))
