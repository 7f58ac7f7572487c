"""Font of share cards: Inter, which has the Latin, Greek and Cyrillic scripts, and the texts that it can draw."""

import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

from PIL import ImageFont

_FILE = Path(__file__).parent / "fonts" / "InterVariable.woff2"
_REGULAR, _BOLD = 450, 700
# Limits of the font's axis of optical sizes.
_SMALLEST_OPTICAL, _LARGEST_OPTICAL = 14, 32
# No font has a glyph for this character.
_MISSING = "\uffff"
ELLIPSIS = "…"


def card_font(size: int, *, is_bold: bool = False) -> ImageFont.FreeTypeFont:
    """Return the font in pixels; loaded once for each process, which takes about 10 ms."""
    return _load(size, _BOLD if is_bold else _REGULAR)


@cache
def _load(size: int, weight: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.truetype(_FILE, size)
    optical = min(max(size, _SMALLEST_OPTICAL), _LARGEST_OPTICAL)
    font.set_variation_by_axes([optical, weight])
    return font


def drawable(text: str, fallback: str) -> str:
    """Return the text if the font has all of its characters, otherwise the fallback."""
    return text if all(map(_has_glyph, text)) else fallback


def fit_text(
    text: str, sizes: Sequence[int], width: int, *, is_bold: bool = False
) -> tuple[str, ImageFont.FreeTypeFont]:
    """Return the text with the largest font in which it has this width, cut in the smallest one if it must be."""
    for size in sizes:
        font = card_font(size, is_bold=is_bold)
        if font.getlength(text) <= width:
            return text, font
    cut = text
    while cut and font.getlength(cut + ELLIPSIS) > width:
        cut = cut[:-1]
    return cut.rstrip() + ELLIPSIS, font


@lru_cache(maxsize=4096)
def _has_glyph(character: str) -> bool:
    # The font has pictures of its own in the private ranges.
    if unicodedata.category(character) in ("Co", "Cs", "Cn"):
        return False
    font = card_font(32)
    mask, missing = font.getmask(character), font.getmask(_MISSING)
    return mask.size != missing.size or bytes(mask) != bytes(missing)
