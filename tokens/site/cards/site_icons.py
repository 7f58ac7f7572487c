"""The installation's icon as PNG and ICO files, for clients that take no SVG: `/favicon.ico`, Farcaster's clients."""

import hashlib
import io
from functools import cache

from django.conf import settings
from django.urls import reverse
from PIL import Image, ImageDraw

from config.site.colors import ink_on
from tokens.site.cards.card_fonts import draw_text, drawable
from tokens.site.pictures.placeholders import initials

# Sides in pixels: the manifest's icon, and the picture that is shown while a mini app loads.
ICON_SIDES = (1024, 200)
_FAVICON_SIDES = [(16, 16), (32, 32), (48, 48)]


@cache
def draw_icon(side: int) -> bytes:
    """Return the icon as a PNG file with this side in pixels, without transparency; drawn once in each process."""
    return _encode(_picture().resize((side, side), Image.Resampling.LANCZOS), "PNG")


@cache
def draw_favicon() -> bytes:
    """Return the icon as an ICO file with the sizes that browsers show; drawn once in each process."""
    return _encode(_picture(), "ICO", sizes=_FAVICON_SIDES)


def icon_path(side: int) -> str:
    """Return the icon's path, which has a digest of the file."""
    digest = hashlib.sha256(draw_icon(side)).hexdigest()[:12]
    return reverse("site-icon", args=[side, digest])


def _picture() -> Image.Image:
    """Return SITE_ICON on SITE_COLOR; without one, and for an SVG file, SITE_NAME's first letter."""
    side = max(ICON_SIDES)
    picture = Image.new("RGB", (side, side), settings.SITE_COLOR)
    path = settings.SITE_ICON
    if path is not None and path.suffix.lower() != ".svg":
        with Image.open(path) as file:
            icon = file.convert("RGBA").resize((side, side), Image.Resampling.LANCZOS)
        picture.paste(icon, mask=icon)
        return picture
    letter = drawable(initials(settings.SITE_NAME)[:1], "?")
    draw_text(
        ImageDraw.Draw(picture),
        (side / 2, side / 2),
        letter,
        side * 5 // 8,
        fill=ink_on(settings.SITE_COLOR),
        anchor="mm",
        is_bold=True,
    )
    return picture


def _encode(picture: Image.Image, kind: str, **options: object) -> bytes:
    output = io.BytesIO()
    picture.save(output, kind, **options)
    return output.getvalue()
