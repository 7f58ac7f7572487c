"""What the parameter `q` finds, and by which index.

PostgreSQL's trigrams know letters and digits alone, and need three of them in a row: one or two characters, emoji and
punctuation would have every entry of their index read. Such texts go by all single characters and pairs.
"""

import re
from collections.abc import Iterable

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.lookups import DataContains
from django.db.models import F, Func, Q, TextField, Value
from django.db.models.functions import Lower, StrIndex, Substr
from django.db.models.lookups import Contains, GreaterThan

from config.api.fields import parse_address, parse_transaction_hash

LONGEST = 100
# What pg_trgm takes for letters; an underscore is none to it.
_TRIGRAM = re.compile(r"[^\W_]{3}")
# What it takes for none, but for blanks, which are everywhere.
_NO_WORD = re.compile(r"[^\w\s]|_")


class ShortGrams(Func):
    """A text's single characters and pairs of neighbours: text[], by a function that a migration creates."""

    function = "short_grams"
    output_field = ArrayField(TextField())


class _Texts(Func):
    """An array of texts that PostgreSQL knows when it plans."""

    template = "ARRAY[%(expressions)s]"
    output_field = ArrayField(TextField())


def exact_match(q: str) -> Q | None:
    """The tokens that a whole address, mint, pool, transaction hash or signature names; None where `q` is no such."""
    try:
        address = parse_address(q, allow_mint=True)
        return Q(contract_address=address) | Q(pool_address=address)
    except ValueError:
        pass
    try:
        digest = parse_transaction_hash(q, allow_signature=True)
        return Q(tx_hash=digest) | Q(pool_address=digest)
    except ValueError:
        return None


def text_match(q: str) -> Q:
    """The tokens whose name or symbol contains `q` in any case; for a walk through tokens of which many do."""
    sought = Lower(Value(q))
    return Q(Contains(Lower("name"), sought)) | Q(Contains(Lower("symbol"), sought))


def entry_match(q: str) -> Q:
    """The search entries of the same tokens, by comparing texts, of which the planner has statistics."""
    return Q(Contains(F("text"), Lower(Value(q)))) & _within_one_line(q)


def indexed_entry_match(q: str) -> Q:
    """The same search entries, so that their index finds them."""
    pairs = {q[place : place + 2]: place for place in range(len(q) - 1)} or {q: 0}
    if _has_trigram(q):
        # Trigrams leave out what is neither letter nor digit, by which most of what they find may be wrong.
        telling = [place for pair, place in pairs.items() if _NO_WORD.search(pair)]
        return entry_match(q) & _has_grams(q, telling) if telling else entry_match(q)
    found = _has_grams(q, pairs.values())
    # Some letters become two in lower case.
    is_one_gram = len(q.lower()) <= 2
    return (found if is_one_gram else found & _compared(q)) & _within_one_line(q)


def _has_trigram(q: str) -> bool:
    return len(q) > 2 and bool(_TRIGRAM.search(q))


def _compared(q: str) -> Q:
    """Said in a way that does not bring the index of trigrams in."""
    return Q(GreaterThan(StrIndex("text", Lower(Value(q))), 0))


def _has_grams(q: str, places: Iterable[int]) -> Q:
    """The text has the two characters that stand in `q` at each of these places, in lower case.

    Cut after that, because what a letter becomes may depend on its neighbours.
    """
    grams = (Substr(Lower(Value(q)), place + 1, 2) for place in places)
    return Q(DataContains(ShortGrams("text"), _Texts(*grams)))


def _within_one_line(q: str) -> Q:
    """No match may begin in the name and end in the symbol."""
    if "\n" not in q:
        return Q()
    sought = Lower(Value(q))
    return Q(Contains(Lower("token__name"), sought)) | Q(Contains(Lower("token__symbol"), sought))
