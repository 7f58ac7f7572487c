"""The read language of pretokens."""

from typing import TYPE_CHECKING, Self

from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.models import Person

if TYPE_CHECKING:
    from pretokens.models import Pretoken


class PretokenQuerySet(QuerySet["Pretoken"]):
    """Pretokens, by whose they are and what may be done with them."""

    def owned_by(self, person_id: int) -> Self:
        """Those of a user, and of those who proved to be the same."""
        return self.filter(owner__in=Person.objects.filter(Q(pk=person_id) | Q(linked_to=person_id)).values("pk"))

    def pending(self) -> Self:
        """Those that can be launched now; one whose time is past is none, also before its row says so."""
        return self.filter(state="pending", expires_at__gt=timezone.now())

    def overdue(self) -> Self:
        """Those whose time is past, and their rows do not say so yet."""
        return self.filter(state="pending", expires_at__lte=timezone.now())

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")
