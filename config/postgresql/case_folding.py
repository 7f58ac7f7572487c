"""Case folding in SQL and in Python: one rule for stored texts, for their indexes and for queries."""

from django.db.models import Func, TextField


class FoldCase(Func):
    """A text in Unicode's full case folding, by the function in `case_folding.sql`.

    Stored texts and queries are both folded by the database, so that they agree whatever its locale is. The letters
    i, I, ı and İ are one letter, because people search Turkish names with either.
    """

    function = "fold_case"
    output_field = TextField()


def fold_case(text: str) -> str:
    """Return the text as `FoldCase` folds it, to plan a query by its characters: the length is the same.

    In a database whose locale has no Unicode letters, the characters may differ in case.
    """
    return text.casefold().replace("i\N{COMBINING DOT ABOVE}", "i").replace("ı", "i")
