"""Changes to restored rows that give access: sessions end, and the text names what may have been revoked since."""

from collections.abc import Iterator

from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db.models import Q

from accounts.models import Administrator, AdminSession, KeyState, PartnerKey, SignInNonce, WebhookEndpoint


def end_sessions() -> Iterator[str]:
    """End all operators' and administrators' sessions: some were ended after the backup."""
    Session.objects.all().delete()
    AdminSession.objects.revoke()
    # A nonce that was used after the backup is stored again.
    SignInNonce.objects.all().delete()
    yield "All sessions have ended: operators and administrators log in again."


def report_keys() -> Iterator[str]:
    """Yield what the database can't know: revocations, rotations and removed rights after the backup."""
    keys = PartnerKey.objects.in_state(KeyState.ACTIVE).count()
    yield (
        f"{keys:,} partner keys are active. Keys that were revoked, and secrets that were rejected after the backup,"
        " are valid again: revoke them again. Keys that were issued after it are unknown: issue new ones."
    )
    staff = User.objects.filter(Q(is_staff=True) | Q(is_superuser=True), is_active=True).count()
    yield (
        f"{staff:,} operators and {Administrator.objects.count():,} administrators have access, with their passwords,"
        " second factors and rights at the time of the backup: check their lists."
    )


def resume_endpoints() -> Iterator[str]:
    """Count webhook endpoint failures anew: after the time without service, one failure would disable them."""
    failing = WebhookEndpoint.objects.filter(disabled_at__isnull=True)
    failing.update(failing_since=None, warned_at=None, paused_until=None)
    yield (
        "Webhook deliveries that were pending at the backup are sent, some of them again with the same webhook-id."
        " Blocks after it are read again, and their events have new ids: receivers compare type, chainId and subject,"
        " and of fees txHash and logIndex."
    )
