"""Query conditions of the parameter `q`, and the indexes that serve them.

PostgreSQL's trigrams cover letters and digits only and need three of them in a row: one or two characters, emoji and
punctuation would scan their whole index. Such texts use an index of all single characters and pairs ("short grams").
"""

import re
from collections.abc import Iterable

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.lookups import DataContains
from django.db.models import F, Func, Q, TextField, Value
from django.db.models.functions import StrIndex, Substr
from django.db.models.lookups import Contains, GreaterThan

from config.postgresql.case_folding import FoldCase, fold_case
from tokens.chains.addresses import parse_address, parse_transaction_hash
from tokens.models.expressions import ShortGrams

MAX_QUERY_LENGTH = 100
# The characters of which pg_trgm makes trigrams; an underscore is not among them.
_TRIGRAM = re.compile(r"[^\W_]{3}")
# The characters that it skips, except blanks, which are too frequent to select by.
_NON_WORD = re.compile(r"[^\w\s]|_")


class _Texts(Func):
    """SQL array of texts that is constant when PostgreSQL plans the query."""

    template = "ARRAY[%(expressions)s]"
    output_field = ArrayField(TextField())


def exact_match(q: str) -> Q | None:
    """Match tokens by a whole address, mint, pool, transaction hash or signature; None if `q` is none of these."""
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
    """Match tokens by a part of their name or symbol, in any case; for scans in sort order, if many tokens match."""
    sought = FoldCase(Value(q))
    return Q(Contains(FoldCase("name"), sought)) | Q(Contains(FoldCase("symbol"), sought))


def entry_match(q: str) -> Q:
    """Match the search entries of the same tokens by text comparison, for which the planner has statistics."""
    return Q(Contains(F("text"), FoldCase(Value(q)))) & _within_one_line(q)


def indexed_entry_match(q: str) -> Q:
    """Match the same search entries by their index."""
    folded = fold_case(q)
    pairs = {folded[place : place + 2]: place for place in range(len(folded) - 1)} or {folded: 0}
    if _has_trigram(folded):
        # Trigrams skip all other characters, so that most of their matches may be wrong without this condition.
        telling = [place for pair, place in pairs.items() if _NON_WORD.search(pair)]
        return entry_match(q) & _has_grams(q, telling) if telling else entry_match(q)
    found = _has_grams(q, pairs.values())
    is_one_gram = len(folded) <= 2
    return (found if is_one_gram else found & _contains_without_trigrams(q)) & _within_one_line(q)


def symbol_match(symbol: str) -> Q:
    """Match search entries by their whole symbol of one ASCII character, in any case, by their index."""
    end = f"\n{symbol.lower()}"
    return Q(DataContains(ShortGrams("text"), _Texts(Value(end)))) & Q(text__endswith=end)


def _has_trigram(q: str) -> bool:
    return len(q) > 2 and bool(_TRIGRAM.search(q))


def _contains_without_trigrams(q: str) -> Q:
    """Match texts that contain `q`, in a form for which the planner cannot use the trigram index."""
    return Q(GreaterThan(StrIndex("text", FoldCase(Value(q))), 0))


def _has_grams(q: str, places: Iterable[int]) -> Q:
    """Match texts with the two characters at each of these indices of the folded `q`.

    `q` is folded before it is cut, because one letter may become several.
    """
    grams = (Substr(FoldCase(Value(q)), place + 1, 2) for place in places)
    return Q(DataContains(ShortGrams("text"), _Texts(*grams)))


def _within_one_line(q: str) -> Q:
    """Exclude matches that begin in the name and end in the symbol: an entry has them on separate lines."""
    if "\n" not in q:
        return Q()
    sought = FoldCase(Value(q))
    return Q(Contains(FoldCase("token__name"), sought)) | Q(Contains(FoldCase("token__symbol"), sought))
