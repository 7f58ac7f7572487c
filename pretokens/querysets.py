"""The read language of pretokens."""

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING, Self

from django.db.models import QuerySet
from django.utils import timezone

if TYPE_CHECKING:
    from pretokens.models import Pretoken


class PretokenQuerySet(QuerySet["Pretoken"]):
    """Pretokens, by whose they are and what may be done with them."""

    def owned_by(self, person_ids: Collection[int]) -> Self:
        """Those of a user: `person_ids` of a CallingUser."""
        return self.filter(owner__in=person_ids)

    def pending(self) -> Self:
        """Those that can be launched now; one whose time is past is none, also before its row says so."""
        return self.filter(state="pending", expires_at__gt=timezone.now())

    def overdue(self) -> Self:
        """Those whose time is past, and their rows do not say so yet."""
        return self.filter(state="pending", expires_at__lte=timezone.now())

    def past_keeping(self, cutoff: datetime) -> Self:
        """Those that are not pending and whose time was past by then; of deployed ones those that still have a body."""
        return self.filter(state__in=["expired", "deleted", "deployed"], size__gt=0, expires_at__lte=cutoff)

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")
