"""An installation's colors with the contrast that readers need, and the stylesheet that sets them."""

import colorsys
from functools import cache

from django.conf import settings

# Contrast of text against its background (WCAG 2.2, 1.4.3).
READABLE = 4.5
# Page surfaces in site.css, light and dark: each scheme's lighter and darker end.
_LIGHT_SURFACES, _DARK_SURFACES = ("#ffffff", "#eef0f4"), ("#0f1116", "#20242e")
_STEPS = 100

Rgb = tuple[float, float, float]


def parse_color(text: str) -> Rgb:
    """Return red, green and blue in `#rrggbb`, each from 0 to 1."""
    red, green, blue = (int(text[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return red, green, blue


def format_color(color: Rgb) -> str:
    """Return the color as `#rrggbb`."""
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in color)


def contrast(one: Rgb, other: Rgb) -> float:
    """Return the contrast ratio between two colors, from 1 to 21 (WCAG 2.2)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def readable_on(color: str, surfaces: tuple[str, ...]) -> str:
    """Return the color with the same hue and the nearest lightness that is readable on all surfaces.

    Black or white is readable on either scheme's surfaces, so that there is always one.
    """
    hue, lightness, saturation = colorsys.rgb_to_hls(*parse_color(color))
    grounds = [parse_color(surface) for surface in surfaces]
    candidates = sorted(range(_STEPS + 1), key=lambda step: abs(step / _STEPS - lightness))
    for candidate in [lightness, *(step / _STEPS for step in candidates)]:
        # Rounded as it is written, so that what is checked is what is shown.
        readable = format_color(colorsys.hls_to_rgb(hue, candidate, saturation))
        if all(contrast(parse_color(readable), ground) >= READABLE for ground in grounds):
            return readable
    raise ValueError(f"no lightness of {color} is readable on {', '.join(surfaces)}")


def ink_on(color: str) -> str:
    """Return white or black, whichever has the greater contrast on the color."""
    return max(("#ffffff", "#000000"), key=lambda ink: contrast(parse_color(ink), parse_color(color)))


@cache
def color_stylesheet() -> bytes:
    """Return the CSS custom properties for this installation's two colors."""
    light, dark = (_properties(surfaces) for surfaces in (_LIGHT_SURFACES, _DARK_SURFACES))
    return f":root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}".encode()


def _properties(surfaces: tuple[str, ...]) -> str:
    accent = readable_on(settings.SITE_COLOR, surfaces)
    return f"--accent:{accent};--on-accent:{ink_on(accent)};--mark:{readable_on(settings.SITE_ACCENT_COLOR, surfaces)}"


def _luminance(color: Rgb) -> float:
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in color
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
