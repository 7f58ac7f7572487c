"""A recipient's claimed fees, over all indexed claims."""

from dataclasses import dataclass

from django.db.models import Count, Sum

from tokens.models import FeeClaim


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimedFees:
    """A recipient's claims in one currency: `total` in its smallest unit, one page's `tx_hashes`, newest first."""

    total: int
    count: int
    tx_hashes: tuple[str, ...]


def read_claimed_fees(*, chain_id: int, currency: str, recipient: str, limit: int, offset: int) -> ClaimedFees:
    """Return all claims' total and count, and one page's transactions, in two queries.

    A v4 fee locker pays an owner per currency, for all its tokens together: a launched token is one currency, WETH
    another. A transaction with two claims is listed twice.
    """
    claims = FeeClaim.objects.filter(chain_id=chain_id, currency=currency, recipient=recipient)
    totals = claims.aggregate(total=Sum("amount"), count=Count("pk"))
    page = claims.order_by("-at", "-pk").values_list("event__tx_hash", flat=True)[offset : offset + limit]
    return ClaimedFees(total=int(totals["total"] or 0), count=totals["count"], tx_hashes=tuple(page))
