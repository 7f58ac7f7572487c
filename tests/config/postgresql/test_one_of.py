"""Query condition with any number of texts in one parameter, taken literally."""

import pytest

from tests.rows.factories import TokenFactory
from tokens.models import Token
from tokens.models.expressions import equals_any

pytestmark = pytest.mark.django_db

# Characters with a meaning in array literals.
ODD = ["", "NULL", "{}", "a,b", 'say "a"', "back\\slash", "\\", '"', "tab\t", "line\n", "犬🐶", "100%s", "it's"]


def names(condition):
    return sorted(Token.objects.filter(condition).values_list("name", flat=True))


def test_it_finds_each_of_them_and_nothing_else():
    for name in [*ODD, "another"]:
        TokenFactory.create(name=name)
    assert names(equals_any("name", ODD)) == sorted(ODD)
    assert [names(equals_any("name", [name])) for name in ODD] == [[name] for name in ODD]


def test_it_finds_nothing_among_no_texts():
    TokenFactory.create(name="")
    assert names(equals_any("name", [])) == []
