"""Database expressions that models, migrations and queries share."""

from collections.abc import Iterable

from django.contrib.postgres.fields import ArrayField
from django.db.models import BooleanField, F, Func, TextField, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Left, Lower

# The interface of a launch, for comparison. Truncated, because launchers write any text and index entries are limited
# in size; one character longer than a filter's limit, so that a longer value never matches.
MAX_INTERFACE_LENGTH = 100
INTERFACE = Left(Lower(KT("social_context__interface")), MAX_INTERFACE_LENGTH + 1)


class ShortGrams(Func):
    """A text's single characters and pairs of neighbours: text[], by a function that a migration creates."""

    function = "short_grams"
    output_field = ArrayField(TextField())


def equals_any(column: str, texts: Iterable[str]) -> Func:
    """Return the condition `column__in=texts` with a single parameter for any number of texts.

    The array literal is built here: psycopg takes several microseconds per element of a list.
    """
    quoted = ",".join(['"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in texts])
    return Func(
        F(column),
        Value(f"{{{quoted}}}"),
        template="(%(expressions)s::text[]))",
        arg_joiner=" = ANY(",
        output_field=BooleanField(),
    )
