"""Texts of strangers in Unicode's form NFKC, in a time that grows with their length alone."""

import re
import unicodedata
from itertools import groupby, islice

# A run of marks takes its square of time to be put in order. No script of people has this many in a row
# (https://www.unicode.org/reports/tr15/#Stream_Safe_Text_Format); the rest of a longer run is dropped.
MOST_MARKS = 30
# What may be such a run: marks are no letters, but two signs of Katakana are both.
_LONG = re.compile(rf"(?:[^\w\s!-~]|[\uff9e\uff9f]){{{MOST_MARKS + 1},}}")


def normal_form(text: str) -> str:
    """The text in NFKC, less what is beyond MOST_MARKS of marks in a row."""
    return unicodedata.normalize("NFKC", _LONG.sub(_with_few_marks, text))


def _with_few_marks(run: re.Match[str]) -> str:
    return "".join(
        "".join(islice(characters, MOST_MARKS) if marks else characters)
        for marks, characters in groupby(run[0], key=_is_mark)
    )


def _is_mark(character: str) -> bool:
    """Whether it stands in a run of marks once the text is normalized."""
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) != 0
