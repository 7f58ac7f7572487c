"""Case folding in SQL: Unicode's full case folding for every letter, and the same length as in Python."""

import sys
import unicodedata

import pytest
from django.db import connection

from config.postgresql.case_folding import fold_case

pytestmark = pytest.mark.django_db

LETTERS = [
    letter
    for letter in map(chr, range(sys.maxunicode + 1))
    if unicodedata.category(letter) != "Cs" and len({letter, letter.lower(), letter.upper(), letter.casefold()}) > 1
]
TURKISH = {"İ": "i", "ı": "i"}


def folded_by_database(texts):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT fold_case(text) FROM unnest(%s::text[]) WITH ORDINALITY AS of (text, n) ORDER BY n", [texts]
        )
        return [text for (text,) in cursor.fetchall()]


def test_letters_are_equal_where_unicode_folds_them_to_the_same():
    assert len(LETTERS) > 2_500
    folded = folded_by_database(LETTERS)
    assert folded == folded_by_database([TURKISH.get(letter, letter.casefold()) for letter in LETTERS])
    assert folded == folded_by_database(folded)
    originals = {}
    for letter, text in zip(LETTERS, folded, strict=True):
        originals.setdefault(text, set()).add(TURKISH.get(letter, letter.casefold()))
    assert [same for same in originals.values() if len(same) > 1] == []


def test_python_and_sql_fold_to_the_same_length():
    texts = [*LETTERS, "i̇i̇", "İSTANBUL", "ΟΔΟΣ ΣΑΣ", "🐶ß犬"]
    assert [len(fold_case(text)) for text in texts] == [len(text) for text in folded_by_database(texts)]


def test_nothing_and_null_stay():
    assert folded_by_database(["", None]) == ["", None]


def test_indexes_of_folded_texts_work_without_a_search_path():
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_schema()")
        schema = cursor.fetchone()[0]
        cursor.execute("SET LOCAL search_path = ''")
        cursor.execute(f'SELECT "{schema}".fold_case(%s)', ["Straße"])
        assert cursor.fetchone() == ("strasse",)
