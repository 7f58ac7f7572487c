"""The second factor of those who operate the service: the codes of an authenticator app (TOTP, RFC 6238).

A device is made when its owner asks for it, counts from the first right code on, and is asked for after each log-in
from then on. django-otp keeps the devices, takes no code twice, and makes whoever enters wrong ones wait ever longer.
"""

import base64
import io
import logging
import math
from collections.abc import Callable

import qrcode
import qrcode.image.svg
from django.conf import settings
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.utils import timezone
from django_otp.middleware import is_verified
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.models import AdminSession

logger = logging.getLogger(__name__)


class WrongCode(Exception):
    """The code is none of this user's device now, or was used before."""


class TooManyCodes(Exception):
    """After wrong codes, none is looked at for some time."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"no code is looked at for {seconds} s")
        # At least 1.
        self.seconds = seconds


def is_missing(user: User | AnonymousUser) -> bool:
    """Whether this user, as django-otp's middleware marked it, has yet to show a second factor or to set one up."""
    if not user.is_staff or is_verified(user):
        return False
    return bool(settings.ADMIN_TOTP_REQUIRED) or has_device(user)


def has_device(user: User | AnonymousUser) -> bool:
    """Whether this user is asked for codes."""
    return bool(TOTPDevice.objects.filter(user_id=user.pk, confirmed=True).exists())


def new_device(user: User) -> TOTPDevice:
    """The device that this user is setting up: the same one until its first code, so that the page may be reloaded."""
    device = TOTPDevice.objects.filter(user=user, confirmed=False).order_by("pk").first()
    return device or TOTPDevice.objects.create(user=user, name="Authenticator app", confirmed=False)


def secret_text(device: TOTPDevice) -> str:
    """The device's secret as apps take it from the keyboard: base32, in groups of four."""
    text = base64.b32encode(device.bin_key).decode()
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


def qr_code(device: TOTPDevice) -> str:
    """What apps take from the screen, as the address (data:) of an SVG image."""
    written = io.BytesIO()
    qrcode.make(device.config_url, image_factory=qrcode.image.svg.SvgPathImage).save(written)
    return f"data:image/svg+xml;base64,{base64.b64encode(written.getvalue()).decode()}"


def confirm(user: User, code: str) -> TOTPDevice:
    """Have the device that is being set up count from now on; returns it. Raises WrongCode and TooManyCodes.

    Beside a device that counts no other is set up.
    """

    def take() -> TOTPDevice | None:
        return None if has_device(user) else _first_device(user, confirmed=False)

    def keep(device: TOTPDevice) -> None:
        TOTPDevice.objects.filter(user=user).exclude(pk=device.pk).delete()
        device.confirmed = True
        device.save(update_fields=["confirmed"])
        # They were begun without it.
        AdminSession.objects.filter(user=user).revoke()
        _note(user, "second factor set up")

    device = _check(user, code, take=take, then=keep)
    logger.info("user %s has set a second factor up", user.pk)
    return device


def verify(user: User, code: str) -> TOTPDevice:
    """The user's device, whose code this is. Raises WrongCode and TooManyCodes."""
    return _check(user, code, take=lambda: _first_device(user, confirmed=True), then=lambda device: None)


def remove(user: User, code: str) -> None:
    """Forget the user's device for one of its codes: a session left open is not enough. Raises as `verify`."""

    def drop(device: TOTPDevice) -> None:
        _forget(user)
        _note(user, "second factor removed")

    _check(user, code, take=lambda: _first_device(user, confirmed=True), then=drop)
    logger.info("user %s has removed the second factor", user.pk)


def forget(user: User) -> bool:
    """Forget the device without a code, for who has lost it; whether there was one that counted."""
    with transaction.atomic():
        had_one = has_device(user)
        _forget(user)
        if had_one:
            _note(user, "second factor forgotten by manage.py forget_second_factor")
    logger.warning("the second factor of user %s was forgotten", user.pk)
    return had_one


def _forget(user: User) -> None:
    TOTPDevice.objects.filter(user=user).delete()


def _note(user: User, message: str) -> None:
    """Leave the line in the audit log, which wants an account that did it: whose device it is."""
    LogEntry.objects.log_actions(user.pk, [user], CHANGE, message)


def _first_device(user: User, *, confirmed: bool) -> TOTPDevice | None:
    return TOTPDevice.objects.filter(user=user, confirmed=confirmed).order_by("pk").first()


def _check(
    user: User, code: str, *, take: Callable[[], TOTPDevice | None], then: Callable[[TOTPDevice], None]
) -> TOTPDevice:
    # A wrong code leaves its mark in the row, so that nothing may be raised within the transaction.
    with transaction.atomic():
        # One code of a user at a time: of several equal ones at once, one is right.
        get_user_model().objects.select_for_update().get(pk=user.pk)
        device = take()
        allowed, said = device.verify_is_allowed() if device else (True, {})
        right = device is not None and allowed and device.verify_token(code)
        if right:
            then(device)
    if not allowed:
        left = (said["locked_until"] - timezone.now()).total_seconds()
        raise TooManyCodes(max(1, math.ceil(left)))
    if device is None or not right:
        raise WrongCode
    return device
