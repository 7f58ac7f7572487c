"""Query conditions for the parameter `q`, and the indexes that serve them.

PostgreSQL's trigrams cover only letters and digits, and need three in a row: one or two characters, emoji and
punctuation would scan the whole trigram index. Such texts use an index over single characters and pairs ("short
grams").
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
# Three characters that pg_trgm indexes; an underscore is not among them.
_TRIGRAM = re.compile(r"[^\W_]{3}")
# Characters that pg_trgm skips, except blanks, which are too frequent to select by.
_NON_WORD = re.compile(r"[^\w\s]|_")


class _Texts(Func):
    """SQL text array that is constant when PostgreSQL plans the query."""

    template = "ARRAY[%(expressions)s]"
    output_field = ArrayField(TextField())


def exact_match(q: str) -> Q | None:
    """Match tokens by whole address, mint, pool, transaction hash or signature; None if `q` is none."""
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
    """Match tokens by part of their name or symbol, in any case; for scans in sort order, if many tokens match."""
    sought = FoldCase(Value(q))
    return Q(Contains(FoldCase("name"), sought)) | Q(Contains(FoldCase("symbol"), sought))


def entry_match(q: str) -> Q:
    """Match the same tokens' search entries by text comparison, for which the planner has statistics."""
    return Q(Contains(F("text"), FoldCase(Value(q)))) & _within_one_line(q)


def indexed_entry_match(q: str) -> Q:
    """Match the same search entries by their index."""
    folded = fold_case(q)
    pairs = {folded[index : index + 2]: index for index in range(len(folded) - 1)} or {folded: 0}
    if _has_trigram(folded):
        # Trigrams skip all other characters: without this condition most trigram matches may be wrong.
        skipped_by_trigrams = [index for pair, index in pairs.items() if _NON_WORD.search(pair)]
        return entry_match(q) & _has_grams(q, skipped_by_trigrams) if skipped_by_trigrams else entry_match(q)
    has_grams = _has_grams(q, pairs.values())
    is_one_gram = len(folded) <= 2
    return (has_grams if is_one_gram else has_grams & _contains_without_trigrams(q)) & _within_one_line(q)


def symbol_match(symbol: str) -> Q:
    """Match search entries whose whole symbol is this ASCII character, in any case, by their index."""
    end = f"\n{symbol.lower()}"
    return Q(DataContains(ShortGrams("text"), _Texts(Value(end)))) & Q(text__endswith=end)


def _has_trigram(q: str) -> bool:
    return len(q) > 2 and bool(_TRIGRAM.search(q))


def _contains_without_trigrams(q: str) -> Q:
    """Match texts that contain `q`, in a form that keeps the planner from using the trigram index."""
    return Q(GreaterThan(StrIndex("text", FoldCase(Value(q))), 0))


def _has_grams(q: str, indices: Iterable[int]) -> Q:
    """Match texts that contain each pair of characters that begins at one of these indices in the folded `q`.

    `q` is folded before it is cut, because one letter may become several.
    """
    grams = (Substr(FoldCase(Value(q)), index + 1, 2) for index in indices)
    return Q(DataContains(ShortGrams("text"), _Texts(*grams)))


def _within_one_line(q: str) -> Q:
    """Exclude matches that begin in the name and end in the symbol: an entry has name and symbol on separate lines."""
    if "\n" not in q:
        return Q()
    sought = FoldCase(Value(q))
    return Q(Contains(FoldCase("token__name"), sought)) | Q(Contains(FoldCase("token__symbol"), sought))
