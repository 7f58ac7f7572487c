"""What the parameter `q` finds, and by which index.

PostgreSQL's trigrams know letters and digits alone, and need three of them in a row: one or two characters, emoji and
punctuation would have every entry of their index read. Such texts go by an index of all single characters and pairs.
"""

import re

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.lookups import DataContains
from django.db.models import F, Func, Q, TextField, Value
from django.db.models.functions import Lower
from django.db.models.lookups import Contains

from config.api.fields import parse_address, parse_transaction_hash

LONGEST = 100
# What pg_trgm takes for letters; an underscore is none to it.
_TRIGRAM = re.compile(r"[^\W_]{3}")


class ShortGrams(Func):
    """A text's single characters and pairs of neighbours: text[], by a function that a migration creates."""

    function = "short_grams"
    output_field = ArrayField(TextField())


class _Texts(Func):
    """An array of texts that PostgreSQL knows when it plans."""

    template = "ARRAY[%(expressions)s]"
    output_field = ArrayField(TextField())


def exact_match(q: str) -> Q | None:
    """The tokens that a whole address, mint, pool id or transaction hash names; None where `q` is none of these."""
    try:
        address = parse_address(q, allow_mint=True)
        return Q(contract_address=address) | Q(pool_address=address)
    except ValueError:
        pass
    try:
        digest = parse_transaction_hash(q)
        return Q(tx_hash=digest) | Q(pool_address=digest)
    except ValueError:
        return None


def text_match(q: str) -> Q:
    """The tokens whose name or symbol contains `q` in any case, by comparing texts."""
    sought = Lower(Value(q))
    found = Q(Contains(F("search_text"), sought))
    if "\n" in q:
        # It must not match the end of a name with the begin of a symbol.
        found &= Q(Contains(Lower("name"), sought)) | Q(Contains(Lower("symbol"), sought))
    return found


def indexed_match(q: str) -> Q:
    """The same tokens, so that one of the two indexes finds them."""
    if len(q) > 2 and _TRIGRAM.search(q):
        return text_match(q)
    grams = [q] if len(q) == 1 else sorted({q[start : start + 2] for start in range(len(q) - 1)})
    narrowed = Q(DataContains(ShortGrams("search_text"), _Texts(*(Lower(Value(gram)) for gram in grams))))
    # One or two characters are in the index as they are.
    return narrowed & text_match(q) if len(q) > 2 or "\n" in q else narrowed
