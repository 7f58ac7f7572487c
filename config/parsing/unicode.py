"""Unicode normalization (NFKC) of untrusted text in linear time, and comparison keys for texts that look alike."""

import re
import unicodedata
from itertools import groupby, islice

# Sorting a run of combining marks takes quadratic time. No human script has this many in a row
# (https://www.unicode.org/reports/tr15/#Stream_Safe_Text_Format); the rest of a longer run is dropped.
MAX_MARKS = 30
# Candidates for such a run: marks are not letters, but two Katakana signs are both.
_LONG = re.compile(rf"(?:[^\w\s!-~]|[\uff9e\uff9f]){{{MAX_MARKS + 1},}}")


# Characters without a glyph: controls, format characters (zero-width ones, direction marks) and the Braille blank. Also
# what the standard lists as ignorable beside them: variation selectors, fillers and joiners.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def visible_key(text: str) -> str:
    """Return a text's comparison form: NFKC, without case, invisible characters and blanks around.

    Applied to its own result it changes nothing.
    """
    visible = _INVISIBLE.sub("", text)
    # Case folding may leave NFKC, and NFKC may make a character that is folded.
    folded = normalize_text(normalize_text(visible).casefold())
    return _INVISIBLE.sub("", normalize_text(folded.casefold())).strip()


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
