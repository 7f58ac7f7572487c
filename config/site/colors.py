"""Colors of an installation with the contrast that readers need, and the stylesheet that sets them."""

import colorsys
from functools import cache

from django.conf import settings

# Contrast of text against its background (WCAG 2.2, 1.4.3).
READABLE = 4.5
# Surfaces of pages in site.css, light and dark: the lighter and the darker end of each scheme.
_LIGHT_SURFACES, _DARK_SURFACES = ("#ffffff", "#eef0f4"), ("#0f1116", "#20242e")
_STEPS = 100

Rgb = tuple[float, float, float]


def parse_color(text: str) -> Rgb:
    """Return red, green and blue of `#rrggbb`, each from 0 to 1."""
    red, green, blue = (int(text[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return red, green, blue


def format_color(color: Rgb) -> str:
    """Return the color as `#rrggbb`."""
    return "#" + "".join(f"{round(255 * part):02x}" for part in color)


def contrast(one: Rgb, other: Rgb) -> float:
    """Return the contrast ratio of two colors, from 1 to 21 (WCAG 2.2)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def readable_on(color: str, surfaces: tuple[str, ...]) -> str:
    """Return the color of the same hue with the nearest lightness that is readable on all surfaces.

    Black or white is readable on surfaces of either scheme, so that there is always one.
    """
    hue, lightness, saturation = colorsys.rgb_to_hls(*parse_color(color))
    grounds = [parse_color(surface) for surface in surfaces]
    candidates = sorted(range(_STEPS + 1), key=lambda step: abs(step / _STEPS - lightness))
    for candidate in [lightness, *(step / _STEPS for step in candidates)]:
        # Rounded as it is written, so that what is checked is what is shown.
        found = format_color(colorsys.hls_to_rgb(hue, candidate, saturation))
        if all(contrast(parse_color(found), ground) >= READABLE for ground in grounds):
            return found
    raise ValueError(f"no lightness of {color} is readable on {', '.join(surfaces)}")


def ink_on(color: str) -> str:
    """Return white or black, whichever has the greater contrast on a surface of the color."""
    return max(("#ffffff", "#000000"), key=lambda ink: contrast(parse_color(ink), parse_color(color)))


@cache
def color_stylesheet() -> bytes:
    """Return the CSS custom properties of this installation's two colors."""
    light, dark = (_properties(surfaces) for surfaces in (_LIGHT_SURFACES, _DARK_SURFACES))
    return f":root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}".encode()


def _properties(surfaces: tuple[str, ...]) -> str:
    accent = readable_on(settings.SITE_COLOR, surfaces)
    return f"--accent:{accent};--on-accent:{ink_on(accent)};--mark:{readable_on(settings.SITE_ACCENT_COLOR, surfaces)}"


def _luminance(color: Rgb) -> float:
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
