"""Unicode normalization (NFKC) of untrusted text in linear time."""

import re
import unicodedata
from itertools import groupby, islice

# Sorting a run of combining marks takes quadratic time. No human script has this many in a row
# (https://www.unicode.org/reports/tr15/#Stream_Safe_Text_Format); the rest of a longer run is dropped.
MAX_MARKS = 30
# Candidates for such a run: marks are not letters, but two signs of Katakana are both.
_LONG = re.compile(rf"(?:[^\w\s!-~]|[\uff9e\uff9f]){{{MAX_MARKS + 1},}}")


def normalize_text(text: str) -> str:
    """Return the text in NFKC, with at most MAX_MARKS combining marks in a row."""
    if text.isascii():
        # In NFKC already, and without marks.
        return text
    return unicodedata.normalize("NFKC", _LONG.sub(_with_few_marks, text))


def _with_few_marks(run: re.Match[str]) -> str:
    return "".join(
        "".join(islice(characters, MAX_MARKS) if marks else characters)
        for marks, characters in groupby(run[0], key=_is_mark)
    )


def _is_mark(character: str) -> bool:
    """Return whether the character belongs to a run of marks after normalization."""
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) != 0
