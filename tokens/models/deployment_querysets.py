"""The read language of deployments and of the nonces that they use."""

from typing import TYPE_CHECKING, Any, Self

from django.db.models import QuerySet
from django.utils import timezone

if TYPE_CHECKING:
    from tokens.models import DeployAttempt, Deployment


class DeploymentQuerySet(QuerySet["Deployment"]):
    """Orders, by what is to be done about them."""

    def move(self, **changes: Any) -> int:
        """Update, with the time of it; the number of rows tells whether the guarding filters still held."""
        return self.update(updated_at=timezone.now(), **changes)

    def locked(self, deployment_id: int) -> "Deployment | None":
        """The order's row for this database transaction; rows that refer to it can still be written by others.

        It is locked before any wallet's or attempt's row, so that nobody waits in a circle.
        """
        return self.select_for_update(no_key=True, of=("self",)).filter(pk=deployment_id).first()

    def waiting(self, chain_id: int) -> Self:
        """What is to be signed, oldest first."""
        return self.filter(chain_id=chain_id, status="enqueued").order_by("pk")

    def unlisted(self, chain_id: int) -> Self:
        """What is in a block, and its token is not listed yet; oldest first."""
        return self.filter(chain_id=chain_id, status="mined", final_at__isnull=True).order_by("pk")


class DeployAttemptQuerySet(QuerySet["DeployAttempt"]):
    """Nonces of wallets, by what is to be done about them."""

    def move(self, **changes: Any) -> int:
        """Update, with the time of it; the number of rows tells whether the guarding filters still held."""
        return self.update(updated_at=timezone.now(), **changes)

    def in_flight(self, chain_id: int) -> Self:
        """Those without a receipt."""
        return self.filter(wallet__chain_id=chain_id, state="open", final_at__isnull=True)

    def unsettled(self, chain_id: int) -> Self:
        """Those that a block has decided which may still be dropped."""
        return self.filter(wallet__chain_id=chain_id, final_at__isnull=True).exclude(state="open")

    def live(self, *deployment_ids: int) -> Self:
        """Those by which orders are carried out, or may be: mined, or with a version that is still to be mined."""
        # An attempt that only uses up its nonce has an empty transaction among its versions.
        return self.filter(deployment_id__in=deployment_ids, state__in=("mined", "open")).exclude(
            state="open", versions__purpose="cancel"
        )
