"""Parameters of the endpoints for creators."""

from rest_framework import serializers

from config.api.fields import FlagField, TextField, WholeNumberField
from tokens.catalogue.list_parameters import PageQuery
from tokens.chains.addresses import ADDRESS_OR_MINT_SHAPE
from tokens.ledger.creator_search import MAX_QUERY_LENGTH
from tokens.ledger.waiting_fees import TOKENS_READ

CREATOR_SHAPE = {"type": "string", "pattern": f"{ADDRESS_OR_MINT_SHAPE['pattern']}|^[1-9][0-9]{{0,18}}$"}


class CreatorQuery(PageQuery):
    """Pages, days and chain reads of a creator's ledger."""

    recipientCursor = serializers.CharField(
        required=False, help_text="Opaque recipientCursor of the previous response, of the list recipientOf."
    )
    limit = WholeNumberField(
        min_value=0, max_value=10, default=10, help_text="Entries of each list. With 0 only the totals."
    )
    days = WholeNumberField(
        min_value=0, max_value=90, default=7, help_text="Days of amounts by day, up to today in UTC."
    )
    includeWaiting = FlagField(
        default=False,
        help_text=f"Read the fees that wait for a claim from the chain, of the first {TOKENS_READ} tokens.",
    )


class CreatorSearchQuery(PageQuery):
    """Text and page of a search of creators."""

    q = TextField(
        longest=MAX_QUERY_LENGTH,
        help_text="Beginning of a user name in any case (of a display name, if there is no user name), a whole address"
        " or a FID.",
    )
    limit = WholeNumberField(min_value=1, max_value=50, default=10)
