"""Search entry model."""

from collections.abc import Sequence
from typing import Self

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Lower

from tokens.models.expressions import ShortGrams
from tokens.models.sorts import at_least
from tokens.models.token import ADDRESS_LENGTH, Token


class SearchEntryQuerySet(models.QuerySet["SearchEntry"]):
    """Queries for search entries by the token lists' filters."""

    def listed(self) -> Self:
        """Return the entries in public lists."""
        return self.filter(is_listed=True)

    def in_pool_or_paired_with(self, address: str) -> Self:
        """Return the entries with this pool or paired token, an address in stored form."""
        return self.filter(Q(pool_address=address) | Q(paired_token=address))

    def paired(self, symbol: str) -> Self:
        """Return the entries paired with a token that has this symbol, case-insensitively."""
        return self.filter(pair=Lower(Value(symbol)))

    def trusted(self) -> Self:
        """Return the entries whose tokens match `TokenQuerySet.trusted`."""
        return self.filter(token__in=Token.objects.listed().trusted())

    def warned(self) -> Self:
        """Return the entries whose tokens match `TokenQuerySet.warned`."""
        return self.filter(token__in=Token.objects.listed().warned())

    def without_warnings(self) -> Self:
        """Return the entries whose tokens match `TokenQuerySet.without_warnings`."""
        return self.filter(token__in=Token.objects.listed().without_warnings().values("pk"))

    def with_least(self, column: str, least: float) -> Self:
        """Return the entries whose tokens match `TokenQuerySet.with_least`."""
        return self.filter(at_least(column, least, prefix="token__market__"), token__market__isnull=False)

    def of_generations(self, names: Sequence[str]) -> Self:
        """Return the entries whose tokens match `TokenQuerySet.of_generations`."""
        return self.filter(token__in=Token.objects.listed().of_generations(names))

    def launched_by_interface(self, interface: str) -> Self:
        """Return the entries launched by this interface, case-insensitively."""
        return self.filter(interface=Lower(Value(interface)))


class SearchEntry(models.Model):
    """Token columns that a search and its filters compare, in one index.

    Triggers write it with the token, and whenever these columns change (`search_and_market_rows.sql`).
    """

    token = models.OneToOneField(Token, models.CASCADE, primary_key=True, related_name="search_entry")
    # Whether public lists show the token.
    is_listed = models.BooleanField()
    # Name and symbol in folded case, with a line break between them.
    text = models.TextField()
    # The token's columns, for the filters; lower case where the comparison is case-insensitive.
    deployed_at = models.DateTimeField()
    chain_id = models.BigIntegerField()
    msg_sender = models.CharField(max_length=ADDRESS_LENGTH)
    requestor_fid = models.BigIntegerField(null=True)
    champagne = models.BooleanField()
    pair = models.TextField()
    paired_token = models.CharField(max_length=ADDRESS_LENGTH)
    pool_address = models.CharField(max_length=66)
    interface = models.TextField()

    objects = SearchEntryQuerySet.as_manager()

    class Meta:
        indexes = [
            # One index for all search conditions: a scan reads only entries that meet them all.
            # Trigrams match three letters in a row, short grams all shorter texts. New entries go to a pending list
            # that every search has to read through; a trigger flushes it after each statement (search_index_flush.sql).
            # Thousands of rows together take a fourth as long as one by one.
            GinIndex(
                OpClass(F("text"), name="gin_trgm_ops"),
                ShortGrams("text"),
                *map(F, ("chain_id", "msg_sender", "requestor_fid", "champagne", "pair", "paired_token")),
                *map(F, ("pool_address", "interface")),
                name="search_by_everything",
                fastupdate=True,
            ),
        ]

    def __str__(self) -> str:
        return self.text
