"""Model for tokens that users report to have launched, compared with the index."""

from typing import Self

from django.contrib.postgres.expressions import ArraySubquery
from django.db import models
from django.db.models import Case, Exists, OuterRef, Q, Subquery, Value, When
from django.utils import timezone

from accounts.models import Person
from tokens.models.index_request import IndexRequest, IndexRequestStatus
from tokens.models.token import ADDRESS_LENGTH, Token


class SavedState(models.TextChoices):
    """A saved token's verification state. It is not stored: it follows from index requests and tokens."""

    # Not indexed yet, or no longer: a reorg dropped its block.
    UNINDEXED = "unindexed"
    # The transaction launched this token.
    CONFIRMED = "confirmed"
    # The transaction is indexed and did not launch this token.
    REFUTED = "refuted"
    # Indexing was given up: never mined, reverted, or without launches and events.
    FAILED = "failed"


class SavedTokenQuerySet(models.QuerySet["SavedToken"]):
    """Queries for saved tokens by their verification state."""

    def with_state(self) -> Self:
        """Annotate with `state`, a SavedState."""
        tokens = _transactions_tokens().values("pk")
        # Subqueries per displayed row: with EXISTS conditions the planner would read all tokens at once.
        looked_up = self.alias(
            launched_token=Subquery(tokens.filter(contract_address=OuterRef("contract_address"))),
            any_token=Subquery(tokens[:1]),
            request_status=Subquery(_requests().values("status")),
        )
        return looked_up.annotate(
            state=Case(
                When(launched_token__isnull=False, then=_CONFIRMED),
                When(Q(any_token__isnull=False) | Q(request_status__in=_WRITTEN), then=_REFUTED),
                When(request_status__in=_GIVEN_UP, then=_FAILED),
                default=Value(SavedState.UNINDEXED.value),
                output_field=models.CharField(),
            )
        )

    def with_findings(self) -> Self:
        """Annotate with `launched`, the addresses that the transaction launched, and `error`, its indexing error."""
        return self.annotate(
            launched=ArraySubquery(_transactions_tokens().order_by("log_index").values("contract_address")),
            error=Subquery(_requests().values("last_error")),
        )

    def unconfirmed(self) -> Self:
        """Return the saved tokens that the chain has not confirmed."""
        return self.exclude(Exists(_transactions_tokens().filter(contract_address=OuterRef("contract_address"))))


class SavedToken(models.Model):
    """A user's report that a transaction launched a token. It is stored as a report and creates no token.

    A false report is therefore visible only in the operators' list; tokens come only from the chain.
    """

    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="saved_tokens", db_index=False)
    chain_id = models.BigIntegerField()
    tx_hash = models.CharField(max_length=100)
    # As reported, in EIP-55 or base58.
    contract_address = models.CharField(max_length=ADDRESS_LENGTH)
    created_at = models.DateTimeField(default=timezone.now)

    # Annotations by `with_state()` and `with_findings()`.
    state: str
    launched: list[str]
    error: str | None

    objects = SavedTokenQuerySet.as_manager()

    class Meta:
        constraints = [
            # Its index also serves the count for each user.
            models.UniqueConstraint(
                name="saved_token_once", fields=["person", "chain_id", "tx_hash", "contract_address"]
            ),
        ]
        indexes = [
            # The retention limit.
            models.Index(fields=["created_at"], name="saved_token_age"),
            # The operators' search.
            models.Index(fields=["chain_id", "tx_hash"], name="saved_token_by_transaction"),
            models.Index(fields=["contract_address"], name="saved_token_by_address"),
        ]

    def __str__(self) -> str:
        return f"{self.contract_address} on {self.chain_id}"


_CONFIRMED, _REFUTED, _FAILED = (
    Value(state.value) for state in (SavedState.CONFIRMED, SavedState.REFUTED, SavedState.FAILED)
)
_WRITTEN = (IndexRequestStatus.INDEXED, IndexRequestStatus.CONFIRMED)
_GIVEN_UP = (IndexRequestStatus.FAILED, IndexRequestStatus.ORPHANED)
_SAME_TRANSACTION = Q(chain_id=OuterRef("chain_id"), tx_hash=OuterRef("tx_hash"))


def _transactions_tokens() -> models.QuerySet[Token]:
    """Return the tokens that a saved token's transaction launched."""
    return Token.objects.on_chain().filter(_SAME_TRANSACTION)


def _requests() -> models.QuerySet[IndexRequest]:
    """Return the index request for a saved token's transaction, if any."""
    return IndexRequest.objects.filter(_SAME_TRANSACTION)
