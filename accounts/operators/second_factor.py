"""Operators' second factor: authenticator app codes (TOTP, RFC 6238).

A device is created on its owner's request, active from its first valid code, and required after each log-in from then
on. django-otp stores the devices, rejects used codes, and throttles wrong ones with growing delays.
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


class WrongCodeError(Exception):
    """Raised when the code is not valid for the user's device now, or was used before."""


class TooManyCodesError(Exception):
    """Raised while codes are rejected unseen after wrong ones."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"codes are rejected for {seconds} s")
        # At least 1.
        self.seconds = seconds


def is_second_factor_missing(user: User | AnonymousUser) -> bool:
    """Return whether the user, as marked by django-otp's middleware, still has to enter a code or set up a device."""
    if not user.is_staff or is_verified(user):
        return False
    return bool(settings.ADMIN_TOTP_REQUIRED) or has_device(user)


def has_device(user: User | AnonymousUser) -> bool:
    """Return whether the user has an active device."""
    return bool(TOTPDevice.objects.filter(user_id=user.pk, confirmed=True).exists())


def pending_device(user: User) -> TOTPDevice:
    """Return the device being set up: the same one until its first code, so that the page may be reloaded."""
    device = TOTPDevice.objects.filter(user=user, confirmed=False).order_by("pk").first()
    return device or TOTPDevice.objects.create(user=user, name="Authenticator app", confirmed=False)


def secret_text(device: TOTPDevice) -> str:
    """Return the device's secret for manual entry: base32, in groups of four."""
    text = base64.b32encode(device.bin_key).decode()
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


def qr_code(device: TOTPDevice) -> str:
    """Return the device's QR code as a data: URL with an SVG image."""
    image = io.BytesIO()
    qrcode.make(device.config_url, image_factory=qrcode.image.svg.SvgPathImage).save(image)
    return f"data:image/svg+xml;base64,{base64.b64encode(image.getvalue()).decode()}"


def confirm_device(user: User, code: str) -> TOTPDevice:
    """Activate the device being set up, and return it. Raises WrongCodeError and TooManyCodesError.

    No second device can be set up beside an active one.
    """

    def find_pending() -> TOTPDevice | None:
        return None if has_device(user) else _first_device(user, confirmed=False)

    def activate(device: TOTPDevice) -> None:
        TOTPDevice.objects.filter(user=user).exclude(pk=device.pk).delete()
        device.confirmed = True
        device.save(update_fields=["confirmed"])
        # They were created without a second factor.
        AdminSession.objects.filter(user=user).revoke()
        _log_change(user, "second factor set up")

    device = _check_code(user, code, find_device=find_pending, on_success=activate)
    logger.info("user %s has set up a second factor", user.pk)
    return device


def verify_code(user: User, code: str) -> TOTPDevice:
    """Return the user's device if the code is valid. Raises WrongCodeError and TooManyCodesError."""
    return _check_code(
        user, code, find_device=lambda: _first_device(user, confirmed=True), on_success=lambda device: None
    )


def remove_device(user: User, code: str) -> None:
    """Delete the user's device if the code is valid: an open session is not enough. Raises as `verify_code`."""

    def delete(device: TOTPDevice) -> None:
        _delete_devices(user)
        _log_change(user, "second factor removed")

    _check_code(user, code, find_device=lambda: _first_device(user, confirmed=True), on_success=delete)
    logger.info("user %s has removed the second factor", user.pk)


def reset_second_factor(user: User) -> bool:
    """Delete the device without a code, after its loss. Return whether there was an active one."""
    with transaction.atomic():
        had_one = has_device(user)
        _delete_devices(user)
        if had_one:
            _log_change(user, "second factor removed by manage.py forget_second_factor")
    logger.warning("the second factor of user %s was removed by manage.py forget_second_factor", user.pk)
    return had_one


def _delete_devices(user: User) -> None:
    TOTPDevice.objects.filter(user=user).delete()


def _log_change(user: User, message: str) -> None:
    """Write the audit log. Its entries need an account as actor: the device's owner."""
    LogEntry.objects.log_actions(user.pk, [user], CHANGE, message)


def _first_device(user: User, *, confirmed: bool) -> TOTPDevice | None:
    return TOTPDevice.objects.filter(user=user, confirmed=confirmed).order_by("pk").first()


def _check_code(
    user: User, code: str, *, find_device: Callable[[], TOTPDevice | None], on_success: Callable[[TOTPDevice], None]
) -> TOTPDevice:
    # A wrong code updates the row's throttling fields, so no exception may roll back this transaction.
    with transaction.atomic():
        # Serializes one user's codes: if equal codes arrive at once, one is accepted.
        get_user_model().objects.select_for_update().get(pk=user.pk)
        device = find_device()
        is_allowed, details = device.verify_is_allowed() if device else (True, {})
        is_valid = device is not None and is_allowed and device.verify_token(code)
        if is_valid:
            on_success(device)
    if not is_allowed:
        remaining = (details["locked_until"] - timezone.now()).total_seconds()
        raise TooManyCodesError(max(1, math.ceil(remaining)))
    if device is None or not is_valid:
        raise WrongCodeError
    return device
