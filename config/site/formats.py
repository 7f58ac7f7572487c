"""Filters and tags for public page templates: amounts, times, and texts from the chain that may try to deceive."""

import re
from collections.abc import Iterable
from datetime import datetime
from decimal import ROUND_DOWN, Context, Decimal
from functools import lru_cache
from typing import Any

from django import template
from django.utils import timezone
from django.utils.formats import get_format, number_format
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext, ngettext, pgettext, pgettext_lazy

from config.parsing.timestamps import format_timestamp
from config.site.assets import asset_url

register = template.Library()
register.simple_tag(asset_url, name="asset")

# Direction marks, zero-width and other characters without a glyph, besides the joiner and the selectors in emoji: a
# reader could take a text with them for another one.
DECEIVING = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# More combining marks on one letter than any human script has cover the lines above.
_MARKS = re.compile(
    r"([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f]{4})[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f]+"
)
_SCALES = (
    (Decimal(10) ** 12, pgettext_lazy("trillions", "%(number)sT")),
    (Decimal(10) ** 9, pgettext_lazy("billions", "%(number)sB")),
    (Decimal(10) ** 6, pgettext_lazy("millions", "%(number)sM")),
    (Decimal(10) ** 3, pgettext_lazy("thousands", "%(number)sK")),
)
# Numbers from this one on are a power: 1.20e+21. So are numbers with more zeros after the point, if read aloud.
_LARGEST, _MOST_ZEROS = Decimal(10) ** 16, 30
# From so many zeros after the point on, their number is written instead: 0.0₄123.
_COUNTED_ZEROS = 4
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
# A chart writes each price for its title, its table and screen readers, and the next refresh writes most of them again.
_CACHED_TEXTS = 4_096
# Code in texts for integrators.
_CODE = re.compile("`([^`]+)`")
# A creator's launches are counted up to this number.
COUNTED_LAUNCHES = 1_000
_MINUTE, _HOUR, _DAY, _YEAR = 60, 3_600, 86_400, 31_557_600


@register.filter
def plain(text: str | None, length: int = 80) -> str:
    """Return a text from the chain for attributes and titles: cut, and with deceiving characters as `<U+202E>`."""
    return "".join(piece for piece, _ in _parts(text or "", length))


@register.filter
def inline_code(text: str) -> SafeString:
    """Return our own text as HTML, with the parts between backticks as code."""
    return SafeString(_CODE.sub(r"<code>\1</code>", conditional_escape(text)))


@register.filter
def shown(text: str | None, length: int = 80) -> SafeString:
    """Return a text from the chain as HTML: isolated in direction, cut, and with deceiving characters as marks."""
    parts = (
        (format_html('<span class="control">{}</span>', piece) if is_control else piece,)
        for piece, is_control in _parts(text or "", length)
    )
    return format_html("<bdi>{}</bdi>", format_html_join("", "{}", parts))


def _parts(text: str, length: int) -> list[tuple[str, bool]]:
    """Cut a text to `length` characters, and return its parts, each with whether it is a mark for a character."""
    cut = _MARKS.sub(r"\1", text[: 4 * length])
    is_complete = len(cut) <= length and len(text) <= 4 * length
    cut = cut if is_complete else cut[: length - 1].rstrip() + "…"
    parts, end = [], 0
    for match in DECEIVING.finditer(cut):
        parts += [(cut[end : match.start()], False), (f"<U+{ord(match[0]):04X}>", True)]
        end = match.end()
    return [piece for piece in (*parts, (cut[end:], False)) if piece[0]]


@register.filter
def short_address(address: str) -> str:
    """Return the beginning and the end of an address or hash: 0x1234…abcd."""
    return address if len(address) <= 13 else f"{address[:6]}…{address[-4:]}"


@register.filter
def compact(value: float | Decimal | int | None, digits: int = 3) -> str:
    """Return `compact_text` as HTML that writes out a small number's zeros for screen readers."""
    return _readable_aloud(compact_text(value, digits), compact_text(value, digits, counts_zeros=False))


def _readable_aloud(visible_text: str, spoken_text: str) -> str:
    if visible_text == spoken_text:
        return visible_text
    return format_html('<span aria-hidden="true">{}</span><span class="quiet">{}</span>', visible_text, spoken_text)


def compact_text(value: float | Decimal | int | None, digits: int = 3, *, counts_zeros: bool = True) -> str:
    """Return a number in three significant digits with K, M, B or T, or the language's equivalents; empty for None.

    With `counts_zeros` a small number's zeros are a subscript: 0.0₉456 is 0.000000000456.
    """
    return "" if value is None else _compact_text(str(value), digits, counts_zeros, get_language())


@lru_cache(_CACHED_TEXTS)
def _compact_text(number: str, digits: int, counts_zeros: bool, language: str | None) -> str:
    """Return `compact_text` of a number in the active language."""
    amount = Decimal(number)
    if not amount.is_finite():
        return ""
    # Rounded before the scale is chosen: 999,999 is 1.00M, not 1,000K.
    amount = Context(prec=digits).plus(amount)
    size = abs(amount)
    for scale, text in _SCALES:
        if scale <= size < _LARGEST:
            return text % {"number": _written_out(amount / scale, digits)}
    zeros = -1 - amount.adjusted() if amount else 0
    if counts_zeros and zeros >= _COUNTED_ZEROS:
        mantissa = f"{size:.{digits - 1}e}".partition("e")[0].replace(".", "")
        return f"{'-' if amount < 0 else ''}{local_separators('0.0')}{str(zeros).translate(_SUBSCRIPTS)}{mantissa}"
    if size >= _LARGEST or zeros > _MOST_ZEROS:
        return local_separators(f"{amount:.{digits - 1}e}")
    return _written_out(amount, digits)


def _written_out(amount: Decimal, digits: int) -> str:
    """Return a number with `digits` significant digits; a small number's zeros after the point are written out."""
    if amount == 0:
        return "0"
    return number_format(amount, decimal_pos=max(0, digits - 1 - amount.adjusted()), use_l10n=True)


@register.filter
def whole(value: int | None) -> str:
    """Return a whole number: exactly below 1,000, and like `compact` above; empty for None."""
    return "" if value is None else str(value) if abs(value) < 1_000 else compact_text(value)


@register.filter
def usd(value: float | Decimal | None) -> str:
    """Return `usd_text` as HTML, like `compact`."""
    return _readable_aloud(usd_text(value), usd_text(value, counts_zeros=False))


def usd_text(value: float | Decimal | None, *, counts_zeros: bool = True) -> str:
    """Return a USD amount: $1.23M; empty for None. Zeros as in `compact_text`."""
    text = compact_text(value, counts_zeros=counts_zeros)
    return in_usd(text) if text else ""


def in_usd(number: str) -> str:
    """Return a number's text as a USD amount."""
    return _in_usd(number, get_language())


@lru_cache(_CACHED_TEXTS)
def _in_usd(number: str, language: str | None) -> str:
    """Return `in_usd` of a number in the active language."""
    sign = "-" if number.startswith("-") else ""
    return sign + pgettext("amount of US dollars", "$%(number)s") % {"number": number.removeprefix("-")}


@register.filter
def percent(value: float | Decimal | None) -> str:
    """Return a change in percentage points with its sign and one decimal: +12.3%; empty for None."""
    if (change := _rounded_change(value)) is None:
        return ""
    text = compact_text(change) if abs(change) >= 1_000 else number_format(change, decimal_pos=1, use_l10n=True)
    # Translators: a percentage.
    return gettext("%(number)s%%") % {"number": f"+{text}" if change > 0 else text}


def _rounded_change(value: float | Decimal | None) -> Decimal | None:
    """Return a change as pages show it, with one decimal; None for None and what is not finite."""
    if value is None or not (change := Decimal(str(value))).is_finite():
        return None
    return round(change, 1) if abs(change) < 1_000 else change


@register.filter
def points(value: float | Decimal | None) -> str:
    """Return a share or fee in percentage points without a percent sign: at most two decimals; empty for None.

    Shares that would be 0 in two decimals, and impossible ones from 1,000 on, have one digit.
    """
    if value is None or not (share := Decimal(str(value))).is_finite():
        return ""
    if abs(share) >= 1_000 or not (rounded := round(share, 2)):
        return compact_text(share, 1, counts_zeros=False)
    return number_format(rounded.normalize(), use_l10n=True)


@register.filter
def share(value: Decimal) -> str:
    """Return a share of 100, such as 63.2%: rounded down, so that only a whole one is 100%."""
    points = value.quantize(Decimal("0.1"), ROUND_DOWN)
    return gettext("%(number)s%%") % {"number": number_format(points, use_l10n=True)}


@register.filter
def direction(value: float | Decimal | None) -> str:
    """Return a change's class: up, down, or empty if `percent` shows 0.0%."""
    change = _rounded_change(value)
    return "" if not change else "up" if change > 0 else "down"


@register.filter
def age(moment: datetime) -> SafeString:
    """Return how long ago a moment was, as a `time` element: 12s, 5m, 3h, 4d, 2y."""
    text = short_duration(max(0, int((timezone.now() - moment).total_seconds())))
    return format_html('<time datetime="{}" title="{}">{}</time>', format_timestamp(moment), moment_text(moment), text)


def short_duration(seconds: int) -> str:
    """Return a duration in its largest unit: 12s, 5m, 3h, 4d, 2y."""
    if seconds < _MINUTE:
        return gettext("%(number)ds") % {"number": seconds}
    if seconds < _HOUR:
        return gettext("%(number)dm") % {"number": seconds // _MINUTE}
    if seconds < _DAY:
        return gettext("%(number)dh") % {"number": seconds // _HOUR}
    if seconds < _YEAR:
        return gettext("%(number)dd") % {"number": seconds // _DAY}
    return gettext("%(number)dy") % {"number": seconds // _YEAR}


@register.filter
def moment_text(moment: datetime) -> str:
    """Return a moment as 2026-11-26 09:30 UTC."""
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def local_separators(text: str) -> str:
    """Return a number such as 1,234.5 with the language's separators, in groups of three digits."""
    point = get_format("DECIMAL_SEPARATOR")
    return text.translate(str.maketrans({".": point, ",": "." if point == "," else ","}))


def join_parts(parts: Iterable[str]) -> str:
    """Return a list's parts, joined by the language's commas."""
    return pgettext("between parts of a list", ", ").join(parts)


@register.filter
def launches(number: int) -> str:
    """Return a number of launches in words; above COUNTED_LAUNCHES: 1,000+ launches."""
    text = number_format(min(number, COUNTED_LAUNCHES), use_l10n=True, force_grouping=True)
    text = f"{text}+" if number > COUNTED_LAUNCHES else text
    return ngettext("%(number)s launch", "%(number)s launches", number) % {"number": text}


@register.simple_tag(takes_context=True)
def address_with(context: dict[str, Any], **changes: Any) -> str:
    """Return the page's query string with these parameters changed, and without empty ones and the cursor."""
    query = context["request"].GET.copy()
    query.pop("cursor", None)
    for name, value in changes.items():
        query[name] = "" if value is None else str(value)
    remaining = {name: value for name, value in query.items() if value}
    query.clear()
    query.update(remaining)
    return f"?{query.urlencode()}" if remaining else "?"
