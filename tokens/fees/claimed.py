"""Claimed fees of a recipient, over all indexed claims."""

from dataclasses import dataclass

from django.db.models import Count, Sum

from tokens.models import FeeClaim


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimedFees:
    """Claims of a recipient in one currency: `total` in its smallest unit, `tx_hashes` of one page, newest first."""

    total: int
    count: int
    tx_hashes: tuple[str, ...]


def read_claimed_fees(*, chain_id: int, currency: str, recipient: str, limit: int, offset: int) -> ClaimedFees:
    """Return total and count of all claims, and the transactions of one page, in two queries.

    A v4 fee locker pays an owner per currency, for all its tokens together: a launched token is one currency, WETH
    another. A transaction with two claims is listed twice.
    """
    claims = FeeClaim.objects.filter(chain_id=chain_id, currency=currency, recipient=recipient)
    found = claims.aggregate(total=Sum("amount"), count=Count("pk"))
    page = claims.order_by("-at", "-pk").values_list("event__tx_hash", flat=True)[offset : offset + limit]
    return ClaimedFees(total=int(found["total"] or 0), count=found["count"], tx_hashes=tuple(page))
