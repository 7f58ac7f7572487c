"""The search index: new entries are sorted in at once, so that no search reads a pending list, and folded in case."""

from importlib import import_module

import pytest
from django.db import connection

from tests.rows.factories import TokenFactory
from tests.rows.token_lists import ids
from tokens.models import Token

pytestmark = pytest.mark.django_db


def count_unsorted():
    """Return the pages of entries that wait to be sorted in; this sorts them in."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT gin_clean_pending_list('search_by_everything')")
        return cursor.fetchone()[0]


def test_it_sorts_in_what_is_launched():
    for number in range(3):
        TokenFactory.create(name=f"Tobias {number}")
    assert count_unsorted() == 0


def test_it_sorts_in_what_is_changed():
    token = TokenFactory.create(name="Tobias")
    Token.objects.filter(pk=token.pk).update(name="Tobias the second")
    assert count_unsorted() == 0


def test_it_finds_unsorted_entries_without_its_trigger():
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE tokens_searchentry DISABLE TRIGGER search_entries_are_sorted_in")
    TokenFactory.create(name="Tobias")
    assert count_unsorted() > 0


# Each line has names that count as one spelling: any of them finds all.
SPELLINGS = [
    ("Straße", "STRASSE", "STRAẞE", "strasse"),
    ("ß", "SS", "ẞ", "ss"),
    ("ΣΟΦΟΣ", "σοφος", "σοφοσ", "Σοφος"),
    ("ς", "Σ", "σ"),
    ("İSTANBUL", "istanbul", "i̇stanbul", "ISTANBUL", "ıstanbul"),
    ("İ!", "i̇!", "I!", "ı!"),
    ("i̇i̇", "II", "İİ"),
    ("ＤＯＧＥ", "ｄｏｇｅ", "Ｄｏｇｅ"),
    ("Ｄ", "ｄ"),
    ("oﬃce", "OFFICE", "oﬀice"),
    ("ΐΐ", "ΐΐ"),
    ("ꭰꭱꭲ", "ᎠᎡᎢ"),
    ("\N{KELVIN SIGN}iwi", "kiwi", "KIWI"),
    ("Собака", "СОБАКА"),
]


@pytest.mark.parametrize("spellings", SPELLINGS, ids=lambda spellings: spellings[0])
@pytest.mark.parametrize("part", [slice(None), slice(0, 2)])
def test_all_spellings_find_each_other(client, spellings, part):
    TokenFactory.create(name="Other", symbol="OTHER")
    names = {TokenFactory.create(name=name, symbol="X").pk for name in spellings}
    symbols = {TokenFactory.create(name="Name", symbol=symbol).pk for symbol in spellings}
    for q in spellings:
        found = client.get("/api/tokens", {"q": q[part], "limit": 20})
        assert names | symbols <= set(ids(found)), q
        if part == slice(None):
            assert set(ids(found)) == names | symbols, q


def test_what_was_stored_before_is_folded_by_the_migration(client):
    stored = import_module("tokens.migrations.0017_stored_rows")
    folded = TokenFactory.create(name="Straße", symbol="ΣΟΦΟΣ")
    TokenFactory.create(name="Doge", symbol="DOGE")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE tokens_searchentry SET text = 'straße\nσοφος' WHERE token_id = %s", [folded.pk])
        assert ids(client.get("/api/tokens", {"q": "strasse"})) == []
        cursor.execute(stored.FOLD, {"first": 0, "end": folded.pk + 1})
    assert ids(client.get("/api/tokens", {"q": "strasse"})) == [folded.pk]
    assert ids(client.get("/api/tokens", {"q": "σοφος"})) == [folded.pk]
