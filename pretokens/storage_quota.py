"""Quotas for an owner's pretokens, which hold for concurrent requests too."""

from collections.abc import Collection

from django.conf import settings
from django.db.models import Count, QuerySet, Sum

from accounts.users import calling_users
from config.http.errors import PermanentError
from pretokens.models import Pretoken, PretokenState

MAX_PENDING = 25
# One response contains all pending pretokens. An airdrop with 100,000 entries has about 7 million bytes.
MAX_PENDING_BYTES = 16 * 1024 * 1024
# In any state: a user could create and delete without end.
MAX_STORED_BYTES = 128 * 1024 * 1024


class KeywordTakenError(PermanentError):
    """Raised when the owner has a pending pretoken with this keyword."""


class PretokenQuotaError(PermanentError):
    """Raised when the owner's pretokens would exceed their number or size; the text goes to the user."""


def lock_owner(person_id: int) -> tuple[int, ...]:
    """Lock the owner until the transaction ends, and return its `person_ids` as of then.

    Overdue pretokens are marked as expired, so that their keywords are free.
    """
    person_ids = calling_users.lock_user(person_id)
    mark_expired(Pretoken.objects.owned_by(person_ids).overdue().select_for_update(no_key=True, of=("self",)))
    return person_ids


def check_pending_quota(pretoken: Pretoken, *, person_ids: Collection[int]) -> None:
    """Raise KeywordTakenError or PretokenQuotaError if the locked owner can't have the pretoken pending, too."""
    pending = Pretoken.objects.owned_by(person_ids).filter(state=PretokenState.PENDING)
    if pending.filter(keyword_key=pretoken.keyword_key).exists():
        raise KeywordTakenError("a pretoken with this keyword is pending")
    totals = pending.aggregate(number=Count("pk"), size=Sum("size", default=0))
    if totals["number"] >= MAX_PENDING:
        raise PretokenQuotaError(f"{MAX_PENDING} pretokens are pending, which is the limit: delete one first")
    if totals["size"] + pretoken.size > MAX_PENDING_BYTES:
        raise PretokenQuotaError(
            f"the pending pretokens would exceed {MAX_PENDING_BYTES} bytes in total: delete one first"
        )


def check_storage_quota(pretoken: Pretoken, *, person_ids: Collection[int]) -> None:
    """Raise PretokenQuotaError if the user's stored bytes, whatever the state, would exceed the quota."""
    stored_bytes = Pretoken.objects.owned_by(person_ids).aggregate(size=Sum("size", default=0))["size"]
    if stored_bytes + pretoken.size > MAX_STORED_BYTES:
        raise PretokenQuotaError(
            f"your pretokens, including deleted ones, would exceed {MAX_STORED_BYTES} bytes in total; "
            f"deleted ones count until {settings.PRETOKEN_KEPT_DAYS} days after their expiry"
        )


def mark_expired(locked: QuerySet[Pretoken]) -> int:
    """Mark a locking query's pretokens as expired, and return their number."""
    # Locked in one order, so that concurrent calls don't deadlock.
    ids = list(locked.order_by("pk").values_list("pk", flat=True))
    return (
        Pretoken.objects.filter(pk__in=ids, state=PretokenState.PENDING).update(state=PretokenState.EXPIRED)
        if ids
        else 0
    )
