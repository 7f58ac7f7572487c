"""Drawn placeholders for tokens without a picture: one or two letters on one of eight tints. Pure."""

import unicodedata
import zlib
from xml.sax.saxutils import escape

# The contrast with white letters is at least 4.5, so that the tints serve light and dark pages; site.css has
# the same tints as .tint-0 to .tint-7.
TINTS = ("#3b5bdb", "#0b7285", "#2b7a3f", "#8a5a00", "#b5410f", "#b02a37", "#9c2a8c", "#6741d9")
_UNKNOWN = "?"
_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40" width="160" height="160">'
    '<rect width="40" height="40" fill="{tint}"/>'
    '<text x="20" y="20" dy=".35em" text-anchor="middle" fill="#ffffff" font-family="system-ui, sans-serif"'
    ' font-size="16" font-weight="700">{letters}</text></svg>'
)


def tint_number(address: str) -> int:
    """Return the tint number for an address, the same in any spelling."""
    return zlib.crc32(address.lower().encode()) % len(TINTS)


def tint_class(address: str) -> str:
    """Return the class in site.css with the tint for an address."""
    return f"tint-{tint_number(address)}"


def initials(symbol: str | None) -> str:
    """Return a symbol's first two letters or digits, one if either is wide; a question mark if there is none."""
    # Marks, controls and emoji are no letters: the text is safe and has a width that fits.
    letters = [letter for letter in (symbol or "")[:40] if letter.isalnum()][:2]
    if not letters:
        return _UNKNOWN
    # A letter may have a longer upper case.
    narrow = all(unicodedata.east_asian_width(letter) not in "WF" for letter in letters)
    return "".join(letter.upper()[:1] for letter in (letters if narrow else letters[:1]))


def placeholder_svg(symbol: str | None, address: str) -> bytes:
    """Return the placeholder as an SVG picture without styles and scripts."""
    return _SVG.format(tint=TINTS[tint_number(address)], letters=escape(initials(symbol))).encode()
