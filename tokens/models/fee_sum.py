"""Models of daily fee sums, which triggers maintain in the transactions that write events and claims.

Their functions are in `collection_sums.sql` and `claim_sums.sql` in tokens/fees.
"""

from django.db import models

from tokens.models.token import ADDRESS_LENGTH, Token
from tokens.models.trade import ExactNumericField

# `FeeSumProgress.summed_to` once all stored blocks are in the sums; each block that is written later is summed at once.
ALL_BLOCKS = 2**63 - 1


class FeeSumProgress(models.Model):
    """The block up to which a chain's events are in the sums; triggers add and subtract no others.

    Blocks that were stored before the triggers are added later. A chain without a row has no sums.
    """

    chain_id = models.BigIntegerField(primary_key=True)
    summed_to = models.BigIntegerField()

    def __str__(self) -> str:
        return f"fees of chain {self.chain_id} summed to {self.summed_to}"


class CollectionSum(models.Model):
    """Fees that a v4 locker collected for one share on a day, in one currency of a token's pool.

    A day with recipient changes has a row for the time before the first change, and one after each.
    """

    pk = models.CompositePrimaryKey("token_id", "day", "since", "share", "place")
    token = models.ForeignKey(Token, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    # UTC.
    day = models.DateField()
    # `chain_position` of the day's last recipient change before the row's collections; 0 without one.
    since = models.BigIntegerField()
    # Index in the recipient list.
    share = models.IntegerField()
    # 0 or 1: index in the pool's currencies.
    place = models.SmallIntegerField()
    # Smallest units; 0 if a reorg dropped the whole amount.
    amount = ExactNumericField()
    # All collections of the row are in this block range. It only grows, because the event index has no day.
    first_block = models.BigIntegerField()
    last_block = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.amount} of token {self.token_id} on {self.day}"


class ClaimSum(models.Model):
    """Fees that a token's own locker or pool paid to a recipient on a day, in one currency."""

    pk = models.CompositePrimaryKey("token_id", "day", "recipient", "currency")
    token = models.ForeignKey(Token, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    # UTC.
    day = models.DateField()
    recipient = models.CharField(max_length=ADDRESS_LENGTH)
    currency = models.CharField(max_length=ADDRESS_LENGTH)
    # As in `CollectionSum`.
    amount = ExactNumericField()

    class Meta:
        # GET /api/creators/{creator}: tokens that have paid a wallet.
        indexes = [models.Index(fields=["recipient", "token"], name="claim_sum_by_recipient")]

    def __str__(self) -> str:
        return f"{self.amount} of token {self.token_id} to {self.recipient} on {self.day}"


class AccountClaimSum(models.Model):
    """All fees that were paid to a recipient on a day, in one currency on a chain."""

    pk = models.CompositePrimaryKey("chain_id", "recipient", "currency", "day")
    chain_id = models.BigIntegerField()
    recipient = models.CharField(max_length=ADDRESS_LENGTH)
    currency = models.CharField(max_length=ADDRESS_LENGTH)
    # UTC.
    day = models.DateField()
    # As in `CollectionSum`.
    amount = ExactNumericField()

    def __str__(self) -> str:
        return f"{self.amount} of {self.currency} to {self.recipient} on {self.day}"
