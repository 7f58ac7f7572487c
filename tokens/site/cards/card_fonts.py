"""Share card fonts, and the texts that they can draw.

Inter has the Latin, Greek and Cyrillic scripts; WenQuanYi Micro Hei has Chinese, Japanese and Korean. Both are files
here, so that all hosts draw the same. No script that is written from right to left has a glyph.
"""

import math
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache, lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from PIL import ImageDraw, ImageFont

_FOLDER = Path(__file__).parent / "fonts"
_INTER, _CJK = _FOLDER / "InterVariable.woff2", _FOLDER / "WenQuanYiMicroHei.woff2"
_REGULAR, _BOLD = 450, 700
# Limits on Inter's optical size axis.
_SMALLEST_OPTICAL, _LARGEST_OPTICAL = 14, 32
# WenQuanYi Micro Hei has one weight: bold text has an outline with this width, as a part of the font size.
_BOLD_OUTLINE = 1 / 48
# No font has a glyph for this character.
_MISSING = "\uffff"
ELLIPSIS = "…"


class TextRun(NamedTuple):
    """Characters in one font; `outline` is in pixels."""

    text: str
    font: ImageFont.FreeTypeFont
    outline: float


def drawable(text: str, fallback: str) -> str:
    """Return the text if the fonts have all its characters, otherwise the fallback."""
    return text if all(map(_font_file, text)) else fallback


def text_width(text: str, size: int, *, is_bold: bool = False) -> float:
    """Return a text's width in pixels."""
    return sum(run.font.getlength(run.text) for run in _runs(text, size, is_bold=is_bold))


def fit_text(text: str, sizes: Sequence[int], width: int, *, is_bold: bool = False) -> tuple[str, int]:
    """Return the text with the largest size that fits the width; cut it at the smallest size if none fits."""
    for size in sizes:
        if text_width(text, size, is_bold=is_bold) <= width:
            return text, size
    cut = text
    while cut and text_width(cut + ELLIPSIS, size, is_bold=is_bold) > width:
        cut = cut[:-1]
    return cut.rstrip() + ELLIPSIS, size


def wrap_text(text: str, size: int, width: int, *, lines: int) -> list[str]:
    """Return the text in lines that fit the width, broken at blanks if it has any; the last line is cut."""
    wrapped: list[str] = []
    while text and len(wrapped) < lines - 1 and text_width(text, size) > width:
        widths = partial(_width_of_beginning, text, size)
        end = max(bisect_right(range(1, len(text)), width, key=widths), 1)
        blank = text.rfind(" ", 0, end + 1)
        end = blank if blank > 0 else end
        wrapped.append(text[:end])
        text = text[end:].lstrip()
    return [*wrapped, fit_text(text, (size,), width)[0]] if text else wrapped


def _width_of_beginning(text: str, size: int, length: int) -> int:
    """Return the width that a text's first characters take, in whole pixels."""
    return math.ceil(text_width(text[:length], size))


def draw_text(
    draw: ImageDraw.ImageDraw,
    position: tuple[float, float],
    text: str,
    size: int,
    *,
    fill: str,
    anchor: str,
    is_bold: bool = False,
) -> None:
    """Draw a text line. `anchor` is a Pillow anchor: l, m or r, then s for the baseline or m for the middle."""
    x, baseline = position
    runs = _runs(text, size, is_bold=is_bold)
    x -= {"l": 0, "m": 0.5, "r": 1}[anchor[0]] * text_width(text, size, is_bold=is_bold)
    if anchor[1] == "m":
        ascent, descent = _load(_INTER, size, is_bold=is_bold).getmetrics()
        baseline += (ascent - descent) / 2
    for run in runs:
        draw.text((x, baseline), run.text, fill=fill, font=run.font, anchor="ls", stroke_width=run.outline)
        x += run.font.getlength(run.text)


def _runs(text: str, size: int, *, is_bold: bool) -> list[TextRun]:
    return [
        TextRun(
            "".join(run), _load(file, size, is_bold=is_bold), size * _BOLD_OUTLINE if is_bold and file == _CJK else 0
        )
        for file, run in groupby(text, lambda character: _font_file(character) or _INTER)
    ]


@cache
def _load(file: Path, size: int, *, is_bold: bool) -> ImageFont.FreeTypeFont:
    """Return a font by its size in pixels. Each process loads a font once: 20 ms for Inter, 100 ms for the other."""
    font = ImageFont.truetype(file, size)
    if file == _INTER:
        optical = min(max(size, _SMALLEST_OPTICAL), _LARGEST_OPTICAL)
        font.set_variation_by_axes([optical, _BOLD if is_bold else _REGULAR])
    return font


@lru_cache(maxsize=4096)
def _font_file(character: str) -> Path | None:
    """Return the first font file with a glyph for the character."""
    # Inter has its own pictures in the private ranges.
    if unicodedata.category(character) in ("Co", "Cs", "Cn"):
        return None
    return next((file for file in (_INTER, _CJK) if _has_glyph(file, character)), None)


def _has_glyph(file: Path, character: str) -> bool:
    font = _load(file, 32, is_bold=False)
    mask, missing = font.getmask(character), font.getmask(_MISSING)
    return mask.size != missing.size or bytes(mask) != bytes(missing)
