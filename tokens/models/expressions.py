"""Database expressions that models, migrations and queries share."""

from collections.abc import Iterable

from django.contrib.postgres.fields import ArrayField
from django.db.models import BooleanField, F, Func, IntegerField, JSONField, TextField, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Left, Lower

from config.postgresql.bulk_load import array_literal

# A launch's interface, for comparison. Truncated, because launchers write any text and index entries are limited
# in size; one character longer than a filter's limit, so that a longer value never matches.
MAX_INTERFACE_LENGTH = 100
INTERFACE = Left(Lower(KT("social_context__interface")), MAX_INTERFACE_LENGTH + 1)


class ShortGrams(Func):
    """A text's single characters and adjacent pairs: text[], by the function in `short_grams.sql`."""

    function = "short_grams"
    output_field = ArrayField(TextField())


class EqualsAny(Func):
    """SQL condition that the second expression, an array, contains the first one."""

    template = "%(expressions)s)"
    arg_joiner = " = ANY("
    output_field = BooleanField()


class UnsupportedPrice(Func):
    """1 where the USD price from own trades makes no market cap, else 0. Its arguments are the token's id and supply.

    A scalar subquery, which looks up each token in the index: a join or an EXISTS may read all markets. A number: the
    planner expects few rows for one number, and half the rows for a boolean.
    """

    template = (
        "coalesce((SELECT 1 FROM tokens_market AS priced WHERE priced.token_id = %(expressions)s IS NOT NULL"
        " AND market_cap IS NULL AND price_quote IS NOT NULL AND price_usd IS NOT NULL), 0)"
    )
    arg_joiner = " AND "
    output_field = IntegerField()


class FeeRecipients(Func):
    """A token's current fee recipients: jsonb, for the token index by recipient."""

    function = "jsonb_path_query_array"
    template = "%(function)s(%(expressions)s, '$.fees.recipients[*].recipient')"
    output_field = JSONField()


def equals_any(column: str, values: Iterable[object], *, array: str = "text[]") -> Func:
    """Return the condition `column__in=values` with a single parameter, however many values there are."""
    return Func(
        F(column),
        Value(array_literal(values)),
        template=f"(%(expressions)s::{array}))",
        arg_joiner=" = ANY(",
        output_field=BooleanField(),
    )
