"""What a recipient of fees was paid, over all claims that were indexed."""

from dataclasses import dataclass

from django.db.models import Count, Sum

from tokens.models import FeeClaim


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimedFees:
    """A recipient's claims in a currency, `total` in its smallest unit; `tx_hashes` are a page's, newest first."""

    total: int
    count: int
    tx_hashes: tuple[str, ...]


def read_claimed_fees(*, chain_id: int, currency: str, recipient: str, limit: int, offset: int) -> ClaimedFees:
    """Total and count of all claims, and the transactions of one page of them: two queries.

    A v4 fee locker pays an owner per currency, whichever of his tokens earned it: a launched token is one currency,
    and WETH another, of all tokens together. A transaction with two claims stands twice.
    """
    claims = FeeClaim.objects.filter(chain_id=chain_id, currency=currency, recipient=recipient)
    found = claims.aggregate(total=Sum("amount"), count=Count("pk"))
    page = claims.order_by("-at", "-pk").values_list("event__tx_hash", flat=True)[offset : offset + limit]
    return ClaimedFees(total=int(found["total"] or 0), count=found["count"], tx_hashes=tuple(page))
