"""The search index: new entries are sorted in at once, so that no search reads through a pending list."""

import pytest
from django.db import connection

from tests.rows.factories import TokenFactory
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
