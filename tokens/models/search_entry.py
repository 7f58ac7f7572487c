"""What searches compare."""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F

from tokens.catalogue.text_search import ShortGrams
from tokens.models.querysets import SearchEntryQuerySet
from tokens.models.token import ADDRESS_LENGTH, Token


class SearchEntry(models.Model):
    """What a search and its filters compare of a token, by one index.

    Triggers of the database write it with the token, and whenever what it says changes.
    """

    token = models.OneToOneField(Token, models.CASCADE, primary_key=True, related_name="search_entry")
    # Whether public lists show the token.
    is_listed = models.BooleanField()
    # Name and symbol in lower case, with a line break between them.
    text = models.TextField()
    # The token's own, for the filters; what these compare in any case is in lower case here.
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
            # All conditions of a search in one: what meets each of them is found without reading what meets but one.
            # Trigrams find three letters in a row, the short grams what has none. New entries go to a list that every
            # search has to read through; a trigger sorts them in at the end of each statement, those of thousands of
            # rows together, which takes a fourth of the time that it takes one by one.
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
