"""Which tokens users say that they have launched, from a page, and what the chain says of it."""

from typing import Self

from django.contrib.postgres.expressions import ArraySubquery
from django.db import models
from django.db.models import Case, Exists, OuterRef, Q, Subquery, Value, When
from django.utils import timezone

from accounts.models import Person
from tokens.models.index_request import IndexRequest
from tokens.models.token import ADDRESS_LENGTH, Token


class SavedState(models.TextChoices):
    """What is known of a saved token. No column has it: it follows from the rows that the chain's word is kept in."""

    # Nothing yet, or nothing any more: its block was dropped by a reorg.
    UNINDEXED = "unindexed"
    # The transaction launched this token.
    CONFIRMED = "confirmed"
    # The transaction is indexed, and did not.
    REFUTED = "refuted"
    # The transaction was given up: never mined, reverted, or without anything for us.
    FAILED = "failed"


class SavedTokenQuerySet(models.QuerySet["SavedToken"]):
    """Saved tokens, by what the chain says of them."""

    def with_state(self) -> Self:
        """Adds `state`, a SavedState."""
        tokens = _transactions_tokens().values("pk")
        # Looked up for each row that is shown: for conditions that something exists, all tokens would be read at once.
        looked_up = self.alias(
            it=Subquery(tokens.filter(contract_address=OuterRef("contract_address"))),
            others=Subquery(tokens[:1]),
            asked=Subquery(_requests().values("status")),
        )
        return looked_up.annotate(
            state=Case(
                When(it__isnull=False, then=_CONFIRMED),
                When(Q(others__isnull=False) | Q(asked__in=_WRITTEN), then=_REFUTED),
                When(asked__in=_GIVEN_UP, then=_FAILED),
                default=Value(SavedState.UNINDEXED.value),
                output_field=models.CharField(),
            )
        )

    def with_findings(self) -> Self:
        """Adds `launched`, the addresses that the transaction did launch, and `trouble`, why it is not indexed."""
        return self.annotate(
            launched=ArraySubquery(_transactions_tokens().order_by("log_index").values("contract_address")),
            trouble=Subquery(_requests().values("last_error")),
        )

    def unconfirmed(self) -> Self:
        """Those of which the chain has not said so."""
        return self.exclude(Exists(_transactions_tokens().filter(contract_address=OuterRef("contract_address"))))


class SavedToken(models.Model):
    """A user's word that a transaction launched a token. It is kept as his, and makes no token of it.

    So a word that is false is shown by nothing but the operators' list; tokens come from the chain alone.
    """

    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="saved_tokens", db_index=False)
    chain_id = models.BigIntegerField()
    tx_hash = models.CharField(max_length=100)
    # As he said, in EIP-55 or base58.
    contract_address = models.CharField(max_length=ADDRESS_LENGTH)
    created_at = models.DateTimeField(default=timezone.now)

    # There on rows from `with_state()` and `with_findings()`.
    state: str
    launched: list[str]
    trouble: str | None

    objects = SavedTokenQuerySet.as_manager()

    class Meta:
        constraints = [
            # Its index also serves the count of what a user has.
            models.UniqueConstraint(
                name="saved_token_once", fields=["person", "chain_id", "tx_hash", "contract_address"]
            ),
        ]
        indexes = [
            # What is past keeping.
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
_WRITTEN = (IndexRequest.Status.INDEXED, IndexRequest.Status.CONFIRMED)
_GIVEN_UP = (IndexRequest.Status.FAILED, IndexRequest.Status.ORPHANED)
_SAME_TRANSACTION = Q(chain_id=OuterRef("chain_id"), tx_hash=OuterRef("tx_hash"))


def _transactions_tokens() -> models.QuerySet[Token]:
    """Of a saved token's transaction."""
    return Token.objects.on_chain().filter(_SAME_TRANSACTION)


def _requests() -> models.QuerySet[IndexRequest]:
    """Of a saved token's transaction: one, or none."""
    return IndexRequest.objects.filter(_SAME_TRANSACTION)
