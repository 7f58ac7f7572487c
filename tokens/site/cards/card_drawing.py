"""Share card drawing: PNG files in the installation's colors, in the shapes that networks show.

Callers limit how many cards are drawn at a time.
"""

import io
import math
from decimal import Decimal
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext
from PIL import Image, ImageDraw

from config.site.colors import readable_on
from config.site.formats import percent, plain, short_address, usd_text
from tokens.site.cards.card_facts import CardFacts
from tokens.site.cards.card_fonts import draw_text, drawable, fit_text, text_width, wrap_text
from tokens.site.cards.card_links import EMBED, WIDE, CardShape, PageCard
from tokens.site.pictures.placeholders import TINTS, initials, tint_number
from tokens.site.sparklines import Sparkline

WIDTH = EMBED.width
_MARGIN = 64
_INNER = WIDTH - 2 * _MARGIN
# Dark scheme from site.css: feeds show cards between their texts, on light and dark backgrounds.
_BACK, _RAISED, _LINE = "#171a21", "#20242e", "#313744"
_INK, _SOFT, _UP, _DOWN = "#e9ebf0", "#a5adba", "#4ad18a", "#ff8a7d"
_PICTURE = 176
# Shapes are drawn larger and scaled down, as Pillow draws them with hard edges.
_SCALE = 2


class _CardRows(NamedTuple):
    """Pixels from the top: the token's picture, the market's labels and values, the price line's top and bottom."""

    picture: int
    label: int
    value: int
    line_top: int
    line_bottom: int


_ROWS = {EMBED: _CardRows(152, 400, 488, 556, 724), WIDE: _CardRows(128, 354, 434, 466, 574)}


def draw_card(facts: CardFacts, shape: CardShape = EMBED) -> bytes:
    """Return a token's share card as a PNG file."""
    card = Image.new("RGB", (shape.width, shape.height), _BACK)
    draw, rows = ImageDraw.Draw(card), _ROWS[shape]
    _draw_frame(draw, facts.chain)
    if facts.is_blocked:
        _draw_blocked(draw, facts, shape.height // 2)
    else:
        _draw_token(card, draw, facts, rows.picture)
        _draw_market(draw, facts, rows)
        _draw_line(card, facts.line, rows)
    return _encode(card)


def draw_page_card(page: PageCard, shape: CardShape) -> bytes:
    """Return a page's share card as a PNG file: its title and its description."""
    card = Image.new("RGB", (shape.width, shape.height), _BACK)
    draw = ImageDraw.Draw(card)
    _draw_frame(draw, "")
    host = urlsplit(settings.SITE_URL).hostname or ""
    title, size = fit_text(drawable(plain(str(page.title), 80), host), (96, 80, 64, 52), _INNER, is_bold=True)
    top = shape.height // 2 - 40
    draw_text(draw, (_MARGIN, top), title, size, fill=_INK, anchor="ls", is_bold=True)
    for number, line in enumerate(wrap_text(drawable(plain(str(page.description), 300), ""), 38, _INNER, lines=3)):
        draw_text(draw, (_MARGIN, top + 76 + 54 * number), line, 38, fill=_SOFT, anchor="ls")
    draw_text(draw, (_MARGIN, shape.height - 56), host, 30, fill=_SOFT, anchor="ls")
    return _encode(card)


def _encode(card: Image.Image) -> bytes:
    output = io.BytesIO()
    card.save(output, "PNG", compress_level=6)
    return output.getvalue()


def _draw_frame(draw: ImageDraw.ImageDraw, chain_name: str) -> None:
    accent = readable_on(settings.SITE_COLOR, (_BACK, _RAISED))
    draw.rectangle((0, 0, WIDTH, 14), fill=accent)
    host = urlsplit(settings.SITE_URL).hostname or ""
    name, size = fit_text(drawable(settings.SITE_NAME, host), (38, 32), 640, is_bold=True)
    draw_text(draw, (_MARGIN, 84), name, size, fill=accent, anchor="lm", is_bold=True)
    chain, size = fit_text(drawable(plain(chain_name, 40), ""), (30,), 300)
    if chain:
        right, width = WIDTH - _MARGIN, text_width(chain, size)
        draw.rounded_rectangle((right - width - 48, 58, right, 110), radius=26, fill=_RAISED)
        draw_text(draw, (right - 24, 84), chain, size, fill=_INK, anchor="rm")


def _draw_blocked(draw: ImageDraw.ImageDraw, facts: CardFacts, middle: int) -> None:
    address = short_address(facts.contract_address)
    draw_text(draw, (WIDTH / 2, middle - 20), address, 72, fill=_INK, anchor="mm", is_bold=True)
    text, size = fit_text(gettext("This token is not shown here."), (40, 32), _INNER)
    draw_text(draw, (WIDTH / 2, middle + 70), text, size, fill=_SOFT, anchor="mm")


def _draw_token(card: Image.Image, draw: ImageDraw.ImageDraw, facts: CardFacts, top: int) -> None:
    picture = _picture(facts)
    mask = Image.new("L", (_SCALE * _PICTURE, _SCALE * _PICTURE))
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, *mask.size), radius=_SCALE * 40, fill=255)
    card.paste(picture, (_MARGIN, top), mask.resize(picture.size, Image.Resampling.LANCZOS))
    text_x, address = _MARGIN + _PICTURE + 40, short_address(facts.contract_address)
    width = WIDTH - _MARGIN - text_x
    symbol = drawable(plain(facts.symbol, 40), "") or address
    text, size = fit_text(symbol, (92, 76, 62, 50, 42), width, is_bold=True)
    lines = [drawable(plain(facts.name, 80), ""), "" if symbol == address else address]
    below, small = fit_text("  ·  ".join(filter(None, lines)), (38, 32), width)
    # Without a second line, level with the picture's middle.
    text_y, anchor = (top + 80, "ls") if below else (top + _PICTURE // 2, "lm")
    draw_text(draw, (text_x, text_y), text, size, fill=_INK, anchor=anchor, is_bold=True)
    draw_text(draw, (text_x, top + 146), below, small, fill=_SOFT, anchor="ls")


def _picture(facts: CardFacts) -> Image.Image:
    """Return the token's picture, or its placeholder."""
    if facts.picture is not None:
        # This service encoded it: it is small, and its format is known.
        with Image.open(io.BytesIO(facts.picture), formats=("WEBP",)) as stored:
            picture = Image.new("RGB", stored.size, _RAISED)
            picture.paste(stored, mask=stored if stored.mode == "RGBA" else None)
            return picture.resize((_PICTURE, _PICTURE), Image.Resampling.LANCZOS)
    placeholder = Image.new("RGB", (_PICTURE, _PICTURE), TINTS[tint_number(facts.contract_address)])
    middle = (_PICTURE / 2, _PICTURE / 2)
    text = drawable(initials(facts.symbol), "?")
    draw_text(ImageDraw.Draw(placeholder), middle, text, 76, fill="#ffffff", anchor="mm", is_bold=True)
    return placeholder


def _draw_market(draw: ImageDraw.ImageDraw, facts: CardFacts, rows: _CardRows) -> None:
    change = facts.change_24h
    color = _INK if not change else _UP if change > 0 else _DOWN
    shown = (
        (_MARGIN, gettext("Market cap"), usd_text(_decimal(facts.market_cap)), _INK),
        (WIDTH // 2 + 32, gettext("24 hours"), percent(_decimal(change)), color),
    )
    for x, label, value, ink in shown:
        draw_text(draw, (x, rows.label), label, 32, fill=_SOFT, anchor="ls")
        text, size = fit_text(drawable(value, "") or "–", (80, 64, 52), _INNER // 2 - 32, is_bold=True)
        draw_text(draw, (x, rows.value), text, size, fill=ink if value else _SOFT, anchor="ls", is_bold=True)


def _decimal(value: float | None) -> Decimal | None:
    return None if value is None or not math.isfinite(value) else Decimal(repr(value))


def _draw_line(card: Image.Image, line: Sparkline | None, rows: _CardRows) -> None:
    top, right, bottom = rows.line_top, WIDTH - _MARGIN, rows.line_bottom
    if line is None:
        ImageDraw.Draw(card).line((_MARGIN, bottom, right, bottom), fill=_LINE, width=4)
        return
    width, height = _SCALE * _INNER, _SCALE * (bottom - top)
    # Margins keep the whole line within the picture.
    points = [(8 + (width - 16) * x, height - 12 - (height - 24) * y) for x, y in line.coordinates]
    ink = _DOWN if line.direction == "down" else _UP
    layer = Image.new("RGBA", (width, height), f"{ink}00")
    draw = ImageDraw.Draw(layer)
    draw.polygon([(points[0][0], height), *points, (points[-1][0], height)], fill=f"{ink}22")
    draw.line(points, fill=ink, width=_SCALE * 5, joint="curve")
    small = layer.resize((_INNER, bottom - top), Image.Resampling.LANCZOS)
    card.paste(small, (_MARGIN, top), small)
