"""Drawing of share cards: PNG files of 1200 by 800 pixels, which is 3:2, in the installation's colors.

Callers limit how many are drawn at a time.
"""

import io
import math
from decimal import Decimal
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext
from PIL import Image, ImageDraw

from config.site.colors import readable_on
from config.site.formats import percent, plain, short_address, usd_text
from tokens.site.cards.card_facts import CardFacts
from tokens.site.cards.card_fonts import draw_text, drawable, fit_text, text_width
from tokens.site.pictures.placeholders import TINTS, initials, tint_number
from tokens.site.sparklines import Sparkline

WIDTH, HEIGHT = 1200, 800
_MARGIN = 64
_INNER = WIDTH - 2 * _MARGIN
# The dark scheme of site.css: cards are seen between the texts of feeds, light and dark.
_BACK, _RAISED, _LINE = "#171a21", "#20242e", "#313744"
_INK, _SOFT, _UP, _DOWN = "#e9ebf0", "#a5adba", "#4ad18a", "#ff8a7d"
_PICTURE = 176
_CHART = (_MARGIN, 556, WIDTH - _MARGIN, 724)
# Shapes are drawn larger and scaled down, as Pillow draws them with hard edges.
_SCALE = 2

Box = tuple[int, int, int, int]


def draw_card(facts: CardFacts) -> bytes:
    """Return a share card as a PNG file."""
    card = Image.new("RGB", (WIDTH, HEIGHT), _BACK)
    draw = ImageDraw.Draw(card)
    _draw_frame(draw, facts)
    if facts.is_blocked:
        _draw_blocked(draw, facts)
    else:
        _draw_token(card, draw, facts)
        _draw_market(draw, facts)
        _draw_chart(card, facts.line)
    output = io.BytesIO()
    card.save(output, "PNG", compress_level=6)
    return output.getvalue()


def _draw_frame(draw: ImageDraw.ImageDraw, facts: CardFacts) -> None:
    accent = readable_on(settings.SITE_COLOR, (_BACK, _RAISED))
    draw.rectangle((0, 0, WIDTH, 14), fill=accent)
    host = urlsplit(settings.SITE_URL).hostname or ""
    name, size = fit_text(drawable(settings.SITE_NAME, host), (38, 32), 640, is_bold=True)
    draw_text(draw, (_MARGIN, 84), name, size, fill=accent, anchor="lm", is_bold=True)
    chain, size = fit_text(drawable(plain(facts.chain, 40), ""), (30,), 300)
    if chain:
        right, width = WIDTH - _MARGIN, text_width(chain, size)
        draw.rounded_rectangle((right - width - 48, 58, right, 110), radius=26, fill=_RAISED)
        draw_text(draw, (right - 24, 84), chain, size, fill=_INK, anchor="rm")


def _draw_blocked(draw: ImageDraw.ImageDraw, facts: CardFacts) -> None:
    address = short_address(facts.contract_address)
    draw_text(draw, (WIDTH / 2, 380), address, 72, fill=_INK, anchor="mm", is_bold=True)
    text, size = fit_text(gettext("This token is not shown here."), (40, 32), _INNER)
    draw_text(draw, (WIDTH / 2, 470), text, size, fill=_SOFT, anchor="mm")


def _draw_token(card: Image.Image, draw: ImageDraw.ImageDraw, facts: CardFacts) -> None:
    picture = _picture(facts)
    mask = Image.new("L", (_SCALE * _PICTURE, _SCALE * _PICTURE))
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, *mask.size), radius=_SCALE * 40, fill=255)
    card.paste(picture, (_MARGIN, 152), mask.resize(picture.size, Image.Resampling.LANCZOS))
    left, address = _MARGIN + _PICTURE + 40, short_address(facts.contract_address)
    width = WIDTH - _MARGIN - left
    symbol = drawable(plain(facts.symbol, 40), "") or address
    text, size = fit_text(symbol, (92, 76, 62, 50, 42), width, is_bold=True)
    lines = [drawable(plain(facts.name, 80), ""), "" if symbol == address else address]
    below, small = fit_text("  ·  ".join(filter(None, lines)), (38, 32), width)
    # Without a second line, in the middle of the picture.
    place, anchor = (left, 232 if below else 240), "ls" if below else "lm"
    draw_text(draw, place, text, size, fill=_INK, anchor=anchor, is_bold=True)
    draw_text(draw, (left, 298), below, small, fill=_SOFT, anchor="ls")


def _picture(facts: CardFacts) -> Image.Image:
    """Return the token's picture, or its placeholder."""
    if facts.picture is not None:
        # Encoded by this service: it is small, and of a known format.
        with Image.open(io.BytesIO(facts.picture), formats=("WEBP",)) as stored:
            picture = Image.new("RGB", stored.size, _RAISED)
            picture.paste(stored, mask=stored if stored.mode == "RGBA" else None)
            return picture.resize((_PICTURE, _PICTURE), Image.Resampling.LANCZOS)
    placeholder = Image.new("RGB", (_PICTURE, _PICTURE), TINTS[tint_number(facts.contract_address)])
    middle = (_PICTURE / 2, _PICTURE / 2)
    text = drawable(initials(facts.symbol), "?")
    draw_text(ImageDraw.Draw(placeholder), middle, text, 76, fill="#ffffff", anchor="mm", is_bold=True)
    return placeholder


def _draw_market(draw: ImageDraw.ImageDraw, facts: CardFacts) -> None:
    change = facts.change_24h
    color = _INK if not change else _UP if change > 0 else _DOWN
    shown = (
        (_MARGIN, gettext("Market cap"), usd_text(_decimal(facts.market_cap)), _INK),
        (WIDTH // 2 + 32, gettext("24 hours"), percent(_decimal(change)), color),
    )
    for left, label, value, ink in shown:
        draw_text(draw, (left, 400), label, 32, fill=_SOFT, anchor="ls")
        text, size = fit_text(drawable(value, "") or "–", (80, 64, 52), _INNER // 2 - 32, is_bold=True)
        draw_text(draw, (left, 488), text, size, fill=ink if value else _SOFT, anchor="ls", is_bold=True)


def _decimal(value: float | None) -> Decimal | None:
    return None if value is None or not math.isfinite(value) else Decimal(repr(value))


def _draw_chart(card: Image.Image, line: Sparkline | None) -> None:
    left, top, right, bottom = _CHART
    if line is None:
        ImageDraw.Draw(card).line((left, bottom, right, bottom), fill=_LINE, width=4)
        return
    width, height = _SCALE * (right - left), _SCALE * (bottom - top)
    # Margins keep the whole line within the picture.
    points = [(8 + (width - 16) * x, height - 12 - (height - 24) * y) for x, y in line.places]
    ink = _DOWN if line.direction == "down" else _UP
    layer = Image.new("RGBA", (width, height), f"{ink}00")
    draw = ImageDraw.Draw(layer)
    draw.polygon([(points[0][0], height), *points, (points[-1][0], height)], fill=f"{ink}22")
    draw.line(points, fill=ink, width=_SCALE * 5, joint="curve")
    small = layer.resize((right - left, bottom - top), Image.Resampling.LANCZOS)
    card.paste(small, (left, top), small)
